"""`deepcac audit`: read, judge the groups, write the page, answer first."""

from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure as Canvas
from threadpoolctl import threadpool_limits

from deepcac.pages.figures import PALETTE, Figure
from deepcac.pages.sections import Block, Remarks, Section
from deepcac.pages.tables import Table
from deepcac.pages.wording import p_text
from deepcac.scoring.censored import FollowUp, observed_risk
from deepcac.scoring.small_cells import (
    FEW,
    OTHERS,
    WITHHELD,
    Count,
    OfSome,
    Rate,
    Rule,
    Share,
    Text,
    withheld,
)
from deepcac.scoring.statistics import independent_rows
from deepcac.table.answer import Answer, signed
from deepcac.table.audit.beyond_risk import FOLDS, BeyondRisk, beyond_risk
from deepcac.table.audit.group_answer import answer_groups, model_name
from deepcac.table.audit.group_column import RESAMPLES, Assignable, Groups, assignable, read_groups
from deepcac.table.audit.group_contenders import (
    HELP,
    KMEANS,
    NEGATIVE,
    NEW,
    QUESTIONS,
    GroupFit,
    group_contenders,
)
from deepcac.table.budgeted_trials import TableRun, Trials, run_budgeted
from deepcac.table.cluster_answer import rows_of
from deepcac.table.columns.cell_texts import uniform
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.inference.labelled_table import LabelledTable, read_labelled
from deepcac.table.output_files import StrPath, check_output
from deepcac.table.pages.column_tables import DIFFERENCE_HEAD, DIFFERENCE_NOTE, difference_lines
from deepcac.table.pages.comparison_tables import (
    Line,
    comparison_table,
    differences_forest,
    verdict_note,
)
from deepcac.table.pages.page_sections import (
    Page,
    leak_warning,
    method_section,
    page_names,
    remarks_on,
    write_page,
)
from deepcac.types import Array, Ids

HEAD = (
    *("group", "rows", "share", "outcome (95 % interval)"),
    *("expected without the groups", "risk, 10 to 90 %"),
)
_HEADINGS = {
    HELP: "With the groups, minus the same model without",
    NEW: "Groups read from the columns, minus without",
    KMEANS: "With the groups, minus k-means with as many",
    NEGATIVE: "Control: random groups, minus without",
}


class GroupLine(NamedTuple):
    """One group.

    Attributes
    ----------
    name : str
        `UNNAMED` of few rows.
    size : int
        Rows.
    rate : Rate
        Of the outcome.
    expected : float
        Mean risk.
    inner : tuple of float
        Tenth and ninetieth percentile of the risk.
    """

    name: str
    size: int
    rate: Rate
    expected: float
    inner: tuple[float, float]

    def hidden(self, rule: Rule = OTHERS) -> bool:
        """Tell whether its outcome is withheld, as that of few patients is."""
        return bool(np.isnan(self.rate.under(rule)[0]))


UNNAMED = "(a group of few rows)"


def group_lines(
    groups: Groups,
    y: Ids,
    risk: Array,
    follow: FollowUp | None = None,
    unit: Ids | None = None,
) -> tuple[list[GroupLine], int]:
    """Return the groups from the largest, and the class whose share is shown.

    It is the positive one of two classes, of more the rarest. `risk` is of shape (n, n_classes).
    With `follow` the share is the risk at its horizon (`observed_risk`). `unit` tells whose row
    each row is, where patients have several.
    """
    event = 1 if risk.shape[1] == 2 else int(np.bincount(y).argmin())
    counts = np.zeros((groups.k, risk.shape[1]), dtype=np.int64)
    np.add.at(counts, (groups.code, y), 1)
    sizes = counts.sum(axis=1)
    patients = independent_rows(groups.code, unit)
    lines = []
    for j in np.argsort(-sizes, kind="stable").tolist():
        inside, size = groups.code == j, int(sizes[j])
        name = OfSome(groups.names[j], size, instead=UNNAMED)
        at_horizon = None if follow is None else observed_risk(follow.take(inside))
        rate = Rate(int(counts[j, event]), size, int(patients[j]), risk=at_horizon)
        low, high = np.quantile(risk[inside, event], (0.1, 0.9)).tolist()
        lines.append(GroupLine(name, size, rate, float(risk[inside, event].mean()), (low, high)))
    return lines, event


