"""The page that says whether clustering helps on a table, answer first."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from deepcac.judging.choice import CLUSTERED, DEFAULT, TUNED, choose, open_to
from deepcac.judging.contenders import CAC, KM
from deepcac.judging.questions import BEND, HELP, NEGATIVE
from deepcac.scoring.censored import observed_risk
from deepcac.scoring.small_cells import FEW, WITHHELD, format_count, format_percentage
from deepcac.table.answer import TABLE_QUESTIONS, Answer
from deepcac.table.budgeted_trials import FEWEST_RESAMPLES, TableEffort, Trials
from deepcac.table.column_differences import DIFFERENCE_HEAD, DIFFERENCE_NOTE, difference_lines
from deepcac.table.comparison_words import contender_name
from deepcac.table.found_subtypes import FoundClustering, Subtype
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.output_files import StrPath
from deepcac.table.pages.column_lines import HEAD, column_lines
from deepcac.table.pages.horizon_section import horizon_section, unseen_risks
from deepcac.table.pages.missing_values import missing_lines
from deepcac.table.pages.own_figures import forest, missingness, subtype_profile
from deepcac.table.pages.own_pages import METRICS, comparison_table, write_page
from deepcac.table.pages.risk_section import USUAL, RiskQuestions, risk_section
from deepcac.table.sample_sizes import (
    STUDY_NOTE,
    needed_patients,
    study_rows,
    study_sentence,
    study_size,
)

_WORDS = (
    (0.8, "stable"),
    (0.6, "moderately stable"),
    (-1.0, "unstable, so they are not described"),
)
_ALIKE = 0.99  # adjusted Rand index from which two clusterings are shown once


class RiskContent(NamedTuple):
    """What a page says of risks.

    Attributes
    ----------
    risks : dict or None
        Of `risk_section`; None at a horizon, and with three classes or more.
    horizon : dict or None
        Of `horizon_section`.
    sizes : dict or None
        How many patients are needed; None with three classes or more.
    """

    risks: dict[str, Any] | None
    horizon: dict[str, Any] | None
    sizes: dict[str, Any] | None


def write_compare_page(
    path: StrPath,
    table: LabelledTable,
    effort: TableEffort,
    trials: Trials,
    answer: Answer,
    clusterings: list[FoundClustering],
    command: str,
    asked: RiskQuestions = USUAL,
) -> RiskContent:
    """Write the page; return what it says of risks.

    `effort`, `trials`, `answer` and `clusterings` are what was asked for, run, concluded and found.
    """
    agreement = adjusted_rand_score(*(clustering.label for clustering in clusterings))
    shown = [clustering for clustering in clusterings if agreement < _ALIKE or clustering.arm == KM]
    held = trials.held_out
    n = len(table.features.label)
    described = [clustering for clustering in shown if _described(clustering)]
    on_risks = RiskContent(
        None if held is None else risk_section(table, held, answer, asked),
        horizon_section(table, trials, described, answer, asked),
        _sizes(table, trials, answer.best, asked),
    )
    content = {
        "command": command,
        "table": table,
        "shares": _shares(table),
        "answer": answer,
        "forest": forest(answer, (HELP, BEND, NEGATIVE)),
        "all_forest": forest(answer),
        "remarks": [*table.remarks, *_limits(trials)],
        "comparisons": comparison_table(answer.table, TABLE_QUESTIONS, contender_name),
        "scores": _scores(trials),
        "agreement": agreement,
        "differences_head": DIFFERENCE_HEAD,
        "differences_note": DIFFERENCE_NOTE,
        "clusterings": [_clustering(clustering, table) for clustering in shown],
        "classes": _classes(table),
        "columns": {"head": HEAD, "rows": column_lines(table.rows, table.columns)},
        "missing": missingness(table.columns, n),
        "handled": missing_lines(table, effort, trials),
        "method": how_judged(table, effort, trials),
        **on_risks._asdict(),
    }
    write_page(path, "compare.html", content)
    return on_risks


def _sizes(
    table: LabelledTable, trials: Trials, best: str, asked: RiskQuestions
) -> dict[str, Any] | None:
    """Return how many patients the best model needs, and a study that validates it.

    Net benefit of the study is that at the lowest threshold asked for; None with three classes or
    more.
    """
    if trials.held_out is not None:
        risk = trials.held_out.risk[best]
    elif table.follow is not None:
        judged = unseen_risks(table, trials.records, best)
        risk = np.concatenate([resample.risk for resample in judged])
    else:
        return None
    need, threshold = needed_patients(table), asked.thresholds[0] if asked.thresholds else None
    scores = choose(open_to(trials.records, best), TUNED, "auroc").scores
    study = study_size(risk, float(scores.mean()), threshold)
    return {
        "sentences": [need.sentence, study_sentence(study)],
        "head": ("criterion", "patients needed"),
        "rows": study_rows(study, threshold),
        "notes": [need.note, STUDY_NOTE],
    }


def _classes(table: LabelledTable) -> list[tuple[str, str, str]]:
    counts = np.bincount(table.features.label, minlength=len(table.classes))
    return [
        (name, format_count(count), format_percentage(count, counts.sum()))
        for name, count in zip(table.shown_classes, counts, strict=True)
    ]


def _shares(table: LabelledTable) -> str:
    if table.follow is not None:
        by = "Kaplan-Meier" if table.follow.other is None else "Aalen-Johansen"
        return f"{100 * observed_risk(table.follow)[0]:.1f} % {table.classes[1]}, {by}"
    lines = _classes(table)
    shown = lines[1:] if len(lines) == 2 else lines
    return ", ".join(f"{share} {name}" for name, _, share in shown)


def _limits(trials: Trials) -> list[str]:
    made = len(trials.seeds)
    remarks = []
    if trials.cut:
        remarks.append(
            f"Models were trained on {format_count(trials.trained_on)} rows, only a part of the "
            "training rows."
        )
    if made < trials.planned:
        remarks.append(
            f"Time ran out after {made} of {trials.planned} resamples; a larger --budget "
            "gives narrower intervals."
        )
    return remarks


def _scores(trials: Trials) -> dict[str, Any]:
    rows = []
    for name, record in trials.records.items():
        ways = (DEFAULT, TUNED, CLUSTERED) if record.arm else (DEFAULT, TUNED)
        candidates = open_to(trials.records, name)
        cells = [
            f"{choose(candidates, way, metric).scores.mean():.4f}"
            for metric in METRICS
            for way in ways
        ]
        if not record.arm:
            cells = [*cells[:2], "–", *cells[2:], "–"]
        rows.append((contender_name(name), *cells))
    ways = ("default", "tuned", "two clusters or more")
    head = ("model", *(f"{text}, {way}" for text in METRICS.values() for way in ways))
    return {"head": head, "rows": rows}


def _described(clustering: FoundClustering) -> bool:
    """Tell whether a clustering comes again on other rows."""
    return clustering.stability >= _WORDS[1][0]


def _clustering(clustering: FoundClustering, table: LabelledTable) -> dict[str, Any]:
    way = "CAC" if clustering.arm == CAC else "k-means"
    word = next(word for least, word in _WORDS if clustering.stability >= least)
    note = (
        f"We made these {len(clustering.subtypes)} clusters again on the training rows of "
        f"resamples; they agree with an adjusted Rand index of {clustering.stability:z.2f} "
        f"(1: always the same rows together, 0: chance): {word}. The models in them have a "
        "validation AUROC of "
        f"{clustering.validation:.3f}."
    )
    if clustering.arm == CAC:
        note += (
            f" CAC (alpha {clustering.alpha:g}) looks at the labels when it clusters, so outcomes "
            "here are not those that new rows of a subtype will have."
        )
    return {
        "title": f"{len(clustering.subtypes)} subtypes by {way}",
        "note": note,
        "head": ("subtype", "what sets it apart", "rows", "share", *table.shown_classes),
        "rows": [_subtype(subtype, len(clustering.label)) for subtype in clustering.subtypes],
        "described": _described(clustering),
        "figure": subtype_profile(clustering, table.shown_classes),
        "values_head": (
            "feature",
            *(f"subtype {subtype.number}" for subtype in clustering.subtypes),
        ),
        "differences": difference_lines(
            table,
            clustering.label,
            [f"subtype {subtype.number}" for subtype in clustering.subtypes],
        ),
        "medians": _values(clustering, table, [clustering.names[f] for f in clustering.telling]),
    }


def _subtype(subtype: Subtype, n: int) -> tuple[str, ...]:
    rates = (
        WITHHELD if np.isnan(rate) else f"{100 * rate:.0f} % ({100 * low:.0f} to {100 * high:.0f})"
        for rate, low, high in zip(subtype.rates, subtype.low, subtype.high, strict=True)
    )
    size = (format_count(subtype.size), format_percentage(subtype.size, n))
    return (str(subtype.number), subtype.name, *size, *rates)


def _values(
    clustering: FoundClustering, table: LabelledTable, names: list[str]
) -> list[tuple[str, ...]]:
    """Return the median of each number in each subtype, in its own unit; of a level its share.

    Of few values nothing is shown.
    """
    place = {name: j for j, name in enumerate(table.features.names)}
    lines = []
    for name in names:
        flag = name not in place  # a column of the table may itself be called ..._missing
        column = table.features.X[:, place[name.removesuffix("_missing") if flag else name]]
        column = np.isnan(column).astype(float) if flag else column
        level = flag or name in table.encoder.level_names
        cells = [
            column[(clustering.label == j) & ~np.isnan(column)]
            for j in range(len(clustering.subtypes))
        ]
        shown = [
            format_percentage(int(part.sum()), len(part))
            if level
            else WITHHELD
            if len(part) < FEW
            else _plain(float(np.median(part)))
            for part in cells
        ]
        lines.append((_spaced(name, table), *shown))
    return lines


def _plain(value: float) -> str:
    """Return a number without an exponent, with four digits or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _spaced(name: str, table: LabelledTable) -> str:
    return name.replace("=", " = ", 1) if name in table.encoder.level_names else name


