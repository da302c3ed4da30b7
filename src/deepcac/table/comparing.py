"""`deepcac compare`: read, test inside the table, write page and card."""

from deepcac.files.output_files import StrPath, check_output
from deepcac.scoring.small_cells import Count, Text
from deepcac.table.budgeted_trials import (
    Say,
    TableRun,
    contenders,
    run_budgeted,
)
from deepcac.table.cards.model_card import (
    card_path,
    compare_facts,
    joined,
    predictor_facts,
    table_facts,
    usual_facts,
    write_card_of,
)
from deepcac.table.cluster_answer import answer
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.found_subtypes import shown_clusterings
from deepcac.table.inference.labelled_table import LabelledTable, read_labelled
from deepcac.table.pages.compare_page import compare_page
from deepcac.table.pages.page_sections import write_page
from deepcac.table.pages.risk_section import USUAL, RiskQuestions, check_asked
from deepcac.table.risk_model_choice import chosen_learner


def compare_table(
    path: DescribedTable,
    out: StrPath,
    run: TableRun,
    *,
    asked: RiskQuestions = USUAL,
) -> str:
    """Test whether clusters help on a table, write page and card, and return the answer.

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
    card, say, progress = card_path(out, path), run.say, run.progress
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
    write_card_of(card, write_page(out, page, exact=run.exact), facts, run)
    return "\n".join((result.sentence, *result.also))


def _tell(table: LabelledTable, say: Say) -> None:
    n, d = table.features.X.shape
    used, models = len(table.encoder.used), len(contenders())
    say(Text("{} rows, {} features of {} columns; {} models", Count(n), d, used, models))
    table.tell(say)
