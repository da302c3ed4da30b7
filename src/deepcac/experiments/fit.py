"""Which function fits a method, and where it computes."""

from pathlib import Path

from deepcac.catalogue.methods import Method
from deepcac.task import Fitted, Task


def device(method: Method) -> str:
    """Return where a method computes: ``"cpu"``, or ``"cuda"`` for a deep one with a GPU."""
    if method.family != "deep":
        return "cpu"
    from deepcac.nn.data import find_device

    return find_device("auto").type


def fit(task: Task, method: Method, shared: Path | None) -> Fitted:
    """Fit a method on a task.

    Parameters
    ----------
    task : Task
    method : Method
    shared : Path or None
        What methods share for this data set: the clusterings of every alpha (CAC family) or
        the pre-trained autoencoders (deep methods).
    """
    if method.family == "deep":
        from deepcac.experiments.deep_methods import fit_task as fit_deep

        return fit_deep(task, method.id, shared)
    from deepcac.experiments.cac_arms import fit_task as fit_cac

    return fit_cac(task, method.arm, method.classifier, shared)
