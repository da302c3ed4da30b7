"""`deepcac compare`: read, judge inside the table or in other places, write page and card."""

import time
from collections.abc import Sequence
from pathlib import Path

from joblib import delayed

from deepcac.errors import DataError
from deepcac.scoring.small_cells import Count, Text
from deepcac.table.budgeted_trials import (
    Say,
    TableRun,
    contenders,
    run_budgeted,
)
from deepcac.table.cards.card_facts import (
    compare_facts,
    predictor_facts,
    table_facts,
    write_card_of,
)
from deepcac.table.cards.model_card import card_path, joined, usual_facts
from deepcac.table.cluster_answer import answer
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.elsewhere.fold_trials import JudgedFold, judge_fold
from deepcac.table.elsewhere.folds import Fold, external_rows, site_folds
from deepcac.table.elsewhere.place_answer import answer_places, compared_places
from deepcac.table.elsewhere.place_page import PlaceTables, place_page
from deepcac.table.found_subtypes import shown_clusterings
from deepcac.table.inference.labelled_table import LabelledTable, read_labelled
from deepcac.table.output_files import StrPath, check_output
from deepcac.table.pages.compare_page import compare_page
from deepcac.table.pages.page_sections import write_page
from deepcac.table.pages.risk_section import USUAL, RiskQuestions, check_asked
from deepcac.table.risk_model_choice import chosen_learner
from deepcac.table.worker_processes import workers


def compare_table(
    path: DescribedTable,
    out: StrPath,
    run: TableRun,
    *,
    asked: RiskQuestions = USUAL,
) -> str:
    """Judge whether clusters help on a table, write page and card, and return the answer.

    Parameters
    ----------
    path : DescribedTable
    out : path-like
        The page to write.
    run : TableRun
    asked : RiskQuestions

    Raises
    ------
    ConfigError, DataError
        An option or the table is at fault; column and row are named.
    """
    check_output(out, path)
    beside, say, progress = card_path(out, path), run.say, run.progress
    progress(f"reading {path}")
    table = read_labelled(path, rows=run.rows, seed=run.seed)
    check_asked(table, asked)
    _tell(table, say)
    progress("choosing a model without clusters")
    best = chosen_learner(table, run.seed, run.at_once)
    trials = run_budgeted(table, run)
    result = answer(trials, table.name, table.rarest, table.rare_rows, best)
    progress("subtypes")
    clusterings = shown_clusterings(table, trials)
    page = compare_page(table, run, trials, result, clusterings, asked)
    facts = joined(
        table_facts(path, table, run.command),
        predictor_facts(table),
        compare_facts(table, trials, clusterings),
        usual_facts("compare"),
    )
    write_card_of(beside, write_page(out, page, exact=run.exact), facts, run)
    return "\n".join((result.sentence, *result.also))


def _tell(table: LabelledTable, say: Say) -> None:
    n, d = table.features.X.shape
    used, models = len(table.encoder.used), len(contenders())
    say(Text("{} rows, {} features of {} columns; {} models", Count(n), d, used, models))
    table.tell(say)


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
    judged = _judge(places.folds, run)
    comparisons = compared_places(judged)
    several = len(judged) > 1 or not external
    answer = answer_places(judged, comparisons, sites=several)
    seconds = time.monotonic() - begin
    page = place_page(places, judged, comparisons, answer, run, asked, seconds)
    facts = joined(
        table_facts(path, table, run.command),
        predictor_facts(table),
        {"title": [f"Do clusters help a risk model of {table.label!r} in another place?"]},
        usual_facts("places"),
    )
    write_card_of(beside, write_page(out, page, exact=run.exact), facts, run)
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


def _judge(folds: list[Fold], run: TableRun) -> list[JudgedFold]:
    """Judge every fold, some at once; a fold says the same beside whatever others."""
    pool = workers(min(run.at_once, len(folds)), return_as="generator")
    judged: list[JudgedFold] = []
    every = pool(
        delayed(judge_fold)(fold, run.seed + j, run.trials, run.train_rows)
        for j, fold in enumerate(folds)
    )
    for done, results in enumerate(every, start=1):
        judged += results
        run.progress(f"judged {done} of {len(folds)}")
    return judged
