"""`deepcac power`: plant outcomes on a table, compare models as on the table, write the page."""

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

from deepcac.files.output_files import StrPath, check_output
from deepcac.judging.contenders import CAC, KM, Contender
from deepcac.judging.planted_outcomes import (
    TOLD,
    PlantingGround,
    held_out_risk,
    plant,
    planted_comparisons,
    planted_follow_up,
    planting_ground,
    with_true_subtype,
)
from deepcac.judging.questions import HELP, pairs
from deepcac.judging.resamples import resamples
from deepcac.judging.trial_record import TrialRecord
from deepcac.judging.trials import Effort, judge_samples
from deepcac.pages.figures import LINES, PALETTE, Figure
from deepcac.pages.sections import Section
from deepcac.pages.tables import Table
from deepcac.scoring.equivalence import BETTER, LEVEL, POWER
from deepcac.scoring.small_cells import Count, Text
from deepcac.scoring.statistics import wilson
from deepcac.table.answer import Answer, signed
from deepcac.table.budgeted_trials import (
    MOST_TRAIN,
    TableRun,
    contenders,
    in_time,
    linear,
    refuse_slow,
    usual_resamples,
)
from deepcac.table.cluster_answer import FEWEST_EVENTS
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.command_line.option_pairs import CLASSES, refuse_pairs
from deepcac.table.inference.labelled_table import LabelledTable, read_labelled
from deepcac.table.pages.page_sections import Page, method_section, write_page
from deepcac.table.sample_sizes import (
    HEAD,
    criteria,
    needed_patients,
    size_blocks,
    study_sentence,
    study_size,
)
from deepcac.types import Ids

STRENGTHS = (0.0, 0.25, 0.5, 0.8, 1.2, 2.0)
MOST_COHORTS, FEWEST_COHORTS = 20, 2
TRIALS = 2  # per model; fewer than in a comparison, so that there are more cohorts
WAYS = {f"{KM}_": "k-means", f"{CAC}_": "CAC", TOLD: "with the true subtypes"}
FOUND = "k-means or CAC"


def family_size() -> int:
    """Return the comparisons by which the first step of Holm's procedure divides the level."""
    return len(list(pairs(HELP, [contender.id for contender in contenders()])))


def run_planted(table: LabelledTable, run: TableRun) -> pd.DataFrame:
    """Test planted cohorts of every strength, cohort after cohort, until the time is over.

    The table has a label of two classes. At least `FEWEST_COHORTS` cohorts per strength are tested,
    however long they take.

    Returns
    -------
    DataFrame
        A row per cohort, strength and way: ``cohort``, ``strength``, ``gain`` (AUROC), ``way`` (of
        `WAYS`, or `FOUND`), ``mean`` (difference in AUROC) and ``detected``.
    """
    n = usual_resamples(table)
    ground = planting_ground(table.features, run.seed, table.follow, table.group)
    refuse_slow(
        run,
        partial(_judge, ground, (STRENGTHS[-1],), run.seed, 1, table.group),
        n,
        FEWEST_COHORTS * len(STRENGTHS),
    )
    cohorts = in_time(
        run,
        partial(_judge, ground, STRENGTHS, run.seed, n, table.group),
        MOST_COHORTS * len(STRENGTHS),
        FEWEST_COHORTS * len(STRENGTHS),
        "planted cohort",
    )
    return pd.DataFrame([row for rows in cohorts for row in rows])


def _judge(
    ground: PlantingGround,
    strengths: Sequence[float],
    first: int,
    n: int,
    unit: Ids | None,
    place: int,
) -> list[dict[str, Any]]:
    """Test one planted cohort on `n` resamples; return a row per way.

    All strengths of a cohort come before the next one.
    """
    seed, strength = first + place // len(strengths), strengths[place % len(strengths)]
    matrix, gain = plant(ground, strength, seed)
    follow = None
    if ground.follow is not None:
        follow = planted_follow_up(ground.follow, matrix.label, seed)
        matrix = replace(matrix, label=follow.outcome)
    alone, *clustered = (Contender(linear(), arm) for arm in ("", KM, CAC))
    with_truth = with_true_subtype(matrix, ground.subtype)
    records: dict[str, TrialRecord] = {}
    for before, rows, fighters in (("", matrix, [alone, *clustered]), (TOLD, with_truth, [alone])):
        drawn = resamples(rows, n, MOST_TRAIN, unit=unit, follow=follow)
        effort = Effort(n, n, 0, MOST_TRAIN, TRIALS, TRIALS)
        finished = judge_samples(drawn, fighters, effort)
        records |= {before + record.contender: record for record in finished}
    outcomes = [
        {
            **{"cohort": seed, "strength": strength, "gain": gain, "way": way},
            "mean": line["mean"],
            "detected": line["verdict"] == BETTER and line["p"] < LEVEL / family_size(),
        }
        for line in planted_comparisons(records, [HELP], 0.0)
        for before, way in WAYS.items()
        if line["contender"].startswith(before)
    ]
    clustered_only = [outcome for outcome in outcomes if outcome["way"] != WAYS[TOLD]]
    best = max(clustered_only, key=lambda outcome: (outcome["detected"], outcome["mean"]))
    return [*outcomes, {**best, "way": FOUND}]


