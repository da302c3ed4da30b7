"""Input of a method for one split, and its output."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from deepcac.types import Array, Ids

FEW = 8  # patients of a cell of a table from which its count or share is shown
STEP = 5  # to which counts of patients are rounded


def rounded(count: npt.ArrayLike, step: int = STEP) -> npt.NDArray[Any]:
    """Return counts rounded to a multiple of `step`; one step at least, unless the count is 0.

    >>> rounded([0, 1, 8, 62]).tolist()
    [0, 5, 10, 60]
    """
    counts = np.asarray(count)
    steps = step * np.floor(counts / step + 0.5)
    return np.where(counts > 0, np.maximum(steps, step), steps).astype(counts.dtype)


@dataclass(frozen=True)
class Task:
    """One split of one data set, scaled and ready to fit.

    Attributes
    ----------
    X_train, X_validation, X_test : ndarray of shape (n, d) or (n, steps, variables)
        Scaled features without missing values. Sequences carry 0 where a value is missing.
    y_train, y_validation, y_test : ndarray of shape (n,), int64
        Class ids 0..n_classes-1. `y_test` is for scoring only.
    n_classes : int
        Number of classes of the data set (a part may lack one).
    k : int
        Number of clusters asked for.
    seed : int
        Seed of the split and of every random choice in the method.
    names : tuple of str, length d
        Columns of the static features; empty for sequences.
    mask_train, mask_validation, mask_test : ndarray of bool or None
        True where a sequence value was measured; None for static data.
    """

    X_train: Array
    y_train: Ids
    X_validation: Array
    y_validation: Ids
    X_test: Array
    y_test: Ids
    n_classes: int
    k: int
    seed: int
    names: tuple[str, ...] = ()
    mask_train: npt.NDArray[np.bool_] | None = None
    mask_validation: npt.NDArray[np.bool_] | None = None
    mask_test: npt.NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Fitted:
    """Predictions of a fitted method for the test rows, and how it was fitted.

    Attributes
    ----------
    probability : ndarray of shape (n_test, n_classes)
        Class probabilities, or decision values where the method has no probabilities
        (then `calibrated` is False). Columns are classes 0..n_classes-1.
    predicted : ndarray of shape (n_test,), int64
        Predicted class ids.
    cluster : ndarray of shape (n_test,), int64
        Cluster of each test row; zeros for a method without clusters.
    train_cluster : ndarray of shape (n_train,), int64
        Cluster of each training row.
    hyperparameters : dict
        Every setting as used, JSON-ready; tuned ones are named in `tuned`.
    tuned : tuple of str
        Names of the settings that were chosen on data.
    history : dict of str to list of float
        Curves over passes or epochs (for CAC: cost, within, separation, moves).
    embedding_test : ndarray of shape (n_test, latent) or None
        Space in which the clusters live, if not the features themselves.
    calibrated : bool
        Whether `probability` holds probabilities.
    class_shares : ndarray of shape (n_classes,) or None
        Shares of the classes among the training rows, where the fit gave all classes the same
        total weight. Multiplying `probability` by them (and normalising) undoes the weights.
    status : str
        ``"ok"``, ``"diverged"`` or ``"timeout"``.
    seconds : dict of str to float
        Wall time by stage.
    """

    probability: Array
    predicted: Ids
    cluster: Ids
    train_cluster: Ids
    hyperparameters: dict[str, Any]
    tuned: tuple[str, ...] = ()
    history: dict[str, list[float]] = field(default_factory=dict)
    embedding_test: Array | None = None
    calibrated: bool = True
    class_shares: Array | None = None
    status: str = "ok"
    seconds: dict[str, float] = field(default_factory=dict)
