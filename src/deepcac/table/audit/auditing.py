"""`deepcac audit`: read, test the groups, write the page, answer first."""

from functools import partial
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from deepcac.files.output_files import StrPath, check_output
from deepcac.pages.sections import Section
from deepcac.pages.tables import Table
from deepcac.scoring.small_cells import (
    FEW,
    Count,
    OfSome,
    Rate,
    Rule,
    Share,
    Text,
    withheld,
)
from deepcac.table.answer import Answer, with_interval
from deepcac.table.audit.beyond_risk import FOLDS, BeyondRisk, beyond_risk
from deepcac.table.audit.group_answer import answer_groups, form_name, model_name
from deepcac.table.audit.group_column import RESAMPLES, Assignable, Groups, assignable, read_groups
from deepcac.table.audit.group_contenders import (
    HELP,
    KMEANS,
    NEGATIVE,
    NEW,
    QUESTIONS,
    fit_group,
    group_contenders,
)
from deepcac.table.budgeted_trials import TableRun, Trials, run_budgeted
from deepcac.table.columns.cell_texts import uniform
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.found_subtypes import outcome_rates
from deepcac.table.inference.labelled_table import LabelledTable, read_labelled
from deepcac.table.pages.column_tables import difference_blocks
from deepcac.table.pages.compare_page import TESTED, how_resampled, limits
from deepcac.table.pages.page_sections import Page, method_section, write_page
from deepcac.table.pages.score_tables import (
    comparison_forest,
    comparison_table,
    verdict_note,
)
from deepcac.types import Array

UNNAMED = "(a group of few rows)"
_HEADINGS = {
    HELP: "{model}: with the groups, minus without",
    NEW: "{model}: with groups read from the columns, minus without",
    KMEANS: "{model}: with the groups, minus k-means with as many",
    NEGATIVE: "Control: {model} with random groups, minus without",
}
_UNSEEN = (
    "A column cannot say how it was made. If the outcome, or rows that are tested here, took part "
    "in making the groups, their gain is too good. What was checked: whether the groups by "
    "themselves predict the label; whether they say more than all other columns; and whether their "
    "gain stays when held-out rows get their group only from the other columns. Groups made with "
    "the outcome of few rows can pass all three. The one safe way is to make them again on "
    "training rows, and to assign the test rows by a stated rule."
)


class GroupTests(NamedTuple):
    """Trials with groups, whether other columns predict them, and what they add to the risk."""

    trials: Trials
    assigned: Assignable
    beyond: BeyondRisk


def audit_table(
    path: DescribedTable,
    groups_column: str,
    out: StrPath,
    run: TableRun,
) -> str:
    """Evaluate a column of patient groups, write the report page and return the answer.

    `groups_column` is no feature; the other parameters are those of
    `deepcac.table.comparing.compare_table`. A table or column at fault is a `DataError`.
    """
    check_output(out, path)
    groups_column = uniform(groups_column)
    run.progress(f"reading {path}")
    table = read_labelled(path, rows=run.rows, seed=run.seed, apart={groups_column: "the groups"})
    groups = read_groups(table, groups_column)
    table.tell(run.say)
    for remark in groups.remarks():
        run.say(remark)
    trials = run_budgeted(table, run, group_contenders(groups.k), partial(fit_group, groups))
    run.progress("can a new patient be given a group?")
    with threadpool_limits(1):  # threads of small trees wait for each other on a busy machine
        assigned = assignable(table, groups, run.seed)
    run.progress("do the groups say more than the risk?")
    beyond = beyond_risk(table, groups, run.seed, run.at_once)
    tests = GroupTests(trials, assigned, beyond)
    result = answer_groups(table.name, (table.rarest, table.rare_rows), *tests)
    write_page(out, audit_page(table, groups, run, tests, result), exact=run.exact)
    return "\n".join((result.sentence, *result.also))


