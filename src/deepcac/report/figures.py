"""Figures as SVG, PNG and CSV: the same bytes for the same runs."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure as Canvas

from deepcac.atomic import atomic_path
from deepcac.report.tables import plain_cell

# Okabe and Ito's palette: distinct with every common kind of colour blindness.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_STYLE: Any = {
    "svg.hashsalt": "deepcac",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.parse_math": False,  # a column's name may hold a dollar sign
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.grid": True,
    "grid.color": "#e3e6ea",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.4,
}


@dataclass(frozen=True)
class Figure:
    """One figure and the numbers it shows.

    Attributes
    ----------
    id : str
        File name without its ending.
    title, caption : str
        Heading and explanation.
    section : str
        Part of the report it belongs to.
    size : (float, float)
        Inches.
    draw : callable
        Draws on a matplotlib figure.
    head : sequence of str
        Columns of the data.
    data : sequence of sequence
        Rows of the data.
    """

    id: str
    title: str
    caption: str
    section: str
    size: tuple[float, float]
    draw: Callable[[Canvas], None]
    head: Sequence[str]
    data: Sequence[Sequence[object]]


def write(figure: Figure, folder: Path) -> str:
    """Write ``folder/id.svg``, ``.png`` and ``.csv``.

    Returns
    -------
    str
        The SVG, for a page that needs no other file.
    """
    with _drawn(figure) as canvas:
        with atomic_path(folder / f"{figure.id}.svg") as partial:
            canvas.savefig(partial, format="svg", metadata={"Date": None, "Creator": None})
            svg = partial.read_text(encoding="utf-8")
        with atomic_path(folder / f"{figure.id}.png") as partial:
            canvas.savefig(partial, format="png", dpi=150, metadata={"Software": None})
    path = folder / f"{figure.id}.csv"
    with atomic_path(path) as partial, open(partial, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([plain_cell(name) for name in figure.head])
        writer.writerows([_plain(value) for value in row] for row in figure.data)
    return svg


def as_svg(figure: Figure) -> str:
    """Return a figure as SVG; no file is written."""
    text = io.StringIO()
    with _drawn(figure) as canvas:
        canvas.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


@contextmanager
def _drawn(figure: Figure) -> Iterator[Canvas]:
    with rc_context(_STYLE):
        canvas = Canvas(figsize=figure.size, layout="constrained")
        figure.draw(canvas)
        yield canvas


def _plain(value: object) -> object:
    if isinstance(value, float):
        return f"{value:.6g}"
    return plain_cell(value) if isinstance(value, str) else value