def shown_lines(lines: list[GroupLine], n: int) -> list[tuple[str, ...]]:
    """Return `HEAD` for each group of `n` rows."""
    return [
        (
            line.name,
            Count(line.size),
            Share(line.size, n),
            line.rate.text,
            *_risks(line),
        )
        for line in lines
    ]


def _risks(line: GroupLine) -> list[Text]:
    """Return mean and tenths of the risk, the second where `FEW` rows lie beyond each."""
    mean, low, high = (100 * risk for risk in (line.expected, *line.inner))
    cells = f"{mean:.1f} %", OfSome(f"{low:.1f} to {high:.1f} %", line.size, 10 * FEW)
    return [withheld(cell, line.hidden) for cell in cells]


def groups_forest(answer: Answer) -> Figure:
    """Draw the differences in AUROC with their 95 % intervals."""
    panels = {
        heading: [
            Line.of(_short(row["contender"]), row)
            for row in rows_of(answer.table, question).to_dict("records")
        ]
        for question, heading in _HEADINGS.items()
    }
    return differences_forest("groups_forest", panels)


def _short(contender: str) -> str:
    name = model_name(contender)
    model, _, rest = name.partition(",")
    form = rest[rest.rindex("(") + 1 : -1]
    return f"{model.removesuffix(' (scikit-learn)')}, {form}"


def risk_by_group(lines: list[GroupLine], event: str, rule: Rule = OTHERS) -> Figure:
    """Draw the share of an outcome in each group, and the risk that a model without it expects."""

    def draw(canvas: Canvas) -> None:
        axis = canvas.subplots()
        for place, line in enumerate(lines):
            if line.hidden(rule):
                axis.text(0.02, place, WITHHELD, va="center", fontsize=8)
                continue
            if line.size >= 10 * rule.few:
                axis.plot(line.inner, [place] * 2, color="#c7ccd3", linewidth=6,
                          solid_capstyle="butt")  # fmt: skip
            axis.plot(line.expected, place, "|", color="#1c2430", markersize=12)
            rate, low, high = line.rate.under(rule)
            ends = [[rate - low], [high - rate]]
            axis.errorbar(rate, place, xerr=ends, fmt="o", color=PALETTE[0], markersize=5)
        axis.plot([], [], "o", color=PALETTE[0], label=f"share of {event}")
        axis.plot([], [], "|", color="#1c2430", markersize=10, label="expected without the groups")
        axis.plot([], [], color="#c7ccd3", linewidth=6, label="risk of 80 % of the group")
        axis.set_yticks(range(len(lines)), [rule.show(line.name) for line in lines])
        axis.set(ylim=(len(lines) - 0.5, -0.6), xlim=(0, 1), xlabel=f"share of {event}")
        canvas.legend(loc="outside lower center", ncols=3)

    return Figure(
        id="risk_by_group",
        title="Outcome and risk by group",
        caption="Dots: the outcome with its 95 % interval. Strokes: the mean risk by a model "
        "without the groups, on rows that it has not seen. Bars: from the tenth to the "
        "ninetieth percentile of this risk. Withheld: groups of few rows or events.",
        size=(6.4, 1.4 + 0.34 * len(lines)),
        draw=draw,
    )


_UNSEEN = (
    "A column cannot say how it was made. If the outcome, or rows that are tested here, took part "
    "in making the groups, their gain is too good. What was checked: whether the groups by "
    "themselves predict the label; whether they say more than all other columns; and whether their "
    "gain stays when held-out rows get their group only from the other columns. Groups made with "
    "the outcome of few rows can pass all three. The one safe way is to make them again on "
    "training rows, and to assign the test rows by a stated rule."
)


