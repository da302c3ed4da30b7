"""`deepcac audit`: read, judge the groups, write the page, answer first."""

from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from deepcac.pages.sections import Block, Remarks, Section
from deepcac.pages.tables import Table
from deepcac.pages.wording import p_text
from deepcac.scoring.small_cells import Count, Text
from deepcac.table.answer import Answer, signed
from deepcac.table.audit.beyond_risk import FOLDS, BeyondRisk, beyond_risk
from deepcac.table.audit.group_answer import answer_groups, model_name
from deepcac.table.audit.group_column import RESAMPLES, Assignable, Groups, assignable, read_groups
from deepcac.table.audit.group_contenders import QUESTIONS, GroupFit, group_contenders
from deepcac.table.audit.group_lines import (
    HEAD,
    group_lines,
    groups_forest,
    risk_by_group,
    shown_lines,
)
from deepcac.table.budgeted_trials import TableRun, Trials, run_budgeted
from deepcac.table.columns.cell_texts import uniform
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.inference.labelled_table import LabelledTable, read_labelled
from deepcac.table.output_files import StrPath, check_output
from deepcac.table.pages.column_tables import DIFFERENCE_HEAD, DIFFERENCE_NOTE, difference_lines
from deepcac.table.pages.comparisons import comparison_table, verdict_note
from deepcac.table.pages.page_sections import (
    Page,
    leak_warning,
    method_section,
    page_names,
    remarks_on,
    write_page,
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
