"""`deepcac compare` with --site or --external: test in other places, write page and card."""

import time
from collections.abc import Sequence
from pathlib import Path

from deepcac.errors import DataError
from deepcac.files.output_files import StrPath, check_output
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.cards.model_card import (
    card_path,
    joined,
    predictor_facts,
    table_facts,
    usual_facts,
    write_card_of,
)
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.elsewhere.fold_trials import evaluate_folds
from deepcac.table.elsewhere.folds import external_rows, site_folds
from deepcac.table.elsewhere.place_answer import answer_places, compared_places
from deepcac.table.elsewhere.place_page import PlaceTables, place_page
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.pages.page_sections import write_page
from deepcac.table.pages.risk_section import USUAL, RiskQuestions, check_asked


def compare_places(
    path: DescribedTable,
    out: StrPath,
    run: TableRun,
    *,
    external: Sequence[StrPath] = (),
    asked: RiskQuestions = USUAL,
) -> str:
    """Compare models with and without clusters on patients of another place; write the page.

    Models of the first table are tested on the `external` ones. Where there are none, the sites of
    the table are each left out once.

    The other parameters are those of `deepcac.table.comparing.compare_table`.

    Parameters
    ----------
    external : sequence of path-like
        Further tables.

    Raises
    ------
    ConfigError, DataError
        An option or a table has a fault.
    """
    begin, say = time.monotonic(), run.say
    check_output(out, path, *external)
    card = card_path(out, path, *external)
    run.progress(f"reading {path}")
    _refuse_twice(path, external)
    table = test_table = read_labelled(path, rows=run.rows, seed=run.seed)
    if external:
        fold, test_table = external_rows(table, external, rows=run.rows, seed=run.seed)
        folds, remarks = [fold], [*test_table.remarks]
        names = ", ".join(Path(other).name for other in external)
        heading = f"Tested on: the table{'s' * (len(external) > 1)} {names}"
    else:
        folds, remarks = site_folds(table)
        heading = f"Left out: each site in turn (column {table.description.use.site!r})"
    check_asked(test_table, asked)
    table.tell(say)
    for line in remarks:
        say(line)
    results = evaluate_folds(folds, run)
    comparisons = compared_places(results)
    answer = answer_places(results, comparisons, sites=len(results) > 1 or not external)
    seconds = time.monotonic() - begin
    places = PlaceTables(table, test_table, remarks, heading)
    page = place_page(places, results, comparisons, answer, run, asked, seconds)
    facts = joined(
        table_facts(path, table, run.command),
        predictor_facts(table),
        {"title": [f"Do clusters help a risk model of {table.label!r} in another place?"]},
        usual_facts("places"),
    )
    write_card_of(card, write_page(out, page, exact=run.exact), facts, run)
    return answer.sentence


def _refuse_twice(path: StrPath, others: Sequence[StrPath]) -> None:
    """Refuse a further table that is the first, or that is named twice."""
    for other in others:
        if Path(other).exists() and Path(other).samefile(path):
            raise DataError(f"--external {other}: is the same file; name patients of another place")
    if len({Path(other).resolve() for other in others}) < len(others):
        raise DataError("--external: one file is named twice; name each table once")
