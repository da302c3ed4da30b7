"""The page that says whether clustering helps on a table, answer first."""

from deepcac.judging.choice import CLUSTERED, DEFAULT, TUNED, choose, open_to
from deepcac.pages.sections import Section
from deepcac.pages.tables import Table
from deepcac.scoring.small_cells import Count, Text
from deepcac.table.answer import Answer, contender_name, with_interval
from deepcac.table.budgeted_trials import FEWEST_RESAMPLES, TableRun, Trials
from deepcac.table.cluster_answer import TABLE_QUESTIONS, tuned_auroc
from deepcac.table.found_subtypes import FoundClustering
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.pages.column_tables import column_blocks
from deepcac.table.pages.page_sections import Page, method_section
from deepcac.table.pages.risk_section import USUAL, RiskQuestions, risk_section
from deepcac.table.pages.score_tables import (
    METRICS,
    comparison_forest,
    comparison_table,
    verdict_note,
)
from deepcac.table.pages.subtype_section import subtype_section
from deepcac.table.sample_sizes import size_section

TESTED = (
    "Interval and test: Nadeau and Bengio 2003; adjusted by Holm 1979 inside each question. "
    "Equivalence: two one-sided tests at 5 %."
)


def compare_page(
    table: LabelledTable,
    run: TableRun,
    trials: Trials,
    answer: Answer,
    clusterings: list[FoundClustering],
    asked: RiskQuestions = USUAL,
) -> Page:
    """Return the page on whether clusters help.

    `trials`, `answer` and `clusterings` are what was tried, concluded and found.
    """
    n, predictions = len(table.features.label), trials.predictions
    risks: list[Section] = []
    if predictions is not None:
        lowest = asked.thresholds[0] if asked.thresholds else None
        auroc = tuned_auroc(trials, answer.best)[:2]
        sizes = size_section(table, predictions.risk[answer.best], auroc, lowest)
        risks = [risk_section(table, predictions, answer, asked, [sizes])]
    about = Text("{}: {} rows, label {}", table.name, Count(n), table.label)
    return Page.of_table(
        table,
        answer,
        [comparison_forest(answer), about],
        [
            *risks,
            subtype_section(table, clusterings),
            Section("cohort", "Cohort", column_blocks(table.rows, table.columns)),
            _comparisons(answer, trials),
            method_section(how_tested(table, run, trials)),
        ],
        run.command,
        title=f"Does clustering help on {table.name}?",
        remarks=limits(trials),
    )


def _comparisons(answer: Answer, trials: Trials) -> Section:
    return Section(
        "comparison",
        "Every comparison",
        [
            verdict_note("no clusters"),
            comparison_table(answer.table, TABLE_QUESTIONS, contender_name),
            Section(
                "mean-scores",
                "Mean scores",
                [
                    "On the test rows of all resamples. Default: the first trial. Tuned: the trial "
                    "that is best on the validation rows, with the 95 % interval of its AUROC.",
                    _scores(trials),
                ],
            ),
        ],
    )


def limits(trials: Trials) -> list[str]:
    """Return what the time, and the number of training rows, left out."""
    made = len(trials.seeds)
    remarks: list[str] = []
    if trials.cut:
        remarks.append(
            Text(
                "Models were trained on {} rows, only a part of the training rows.",
                Count(trials.trained_on),
            )
        )
    if made < trials.planned:
        remarks.append(
            f"Time ran out after {made} of {trials.planned} resamples; a larger --budget "
            "gives narrower intervals."
        )
    return remarks


def _scores(trials: Trials) -> Table:
    ways = {DEFAULT: "default", TUNED: "tuned", CLUSTERED: "two clusters or more"}
    shown = [(metric, way) for metric in METRICS for way in ways]

    def cell(name: str, metric: str, way: str) -> str:
        if (metric, way) == ("auroc", TUNED):
            return with_interval(tuned_auroc(trials, name), 4)
        if way == CLUSTERED and not trials.records[name].arm:
            return "–"
        return f"{choose(open_to(trials.records, name), way, metric).scores.mean():.4f}"

    rows = [(contender_name(name), *(cell(name, *at) for at in shown)) for name in trials.records]
    head = ("model", *(f"{METRICS[metric]}, {ways[way]}" for metric, way in shown))
    return Table.of_texts("mean-scores", "Mean scores", head, rows)


def _numbers_tried(trials: Trials) -> str:
    """Describe which numbers of clusters the trials have: "2, 3 or 5"."""
    numbers = {
        int(values["n_clusters"])
        for record in trials.records.values()
        for values in record.values
        if "n_clusters" in values
    }
    *others, last = map(str, sorted(numbers))
    return f"{', '.join(others)} or {last}" if others else last


def how_resampled(table: LabelledTable, run: TableRun, trials: Trials) -> str:
    """Return how rows were drawn, and made ready for a model."""
    n, rows = len(table.features.label), "patients" if table.group is not None else "rows"
    return Text(
        "{} of {} planned resamples (at least {}), seeds {} to {}, in {:.0f} s, {} at a time: "
        "56 % of the {} for training (at most {:,} of {} rows), 19 % for choosing a trial, 25 "
        "% for the test. Numbers are imputed by the training median with a flag, and "
        "standardised on the training part; categories are one column per level.",
        *(len(trials.seeds), trials.planned, FEWEST_RESAMPLES, trials.seeds[0]),
        *(trials.seeds[-1], trials.seconds, run.at_once, rows, trials.train_rows, Count(n)),
    )


def how_tested(table: LabelledTable, run: TableRun, trials: Trials) -> list[str]:
    """Return how the comparison was made, a paragraph each."""
    return [
        how_resampled(table, run, trials),
        f"Every model has {run.trials} trials: the defaults, and random ones from a declared "
        "space. The same trial has the same values with and without clusters, but for the number "
        f"of clusters ({_numbers_tried(trials)}) and alpha of CAC. The trial is chosen on the "
        "validation rows; with clusters also among the trials without, so that no clusters is a "
        "choice.",
        "A model in each cluster: k-means; CAC, which also separates the classes inside a cluster; "
        "or one model that is given the distances to the k-means centres. Controls: random "
        "groups (each row goes to the nearest of some random rows), and a hash of the row.",
        "In addition: logistic regression with cubic splines of each number (4 to 6 "
        "knots at quantiles of the training rows, straight beyond the last).",
        TESTED,
    ]
