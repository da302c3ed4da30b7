"""The card of a model of `deepcac fit`."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from deepcac.judging.contenders import CAC
from deepcac.scoring.small_cells import FEW, OTHERS, WITHHELD, Count, Text
from deepcac.table.answer import arm_name, contender_name
from deepcac.table.cards.model_card import table_lines
from deepcac.table.choice_folds import Candidate
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.local_models import BoostedTrees, Plane
from deepcac.table.risk_model import RiskModel
from deepcac.table.risk_model_choice import EVENTS_A_CLUSTER, SUBTYPES, method_lines
from deepcac.types import Ids

if TYPE_CHECKING:
    from deepcac.table.subtype_model import SubtypeRiskModel

_NAMES = {"": "no clusters", SUBTYPES: SUBTYPES}
_USUAL = {
    "measures": [
        "AUROC; with two classes calibration intercept, slope, and observed by expected events. "
        "Interval of the AUROC after Nadeau and Bengio 2003."
    ],
    "calculation": ["deepcac predict, or deepcac.load in Python; see 22."],
    "imbalance": ["No class was weighted or resampled, which would change the risks."],
    "output": ["A probability of each class. No threshold is set."],
    "answer": ["See 23a."],
    "objective": ["To develop a risk model, and to judge it on rows held out inside the table."],
}
_OUTCOME_INSIDE = (
    "Yes: the outcome took part in making the groups, so its rates in them are no evidence for "
    "them."
)
_OUTCOME_CHOSE = (
    "No; how many clusters there are was chosen by how well the outcome is predicted, unless asked."
)
_TERMS = (
    "Term i of a column with knots t1 to tk (restricted cubic splines) is p(ti) - p(tk-1) (tk - "
    "ti) / (tk - tk-1) + p(tk) (tk-1 - ti) / (tk - tk-1), over (tk - t1)^2, where p(t) is the cube "
    "of the value minus t, and 0 below t."
)
MOST_FEATURES = 200  # in the table of the full model
_READING = (
    "Each feature is standardised by its mean and SD, then cut as 12c says. The risk is the "
    "logistic function of intercept plus coefficients times features (softmax for three classes or "
    "more). With clusters the nearest centre decides, by standardised values cut at 5 SD. What "
    f"is of fewer than {FEW} patients is withheld here, and stands in the model file."
)


def fit_facts(
    table: LabelledTable,
    model: "RiskModel | SubtypeRiskModel",
    seed: int,
    name: str,
    tried: Sequence[Candidate],
) -> dict[str, list[str]]:
    """Return the lines of a card that hold for one fitted model.

    `seed` is that of the first resample, `name` what the model is in words, and `tried` what it
    was chosen from.
    """
    n, rarest = len(table.features.label), table.rarest
    performance = method_lines(model.method)
    warned = [line for line in performance if line.startswith("warning")]
    return {
        **_USUAL,
        "title": [f"A risk model of {model.label!r} on {table.name!r}."],
        "partition": [_partition(model, seed)],
        "model": [name, *_settings(model), "Settings tried:", *_tried(tried)],
        "development": [Text("{} rows, {} of the rarest class.", Count(n), Count(rarest))],
        "specification": _specification(table, model),
        "performance": [line for line in performance if line not in warned],
        "calibration": _calibration(model.method["held_out"]),
        "limitations": warned,
        **_clusters(table, model),
    }


def _partition(model: "RiskModel | SubtypeRiskModel", seed: int) -> str:
    """Say on which rows such models are judged."""
    parts = f"{model.method['held_out']['parts']:.0f}"
    if model.method["arm"] == SUBTYPES:
        rows = f"{parts} resamples (from seed {seed}), stratified: 75 % of the rows to learn from, "
        rows += "25 % for the test."
    else:
        rows = (
            f"{parts} folds (seed {seed}), stratified. Models for a fold are chosen by the same "
            "rule only on the other folds, so that neither a model nor its choice has seen the "
            "rows that it is judged on."
        )
    return f"{rows} The model itself is fitted on all rows."


def _tried(tried: Sequence[Candidate]) -> list[str]:
    rows = [
        (
            SUBTYPES if candidate.arm == SUBTYPES else contender_name(candidate.learner),
            _NAMES.get(candidate.arm) or arm_name(candidate.arm),
            json.dumps(candidate.values, sort_keys=True),
        )
        for candidate in tried
    ]
    return table_lines(("model", "clusters", "values"), rows)


def _calibration(held_out: dict[str, float]) -> list[str]:
    if "calibration_slope" not in held_out:
        return []
    rows = [
        (
            what,
            f"{held_out[name]:z.2f}",
            f"{held_out[f'{name}_low']:z.2f} to {held_out[f'{name}_high']:z.2f}",
            right,
        )
        for what, name, right in (
            ("intercept", "calibration_intercept", "0"),
            ("slope", "calibration_slope", "1"),
            ("observed by expected events", "observed_by_expected", "1"),
        )
    ]
    head = ("on held-out rows", "value", "95 % interval", "is right")
    return [
        *table_lines(head, rows),
        "Intervals are by drawing patients again; the models stay as they are.",
    ]


def _settings(model: "RiskModel | SubtypeRiskModel") -> list[str]:
    if isinstance(model, RiskModel):
        method = model.method
        if model.boosted:
            return [f"Values of the trees: {json.dumps(method['trees'], sort_keys=True)}."]
        clip = "none" if method["clip"] is None else f"{method['clip']:g} standard deviations"
        return [f"Ridge penalty C {method['C']:g}; cut of far values: {clip}."]
    settings = ", ".join(f"{k}={v}" for k, v in sorted(model.estimator.get_params().items()))
    return [f"Settings: {settings}; best epoch {model.estimator.best_epoch_}."]


def _specification(table: LabelledTable, model: "RiskModel | SubtypeRiskModel") -> list[str]:
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
    outputs = model.classes[1:] if len(model.classes) == 2 else model.classes
    told = _spreads(table, model) | _centres(table, model)
    columns = {what: [*cells, *[""] * model.splines.n_terms] for what, cells in told.items()}
    first = dict.fromkeys(columns, "")
    secret = np.any(OTHERS.is_few(_counts(table, model)), axis=1)
    planes = [part for part in model.parts if isinstance(part, Plane)]
    for j, plane in enumerate(planes):
        of = f" {j + 1}" if len(model.centres) else ""
        shares = not plane.coef.any()  # the intercept then tells the classes of the cluster
        for name, coef, intercept in zip(outputs, plane.coef, plane.intercept, strict=True):
            columns[f"coefficient{of}, {name}"] = [*map(_number, coef)]
            hide = bool(shares and secret[j])
            first[f"coefficient{of}, {name}"] = _withheld(intercept, hide)
    rows = zip(names, *columns.values(), strict=True)
    return [
        _READING,
        *_knots(model, list(features)),
        *table_lines(("feature", *columns), [("(intercept)", *first.values()), *rows]),
    ]


def _knots(model: RiskModel, names: list[str]) -> list[str]:
    """Return the formula of the terms of splines, and their knots."""
    if not model.splines.knots:
        return []
    listed = "; ".join(
        f"{names[j]} at {', '.join(map(_number, at))}" for j, at in model.splines.knots.items()
    )
    return [_TERMS, f"Knots, in SD from the mean: {listed}."]


def _shares(model: RiskModel) -> npt.NDArray[np.bool_]:
    """Return which of the model's features are the share of a level, or of missing values."""
    names, levels = model.encoder.names, model.encoder.level_names
    features = np.flatnonzero(model.scaler.kept_)
    return np.array([j >= len(names) or names[j] in levels for j in features])


