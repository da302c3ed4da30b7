"""`deepcac audit`: read, judge the groups, write the page."""

import os
from dataclasses import replace

from deepcac.table.answer import MARGIN
from deepcac.table.audit.assigning import assignable
from deepcac.table.audit.audit_page import write_audit_page
from deepcac.table.audit.beyond_risk import beyond_risk
from deepcac.table.audit.group_answer import answer_groups
from deepcac.table.audit.group_column import read_groups
from deepcac.table.audit.group_contenders import GroupFit, group_contenders
from deepcac.table.budgeted_trials import TRIALS, Effort, Say, run_budgeted, usual_jobs
from deepcac.table.output_files import check_output
from deepcac.table.reading.labelled_table import Roles, read_labelled
from deepcac.table.reading.row_sample import MOST_ROWS


def audit_table(
    path: str | os.PathLike[str],
    roles: Roles,
    groups_column: str,
    out: str | os.PathLike[str],
    *,
    say: Say,
    command: str,
    minutes: float = 3.0,
    margin: float = MARGIN,
    most: int = MOST_ROWS,
    seed: int = 0,
    jobs: int | None = None,
    n_resamples: int | None = None,
) -> str:
    """Judge whether a column of groups is of use, write the page and return the answer.

    Parameters
    ----------
    path, out : path-like
        Table to read, page to write.
    roles : Roles
    groups_column : str
        The column that holds the groups; it is no feature.
    say : callable
        Is told how far it is.
    command : str
        What the page says it was made by.
    minutes, margin, most, seed, jobs, n_resamples
        As of `deepcac.table.comparing.compare_table`.

    Raises
    ------
    DataError
        The table or the column is at fault.
    """
    check_output(out, path)
    apart = replace(roles, apart={groups_column: "the groups"})
    say(f"reading {path}")
    table = read_labelled(path, apart, most=most, seed=seed)
    groups = read_groups(table, groups_column)
    table.tell(say)
    for remark in groups.remarks():
        say(remark)
    at_once = jobs or usual_jobs()
    effort = Effort(minutes, TRIALS, seed, jobs=at_once, resamples=n_resamples)
    trials = run_budgeted(table, effort, say, group_contenders(groups.k), GroupFit(groups))
    say("can a new patient be given a group?")
    assigned = assignable(table, groups, seed)
    say("do the groups say more than the risk?")
    beyond = beyond_risk(table, groups, seed, at_once)
    found = answer_groups(trials, table.name, table.rarest, assigned, beyond, margin)
    parts = (effort, trials, assigned, beyond)
    write_audit_page(out, table, groups, roles.label, found, parts, command)
    return found.sentence
