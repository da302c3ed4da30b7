"""Pages of one's own table: one HTML file each, which needs no other."""

import base64
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from deepcac import __version__
from deepcac.files.atomic import atomic_path
from deepcac.judging.questions import Question
from deepcac.pages.figures import Figure, as_svg
from deepcac.pages.templating import environment
from deepcac.pages.wording import p_beside
from deepcac.scoring.equivalence import NOT_TESTED
from deepcac.scoring.small_cells import NOTE, format_count
from deepcac.table.comparison_words import signed
from deepcac.table.findings.label_leaks import HEAD
from deepcac.table.output_files import StrPath
from deepcac.table.page_text import page_text, quotable

METRICS = {"auroc": "AUROC", "auprc": "AUPRC"}


def write_page(path: StrPath, template: str, content: Mapping[str, Any]) -> None:
    """Write a page from a template of this package, which shows the content."""
    made = environment("deepcac.table")
    made.filters["address"] = _address
    made.filters["count"] = format_count
    made.filters["page_text"] = partial(page_text, names=_names(content))
    text = made.get_template(template).render(
        leaks_head=HEAD, rounding=NOTE, version=__version__, **content
    )
    with atomic_path(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def _names(content: Mapping[str, Any]) -> frozenset[str]:
    """Return what a page may quote: what its content names, and what its table has."""
    table, names = content.get("table"), frozenset(content.get("names", ()))
    if table is None:
        return names
    return names | quotable(table.columns, (*table.classes, *table.words, table.label))


def comparison_table(
    comparisons: pd.DataFrame,
    questions: Sequence[Question],
    named: Callable[[str], str],
) -> dict[str, Any]:
    """Return head and rows of every comparison of `deepcac.judging.verdicts.verdicts`.

    `named` gives a contender its name in words.
    """
    texts = {question.id: question.text for question in questions}
    rows = [
        (
            texts[row["question"]], named(row["contender"]), named(row["reference"]),
            METRICS[row["metric"]], row["verdict"], signed(row["mean"], 4), *_tested(row),
        )
        for row in comparisons.to_dict("records")
    ]  # fmt: skip
    head = ("question", "model", "reference", "metric", "verdict", "difference")
    return {"head": (*head, "95 % interval", "p (Holm)"), "rows": rows}


def _tested(row: Mapping[Hashable, Any]) -> list[str]:
    """Return interval and p; nothing where nothing is tested."""
    cells = [f"{signed(row['low'], 4)} to {signed(row['high'], 4)}", p_beside(row["p_holm"])]
    return [""] * len(cells) if row["verdict"] in NOT_TESTED else cells


def _address(figure: Figure) -> str:
    """Return a figure as an address that needs no file."""
    coded = base64.b64encode(as_svg(figure).encode()).decode()
    return f"data:image/svg+xml;base64,{coded}"
