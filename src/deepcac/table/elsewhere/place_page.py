"""The page that says whether clusters help in another place, answer first."""

from typing import Any, NamedTuple

import numpy as np

from deepcac.scoring.censored import observed_risk
from deepcac.scoring.equivalence import BETTER, NEVER
from deepcac.table.comparison_words import contender_name, signed
from deepcac.table.elsewhere.fold_trials import BEST, BOOTSTRAPS, JudgedFold
from deepcac.table.elsewhere.place_answer import Over, PlaceAnswer, PlaceVerdict, overall
from deepcac.table.elsewhere.place_figures import model_by_place, places_forest
from deepcac.table.elsewhere.place_risks import benefit_lines, place_risks, score_lines
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.output_files import StrPath
from deepcac.table.pages.column_lines import HEAD, column_lines
from deepcac.table.pages.own_pages import write_page
from deepcac.table.pages.place_pictures import benefit_panels, calibration_panels
from deepcac.table.pages.risk_section import RiskQuestions
from deepcac.table.pages.subgroup_risks import JudgedPart, subgroup_lines


class Run(NamedTuple):
    """How the comparison was made.

    Attributes
    ----------
    command : str
    heading : str
        What was judged: "Left out: each site in turn (column ...)", or the second table.
    apart : bool
        Whether the places are a second table, and no parts of the first.
    trials : int
        Draws a contender.
    seed : int
    most : int
        Largest number of training rows.
    seconds : float
    remarks : list of str
        What a reader must know beside those of the table.
    asked : RiskQuestions
    horizon : float or None
    """

    command: str
    heading: str
    apart: bool
    trials: int
    seed: int
    most: int
    seconds: float
    remarks: list[str]
    asked: RiskQuestions
    horizon: float | None = None


_TIMED = (
    "At the horizon every score is weighted by the inverse chance of being still followed, as "
    "learnt from the judged patients of a place, and anew in each bootstrap sample: AUROC(t) is "
    "the cumulative/dynamic one (Uno et al. 2007), Brier(t) that of Graf et al. (1999), slope "
    "and curve are weighted logistic regressions. Observed events are those of Kaplan and Meier "
    "(with competing events of Aalen and Johansen), also among the treated of a net benefit."
)


def write_place_page(
    path: StrPath,
    table: LabelledTable,
    patients: LabelledTable,
    judged: list[JudgedFold],
    answer: PlaceAnswer,
    run: Run,
) -> None:
    """Write the page; `patients` are those among whom the judged ones are."""
    thresholds, places = run.asked.five, place_risks(judged)
    by = _subgroups(patients, judged, run.asked, len(table.features.label) if run.apart else None)
    content = {
        "command": run.command,
        "table": table,
        "names": [fold.name for fold in judged],
        "heading": run.heading,
        "answer": answer,
        "forest": places_forest(judged, answer),
        "models": model_by_place(judged),
        "remarks": [*table.remarks, *run.remarks, *_cut(judged, run.most)],
        "places": _places(judged, answer.comparisons[BEST]),
        "scores": score_lines(judged),
        "horizon": None if run.horizon is None else f"{run.horizon:g}",
        "calibration": calibration_panels(places, table.shown_classes[1]) if places else None,
        "benefit": benefit_panels(places, thresholds) if places else None,
        "benefits": benefit_lines(judged, thresholds, run.seed),
        "by": by,
        "comparisons": _comparisons(answer),
        "columns": {"head": HEAD, "rows": column_lines(table.rows, table.columns)},
        "method": _method(judged, run),
    }
    write_page(path, "places.html", content)


def _cut(judged: list[JudgedFold], most: int) -> list[str]:
    sentence = f"More rows were there to learn from than the {most:,} that were used (at random)."
    return [sentence] * any(fold.cut for fold in judged)


