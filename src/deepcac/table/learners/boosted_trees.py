"""Boosted trees of a table, kept as arrays that tell of no single patient."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from deepcac.judging.draws import units
from deepcac.judging.learners import Predict, lightgbm_settings
from deepcac.judging.resamples import Resample, Rows
from deepcac.judging.spaces import Values
from deepcac.preprocess import TableScaler
from deepcac.scoring.small_cells import FEW
from deepcac.table.learners.planes import class_probabilities, constant_scores
from deepcac.tree_arrays import NAN, TreeArrays, read_booster, read_histogram_trees
from deepcac.types import Array, Flags

ROUNDS, PATIENCE = 400, 20  # trees at most, and without a better loss on a fifth of the patients
MOST_TREES = ROUNDS  # a model holds, of each output
FEWEST_ROWS = 20  # of a leaf, as the library estimates them
_STOP = 5  # every fifth patient of a class stops the trees


@dataclass(frozen=True)
class BoostedTrees:
    """Boosted trees of encoded rows.

    Attributes
    ----------
    trees : TreeArrays
    n_outputs : int
        1 of two classes, else one a class.
    """

    trees: TreeArrays
    n_outputs: int

    def probability(self, X: Array) -> Array:
        """Return probabilities (n, n_classes) of encoded rows (n, d)."""
        return class_probabilities(self.trees.outputs(X, self.n_outputs))


def grow_trees(
    rows: Rows, scaler: TableScaler, library: str, values: Values, overall: Array, seed: int
) -> BoostedTrees:
    """Grow trees on rows, whose leaves hold `FEW` patients or more each.

    A fifth of the patients first says how many trees there are. Thresholds are no values of a row
    (`TreeArrays.plain`). An empty cell goes where the median goes, in columns that have none here.
    Columns that the scaler leaves out take no part. The class shares are one leaf where a model
    cannot be had.

    Parameters
    ----------
    rows : Rows
    scaler : TableScaler
        Of these rows.
    library : str
        "lgbm" or "hgb".
    values : dict
        Of a trial of it.
    overall : ndarray of shape (n_classes,)
        Class shares of all rows.
    seed : int
    """
    n_outputs = 1 if len(overall) == 2 else len(overall)
    scores = constant_scores(rows.y, overall)
    if scores is not None:
        return BoostedTrees(_leaves(scores), n_outputs)
    X = rows.raw.copy()
    X[:, ~scaler.kept_[: X.shape[1]]] = 0.0
    patient = np.arange(len(rows)) if rows.unit is None else np.asarray(rows.unit)
    patient = np.unique(patient, return_inverse=True)[1]
    size = "min_data_in_leaf" if library == "lgbm" else "min_samples_leaf"
    least, grow = max(values[size], FEWEST_ROWS), _lightgbm if library == "lgbm" else _histogram
    while True:
        settings = {name: value for name, value in values.items() if name != "class_weight"}
        trees = grow(X, rows, settings | {size: least}, len(overall), seed)
        if not len(trees.feature) or trees.patients(X, patient).min() >= FEW:
            return BoostedTrees(_with_medians(trees.plain(X), X, scaler.median_), n_outputs)
        least *= 2


def _with_medians(trees: TreeArrays, X: Array, median: Array) -> TreeArrays:
    """Return trees that send an empty cell where its column's median goes, if it had none."""
    known = np.asarray(np.isnan(X).any(axis=0))[trees.feature]
    default = np.where(known, trees.default, median[trees.feature] <= trees.threshold)
    missing = np.full(len(trees.feature), NAN)
    return trees._replace(missing=missing, default=default.astype(np.int64))


def _leaves(scores: Array) -> TreeArrays:
    """Return trees of a leaf each."""
    none, number = np.empty(0, np.int64), np.arange(len(scores))
    return TreeArrays(~number, none, none, none, np.empty(0), none, none, scores)


def _lightgbm(X: Array, rows: Rows, values: Values, n_classes: int, seed: int) -> TreeArrays:
    import lightgbm

    settings = lightgbm_settings(values, n_classes, seed)
    stop = _stopping(rows, seed)

    def dataset(part: Any, reference: Any = None) -> Any:
        weight = None if rows.weight is None else rows.weight[part]
        return lightgbm.Dataset(X[part], rows.y[part], weight=weight, reference=reference,
                                params=settings)  # fmt: skip

    data = dataset(~stop)
    halt = lightgbm.early_stopping(PATIENCE, verbose=False)
    stopped = lightgbm.train(
        settings, data, ROUNDS, valid_sets=[dataset(stop, data)], callbacks=[halt]
    )
    n_trees = max(stopped.best_iteration, 1)
    booster = lightgbm.train(settings, dataset(np.ones(len(rows), bool)), n_trees)
    return read_booster(booster.model_to_string())


def _stopping(rows: Rows, seed: int) -> Flags:
    """Mark the rows of every fifth patient of each class, in an order of chance."""
    label, place = units(rows.y, rows.unit)
    order = np.lexsort((np.random.default_rng(seed).permutation(len(label)), label))
    stop = np.zeros(len(label), dtype=np.bool_)
    stop[order[::_STOP]] = True
    return np.asarray(stop[place])


def _histogram(X: Array, rows: Rows, values: Values, n_classes: int, seed: int) -> TreeArrays:
    """Grow scikit-learn's trees, whose number is a value of the trial."""
    model = HistGradientBoostingClassifier(**values, early_stopping=False, random_state=seed)
    return read_histogram_trees(model.fit(X, rows.y, sample_weight=rows.weight))


def fit_boosted(
    library: str, values: Values, train: Rows, validation: Rows, sample: Resample
) -> Predict:
    """Grow trees as `judging.learners` does; no validation row stops them."""
    overall = np.bincount(train.y, train.weight, minlength=sample.n_classes)
    scaler = TableScaler().fit(train.raw)
    trees = grow_trees(train, scaler, library, values, overall / overall.sum(), sample.seed)
    return lambda rows: trees.probability(rows.raw)
