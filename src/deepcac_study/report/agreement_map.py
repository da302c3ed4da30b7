"""A heat map of agreement: a square for each printed table, with how many of its cells agree."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure as Canvas

from deepcac.pages.figures import Figure
from deepcac_study.papers.agreement import AGREE, DIFFER
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.ledger import Entry


def agreement_figure(ledger: Sequence[Entry]) -> Figure | None:
    """Return the share of decided cells that agree, by paper and table; None before the first."""
    data = [row for paper in PAPERS for row in _rows(paper, ledger)]
    if not any(row[3] for row in data):
        return None
    return Figure(
        id="agreement",
        title="How much of each printed table comes back",
        caption="A square for each printed table: cells that agree of those that a run decides. "
        "Empty squares wait for their runs.",
        section="summary",
        size=(9.2, 0.9 + 0.62 * len(PAPERS)),
        draw=lambda canvas: _draw(canvas, data),
        head=("paper", "table", "agree", "decided", "cells"),
        data=data,
        seen="; ".join(_seen(paper, data) for paper in PAPERS),
    )


def _rows(paper: str, ledger: Sequence[Entry]) -> list[tuple[str, str, int, int, int]]:
    own = [entry for entry in ledger if entry.paper == paper and entry.kind != "log"]
    rows = []
    for table in dict.fromkeys(entry.table for entry in own):
        verdicts = [entry.verdict for entry in own if entry.table == table]
        agree, differ = verdicts.count(AGREE), verdicts.count(DIFFER)
        rows.append((paper, table, agree, agree + differ, len(verdicts)))
    return sorted(rows, key=lambda row: (len(row[1]), row[1]))


def _seen(paper: str, data: Sequence[tuple[str, str, int, int, int]]) -> str:
    agree = sum(row[2] for row in data if row[0] == paper)
    decided = sum(row[3] for row in data if row[0] == paper)
    return f"{PAPERS[paper].label}: {agree} of {decided} decided cells agree"


def _draw(canvas: Canvas, data: Sequence[tuple[str, str, int, int, int]]) -> None:
    papers = list(PAPERS)
    widest = max(sum(row[0] == paper for row in data) for paper in papers)
    shares, notes = np.full((len(papers), widest), np.nan), []
    for place, paper in enumerate(papers):
        for column, (_, table, agree, decided, _) in enumerate(r for r in data if r[0] == paper):
            said = f"{agree}/{decided}" if decided else "–"
            shares[place, column] = agree / decided if decided else np.nan
            notes.append((column, place, f"{_short(table)}\n{said}"))
    axis = canvas.subplots()
    image = axis.imshow(shares, vmin=0, vmax=1, cmap="RdYlBu", aspect="auto")
    for column, row, text in notes:
        extreme = abs(np.nan_to_num(shares[row, column], nan=0.5) - 0.5) > 0.4
        colour = "white" if extreme else "black"
        axis.text(column, row, text, ha="center", va="center", size=7.5, color=colour)
    axis.set_yticks(range(len(papers)), [PAPERS[paper].label for paper in papers])
    axis.set_xticks([])
    axis.grid(visible=False)
    canvas.colorbar(image, ax=axis, label="share that agrees", shrink=0.9)


def _short(table: str) -> str:
    return f"Table {table}" if table.isdigit() else table