def _places(judged: list[JudgedFold], over: Over) -> dict[str, Any]:
    rows = [
        (
            fold.name, place.word, *_difference(place), contender_name(comparison.reference),
            f"{comparison.reference_score:.3f}", contender_name(comparison.contender),
            f"{comparison.score:.3f}",
        )
        for fold, place in zip(judged, over.places, strict=True)
        for comparison in [fold.comparisons[BEST]]
    ]  # fmt: skip
    if over.whole is not None:
        rows.append(("all sites", over.whole.word, *_difference(over.whole), "", "", "", ""))
    head = (
        *("place", "verdict", "difference", "95 % interval"),
        *("without clusters", "AUROC", "with clusters", "AUROC"),
    )
    return {"head": head, "rows": rows}


def _difference(place: PlaceVerdict) -> tuple[str, str]:
    gap = place.difference
    if place.word == NEVER:
        return ("0", "")
    return signed(gap.mean, 4), f"{signed(gap.low, 4)} to {signed(gap.high, 4)}"


def _subgroups(
    patients: LabelledTable,
    judged: list[JudgedFold],
    asked: RiskQuestions,
    first: int | None = None,
) -> dict[str, Any] | None:
    """Return the table of subgroups.

    `first` is the row of a fold that is the first of these patients; None where they are those of
    the page's columns.
    """
    rows = [np.asarray(fold.model.row) - (first or 0) for fold in judged]
    everyone = np.concatenate(rows)
    parts = [
        JudgedPart(inside, fold.model.patients, fold.model.clustered)
        for inside, fold in zip(rows, judged, strict=True)
        if fold.model.patients is not None and fold.model.clustered is not None
    ]
    if asked.thresholds is not None:
        treated = asked.thresholds[0]
    elif patients.follow is not None:
        treated = observed_risk(patients.follow.take(everyone))[0]
    else:
        treated = float(patients.features.label[everyone].mean())
    return subgroup_lines(patients, parts, asked.by, treated)


def _comparisons(answer: PlaceAnswer) -> dict[str, Any]:
    """Return every contender minus its model alone: over all sites, or in the one place."""
    rows = []
    for key, over in answer.comparisons.items():
        if key == BEST:
            continue
        place = overall(over)
        better = sum(entry.word == BETTER for entry in over.places)
        outcome = ("not pooled", "", "") if place is None else (place.word, *_difference(place))
        cells = [contender_name(key), *outcome]
        if over.pooled is not None:
            ends = (over.pooled.new_low, over.pooled.new_high)
            new = "" if np.isnan(ends[0]) else " to ".join(signed(end, 4) for end in ends)
            cells += [new, f"{over.pooled.tau:.4f}", f"{better} of {len(over.places)}"]
        rows.append(tuple(cells))
    head = ["model", "verdict", "difference", "95 % interval"]
    several = any(over.pooled is not None for over in answer.comparisons.values())
    return {"head": (*head, *["in a new site", "tau", "better in"] * several), "rows": rows}


def _method(judged: list[JudgedFold], run: Run) -> list[str]:
    pooled = (
        "Over all sites: random effects with the variance of Paule and Mandel (tau is its root), "
        "the interval of Hartung, Knapp, Sidik and Jonkman, and a prediction interval with k - 2 "
        "degrees of freedom. Sites are adjusted by Holm 1979. The models of two sites share "
        "training rows, which this does not count."
    )
    return [
        f"{run.heading}. Every model has {run.trials} trials on three quarters of "
        f"the {'first table' if run.apart else 'other patients'} (at most {run.most:,} rows); the "
        f"last quarter tunes it. It is judged once, on patients that it has not seen. "
        f"Seed {run.seed}, {run.seconds:.0f} s.",
        f"Intervals: a paired bootstrap of the judged patients, {BOOTSTRAPS} times, rows of one "
        "patient together. They do not count that other training rows would give other models.",
        *([pooled] if len(judged) > 1 else []),
        "Equivalent: two one-sided tests at 5 % exclude a difference of the margin.",
        "Recalibrated: intercept and slope of the log odds are refitted on the judged patients "
        "(Cox 1958). This shows what a local update could do; it changes no AUROC and is no test.",
        *([_TIMED] if run.horizon is not None else []),
    ]
