"""What a risk model of a table can be in a cluster: planes, planes over splines, boosted trees."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from deepcac.judging.draws import units
from deepcac.judging.fitting import FEWEST
from deepcac.judging.learners import Predict, lightgbm_settings, lr
from deepcac.judging.resamples import Resample, Rows
from deepcac.judging.spaces import Values
from deepcac.preprocess import TableScaler
from deepcac.scoring.small_cells import FEW
from deepcac.task import rounded
from deepcac.tree_arrays import NAN, TreeArrays, read_booster, read_histogram_trees
from deepcac.types import Array, Flags, Ids


@dataclass(frozen=True)
class Plane:
    """A fitted logistic regression, or the class shares where none can be had.

    Attributes
    ----------
    coef : ndarray of shape (c, q)
        One row for two classes, else one per class; zeros for shares.
    intercept : ndarray of shape (c,)
    """

    coef: Array
    intercept: Array

    def probability(self, X: Array) -> Array:
        """Return probabilities of shape (n, n_classes)."""
        return class_probabilities(X @ self.coef.T + self.intercept)


def class_probabilities(scores: Array) -> Array:
    """Return the probabilities (n, n_classes) of log odds: one column of them for two classes."""
    if scores.shape[1] == 1:
        return np.hstack([expit(-scores), expit(scores)])
    return np.asarray(softmax(scores, axis=1))


def constant_scores(y: Ids, overall: Array) -> Array | None:
    """Return the log odds of rows that are too few for a model; None where they are not.

    They are the class shares, smoothed by those of all rows (n_classes,).
    """
    counts = np.bincount(y, minlength=len(overall))
    if len(y) >= FEWEST and counts.min() >= 2:
        return None
    coarse = coarse_counts(counts)
    scores = np.log((coarse + overall) / (coarse.sum() + 1))
    return np.asarray(scores[1:] - scores[:1] if len(overall) == 2 else scores)


def coarse_counts(counts: Ids) -> Ids:
    """Return rounded class counts of a cluster, those of few as 0.

    >>> coarse_counts(np.array([31, 1])).tolist()
    [30, 0]
    """
    return np.where(counts < FEW, 0, rounded(counts))


def fit_plane(X: Array, y: Ids, weight: Array, overall: Array, C: float) -> Plane:
    """Fit one cluster; its class shares (`constant_scores`) where a model cannot be had."""
    scores = constant_scores(y, overall)
    if scores is not None:
        return Plane(np.zeros((len(scores), X.shape[1])), scores)
    model = LogisticRegression(C=C, max_iter=1000).fit(X, y, sample_weight=weight)
    return Plane(model.coef_, model.intercept_)


FEWEST_KNOTS, MOST_KNOTS = 3, 6
OUTER = 0.05  # the share of rows beyond the outer knots (Harrell 2015, section 2.4.6)
_DIGITS = 2  # of knots, in standard deviations


@dataclass(frozen=True)
class Splines:
    """Terms that bend a line between the outer knots of a column; beyond them it is straight.

    Attributes
    ----------
    knots : dict of int to ndarray of shape (k,)
        By column; a column without any stays a line.
    """

    knots: Mapping[int, Array] = field(default_factory=dict)

    @classmethod
    def learn(cls, bounded: Array, patient: Ids, n_knots: int) -> "Splines":
        """Return splines whose knots are rounded quantiles of standardised rows (n, q).

        At least `FEW` patients lie on either side of all knots. A column of few values is a line.
        """
        outer = max(OUTER, FEW / len(np.unique(patient)))
        if outer >= 0.5:
            return cls()
        quantiles = np.quantile(bounded, np.linspace(outer, 1 - outer, n_knots), axis=0)
        columns = ((j, np.unique(np.round(at, _DIGITS))) for j, at in enumerate(quantiles.T))
        return cls(
            {j: at for j, at in columns if len(at) >= FEWEST_KNOTS
             and _is_coarse(bounded[:, j], at, patient)}
        )  # fmt: skip

    def beside(self, bounded: Array) -> Array:
        """Return standardised rows (n, q) with the terms of each spline behind them."""
        return np.hstack([bounded, *(_terms(bounded[:, j], at) for j, at in self.knots.items())])

    def names(self, columns: list[str]) -> list[str]:
        """Return the names of the columns of `beside`."""
        bent = (
            f"{columns[j]}, spline term {term}"
            for j, at in self.knots.items()
            for term in range(1, len(at) - 1)
        )
        return [*columns, *bent]

    @property
    def n_terms(self) -> int:
        """Columns that `beside` adds."""
        return sum(len(at) - 2 for at in self.knots.values())


def _is_coarse(values: Array, knots: Array, patient: Ids) -> bool:
    """Return whether enough patients lie at or below the first knot, and at or above the last."""
    ends = values <= knots[0], values >= knots[-1]
    return all(len(np.unique(patient[beyond])) >= FEW for beyond in ends)


# By hand: the terms of SplineTransformer, two more, are curved up to the outer knots.
def _terms(x: Array, knots: Array) -> Array:
    """Return the terms (n, k - 2) of values (n,), in their own unit."""
    *first, before, last = knots

    def cubic(knot: float) -> Array:
        return np.maximum(x - knot, 0.0) ** 3

    terms = [
        cubic(t)
        - cubic(before) * (last - t) / (last - before)
        + cubic(last) * (before - t) / (last - before)
        for t in first
    ]
    return np.column_stack(terms) / (last - knots[0]) ** 2


def fit_spline_lr(values: Values, train: Rows, validation: Rows, sample: Resample) -> Predict:
    """Fit logistic regression on bounded columns and their splines, as `judging.learners.lr`."""
    patient = np.arange(len(train)) if train.unit is None else train.unit
    splines = Splines.learn(train.bounded, patient, values["knots"])

    def wider(rows: Rows) -> Rows:
        return replace(rows, scaled=splines.beside(rows.bounded))

    straight = {"C": values["C"], "clip": None, "class_weight": None}
    answer = lr(straight, wider(train), wider(validation), sample)
    return lambda rows: answer(wider(rows))


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