def detection_curve(planted: pd.DataFrame) -> pd.DataFrame:
    """Return how often clusters are found, by way and strength, of `run_planted`.

    Its columns are ``way``, ``strength``, mean ``gain`` of the true subtypes, ``cohorts``, ``mean``
    difference found, and ``detected``: a share with its 95 % interval ``low`` to ``high`` (Wilson).
    """
    curve: pd.DataFrame = planted.groupby(["way", "strength"], as_index=False, sort=False).agg(
        gain=("gain", "mean"), cohorts=("cohort", "size"), mean=("mean", "mean"),
        detected=("detected", "mean"),
    )  # fmt: skip
    low, high = wilson(curve["detected"].to_numpy(float), curve["cohorts"].to_numpy())
    return curve.assign(low=low, high=high)


def largest_unseen(curve: pd.DataFrame) -> float:
    """Return the largest gain up to which even the upper end of the interval lies below 80 %.

    0 where no planted gain was missed so surely.
    """
    points = curve[curve["way"] == FOUND].sort_values("gain")
    missed = np.logical_and.accumulate(points["high"].to_numpy(float) < POWER)
    return float(points["gain"].to_numpy(float)[missed].max(initial=0.0))


def smallest_seen(curve: pd.DataFrame) -> float | None:
    """Return the gain from which on at least 80 % were found; None where there is none."""
    points = curve[curve["way"] == FOUND].sort_values("gain", ascending=False)
    seen = np.logical_and.accumulate(points["detected"].to_numpy(float) >= POWER)
    return float(points["gain"].to_numpy(float)[seen].min()) if seen.any() else None


def power_answer(table: LabelledTable, planted: pd.DataFrame) -> Answer:
    """Return the answer on detectable gains; its table is `detection_curve(planted)`."""
    curve = detection_curve(planted)
    unseen, seen, most = largest_unseen(curve), smallest_seen(curve), curve["gain"].max()
    n, events = len(table.features.label), int((table.features.label == 1).sum())
    whom = "rows" if table.group is not None else "patients"
    who = Text("With these {} {} and {} events", Count(n), whom, Count(events))
    if table.rarest < FEWEST_EVENTS:
        phrase = (
            f"no gain by clusters can be found: at least {FEWEST_EVENTS} rows of the rarer class "
            "are needed."
        )
    elif unseen == most > 0:
        phrase = (
            f"even the largest planted gain by clusters, {unseen:.3f} AUROC, could easily be "
            "missed."
        )
    elif unseen > 0:
        phrase = f"a gain by clusters below {unseen:.3f} AUROC could easily be missed."
    elif seen is not None:
        phrase = f"a gain by clusters of {seen:.3f} AUROC would probably be seen."
    else:
        phrase = (
            "it cannot be said yet which gain would be seen; more minutes (--budget) are needed."
        )
    cohorts = curve["cohorts"].min()
    details = [
        f"The largest planted gain, {most:.3f}, was found in fewer than 80 % of its cohorts."
        if seen is None
        else f"Planted gains of {seen:.3f} and more were found in at least 80 % of their cohorts.",
        "Missed means: found in fewer than 80 of 100 comparisons, by the rule of deepcac "
        "compare, even at the upper end of the 95 % interval.",
        f"It rests on {cohorts} planted cohorts of each of {curve['strength'].nunique()} "
        "strengths. The outcomes in them are synthetic; the columns are yours.",
    ]
    if cohorts < 10:
        details.append("With so few cohorts the answer is rough; a larger --budget makes more.")
    return Answer(Text("{} {}", who, phrase), details=details, table=curve)


