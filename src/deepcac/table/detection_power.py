"""`deepcac power`: plant outcomes on a table, judge them like the table, write the page."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from joblib import delayed
from matplotlib.figure import Figure as Canvas
from threadpoolctl import threadpool_limits

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
from deepcac.judging.trial_record import TrialRecord
from deepcac.judging.trials import Effort as Trials
from deepcac.judging.trials import judge_samples
from deepcac.pages.figures import LINES, PALETTE, Figure
from deepcac.pages.sections import Section
from deepcac.pages.tables import Table
from deepcac.scoring.equivalence import BETTER, LEVEL, POWER
from deepcac.scoring.sample_size import SampleSize
from deepcac.scoring.small_cells import Count, Text
from deepcac.scoring.statistics import wilson
from deepcac.scoring.validation_size import ValidationSize
from deepcac.table.answer import Answer, signed
from deepcac.table.budgeted_trials import (
    MOST_TRAIN,
    Say,
    TableRun,
    contenders,
    linear,
    refuse_budget,
    table_resamples,
    usual_resamples,
)
from deepcac.table.cluster_answer import FEWEST_EVENTS
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.command_line.option_pairs import CLASSES, refuse_pairs
from deepcac.table.inference.labelled_table import LabelledTable, read_labelled
from deepcac.table.output_files import StrPath, check_output
from deepcac.table.pages.page_sections import (
    Page,
    leak_warning,
    method_section,
    page_names,
    remarks_on,
    write_page,
)
from deepcac.table.sample_sizes import (
    HEAD,
    STUDY_NOTE,
    ModelNeed,
    needed_patients,
    study_rows,
    study_sentence,
    study_size,
)
from deepcac.table.worker_processes import workers

STRENGTHS = (0.0, 0.25, 0.5, 0.8, 1.2, 2.0)
MOST_COHORTS, FEWEST_COHORTS = 20, 2
TRIALS = 2  # per model; fewer than in a comparison, so that there are more cohorts
WAYS = {f"{KM}_": "k-means", f"{CAC}_": "CAC", TOLD: "with the true subtypes"}
FOUND = "k-means or CAC"


@dataclass(frozen=True)
class Protocol:
    """What each planted cohort is judged by.

    Attributes
    ----------
    resamples : int
        As many as a comparison of this table plans.
    tests : int
        Comparisons of a family: the first step of Holm's procedure divides by it.
    """

    resamples: int
    tests: int


@dataclass(frozen=True)
class PlantedRuns:
    """What became of the planted cohorts.

    Attributes
    ----------
    table : DataFrame
        A row a cohort, strength and way: ``cohort``, ``strength``, ``gain`` (AUROC), ``way`` (of
        `WAYS`, or `FOUND`), ``mean`` (difference in AUROC) and ``detected``.
    protocol : Protocol
    seconds : float
    """

    table: pd.DataFrame
    protocol: Protocol
    seconds: float

    @property
    def cohorts(self) -> int:
        """Cohorts of each strength."""
        return int(self.table["cohort"].nunique())


def protocol(table: LabelledTable) -> Protocol:
    """Return how a comparison of the table would judge it."""
    tests = list(pairs(HELP, [contender.id for contender in contenders()]))
    return Protocol(usual_resamples(table), len(tests))


def run_planted(
    table: LabelledTable, budget: float, jobs: int, seed: int, say: Say, *, strict: bool = False
) -> PlantedRuns:
    """Judge planted cohorts of every strength, cohort after cohort, until the time is over.

    The table has a label of two classes. At least `FEWEST_COHORTS` cohorts a strength are judged,
    however long they take; `jobs` at once. `strict` refuses a budget that would be overrun.
    """
    begin = time.monotonic()
    plan = protocol(table)
    ground = planting_ground(table.features, seed, table.follow, table.group)
    if strict:
        _, seconds = _judge(ground, STRENGTHS[-1], seed, Protocol(1, plan.tests), table.group)
        rounds = np.ceil(FEWEST_COHORTS * len(STRENGTHS) / jobs)
        refuse_budget(seconds * plan.resamples * rounds, budget)
    durations: list[float] = []

    def due() -> Iterator[tuple[float, int]]:
        """Yield cohorts, all strengths of one before the next, as long as there is time."""
        for cohort in range(MOST_COHORTS):
            ahead = len(STRENGTHS) * (float(np.mean(durations)) if durations else 0.0) / jobs
            over = time.monotonic() - begin + ahead > 60 * budget
            if cohort >= FEWEST_COHORTS and over:
                return
            yield from ((strength, cohort) for strength in STRENGTHS)

    pool = workers(jobs, pre_dispatch=jobs, return_as="generator")
    rows: list[dict[str, Any]] = []
    for cohort_rows, seconds in pool(
        delayed(_judge)(ground, strength, seed + cohort, plan, table.group)
        for strength, cohort in due()
    ):
        rows += cohort_rows
        durations.append(seconds)
        if len(durations) % len(STRENGTHS) == 0:
            say(f"planted cohort {len(durations) // len(STRENGTHS)} of at most {MOST_COHORTS}")
    return PlantedRuns(pd.DataFrame(rows), plan, time.monotonic() - begin)


def _judge(
    ground: PlantingGround, strength: float, seed: int, plan: Protocol, unit: Any
) -> tuple[list[dict[str, Any]], float]:
    """Judge one planted cohort with one thread; return a row a way, and the seconds."""
    begin = time.monotonic()
    with threadpool_limits(1):
        matrix, gain = plant(ground, strength, seed)
        follow = None
        if ground.follow is not None:
            follow = planted_follow_up(ground.follow, matrix.label, seed)
            matrix = replace(matrix, label=follow.outcome)
        effort = Trials(plan.resamples, plan.resamples, 0, MOST_TRAIN, TRIALS, TRIALS)
        fighters = [Contender(linear(), arm) for arm in ("", KM, CAC)]
        records: dict[str, TrialRecord] = {}
        for rows, who, before in (
            (matrix, fighters, ""), (with_true_subtype(matrix, ground.subtype), fighters[:1], TOLD),
        ):  # fmt: skip
            drawn = table_resamples(rows, plan.resamples, MOST_TRAIN, unit=unit, follow=follow)
            judged = judge_samples(drawn, who, effort)
            records |= {before + record.contender: record for record in judged}
    head = {"cohort": seed, "strength": strength, "gain": gain}
    outcomes = [
        {
            **head,
            "way": way,
            "mean": comparison["mean"],
            "detected": _detected(comparison, plan.tests),
        }
        for comparison in planted_comparisons(records, [HELP], 0.0)
        for before, way in WAYS.items()
        if comparison["contender"].startswith(before)
    ]
    clustered = [outcome for outcome in outcomes if outcome["way"] != WAYS[TOLD]]
    best = max(clustered, key=lambda outcome: (outcome["detected"], outcome["mean"]))
    return [*outcomes, {**best, "way": FOUND}], time.monotonic() - begin


def _detected(comparison: dict[str, Any], tests: int) -> bool:
    return bool(comparison["verdict"] == BETTER and comparison["p"] < LEVEL / tests)


def detection_curve(planted: pd.DataFrame) -> pd.DataFrame:
    """Return how often clusters are found, by way and strength, from `PlantedRuns.table`.

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