def _numbers_tried(trials: Trials) -> str:
    """Say which numbers of clusters the trials have: "2, 3 or 5"."""
    numbers = {
        int(values["n_clusters"])
        for record in trials.records.values()
        for values in record.values
        if "n_clusters" in values
    }
    *others, last = map(str, sorted(numbers))
    return f"{', '.join(others)} or {last}" if others else last


def how_judged(table: LabelledTable, effort: TableEffort, trials: Trials) -> list[str]:
    """Return how the comparison was made, a paragraph each."""
    n = len(table.features.label)
    rows = "patients" if table.group is not None else "rows"
    return [
        f"{len(trials.seeds)} of {trials.planned} planned resamples (at least {FEWEST_RESAMPLES}), "
        f"seeds {trials.seeds[0]} to {trials.seeds[-1]}, in {trials.seconds:.0f} s, "
        f"{trials.jobs} at a time: 56 % of the {rows} for training (at most {trials.train_rows:,} "
        f"of {format_count(n)} rows), 19 % for choosing a trial, 25 % for the test. "
        "Numbers are imputed by the training median with a flag, and standardised on the training "
        "part; categories are one column per level.",
        f"Every model has {effort.trials} trials: the defaults, and random ones from a declared "
        "space. The same trial has the same values with and without clusters, but for the number "
        f"of clusters ({_numbers_tried(trials)}) and alpha of CAC. The trial is chosen on the "
        "validation rows; with clusters also among the trials without, so that no clusters is a "
        "choice.",
        "A model in each cluster: k-means; CAC, which also separates the classes inside a cluster; "
        "or one model that is given the distances to the k-means centres. Controls: random "
        "groups (each row goes to the nearest of some random rows), and a hash of the row.",
        "Beside them: logistic regression with cubic splines of each number (4 to 6 "
        "knots at quantiles of the training rows, straight beyond the last).",
        "Interval and test: Nadeau and Bengio 2003; adjusted by Holm 1979 inside each question. "
        "Equivalence: two one-sided tests at 5 %.",
    ]