def audit_table(
    path: DescribedTable,
    groups_column: str,
    out: StrPath,
    run: TableRun,
) -> str:
    """Judge whether a column of groups is of use, write the page and return the answer.

    `groups_column` is no feature; the other parameters are those of
    `deepcac.table.comparing.compare_table`. A table or column at fault is a `DataError`.
    """
    check_output(out, path)
    groups_column = uniform(groups_column)
    say, seed = run.say, run.seed
    run.progress(f"reading {path}")
    table = read_labelled(path, rows=run.rows, seed=seed, apart={groups_column: "the groups"})
    groups = read_groups(table, groups_column)
    table.tell(say)
    for remark in groups.remarks():
        say(remark)
    trials = run_budgeted(table, run, group_contenders(groups.k), GroupFit(groups))
    run.progress("can a new patient be given a group?")
    with threadpool_limits(1):  # threads of small trees wait for each other on a busy machine
        assigned = assignable(table, groups, seed)
    run.progress("do the groups say more than the risk?")
    beyond = beyond_risk(table, groups, seed, run.at_once)
    rare = (table.rarest, table.rare_rows)
    result = answer_groups(trials, table.name, rare, assigned, beyond)
    parts = (run, trials, assigned, beyond)
    write_page(out, _page(table, groups, result, parts, run.command), exact=run.exact)
    return "\n".join((result.sentence, *result.also))


def _page(
    table: LabelledTable,
    groups: Groups,
    answer: Answer,
    parts: tuple[TableRun, Trials, Assignable, BeyondRisk],
    command: str,
) -> Page:
    run, trials, assigned, beyond = parts
    n, title = len(table.features.label), f"Are the groups {groups.column} of use?"
    return Page(
        title,
        answer,
        [
            _first(table, groups, answer, trials),
            _group_section(table, groups, beyond),
            Section(
                "stable",
                "Can a new patient be given a group?",
                [
                    "A model of the training rows predicts the group of held-out rows from the "
                    "other columns. Groups are of use for a new patient only if they can be "
                    "predicted.",
                    Table.of_texts("assigned", "Assignment", _ASSIGNED_HEAD, _assigned(assigned)),
                ],
                "Assignment",
            ),
            Section(
                "risk",
                "Do the groups say more than the risk?",
                [
                    "The risk is that of a model that does not know the groups, on rows that it "
                    "has not seen.",
                    Table.of_texts("beyond", "Beyond the risk", ("measure", "value"), _beyond(
                        beyond, robust=table.follow is not None or table.group is not None
                    )),
                ],
                "Beyond the risk",
            ),
            Section(
                "comparison",
                "Every comparison",
                [
                    verdict_note("no groups"),
                    comparison_table(answer.table, QUESTIONS, model_name),
                ],
            ),
            method_section([*_method(run, trials, n), *_rows_as_patients(table)]),
        ],
        command,
        page_names(table),
    )  # fmt: skip


def _first(table: LabelledTable, groups: Groups, answer: Answer, trials: Trials) -> Section:
    n = len(table.features.label)
    about = Text(
        "{}: {} rows, label {}, {} groups of column {}",
        *(table.name, Count(n), table.label, groups.k, groups.column),
    )
    text = "Models learnt from {} rows at a time, of {}."
    cut = Text(text, Count(trials.trained_on), Count(n))
    warned: list[Block] = [Remarks(answer.warnings, warning=True)] if answer.warnings else []
    remarks = [*[cut] * trials.cut, *table.remarks, *groups.remarks()]
    return Section(
        "answer",
        "Answer",
        [
            *leak_warning(table),
            groups_forest(answer),
            about,
            *warned,
            *answer.details,
            Section("unseen", "What cannot be seen here", [_UNSEEN]),
            *remarks_on(remarks),
        ],
    )