def _spreads(table: LabelledTable, model: RiskModel) -> dict[str, list[str]]:
    """Return median, mean and SD of each feature; of few patients or values none is shown."""
    scaler, lone = model.scaler, _lone(table, model)
    medians = [*map(_number, scaler.median_), *([""] * len(scaler.flagged_))]
    rows = scaler.mean_ * len(table.features.label)
    few = _shares(model) & (np.minimum(rows, len(table.features.label) - rows) < FEW - 0.5)
    statistics = {
        "replaces missing": ([medians[j] for j in np.flatnonzero(scaler.kept_)], lone),
        "mean": ([*map(_number, scaler.mean_)], few | lone),
        "SD": ([*map(_number, scaler.scale_)], few | lone),
    }
    return {
        what: [
            Text.of(WITHHELD if no else text, text) for text, no in zip(texts, hidden, strict=True)
        ]
        for what, (texts, hidden) in statistics.items()
    }


def _lone(table: LabelledTable, model: RiskModel) -> npt.NDArray[np.bool_]:
    """Return which features are a number that few rows have."""
    lone = np.isfinite(table.features.X).sum(axis=0) < FEW
    return np.append(lone, np.zeros(len(model.scaler.flagged_), np.bool_))[model.scaler.kept_]


def _centres(table: LabelledTable, model: RiskModel) -> dict[str, list[str]]:
    """Return each centre; not that of few rows, nor a share in it that tells of few patients."""
    scaler, X = model.scaler, table.features.X
    if not len(model.centres):
        return {}
    inside = np.eye(len(model.centres))[model.answers(X)[1] - 1].T
    sizes = inside.sum(axis=1)
    held = np.rint(inside @ (scaler.transform(X) * scaler.scale_ + scaler.mean_))
    hidden = (sizes[:, None] < FEW) | _lone(table, model)
    for f in np.flatnonzero(_shares(model)):
        hidden[:, f] |= OTHERS.is_few(held[:, f]) | OTHERS.is_few(sizes - held[:, f])
    return {
        f"centre {j}": [_withheld(v, no) for v, no in zip(centre, mask, strict=True)]
        for j, (centre, mask) in enumerate(zip(model.centres, hidden, strict=True), start=1)
    }


