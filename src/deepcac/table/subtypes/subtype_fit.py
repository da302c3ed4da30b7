"""A SubtypeClassifier fitted on a table, and how such models do on rows that are held out."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from deepcac.judging.resamples import resamples
from deepcac.judging.trial_scores import scores
from deepcac.preprocess import TableScaler
from deepcac.subtyping.subtype_classifier import SubtypeClassifier
from deepcac.table.budgeted_trials import MOST_TRAIN
from deepcac.table.reading.labelled_table import LabelledTable, Roles
from deepcac.table.risk_model_choice import RESAMPLES, SUBTYPES, Answer, check_events, held_out
from deepcac.table.subtypes.subtype_model import SubtypeRiskModel
from deepcac.task import Ids

MOST_EPOCHS = 400  # the best one is kept; small tables need more than the default


def fit_subtype_model(
    table: LabelledTable, roles: Roles, clusters: int, seed: int, say: Callable[[str], None]
) -> SubtypeRiskModel:
    """Fit a SubtypeClassifier on all rows of a table, and judge five on held-out rows.

    Fewer subtypes than `clusters` are kept where one would be too small; more than there are
    events for are a `DataError`. `seed` is that of the first resample and of the model.
    """
    check_events(clusters, table.rarest)
    judged = _judged(table, clusters, seed, say)
    say("fitting on all rows")
    features, named = table.features, table.encoder.frame
    model, remarks = _fitted(named(features.X), features.label, table.group, clusters, seed)
    for remark in remarks:
        say(f"warning: {remark}")
    method = {
        "arm": SUBTYPES,
        "n_clusters": clusters,
        "chosen": "as asked for",
        "rarest": table.rarest,
        "held_out": judged,
    }
    scaler = TableScaler().fit(features.X)
    return SubtypeRiskModel(
        table.encoder, scaler, table.classes, roles.label, roles.id, method, model
    )


def _judged(
    table: LabelledTable, clusters: int, seed: int, say: Callable[[str], None]
) -> dict[str, float]:
    """Say how models do on rows that are held out (`risk_model_choice.held_out`)."""
    answers: list[list[Answer]] = []
    named, ratio = table.encoder.frame, 1.0
    drawn = resamples(table.features, RESAMPLES, MOST_TRAIN, first=seed, unit=table.group)
    for done, sample in enumerate(drawn):
        say(f"judging on held-out rows: {done + 1} of {RESAMPLES}")
        learnt = (sample.train, sample.validation)
        X, y = (np.concatenate([getattr(one, name) for one in learnt]) for name in ("raw", "y"))
        units = None if table.group is None else np.concatenate([one.unit for one in learnt])
        model, _ = _fitted(named(X), y, units, clusters, seed)
        risk, truth = model.predict_proba(named(sample.test.raw)), sample.test.y
        answers.append([(truth, scores(truth, risk, 0.5)["auroc"], risk[:, 1:])])
        ratio = len(sample.test) / len(y)
    return held_out(np.zeros((RESAMPLES, 1)), answers, ratio)


def _fitted(
    X: pd.DataFrame, y: Ids, units: Any, clusters: int, seed: int
) -> tuple[SubtypeClassifier, list[str]]:
    """Return a model, and what `fit` warns of."""
    model = SubtypeClassifier(
        n_clusters=clusters, max_epochs=MOST_EPOCHS, device="cpu", random_state=seed
    )
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(X, y, groups=units)
    return model, [str(one.message) for one in told if issubclass(one.category, UserWarning)]
