"""A SubtypeClassifier of a table: fitted, tested on held-out rows, written and read."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from deepcac.errors import DataError
from deepcac.files.output_files import StrPath
from deepcac.files.saved_models import check_count, reading
from deepcac.judging.predictions import Predictions, stack
from deepcac.judging.resamples import resamples
from deepcac.judging.trial_scores import scores
from deepcac.nn.persistence import read_tensors
from deepcac.preprocess import TableScaler
from deepcac.subtyping.subtype_classifier import SubtypeClassifier
from deepcac.subtyping.subtype_file import TABLE, write_subtypes
from deepcac.table.budgeted_trials import MOST_TRAIN
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.risk_model_choice import MODEL, SUBTYPES, check_events, held_out
from deepcac.table.risk_model_file import read_table_part, table_part
from deepcac.table.table_model import TableModel
from deepcac.types import Array, Ids

REASONS = 3  # variables that are named for a row
MOST_EPOCHS = 400  # the best one is kept; small tables need more than the default
RESAMPLES = 5
_LEAST = 0.05  # log-odds; what moves the risk by less is no reason


@dataclass(frozen=True)
class SubtypeRiskModel(TableModel):
    """What predicts risk, subtype and reasons of the rows of a table.

    Attributes
    ----------
    estimator : SubtypeClassifier
        Fitted on a frame of encoded rows, NaN where missing.
    scaler : TableScaler
        Of the rows of `fit`: by it new rows are told that are unlike them.
    """

    estimator: SubtypeClassifier

    def answers(self, X: Array) -> tuple[Array, Ids]:
        """Return probabilities (n, n_classes) of encoded rows (n, d), and subtypes, from 1."""
        rows = self.encoder.frame(X)
        return self.estimator.predict_proba(rows), self.estimator.assign(rows) + 1

    def reasons(self, X: Array) -> list[str]:
        """Return the variables that move the risk of each row most, by log-odds.

        With more than two classes those of the most probable one.
        """
        rows = self.encoder.frame(X)
        parts = self.estimator.contributions(rows)
        if parts.ndim == 3:
            likely = self.estimator.predict_proba(rows).argmax(axis=1)
            parts = parts[np.arange(len(X)), likely]
        order = np.argsort(-np.abs(parts), axis=1, kind="stable")[:, :REASONS]
        names = self.encoder.names
        return [
            "; ".join(f"{names[j]} {row[j]:+.2f}" for j in ranking if abs(row[j]) >= _LEAST)
            for ranking, row in zip(order, parts, strict=True)
        ]

    @property
    def n_subtypes(self) -> int:
        """Subtypes, 0 where one is all of them."""
        k = self.estimator.n_clusters_found_
        return k if k > 1 else 0

    @property
    def kind(self) -> str:
        """In words what it is."""
        return f"SubtypeClassifier, {self.n_subtypes or 'no'} subtypes"


def write_subtype_model(path: StrPath, model: SubtypeRiskModel) -> None:
    """Write a model with a digest over all of it."""
    write_subtypes(path, model.estimator, table_part(model))


def read_subtype_model(path: StrPath, device: str = "auto") -> SubtypeRiskModel:
    """Read a model of `write_subtype_model`; anything else is a `DataError`."""
    estimator = SubtypeClassifier.load(path, device=device)
    with reading(path):
        content = read_tensors(path)[0][TABLE]
        encoder, scaler, classes, label, named = read_table_part(content)
        if estimator.classes_.tolist() != list(range(len(classes))):
            raise DataError(f"{len(classes)} classes for {len(estimator.classes_)}")
        if list(getattr(estimator, "feature_names_in_", ())) != list(encoder.names):
            raise DataError("the columns of its estimator are not those of its table")
        method = _method(content["method"])
        return SubtypeRiskModel(encoder, scaler, classes, label, named, method, estimator)


def _method(method: dict[str, Any]) -> dict[str, Any]:
    check_count("n_clusters", method["n_clusters"], 1)
    if method["arm"] != SUBTYPES or not isinstance(method["chosen"], str):
        raise DataError("its method is none")
    return method


def fit_subtype_model(
    table: LabelledTable, clusters: int, seed: int, say: Callable[[str], None]
) -> SubtypeRiskModel:
    """Fit a SubtypeClassifier on all rows of a table, and test five on held-out rows.

    A subtype that is too small is dropped; more `clusters` than the events allow are a `DataError`.
    `seed` is that of the first resample and of the model.
    """
    check_events(clusters, table.rarest)
    tested = _held_out_scores(table, clusters, seed, say)
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
        "held_out": tested,
    }
    scaler = TableScaler().fit(features.X)
    return SubtypeRiskModel(
        table.encoder, scaler, table.classes, table.label, table.description.use.id, method, model
    )


def _held_out_scores(
    table: LabelledTable, clusters: int, seed: int, say: Callable[[str], None]
) -> dict[str, float]:
    """Return the scores of models on rows that are held out (`risk_model_choice.held_out`)."""
    aurocs, parts, tested, learnt = [], [], [], 1
    named = table.encoder.frame
    drawn = resamples(table.features, RESAMPLES, MOST_TRAIN, first=seed, unit=table.group)
    for done, sample in enumerate(drawn):
        say(f"testing on held-out rows: {done + 1} of {RESAMPLES}")
        both, test = (sample.train, sample.validation), sample.test
        X, y = (np.concatenate([getattr(part, name) for part in both]) for name in ("raw", "y"))
        units = None if table.group is None else np.concatenate([part.unit for part in both])
        model, _ = _fitted(named(X), y, units, clusters, seed)
        risk = model.predict_proba(named(test.raw))
        aurocs.append(scores(test.y, risk, 0.5)["auroc"])
        if sample.n_classes == 2:
            risks = {MODEL: risk[:, 1].astype(float)}
            parts.append(Predictions.of_part(test.row_id, test.unit, test.y, risks))
        tested.append(len(test))
        learnt = len(y)
    rows = float(np.mean(tested))
    return held_out(np.array(aurocs), rows, tested[-1] / learnt, stack(parts))


def _fitted(
    X: pd.DataFrame, y: Ids, units: Any, clusters: int, seed: int
) -> tuple[SubtypeClassifier, list[str]]:
    """Return a model, and what `fit` warns of."""
    model = SubtypeClassifier(
        n_clusters=clusters, max_epochs=MOST_EPOCHS, device="cpu", random_state=seed
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, groups=units)
    return model, [
        str(warning.message) for warning in caught if issubclass(warning.category, UserWarning)
    ]
