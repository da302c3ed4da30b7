"""Which function fits a method, and where it computes."""

from collections.abc import Sequence
from pathlib import Path

from deepcac.cac.path import AlphaPath
from deepcac.task import Fitted, Task
from deepcac_study.catalogue.methods import CLASSES, Method
from deepcac_study.experiments import cac_arms, decomposed_arms, metric_arms
from deepcac_study.experiments.prepare import Setting


def device(method: Method) -> str:
    """Return where a method computes: ``"cpu"``, or ``"cuda"`` for a deep one with a GPU."""
    if method.family != "deep":
        return "cpu"
    from deepcac.nn.fitting.data import find_device

    return find_device("auto").type


def shared_stage(
    task: Task, setting: Setting, methods: Sequence[Method], file: Path | None
) -> AlphaPath | Path | None:
    """Return what methods of one family have in common on a split, for `fit`.

    Parameters
    ----------
    task, setting, methods
        A split, what it was made for, and what will be fitted on it.
    file : Path or None
        The clusterings of every alpha (CAC family; None makes those that are needed here) or
        the pre-trained autoencoders (deep methods).
    """
    if methods[0].family == "deep":
        return file
    return cac_arms.shared_clusterings(task, setting, methods, file)


def fit(task: Task, setting: Setting, method: Method, shared: AlphaPath | Path | None) -> Fitted:
    """Fit a method on a task.

    Parameters
    ----------
    task : Task
    setting : Setting
        What the task was made for.
    method : Method
    shared : AlphaPath, Path or None
        What `shared_stage` returned.
    """
    if not isinstance(shared, AlphaPath) and method.family == "deep":
        from deepcac_study.experiments import deep_methods

        return deep_methods.fit_task(task, setting, method, shared)
    if method.arm in CLASSES:
        return decomposed_arms.fit_task(task, setting, method)
    if method.arm == "skm":
        return metric_arms.fit_task(task, setting, method)
    return cac_arms.fit_task(
        task, setting, method, shared if isinstance(shared, AlphaPath) else None
    )
