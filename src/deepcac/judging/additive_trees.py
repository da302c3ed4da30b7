"""Explainable boosting: trees of one column at a time, and of chosen pairs, that add up."""

import warnings

import numpy as np

from deepcac.judging.learners import Predict, row_weights
from deepcac.judging.resamples import Resample, Rows
from deepcac.judging.spaces import Values
from deepcac.linear.base_classifiers import class_scores


def ebm(values: Values, train: Rows, validation: Rows, sample: Resample) -> Predict:
    """Fit an explainable boosting machine on the raw features, stopped by the validation loss.

    One bag, whose held-out rows are those of the validation. Pairs need two classes.
    """
    from interpret.glassbox import ExplainableBoostingClassifier

    settings = {name: value for name, value in values.items() if name != "class_weight"}
    if sample.n_classes > 2:
        settings["interactions"] = 0
    both = (train, validation)
    weights = [row_weights(rows, values["class_weight"]) for rows in both]
    weighted = [weight for weight in weights if weight is not None]
    bag = np.concatenate([np.full(len(train), 1), np.full(len(validation), -1)])
    model = ExplainableBoostingClassifier(
        **settings,
        feature_types=["continuous"] * train.raw.shape[1],
        outer_bags=1,
        n_jobs=1,
        random_state=sample.seed,
    )
    with warnings.catch_warnings():  # of missing values, which its pictures do not show
        warnings.simplefilter("ignore", UserWarning)
        model.fit(
            np.concatenate([rows.raw for rows in both]),
            np.concatenate([rows.y for rows in both]),
            sample_weight=np.concatenate(weighted) if weighted else None,
            bags=bag[:, None].astype(np.int8),
        )
    return lambda rows: class_scores(model, rows.raw, sample.n_classes)
