"""The page that says whether groups are of use, answer first."""

import os

from deepcac import __version__
from deepcac.table.answer import signed
from deepcac.table.audit.assigning import RESAMPLES, Assignable
from deepcac.table.audit.beyond_risk import FOLDS, BeyondRisk
from deepcac.table.audit.group_answer import GroupAnswer, model_name
from deepcac.table.audit.group_column import Groups
from deepcac.table.audit.group_contenders import QUESTIONS
from deepcac.table.audit.group_figures import groups_forest, risk_by_group
from deepcac.table.audit.group_lines import HEAD, group_lines, shown_lines
from deepcac.table.budgeted_trials import Effort, Trials
from deepcac.table.pages.own_pages import comparison_table, write_page
from deepcac.table.reading.labelled_table import LabelledTable

_UNSEEN = (
    "A column cannot say how it was made. If the outcome, or rows that are tested here, took part "
    "in making the groups, their gain is too good. What was checked: whether the groups tell the "
    "label alone; whether they say more than all other columns; and whether their gain stays when "
    "held-out rows get their group from the other columns alone. Groups that were made with the "
    "outcome of few rows can pass all three. The one safe way is to make them again on training "
    "rows, and to assign the test rows by a stated rule."
)


def write_audit_page(
    path: str | os.PathLike[str],
    table: LabelledTable,
    groups: Groups,
    label: str,
    found: GroupAnswer,
    parts: tuple[Effort, Trials, Assignable, BeyondRisk],
    command: str,
) -> None:
    """Write the page.

    Parameters
    ----------
    path : path-like
        HTML file to write.
    table, groups, label
        What was audited.
    found : GroupAnswer
    parts : tuple
        What was asked for, run, and found on assignment and risk.
    command : str
        As the user typed it.
    """
    effort, trials, assigned, beyond = parts
    n = len(table.features.label)
    lines, event = group_lines(groups, table.features.label, beyond.risk)
    content = {
        "version": __version__,
        "command": command,
        "name": table.name,
        "label": label,
        "groups": groups,
        "rows": n,
        "answer": found,
        "leaks": table.leaks,
        "unseen": _UNSEEN,
        "forest": groups_forest(found),
        "risk_figure": risk_by_group(lines, table.shown_classes[event]),
        "lines": {"head": HEAD, "rows": shown_lines(lines, n)},
        "remarks": [*_cut(trials, n), *table.remarks, *groups.remarks()],
        "assigned": assigned,
        "assigned_rows": _assigned(assigned),
        "beyond": _beyond(beyond),
        "comparisons": comparison_table(found.table, QUESTIONS, model_name, ("model",)),
        "method": _method(effort, trials, n),
    }
    write_page(path, "audit.html", content)


def _cut(trials: Trials, n: int) -> list[str]:
    told = [f"Models learnt from {trials.trained_on:,} rows at a time, of {n:,}."]
    return told if trials.cut else []


def _assigned(found: Assignable) -> list[tuple[str, str, str]]:
    return [
        (
            "share of rows that get their group", f"{found.accuracy:.3f}",
            f"{found.accuracy_by_chance:.3f}; the largest group {found.largest:.3f}",
        ),
        ("adjusted Rand index", f"{found.agreement:.3f}", f"{found.agreement_by_chance:.3f}"),
    ]  # fmt: skip


def _beyond(found: BeyondRisk) -> list[tuple[str, str]]:
    p = "< 0.001" if found.p < 0.001 else f"{found.p:.3f}"
    span = f"{signed(found.gain, 4)} ({signed(found.low, 4)} to {signed(found.high, 4)})"
    return [
        ("AUROC of the groups alone, on held-out rows", f"{found.alone:.3f}"),
        ("AUROC of the model without the groups, on held-out rows", f"{found.auroc:.3f}"),
        ("gain in log loss a row by the groups, given the risk, on held-out rows", span),
        (
            "likelihood ratio of the groups, given the risk",
            f"{found.chi2:.1f} with {found.freedom} degrees of freedom, p {p}",
        ),
        ("variance of the risk (log odds) between groups", f"{100 * found.between:.1f} %"),
        ("variance of the risk (log odds) inside groups", f"{100 * (1 - found.between):.1f} %"),
    ]


def _method(effort: Effort, trials: Trials, n: int) -> list[str]:
    return [
        f"{len(trials.seeds)} of {trials.planned} planned resamples, seeds {trials.seeds[0]} to "
        f"{trials.seeds[-1]}, in {trials.seconds:.0f} s: 56 % of the rows for training (at most "
        f"{trials.train_rows:,} of {n:,} rows), 19 % for choosing a trial, 25 % for the test.",
        f"Every model has {effort.trials} trials; a model that is told the groups may also choose "
        "a trial without them. Told: one column a group, or for logistic regression a model in "
        "each group.",
        "Held against the groups: the same sizes drawn at random; cells around random rows, whose "
        "weights bring them to these sizes as far as they can; a hash of the row number; k-means "
        "with as many groups, made on training rows.",
        "Interval and test: Nadeau and Bengio 2003; adjusted by Holm 1979 inside each question. "
        "Equivalence: two one-sided tests at 5 %.",
        f"Read from the other columns: logistic regression or boosting, without the label, in "
        f"{RESAMPLES} resamples. By chance: the best of shuffled groups.",
        f"Risk: {FOLDS} folds; logistic regression or boosting, chosen by log loss on tuning rows, "
        "predicts rows that it has not seen. Groups of fewer than ten rows count as one there.",
    ]
