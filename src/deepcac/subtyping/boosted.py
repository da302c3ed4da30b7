"""Boosted trees, one a fold: answers for rows that a tree has not seen."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deepcac.errors import ConfigError
from deepcac.subtyping.crossfit import Cases
from deepcac.subtyping.tree_arrays import TreeArrays, read_booster

Array = npt.NDArray[np.float64]

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
    """LightGBM on all folds but one, stopped by the one left out.

    Parameters
    ----------
    trees : list of TreeArrays
        Of one fold each.
    n_outputs : int
    """

    def __init__(self, trees: list[TreeArrays], n_outputs: int) -> None:
        self.trees, self.n_outputs = trees, n_outputs

    def outputs(self, X: Array) -> Array:
        """Return the mean outputs of all folds, shape (n, n_outputs)."""
        return np.mean([one.outputs(X, self.n_outputs) for one in self.trees], axis=0)


class Trees(NamedTuple):
    """Boosted trees, and what they say of the rows that each fold left out.

    Attributes
    ----------
    folds : BoostedFolds
    outside : ndarray of shape (n, n_outputs)
        Log-odds; of two classes one output.
    """

    folds: BoostedFolds
    outside: Array


def grow_trees(cases: Cases, n_classes: int, seed: int, n_threads: int) -> Trees:
    """Fit the trees of all folds but one, for each."""
    lightgbm = _lightgbm()
    kind: dict[str, Any] = {"objective": "binary"}
    if n_classes > 2:
        kind = {"objective": "multiclass", "num_class": n_classes}
    settings = SETTINGS | kind | {"seed": seed, "num_threads": n_threads}
    X, y, fold, weight = cases
    equal = bool((weight == weight[0]).all())  # all alike is none, which is faster
    grown, outside = [], np.empty((len(y), 1 if n_classes == 2 else n_classes))

    def dataset(chosen: npt.NDArray[np.bool_], reference: Any = None) -> Any:
        own = None if equal else weight[chosen]
        return lightgbm.Dataset(X[chosen], y[chosen], weight=own, reference=reference)

    for j in range(fold.max() + 1):
        out = fold == j
        data = dataset(~out)
        booster = lightgbm.train(
            settings,
            data,
            ROUNDS,
            valid_sets=[dataset(out, data)],
            callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
        )
        grown.append(read_booster(booster.model_to_string()))  # up to the best round
        outside[out] = grown[-1].outputs(X[out], outside.shape[1])
    return Trees(BoostedFolds(grown, outside.shape[1]), outside)


def _lightgbm() -> Any:
    try:
        import lightgbm
    except ModuleNotFoundError as error:
        raise ConfigError(
            "boosting=True needs lightgbm: pip install 'deepcac[boosting]'"
        ) from error
    return lightgbm