def _number(value: float) -> str:
    return f"{value:.6g}"


def _withheld(value: float, hidden: bool) -> Text:
    """Return a number of the model; others do not see one of few patients."""
    return Text.of(WITHHELD if hidden else _number(value), _number(value))


def _clusters(table: LabelledTable, model: "RiskModel | SubtypeRiskModel") -> dict[str, list[str]]:
    if not model.n_subtypes:
        return {"cluster_number": ["The model has no clusters."]}
    cluster_lines = _by_risk() if model.method["arm"] == SUBTYPES else _by_place(model.method)
    return {
        **cluster_lines,
        "cluster_scaling": ["Standardised; values beyond 5 SD are cut."],
        "cluster_number": [
            f"{model.n_subtypes} ({model.method['chosen']}); at most one for {EVENTS_A_CLUSTER} "
            "rows of the rarest class."
        ],
        "cluster_sizes": _sizes(table, model),
        "cluster_limits": [
            "That these groups exist in other patients, that they have a cause, or that they make "
            "the model better; deepcac compare asks the last."
        ],
    }


def _by_risk() -> dict[str, list[str]]:
    """Return what holds for subtypes by what raises the risk."""
    return {
        "cluster_variables": ["What each used column adds to the risk, by the model's networks."],
        "cluster_outcome": [_OUTCOME_INSIDE],
        "cluster_algorithm": ["k-means on the contributions, ten starts; soft gates."],
        "cluster_assignment": ["The centre that is nearest to the contributions of a row."],
    }


def _by_place(method: dict[str, Any]) -> dict[str, list[str]]:
    """Return what holds for clusters of the columns themselves."""
    cac = method["arm"] == CAC
    return {
        "cluster_variables": ["All used columns."],
        "cluster_outcome": [_OUTCOME_INSIDE if cac else _OUTCOME_CHOSE],
        "cluster_algorithm": [
            f"{arm_name(method['arm'])} from ten starts of k-means, {method['n_clusters']} "
            "clusters "
            "asked for" + (f", alpha {method['alpha']:g}." if cac else ".")
        ],
        "cluster_assignment": ["The centre that is nearest to the standardised row."],
    }


def _sizes(table: LabelledTable, model: "RiskModel | SubtypeRiskModel") -> list[str]:
    """Return the rounded rows of each subtype by class."""
    counts = _counts(table, model)
    rows = [(str(j), *map(Count, class_counts)) for j, class_counts in enumerate(counts, start=1)]
    return table_lines(("subtype", *table.classes), rows)


def _counts(table: LabelledTable, model: "RiskModel | SubtypeRiskModel") -> Ids:
    """Return the rows of each subtype (one without any) by class."""
    subtype = model.answers(table.features.X)[1] - 1
    counts = np.zeros((max(model.n_subtypes, 1), len(table.classes)), dtype=np.int64)
    np.add.at(counts, (subtype, table.features.label), 1)
    return counts