def power_table(
    path: DescribedTable,
    out: StrPath,
    run: TableRun,
    *,
    r2: float | None = None,
) -> str:
    """Estimate the gain from clusters that a table can detect; write the page, return the answer.

    Parameters are those of `deepcac.table.comparing.compare_table`, but for `r2`: Cox and Snell's
    R2 of the model, for the sample size that it needs itself.

    Raises
    ------
    ConfigError, DataError
        The table is at fault, or its label has more than two classes.
    """
    check_output(out, path)
    run.progress(f"reading {path}")
    table = read_labelled(path, rows=run.rows, seed=run.seed)
    refuse_pairs(["power", *[CLASSES] * (len(table.classes) > 2)])
    need = needed_patients(table, r2)
    table.tell(run.say)
    begin = time.monotonic()
    result = power_answer(table, run_planted(table, run))
    seconds = time.monotonic() - begin
    study = study_size(*held_out_risk(table.features, table.follow, table.group))
    answer = replace(result, also=[need.sentence, study_sentence(study)])
    curve = answer.table
    rates = Table.of_texts("detected", "Detection rates", _HEAD, _rows(curve), n_labels=2)
    size = Table.of_texts("sample-size", "Sample size", HEAD, criteria(need.size))
    page = Page.of_table(
        table,
        answer,
        [detection_figure(curve), f"{table.name}; the event is {table.shown_classes[1]}"],
        [
            Section(
                "rates",
                "Detection rates",
                ["Synthetic outcomes on the real columns. Each cohort is one comparison.", rates],
            ),
            Section(
                "size",
                "Patients that the risk model itself needs, and a study that validates it",
                [size, *size_blocks(need, study)],
                "Sample size",
            ),
            method_section(_method(table, curve, seconds), "How it was made"),
        ],
        run.command,
        title=f"Which gain could {table.name} show?",
    )
    write_page(out, page, exact=run.exact)
    return " ".join((answer.sentence, *answer.also))


_HEAD = (
    *("model in clusters of", "planted gain", "cohorts", "mean gain found", "found"),
    "95 % interval",
)


def _rows(curve: pd.DataFrame) -> list[tuple[str, ...]]:
    ordered = curve.sort_values(["way", "gain"])
    return [
        (
            point["way"],
            f"{point['gain']:.4f}",
            str(point["cohorts"]),
            signed(point["mean"]),
            _percent(point["detected"]),
            f"{_percent(point['low'])} to {_percent(point['high'])}",
        )
        for point in ordered.to_dict("records")
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def detection_figure(curve: pd.DataFrame) -> Figure:
    """Draw how often a planted gain was found, with 95 % intervals, from `detection_curve`."""
    unseen = largest_unseen(curve)
    shown = (FOUND, *WAYS.values())
    curves = {way: curve[curve["way"] == way].sort_values("gain") for way in shown}

    def draw(canvas: Canvas) -> None:
        axis = canvas.subplots()
        axis.axhline(POWER, color="#888888", linewidth=0.8)
        for place, (way, points) in enumerate(curves.items()):
            style: Any = {"color": PALETTE[place], "linestyle": LINES[place % len(LINES)]}
            axis.plot(
                points["gain"], points["detected"], marker="o", markersize=4, label=way, **style
            )
        band = curves[FOUND]
        axis.fill_between(band["gain"], band["low"], band["high"], color=PALETTE[0], alpha=0.15)
        if unseen > 0:
            axis.axvline(unseen, color="#888888", linewidth=0.8, linestyle=":")
        axis.set(ylim=(-0.03, 1.03), xlabel="planted gain in AUROC", ylabel="share of cohorts")
        canvas.legend(loc="outside lower center", ncols=2)

    return Figure(
        id="detection",
        title="How often a planted gain was found",
        caption="A point is a strength of the planted subtypes. Band: 95 % interval for "
        f"{FOUND}. Grey line: 80 of 100; left of the dotted one gains are mostly missed.",
        size=(6.5, 4.0),
        draw=draw,
    )


_TIMED = (
    "Planted events are events by the horizon. Their times are drawn from the real ones, times to "
    "censoring from their Kaplan-Meier curve (and competing events as often as they are), so that "
    "each cohort loses patients as the real table does. Fits and AUROC are weighted for censoring."
)


def _method(table: LabelledTable, curve: pd.DataFrame, seconds: float) -> list[str]:
    return [
        "Two subtypes are the two k-means clusters of all rows: those that clusters find most "
        "easily. Real subtypes are harder to find, so this is the kindest case.",
        "The risk starts from a logistic regression of the real label, shrunk by its calibration. "
        "Three columns drawn at random then raise it in one subtype and lower it in the other. "
        "Outcomes are drawn anew in each cohort and are as frequent as the real one.",
        "Planted gain: the AUROC of a logistic regression that knows the subtypes, minus that of "
        "one that does not. Both are fitted to the true risks, so chance has no part in it.",
        f"Each cohort has {usual_resamples(table)} resamples with at most {MOST_TRAIN:,} training "
        f"rows, and {TRIALS} trials per model. A gain counts as found by the Nadeau and Bengio "
        f"2003 test with the first step of Holm's correction for {family_size()} comparisons.",
        "The models are logistic regressions. Boosting often misses even large planted subtypes.",
        f"{curve['cohorts'].min()} cohorts of each strength, in {seconds:.0f} s.",
        *[_TIMED] * (table.follow is not None),
    ]
