"""Tables and sentences of the documentation, renewed from the snapshot of a run.

    python -m deepcac_study.report.kept.markdown_tables docs/results README.md docs/judge.md

What stands between ``<!-- from the snapshot: scores cic -->`` and ``<!-- end -->`` is made anew; a
test compares every page with the snapshot, so that no number of a page is older than its table.
"""

import argparse
import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from deepcac.errors import ConfigError, one_line_errors
from deepcac.pages.tables import Table, grid
from deepcac_study.report.judge.published_divisions import division, less_learner, pairs
from deepcac_study.report.kept import further_docs as further
from deepcac_study.report.kept import judge_docs as judge
from deepcac_study.report.kept import paper_docs as papers
from deepcac_study.report.kept import primary_docs as small
from deepcac_study.report.kept import snapshot
from deepcac_study.report.kept import table_docs as new
from deepcac_study.report.kept import table_snapshot as kept
from deepcac_study.report.kept.run_snapshot import ANSWER, CLAIMS, LEDGER, RUNS, SUMMARY
from deepcac_study.report.kept.sweep_snapshot import SEPARATION, STARTS, limits, separation, starts
from deepcac_study.report.kept_table import kept_table
from deepcac_study.report.subtypes.subtype_worth import arms, stability

Tables = dict[str, pd.DataFrame]
Kinds = dict[str, tuple[Callable[..., Table | str], tuple[str, ...]]]
NOT_RUN = "Not run yet.\n"

_MARKED = re.compile(r"(<!-- from the snapshot: ([^>]+) -->\n).*?(<!-- end -->\n)", re.DOTALL)
# What can be asked for, by the tables of the snapshot that it is made from.
_KINDS: Kinds = {
    one.__name__: (one, needed)
    for needed, own in (
        ((snapshot.SCORES,), (judge.scores, judge.matrix)),
        ((snapshot.SCORES, snapshot.VERDICTS), (judge.clusters,)),
        ((snapshot.VERDICTS,), (judge.counts, judge.excluded, judge.subtypes)),
        ((snapshot.PRIMARY,), (small.primary, small.separating, small.half_chosen)),
        ((snapshot.ANSWERED,), (small.headline,)),
        ((kept.TABLES,), (new.table_sizes,)),
        ((kept.VERDICTS,), (new.table_rivals,)),
        ((kept.RISKS,), (new.table_risks,)),
        ((kept.OVER,), (new.over,)),
        ((kept.POINTS,), (new.table_points,)),
        ((kept.POINTS, kept.RULES), (new.rule_said,)),
        ((kept.RULES,), (new.table_rules,)),
        ((snapshot.DIVISIONS,), (division,)),
        ((snapshot.POWER,), (judge.planted,)),
        ((snapshot.ARMS,), (arms,)),
        ((snapshot.STABILITY,), (stability,)),
        ((snapshot.BLENDS,), (judge.blends,)),
        ((snapshot.FACTORIAL,), (judge.factorial,)),
        ((snapshot.PAIRS,), (pairs, less_learner)),
        (
            (further.MOVES,),
            (further.transfer_counts, further.transfer_gains, further.planted_moves),
        ),
        ((further.CARDED,), (further.card_gains, further.planted_cards)),
        ((further.LABELLED,), (further.label_gains,)),
        ((RUNS,), (papers.runs, papers.one_cluster)),
        ((SEPARATION,), (separation, limits)),
        ((STARTS,), (starts,)),
        ((LEDGER,), (papers.printed, papers.printed_table, papers.cell_tables)),
        ((ANSWER,), (papers.answer,)),
        ((SUMMARY,), (papers.cells, papers.claims, papers.kinds, papers.prediction)),
        ((CLAIMS,), (papers.repeats, papers.verdict_rows)),
    )
    for one in own
}
# The same of other tables: those that are judged in one job each, and the nine data sets.
_OF_OTHERS: Kinds = {
    "risks": (new.table_risks, (snapshot.RISKS,)),
    "table_clusters": (judge.clusters, (kept.TABLES, kept.VERDICTS)),
    "table_counts": (judge.counts, (kept.VERDICTS,)),
    "table_excluded": (judge.excluded, (kept.VERDICTS,)),
}


def renew(text: str, tables: Tables) -> str:
    """Return a page with every marked part made anew from the tables of a snapshot."""
    return _MARKED.sub(lambda found: f"{found[1]}{made(tables, *found[2].split())}{found[3]}", text)


def made(tables: Tables, kind: str, *asked: str) -> str:
    """Return one table or sentence as Markdown; one that lacks a table waits for a run."""
    known = {**_KINDS, **_OF_OTHERS}
    if kind not in known:
        raise ConfigError(
            f"no table {kind!r} can be made from a snapshot; known: {', '.join(known)}"
        )
    write, needed = known[kind]
    own = [tables[name] for name in needed]
    if any(table.empty for table in own):
        return NOT_RUN
    found = write(*own, *asked)
    if isinstance(found, Table):
        return grid(found) if found.rows else NOT_RUN
    return found


def read_snapshot(folder: Path) -> Tables:
    """Return the tables that `snapshot.write_snapshot` wrote; empty where nothing was run."""
    return {name: kept_table(folder, name) for name in snapshot.TABLES}


def main() -> None:
    """Renew pages from a snapshot."""
    parser = argparse.ArgumentParser(description="Renew the tables of pages from a snapshot.")
    parser.add_argument("snapshot", type=Path)
    parser.add_argument("pages", nargs="+", type=Path)
    asked = parser.parse_args()
    tables = read_snapshot(asked.snapshot)
    for page in asked.pages:
        page.write_text(renew(page.read_text(encoding="utf-8"), tables), encoding="utf-8")


if __name__ == "__main__":
    with one_line_errors():
        main()