def _group_section(table: LabelledTable, groups: Groups, beyond: BeyondRisk) -> Section:
    lines, event = group_lines(groups, table.features.label, beyond.risk, table.follow, table.group)
    shown = shown_lines(lines, len(table.features.label))
    blocks: list[Block] = [
        partial(risk_by_group, lines, table.shown_classes[event]),
        Table.of_texts("groups", "The groups", HEAD, shown),
    ]
    differences = difference_lines(table, groups.code, groups.names)
    if differences:
        gaps = Table.of_texts(
            "differences", "Standardised differences", DIFFERENCE_HEAD, differences
        )
        heading = "In which columns the groups differ"
        blocks.append(Section("differ", heading, [gaps, DIFFERENCE_NOTE]))
    return Section("groups", "The groups", blocks)


def _rows_as_patients(table: LabelledTable) -> list[str]:
    """Say that intervals of observed risks do not know which rows are of one patient."""
    if table.follow is None or table.group is None:
        return []
    return [
        "The intervals of observed risks at the horizon take every row for a patient, so they are "
        "too narrow where patients have several rows."
    ]


_ASSIGNED_HEAD = ("measure", "held-out rows", "by chance")


def _assigned(assigned: Assignable) -> list[tuple[str, str, str]]:
    return [
        (
            "share of rows that get their group", f"{assigned.accuracy:.3f}",
            f"{assigned.accuracy_by_chance:.3f}; the largest group {assigned.largest:.3f}",
        ),
        (
            "adjusted Rand index", f"{assigned.agreement:z.3f}",
            f"{assigned.agreement_by_chance:z.3f}",
        ),
    ]  # fmt: skip


def _beyond(beyond: BeyondRisk, *, robust: bool) -> list[tuple[str, str]]:
    span = f"{signed(beyond.gain, 4)} ({signed(beyond.low, 4)} to {signed(beyond.high, 4)})"
    return [
        ("AUROC of only the groups, on held-out rows", f"{beyond.alone:.3f}"),
        ("AUROC of the model without the groups, on held-out rows", f"{beyond.auroc:.3f}"),
        ("gain in log loss per row by the groups, given the risk, on held-out rows", span),
        (
            f"{'robust Wald statistic' if robust else 'likelihood ratio'} of the groups, given "
            "the risk",
            "not computed: rows of one patient, and three classes or more"
            if np.isnan(beyond.p)
            else f"{beyond.chi2:.1f} with {beyond.freedom} degrees of freedom, p "
            f"{p_text(beyond.p)}",
        ),
        ("variance of the risk (log odds) between groups", f"{100 * beyond.between:.1f} %"),
        ("variance of the risk (log odds) inside groups", f"{100 * (1 - beyond.between):.1f} %"),
    ]


def _method(run: TableRun, trials: Trials, n: int) -> list[str]:
    return [
        Text(
            "{} of {} planned resamples, seeds {} to {}, in {:.0f} s: 56 % of the rows for "
            "training (at most {:,} of {} rows), 19 % for choosing a trial, 25 % for the test.",
            *(len(trials.seeds), trials.planned, trials.seeds[0], trials.seeds[-1]),
            *(trials.seconds, trials.train_rows, Count(n)),
        ),
        f"Every model has {run.trials} trials; a model with the groups may also choose "
        "a trial without them. It has one column per group, or for logistic regression a model in "
        "each group.",
        "Controls: random groups of the same sizes; neighbours of random patients, with "
        "weights that bring them near these sizes; a hash of the row number; k-means "
        "with as many groups, made on training rows.",
        "Interval and test: Nadeau and Bengio 2003; adjusted by Holm 1979 inside each question. "
        "Equivalence: two one-sided tests at 5 %.",
        f"Read from the other columns: logistic regression or boosting, without the label, in "
        f"{RESAMPLES} resamples. By chance: the best of shuffled groups.",
        f"Risk: {FOLDS} folds; logistic regression or boosting, chosen by log loss on tuning rows, "
        "predicts rows that it has not seen. Groups of fewer than eight rows count as one there.",
    ]
