"""`deepcac compare`: read, judge, look at the subtypes, write the page."""

from deepcac.table.answer import MARGIN, answer
from deepcac.table.budgeted_trials import (
    MOST_TRAIN,
    Say,
    TableEffort,
    contenders,
    run_budgeted,
    usual_jobs,
)
from deepcac.table.cards.compare_card import compare_facts, risk_facts
from deepcac.table.cards.model_card import card_path, joined, write_card
from deepcac.table.cards.table_facts import table_facts
from deepcac.table.found_subtypes import shown_clusterings
from deepcac.table.limits import MOST_ROWS
from deepcac.table.output_files import StrPath, check_output
from deepcac.table.pages.compare_page import write_compare_page
from deepcac.table.pages.risk_section import USUAL, RiskQuestions, check_asked
from deepcac.table.pages.subgroups import page_cells
from deepcac.table.reading.labelled_table import LabelledTable, read_labelled
from deepcac.table.reading.roles import Roles


def compare_table(
    path: StrPath,
    roles: Roles,
    out: StrPath,
    *,
    say: Say,
    command: str,
    minutes: float = 3.0,
    margin: float = MARGIN,
    most: int = MOST_ROWS,
    seed: int = 0,
    jobs: int | None = None,
    n_resamples: int | None = None,
    train_rows: int = MOST_TRAIN,
    asked: RiskQuestions = USUAL,
    card: StrPath | None = None,
    strict: bool = False,
) -> str:
    """Judge whether clusters help on a table, write the page and return the answer.

    Parameters
    ----------
    path, out : path-like
        Table to read, page to write.
    roles : Roles
        What its columns are.
    say : callable
        Is called with how far it is.
    command : str
        What the page says it was made by.
    minutes : float
        For the comparison; at least five resamples are made.
    margin : float
        Differences in AUROC up to this are negligible.
    most : int
        Of more rows than this a sample is used.
    seed : int
    jobs : int, optional
        Resamples that are judged at once; `usual_jobs` if None. A resample says the
        same, but more of them fit into the time.
    n_resamples : int, optional
        Made exactly, whatever the time.
    train_rows : int
        Of more training rows a part is drawn.
    asked : RiskQuestions
    card : path-like, optional
        Model card to write (markdown); beside the page if None.
    strict : bool
        Whether minutes are refused that would be overrun by far.

    Raises
    ------
    ConfigError, DataError
        An option or the table is at fault; column and row are named.
    """
    check_output(out, path)
    beside = card_path(card, out, path)
    say(f"reading {path}")
    table = read_labelled(path, roles, most=most, seed=seed)
    check_asked(table, asked)
    _tell(table, say)
    effort = TableEffort(
        minutes=minutes, seed=seed, jobs=jobs or usual_jobs(), resamples=n_resamples,
        train_rows=train_rows, strict=strict,
    )  # fmt: skip
    trials = run_budgeted(table, effort, say)
    result = answer(trials, table.name, table.rarest, margin)
    say("subtypes")
    clusterings = shown_clusterings(table, trials)
    risks = write_compare_page(out, table, effort, trials, result, clusterings, command, asked)
    comparison_facts = compare_facts(table, effort, trials, result, clusterings)
    common = table_facts(path, table, roles, command, page_cells(table, asked.by))
    facts = (common, comparison_facts, risk_facts(risks))
    write_card(beside, joined(*facts))
    say(f"card: {beside}")
    return "\n".join(filter(None, (result.sentence, result.bent_line)))


def _tell(table: LabelledTable, say: Say) -> None:
    n, d = table.features.X.shape
    say(f"{n:,} rows, {d} features of {len(table.encoder.used)} columns")
    table.tell(say)
    say(
        f"{len(contenders())} models: logistic regression and boosting, with clusters and without; "
        "logistic regression with splines"
    )
