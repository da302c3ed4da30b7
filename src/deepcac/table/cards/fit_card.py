"""The card of a model of `deepcac fit`; its numbers are those of the model file."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from deepcac.judging.contenders import CAC
from deepcac.judging.local_models import BoostedTrees, Plane
from deepcac.pages.tables import Table
from deepcac.scoring.small_cells import Count
from deepcac.table.answer import arm_name, contender_name
from deepcac.table.cards.model_card import Facts, joined, usual_facts
from deepcac.table.choice_folds import Candidate
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.risk_model import RiskModel
from deepcac.table.risk_model_choice import EVENTS_A_CLUSTER, SUBTYPES, method_lines

if TYPE_CHECKING:
    from deepcac.table.subtype_model import SubtypeRiskModel

_NAMES = {"": "no clusters", SUBTYPES: SUBTYPES}
_TERMS = (
    "Term i of a column with knots t1 to tk (restricted cubic splines) is p(ti) - p(tk-1) (tk - "
    "ti) / (tk - tk-1) + p(tk) (tk-1 - ti) / (tk - tk-1), over (tk - t1)^2, where p(t) is the cube "
    "of the value minus t, and 0 below t."
)
MOST_FEATURES = 200  # in the table of the full model
_READING = (
    "Each feature is standardised by its mean and SD, then cut as 12c says. The risk is the "
    "logistic function of intercept plus coefficients times features (softmax for three classes or "
    "more). With clusters the nearest centre decides, by standardised values cut at 5 SD. The "
    "numbers are those of the model file, in which no mean or centre is of few patients."
)


def fit_facts(
    table: LabelledTable,
    model: "RiskModel | SubtypeRiskModel",
    seed: int,
    name: str,
    tried: Sequence[Candidate],
) -> Facts:
    """Return the lines of a card that hold for one fitted model.

    `seed` is that of the first resample, `name` what the model is in words, and `tried` what it
    was chosen from.
    """
    performance = method_lines(model.method)
    warned = [line for line in performance if line.startswith("warning")]
    calibrated = "calibration_slope" in model.method["held_out"]
    settings = [
        (
            SUBTYPES if candidate.arm == SUBTYPES else contender_name(candidate.learner),
            _NAMES.get(candidate.arm) or arm_name(candidate.arm),
            json.dumps(candidate.values, sort_keys=True),
        )
        for candidate in tried
    ]
    head = ("model", "clusters", "values")
    return {
        "title": [f"A risk model of {model.label!r} on {table.name!r}."],
        "partition": [_partition(model, seed)],
        "model": [
            *(name, _settings(model), "Settings tried:"),
            Table.of_texts("", "", head, settings, n_labels=3),
        ],
        "specification": _specification(model),
        "performance": [line for line in performance if line not in warned],
        "calibration": ["See Performance: intercept, slope, and observed by expected events."]
        * calibrated,
        "limitations": warned,
        **_clusters(table, model),
    }


def _partition(model: "RiskModel | SubtypeRiskModel", seed: int) -> str:
    """Return a sentence on the rows that score such models."""
    parts = f"{model.method['held_out']['parts']:.0f}"
    if model.method["arm"] == SUBTYPES:
        rows = f"{parts} resamples (from seed {seed}), stratified: 75 % of the rows to learn from, "
        rows += "25 % for the test."
    else:
        rows = (
            f"{parts} folds (seed {seed}), stratified. Models for a fold are chosen by the same "
            "rule only on the other folds, so that neither a model nor its choice has seen the "
            "rows on which it is tested."
        )
    return f"{rows} The model itself is fitted on all rows."


def _settings(model: "RiskModel | SubtypeRiskModel") -> str:
    method = model.method
    if not isinstance(model, RiskModel):
        settings = ", ".join(f"{k}={v}" for k, v in sorted(model.estimator.get_params().items()))
        return f"Settings: {settings}; best epoch {model.estimator.best_epoch_}."
    if model.boosted:
        return f"Values of the trees: {json.dumps(method['trees'], sort_keys=True)}."
    clip = "none" if method["clip"] is None else f"{method['clip']:g} standard deviations"
    return f"Ridge penalty C {method['C']:g}; cut of far values: {clip}."


def _specification(model: "RiskModel | SubtypeRiskModel") -> list[str | Table]:
    """Return the whole model as a table, where it can be one."""
    if not isinstance(model, RiskModel):
        return ["All weights are in the model file; they are too many for a table."]
    if model.boosted:
        trees = [part.trees for part in model.parts if isinstance(part, BoostedTrees)]
        n_trees, n_leaves = (sum(len(getattr(own, of)) for own in trees) for of in ("root", "leaf"))
        return [
            f"{n_trees} trees with {n_leaves} leaves; the model file has every split and leaf. The "
            "risk is the logistic function of the sum of the leaves (softmax for three classes or "
            "more)."
        ]
    features = model.scaler.get_feature_names_out(np.array(model.encoder.names, dtype=object))
    names = model.splines.names(list(features))
    if len(names) > MOST_FEATURES:
        return [f"{len(names)} features; all numbers are in the model file."]
    columns = _columns(model)
    cells = ([column[name] for column in columns.values()] for name in range(len(names) + 1))
    knots = "; ".join(
        f"{features[j]} at {', '.join(map(_number, at))}" for j, at in model.splines.knots.items()
    )
    rows = zip(("(intercept)", *names), cells, strict=True)
    return [
        _READING,
        *[_TERMS, f"Knots, in SD from the mean: {knots}."] * bool(knots),
        Table.of_texts("", "", ("feature", *columns), [(name, *values) for name, values in rows]),
    ]


def _columns(model: RiskModel) -> dict[str, list[str]]:
    """Return the numbers of the model: of the intercept, of each feature and of spline terms."""
    scaler, outputs = model.scaler, model.classes[1:] if len(model.classes) == 2 else model.classes
    medians = np.append(scaler.median_, [np.nan] * len(scaler.flagged_))[scaler.kept_]
    numbers = {"replaces missing": medians, "mean": scaler.mean_, "SD": scaler.scale_}
    numbers |= {f"centre {j}": centre for j, centre in enumerate(model.centres, start=1)}
    columns = {
        what: ["", *map(_number, values), *[""] * model.splines.n_terms]
        for what, values in numbers.items()
    }
    planes = [part for part in model.parts if isinstance(part, Plane)]
    for j, plane in enumerate(planes, start=1):
        of = f" {j}" * bool(len(model.centres))
        for name, coef, intercept in zip(outputs, plane.coef, plane.intercept, strict=True):
            columns[f"coefficient{of}, {name}"] = [_number(intercept), *map(_number, coef)]
    return columns


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.6g}"


def _clusters(table: LabelledTable, model: "RiskModel | SubtypeRiskModel") -> Facts:
    if not model.n_subtypes:
        return {"cluster_number": ["The model has no clusters."]}
    method, arm = model.method, model.method["arm"]
    facts: Facts = {
        "cluster_number": [
            f"{model.n_subtypes} ({method['chosen']}); at most one for {EVENTS_A_CLUSTER} "
            "rows of the rarest class."
        ],
        "cluster_sizes": [_sizes(table, model)],
    }
    if arm == SUBTYPES:
        return joined(facts, usual_facts(arm))
    asked = f"{method['n_clusters']} clusters asked for"
    weight = f", alpha {method['alpha']:g}" * (arm == CAC)
    how = f"{arm_name(arm)} from ten starts of k-means, {asked}{weight}."
    return joined(facts, {"cluster_algorithm": [how]}, usual_facts(arm))


def _sizes(table: LabelledTable, model: "RiskModel | SubtypeRiskModel") -> Table:
    """Return the rows of each subtype by class."""
    counts = np.zeros((model.n_subtypes, len(table.classes)), dtype=np.int64)
    np.add.at(counts, (model.answers(table.features.X)[1] - 1, table.features.label), 1)
    rows = [(str(j), *map(Count, row)) for j, row in enumerate(counts.tolist(), start=1)]
    return Table.of_texts("", "", ("subtype", *table.classes), rows)