def power_answer(table: LabelledTable, runs: PlantedRuns) -> Answer:
    """Put what could be seen into words; the table of the answer is the `detection_curve`."""
    curve = detection_curve(runs.table)
    unseen, seen = largest_unseen(curve), smallest_seen(curve)
    n, events = len(table.features.label), int((table.features.label == 1).sum())
    whom = "rows" if table.group is not None else "patients"
    who = Text("With these {} {} and {} events", Count(n), whom, Count(events))
    if table.rarest < FEWEST_EVENTS:
        phrase = (
            f"no gain by clusters can be found: at least {FEWEST_EVENTS} rows of the rarer class "
            "are needed."
        )
    elif unseen > 0 and unseen == curve["gain"].max():
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
    gain = unseen or seen
    often = [] if gain is None else [_how_often(curve, gain)]
    details = [*often, *_details(table, runs, curve, seen)]
    return Answer(Text("{} {}", who, phrase), details=details, table=curve)


def _how_often(curve: pd.DataFrame, gain: float) -> str:
    """Say how often a planted gain was found, with its interval."""
    points = curve[curve["way"] == FOUND]
    point = points[points["gain"] == gain].iloc[0]
    times = round(float(point["detected"]) * int(point["cohorts"]))
    return (
        f"A gain of {gain:.3f} was found in {times} of {point['cohorts']} planted cohorts (95 % "
        f"interval {100 * point['low']:.0f} to {100 * point['high']:.0f} %)."
    )


