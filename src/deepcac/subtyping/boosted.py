"""Boosted trees, one model per fold left out, with out-of-fold predictions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deepcac.errors import ConfigError
from deepcac.subtyping.crossfit import Cases
from deepcac.tree_arrays import TreeArrays, read_booster
from deepcac.types import Array, Flags

ROUNDS, PATIENCE = 800, 40
SETTINGS: dict[str, Any] = {
    "learning_rate": 0.04,
    "num_leaves": 15,
    "min_data_in_leaf": 40,
    "bagging_fraction": 0.75,
    "bagging_freq": 1,
    "feature_fraction": 0.4,
    "lambda_l2": 1.0,
    "verbose": -1,
    "deterministic": True,
    "force_col_wise": True,
}


class BoostedFolds:
    """LightGBM models, each fitted to all folds but one.

    Parameters
    ----------
    trees : list of TreeArrays
        One model per fold left out.
    n_outputs : int
    """

    def __init__(self, trees: list[TreeArrays], n_outputs: int) -> None:
        self.trees, self.n_outputs = trees, n_outputs

    def outputs(self, X: Array) -> Array:
        """Return the mean outputs of all folds, shape (n, n_outputs)."""
        return np.mean([ensemble.outputs(X, self.n_outputs) for ensemble in self.trees], axis=0)


class Trees(NamedTuple):
    """Boosted trees, and their out-of-fold predictions.

    Attributes
    ----------
    folds : BoostedFolds
    outside : ndarray of shape (n, n_outputs)
        Out-of-fold log-odds; for two classes one output.
    """

    folds: BoostedFolds
    outside: Array


def grow_trees(cases: Cases, n_classes: int, seed: int, n_threads: int) -> Trees:
    """For each fold, fit LightGBM to all the others.

    The number of rounds comes from early stopping inside these rows: by another fold, or by a fifth
    of the groups where there are two folds. So a fold does not influence its own predictions.
    """
    lightgbm = _import_lightgbm()
    kind: dict[str, Any] = {"objective": "binary"}
    if n_classes > 2:
        kind = {"objective": "multiclass", "num_class": n_classes}
    settings = SETTINGS | kind | {"seed": seed, "num_threads": n_threads}
    X, y, fold, weight, unit = cases
    equal = bool((weight == weight[0]).all())  # all alike is none, which is faster
    n_folds, outputs = int(fold.max()) + 1, 1 if n_classes == 2 else n_classes
    grown, outside = [], np.empty((len(y), outputs))

    def dataset(chosen: npt.NDArray[np.bool_], reference: Any = None) -> Any:
        chosen_weight = None if equal else weight[chosen]
        return lightgbm.Dataset(X[chosen], y[chosen], weight=chosen_weight, reference=reference)

    for j in range(n_folds):
        out = fold == j
        stop = fold == (j + 1) % n_folds if n_folds > 2 else ~out & _fifth(~out, unit)
        data = dataset(~out & ~stop)
        halt = lightgbm.early_stopping(PATIENCE, verbose=False)
        inner = lightgbm.train(
            settings, data, ROUNDS, valid_sets=[dataset(stop, data)], callbacks=[halt]
        )
        booster = lightgbm.train(settings, dataset(~out), max(inner.best_iteration, 1))
        grown.append(read_booster(booster.model_to_string()))
        outside[out] = grown[-1].outputs(X[out], outputs)
    return Trees(BoostedFolds(grown, outputs), outside)


def _fifth(rows: Flags, unit: npt.NDArray[Any] | None) -> Flags:
    """Return a mask of every fifth row; of every fifth group of `rows`, if there are several."""
    groups = np.unique(unit[rows]) if unit is not None else ()
    if unit is None or len(groups) < 2:
        return np.arange(len(rows)) % 5 == 0
    return np.isin(unit, groups[::5])


def _import_lightgbm() -> Any:
    """Import lightgbm; ConfigError says how to install it."""
    try:
        import lightgbm
    except ModuleNotFoundError as error:
        raise ConfigError(
            "boosting=True needs lightgbm: pip install 'deepcac[boosting]'"
        ) from error
    return lightgbm
