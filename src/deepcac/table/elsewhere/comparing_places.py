"""`deepcac compare` in other places: read, judge each place once, write page and card."""

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from deepcac.errors import DataError
from deepcac.table.budgeted_trials import TableRun, in_time
from deepcac.table.cards.card_facts import place_facts, table_facts, write_page_and_card
from deepcac.table.cards.model_card import card_path
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.elsewhere.fold_trials import JudgedFold, judge_fold
from deepcac.table.elsewhere.folds import Fold, external_rows, site_folds
from deepcac.table.elsewhere.place_answer import answer_places, compared_places
from deepcac.table.elsewhere.place_page import PlaceTables, place_page
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.output_files import StrPath, check_output
from deepcac.table.pages.risk_section import USUAL, RiskQuestions, check_asked


def compare_places(
    path: DescribedTable,
    out: StrPath,
    run: TableRun,
    *,
    external: Sequence[StrPath] = (),
    asked: RiskQuestions = USUAL,
) -> str:
    """Judge whether clusters help on patients of another place; write the page.

    Models of the first table are judged on the `external` ones. Where there are none, the sites of
    the table are each left out once.

    Parameters are those of `deepcac.table.comparing.compare_table`, but for these.

    Parameters
    ----------
    external : sequence of path-like
        Further tables.

    Raises
    ------
    ConfigError, DataError
        An option or a table is at fault.
    """
    begin, say = time.monotonic(), run.say
    check_output(out, path, *external)
    beside = card_path(out, path, *external)
    run.progress(f"reading {path}")
    places = _external(path, external, run) if external else _sites(path, run)
    table = places.table
    check_asked(places.judged, asked)
    table.tell(say)
    for line in places.remarks:
        say(line)
    judge = partial(_judge, places.folds, run.seed, run.trials, run.train_rows)
    n = len(places.folds)
    judged = [place for several in in_time(run, judge, n, n, "fold") for place in several]
    comparisons = compared_places(judged)
    several = len(judged) > 1 or not external
    answer = answer_places(judged, comparisons, sites=several)
    seconds = time.monotonic() - begin
    page = place_page(places, judged, comparisons, answer, run, asked, seconds)
    facts = table_facts(path, table, run.command) | place_facts(table, page)
    write_page_and_card(out, beside, page, facts, run)
    return answer.sentence


def _sites(path: DescribedTable, run: TableRun) -> PlaceTables:
    table = read_labelled(path, rows=run.rows, seed=run.seed)
    folds, remarks = site_folds(table)
    heading = f"Left out: each site in turn (column {table.description.use.site!r})"
    return PlaceTables(table, table, folds, remarks, heading)


def _external(path: DescribedTable, others: Sequence[StrPath], run: TableRun) -> PlaceTables:
    for other in others:
        if Path(other).exists() and Path(other).samefile(path):
            raise DataError(f"--external {other}: is the same file; name patients of another place")
    if len({Path(other).resolve() for other in others}) < len(others):
        raise DataError("--external: one file is named twice; name each table once")
    table = read_labelled(path, rows=run.rows, seed=run.seed)
    fold, judged = external_rows(table, others, rows=run.rows, seed=run.seed)
    names = ", ".join(Path(other).name for other in others)
    several = "tables" if len(others) > 1 else "table"
    heading = f"Judged on: the {several} {names}"
    return PlaceTables(table, judged, [fold], [*judged.remarks], heading)


def _judge(folds: Sequence[Fold], seed: int, trials: int, most: int, j: int) -> list[JudgedFold]:
    return judge_fold(folds[j], seed + j, trials, most)
