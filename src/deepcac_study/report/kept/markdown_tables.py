"""Tables and sentences of the documentation, renewed from the snapshot of a run.

    python -m deepcac_study.report.kept.markdown_tables docs/results README.md docs/judge.md

What stands between ``<!-- from the snapshot: planted lr -->`` and ``<!-- end -->`` is made anew; a
test compares every page with the snapshot, so that no number of a page is older than its table.
"""

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from deepcac.errors import ConfigError, one_line_errors
from deepcac.pages.tables import Cell, Table, grid
from deepcac_study.judge.clinical_tasks import DECISIONS, POOLED, TASKS, VERDICTS
from deepcac_study.report.judge.clinical_forest import clinical_name
from deepcac_study.report.kept import clinical_docs as clinical
from deepcac_study.report.kept import judge_docs as judge
from deepcac_study.report.kept import paper_docs as papers
from deepcac_study.report.kept import snapshot
from deepcac_study.report.kept.run_snapshot import LEDGER, RUNS, SUMMARY
from deepcac_study.report.kept.sweep_snapshot import SEPARATION, limits, separation
from deepcac_study.report.kept_table import kept_table

Tables = dict[str, pd.DataFrame]
Kinds = dict[str, tuple[Callable[..., Table | str], tuple[str, ...]]]
NOT_RUN = "Not run yet.\n"

_MARKED = re.compile(r"(<!-- from the snapshot: ([^>]+) -->\n).*?(<!-- end -->\n)", re.DOTALL)
# What can be asked for, by the tables of the snapshot that it is made from.
_KINDS: Kinds = {
    maker.__name__: (maker, needed)
    for needed, makers in (
        ((snapshot.SCORES, snapshot.VERDICTS), (judge.clusters,)),
        ((snapshot.VERDICTS,), (judge.excluded,)),
        ((snapshot.ANSWERED,), (judge.headline,)),
        ((clinical_name(DECISIONS), clinical_name(TASKS)), (clinical.clinical_sentence,)),
        ((clinical_name(VERDICTS),), (clinical.clinical_gains,)),
        ((clinical_name(VERDICTS), clinical_name(TASKS)), (clinical.clinical_excluded,)),
        ((clinical_name(POOLED),), (clinical.clinical_pooled,)),
        ((snapshot.POWER,), (judge.planted,)),
        ((RUNS,), (papers.runs, papers.one_cluster)),
        ((SEPARATION,), (separation, limits)),
        ((LEDGER,), (papers.printed,)),
        ((SUMMARY,), (papers.cells, papers.kinds, papers.prediction)),
    )
    for maker in makers
}


def renew(text: str, tables: Tables) -> str:
    """Return a page with every marked part made anew from the tables of a snapshot."""
    return _MARKED.sub(lambda mark: f"{mark[1]}{made(tables, mark[2])}{mark[3]}", text)


def made(tables: Tables, asked: str) -> str:
    """Return one table or sentence as Markdown; one that lacks a table waits for a run.

    ``clusters lr | rows: cic; credit | columns: 1, 2`` is a part of a table: rows by their labels
    (joined by a slash where a row has several), columns by number.
    """
    first, *choices = asked.split(" | ")
    kind, *words = first.split()
    if kind not in _KINDS:
        raise ConfigError(
            f"no table {kind!r} can be made from a snapshot; known: {', '.join(_KINDS)}"
        )
    write, needed = _KINDS[kind]
    sources = [tables[name] for name in needed]
    if any(source.empty for source in sources):
        return NOT_RUN
    table = write(*sources, *words)
    if isinstance(table, str):
        return table
    return grid(_part(table, choices)) if table.rows else NOT_RUN


def _part(table: Table, choices: Iterable[str]) -> Table:
    """Return the asked rows and columns of a table."""
    for choice in choices:
        side, _, names = choice.partition(": ")
        if side == "rows":
            labelled = {_label(table, row): row for row in table.rows}
            wanted = names.strip().split("; ")
            if set(wanted) - set(labelled):
                raise ConfigError(f"no such row in {choice!r}; rows: {'; '.join(labelled)}")
            table = replace(table, rows=[labelled[name] for name in wanted])
        else:
            places = [int(number) - 1 for number in names.split(",")]
            table = replace(
                table,
                head=[table.head[place] for place in places],
                rows=[[row[place] for place in places] for row in table.rows],
                n_labels=sum(place < table.n_labels for place in places),
            )
    return table


def _label(table: Table, row: Sequence[Cell]) -> str:
    return "/".join(cell.text for cell in row[: table.n_labels])


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
