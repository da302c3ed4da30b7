"""SubtypeClassifier as the judge fits it."""

from functools import partial

from deepcac.judge.learners import Array, Predict
from deepcac.judge.resamples import Resample, Rows
from deepcac.judge.spaces import Values
from deepcac.subtyping.boosted import Trees, grow_trees
from deepcac.subtyping.crossfit import deal_folds
from deepcac.subtyping.subtype_classifier import SubtypeClassifier


def subtypes(
    values: Values, train: Rows, validation: Rows, sample: Resample, *, boosting: bool = False
) -> Predict:
    """Fit on the training rows alone; it stops by folds of its own."""
    model = SubtypeClassifier(**values, boosting=boosting, random_state=sample.seed, n_threads=1)
    model.fit(train.raw, train.y, trees=shared_trees(sample, model.folds) if boosting else None)

    def predict(rows: Rows) -> Array:
        return model.predict_proba(rows.raw)

    return predict


subtypes_gbm = partial(subtypes, boosting=True)


def shared_trees(sample: Resample, n_folds: int) -> Trees:
    """Return the boosted trees of the training rows, grown once a resample."""
    key = ("trees", n_folds)
    if key not in sample.shared:
        rows = sample.train
        fold = deal_folds(rows.y, n_folds, sample.seed)
        sample.shared[key] = grow_trees(rows.raw, rows.y, fold, sample.n_classes, sample.seed, 1)
    return sample.shared[key]
