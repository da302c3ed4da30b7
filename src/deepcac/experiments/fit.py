"""Which function fits a method, and where it computes."""

from pathlib import Path

from deepcac.catalogue.methods import CLASSES, Method
from deepcac.experiments import cac_arms, decomposed_arms, metric_arms
from deepcac.experiments.prepare import Setting
from deepcac.task import Fitted, Task


def device(method: Method) -> str:
    """Return where a method computes: ``"cpu"``, or ``"cuda"`` for a deep one with a GPU."""
    if method.family != "deep":
        return "cpu"
    from deepcac.nn.data import find_device

    return find_device("auto").type


def fit(task: Task, setting: Setting, method: Method, shared: Path | None) -> Fitted:
    """Fit a method on a task.

    Parameters
    ----------
    task : Task
    setting : Setting
        What the task was made for.
    method : Method
    shared : Path or None
        What methods share for this data set: the clusterings of every alpha (CAC family) or
        the pre-trained autoencoders (deep methods).
    """
    if method.family == "deep":
        from deepcac.experiments import deep_methods

        return deep_methods.fit_task(task, setting, method, shared)
    if method.arm in CLASSES:
        return decomposed_arms.fit_task(task, setting, method)
    if method.arm == "skm":
        return metric_arms.fit_task(task, setting, method)
    return cac_arms.fit_task(task, setting, method, shared)