def _details(
    table: LabelledTable, runs: PlantedRuns, curve: pd.DataFrame, seen: float | None
) -> list[str]:
    most = curve["gain"].max()
    sentences = [
        f"The largest planted gain, {most:.3f}, was found in fewer than 80 % of its cohorts."
        if seen is None
        else f"Planted gains of {seen:.3f} and more were found in at least 80 % of their cohorts.",
        "Not seen means: found in fewer than 80 of 100 comparisons, by the rule of deepcac "
        "compare, even at the upper end of the 95 % interval.",
        f"It rests on {runs.cohorts} planted cohorts of each of {curve['strength'].nunique()} "
        "strengths. The outcomes in them are synthetic; the columns are yours.",
    ]
    if runs.cohorts < 10:
        sentences.append("With so few cohorts the answer is rough; a larger --budget makes more.")
    return sentences


def power_table(
    path: DescribedTable,
    out: StrPath,
    run: TableRun,
    *,
    r2: float | None = None,
) -> str:
    """Say which gain by clusters a table could show, write the page and return the answer.

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
    runs = run_planted(table, run.budget, run.at_once, run.seed, run.progress, strict=run.strict)
    result = power_answer(table, runs)
    study = study_size(*held_out_risk(table.features, table.follow, table.group))
    answer = replace(result, also=[need.sentence, study_sentence(study)])
    write_page(out, _page(table, answer, need, study, runs, run.command), exact=run.exact)
    return " ".join((answer.sentence, *answer.also))


def _page(
    table: LabelledTable,
    answer: Answer,
    need: ModelNeed,
    study: ValidationSize | None,
    runs: PlantedRuns,
    command: str,
) -> Page:
    about = f"{table.name}; the event is {table.shown_classes[1]}"
    first = [*leak_warning(table), detection_figure(answer.table), about, *answer.details]
    rates = Table.of_texts("detected", "Detection rates", _HEAD, _rows(answer.table), n_labels=2)
    size = Table.of_texts("sample-size", "Sample size", HEAD, _criteria(need.size))
    title = "Sample size of a validation study"
    of_study = [Table.of_texts("study-size", title, HEAD, study_rows(study))] * (study is not None)
    timed = [_TIMED] if table.follow is not None else []
    return Page(
        f"Which gain could {table.name} show?",
        answer,
        [
            Section("answer", "Answer", [*first, *remarks_on(table.remarks)]),
            Section(
                "rates",
                "Detection rates",
                [
                    "Synthetic outcomes on the real columns. Each cohort is one comparison.",
                    rates,
                ],
            ),
            Section(
                "size",
                "Patients that the risk model itself needs, and a study that validates it",
                [size, need.note, *of_study, STUDY_NOTE],
                "Sample size",
            ),
            method_section([*_method(runs), *timed], "How it was made"),
        ],
        command,
        page_names(table),
    )


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


def _criteria(size: SampleSize) -> list[tuple[str, str]]:
    error = "not defined above 30 parameters"
    return [
        ("overall risk known within 0.05", f"{size.overall:,}"),
        (
            "a patient's risk off by 0.05 on average",
            error if size.average_error is None else f"{size.average_error:,}",
        ),
        ("effects shrunk by 10 % at most", f"{size.shrinkage:,}"),
        ("R2 too good by 0.05 at most", f"{size.optimism:,}"),
    ]


_TIMED = (
    "Planted events are events by the horizon. Their times are drawn from the real ones, times to "
    "censoring from their Kaplan-Meier curve (and competing events as often as they are), so that "
    "each cohort loses patients as the real table does. Fits and AUROC are weighted for censoring."
)


def _method(runs: PlantedRuns) -> list[str]:
    plan = runs.protocol
    return [
        "Two subtypes are the two k-means clusters of all rows: those that clusters find most "
        "easily. Real subtypes are harder to find, so this is the kindest case.",
        "The risk starts from a logistic regression of the real label, shrunk by its calibration. "
        "Three columns drawn at random then raise it in one subtype and lower it in the other. "
        "Outcomes are drawn anew in each cohort and are as frequent as the real one.",
        "Planted gain: the AUROC of a logistic regression that knows the subtypes, minus that of "
        "one that does not. Both are fitted to the true risks, so chance has no part in it.",
        f"Each cohort has {plan.resamples} resamples with at most {MOST_TRAIN:,} training "
        f"rows, and {TRIALS} trials per model. A gain counts as found by the Nadeau and Bengio "
        f"2003 test with the first step of Holm's correction for {plan.tests} comparisons.",
        "The models are logistic regressions. Boosting often misses even large planted subtypes.",
        f"{runs.cohorts} cohorts of each strength, in {runs.seconds:.0f} s.",
    ]