def audit_page(
    table: LabelledTable, groups: Groups, run: TableRun, tests: GroupTests, answer: Answer
) -> Page:
    """Return the page on whether the groups are useful."""
    trials, assigned, beyond = tests
    about = Text(
        "{}: {} rows, label {}, {} groups of column {}",
        *(table.name, Count(len(table.features.label)), table.label, groups.k, groups.column),
    )
    measures = _measures(assigned, beyond)
    every = comparison_table(answer.table, QUESTIONS, model_name)
    return Page.of_table(
        table,
        answer,
        [comparison_forest(answer, _HEADINGS, form_name), about],
        [
            Section(
                "groups",
                "The groups",
                [
                    group_table(table, groups, beyond.risk),
                    *difference_blocks("differences", table, groups.code, groups.names),
                ],
            ),
            Section(
                "found",
                "Can a new patient be given a group, and does it say more than the risk?",
                [
                    "Models of the training rows predict the group of held-out rows from the other "
                    "columns, and their outcome: by the columns without the groups (the risk), by "
                    "only the groups, and by both. Groups are useful for a new patient only if "
                    "they can be predicted.",
                    Table.of_texts("found", "Groups and risk", ("measure", "value"), measures),
                    Section("unseen", "What cannot be seen here", [_UNSEEN]),
                ],
                "New patients and risk",
            ),
            Section("comparison", "Every comparison", [verdict_note("no groups"), every]),
            method_section(_method(table, run, trials)),
        ],
        run.command,
        title=f"Are the groups {groups.column} useful?",
        remarks=[*limits(trials), *groups.remarks()],
    )


def group_table(table: LabelledTable, groups: Groups, risk: Array) -> Table:
    """Return the groups from the largest, with the share of a class and its risk.

    It is the positive class of two, of more the rarest. `risk`, shape (n, n_classes), is that of a
    model without the groups.
    """
    n, label = len(groups.code), table.features.label
    event = 1 if risk.shape[1] == 2 else int(np.bincount(label).argmin())
    rates = [of_group[event] for of_group in outcome_rates(table, groups.code)]
    rows = []
    for j in sorted(range(groups.k), key=lambda j: -rates[j].rows):
        size, inside = rates[j].rows, risk[groups.code == j, event]
        low, high = (100 * np.quantile(inside, (0.1, 0.9))).tolist()
        tenths = OfSome(f"{low:.1f} to {high:.1f} %", size, 10 * FEW)  # `FEW` lie beyond each
        rows.append(
            (
                *(OfSome(groups.names[j], size, instead=UNNAMED), Count(size), Share(size, n)),
                rates[j].text,
                *(
                    withheld(cell, partial(_hidden, rates[j]))
                    for cell in (f"{100 * inside.mean():.1f} %", tenths)
                ),
            )
        )
    head = (
        *("group", "rows", "share", f"share of {table.shown_classes[event]} (95 % interval)"),
        *("expected without the groups", "risk, 10 to 90 %"),
    )
    return Table.of_texts("groups", "The groups", head, rows)


def _hidden(rate: Rate, rule: Rule) -> bool:
    return bool(np.isnan(rate.under(rule)[0]))


def _measures(assigned: Assignable, beyond: BeyondRisk) -> list[tuple[str, str]]:
    gain = with_interval((beyond.gain, beyond.low, beyond.high), 4, sign=True)
    return [
        ("share of rows that get their group", f"{assigned.accuracy:.3f}"),
        ("the same by naming the largest group", f"{assigned.largest:.3f}"),
        ("adjusted Rand index (1: all alike, 0: as by chance)", f"{assigned.agreement:z.3f}"),
        ("AUROC of the groups without other columns", f"{beyond.alone:.3f}"),
        ("AUROC of the model without the groups", f"{beyond.auroc:.3f}"),
        ("gain in log loss per row by the groups, given the risk", gain),
    ]


def _method(table: LabelledTable, run: TableRun, trials: Trials) -> list[str]:
    too_narrow = (
        "The intervals of observed risks at the horizon take every row for a patient, so they are "
        "too narrow where patients have several rows."
    )
    return [
        how_resampled(table, run, trials),
        f"Every model has {run.trials} trials; a model with the groups may also choose "
        "a trial without them. It has one column per group, or for logistic regression a model in "
        "each group.",
        "Controls: random groups of the same sizes; neighbours of random patients, with "
        "weights that bring them near these sizes; a hash of the row number; k-means "
        "with as many groups, made on training rows.",
        TESTED,
        f"Read from the other columns: logistic regression or boosting, without the label, in "
        f"{RESAMPLES} resamples.",
        f"Risk: {FOLDS} folds; logistic regression or boosting, chosen by log loss on tuning rows, "
        "predicts rows that it has not seen. Groups of fewer than eight rows count as one there.",
        *[too_narrow] * (table.follow is not None and table.group is not None),
    ]
