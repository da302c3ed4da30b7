"""Figures as SVG, PNG and CSV: the same bytes for the same runs, drawn by one process or many."""

import io
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, NullFormatter

from deepcac.files.atomic import atomic_path
from deepcac.files.csv_files import write_csv
from deepcac.pages.wording import minus
from deepcac.scoring.equivalence import BETTER, EQUIVALENT, NEVER, TIED, UNDECIDED, WORSE

# Okabe and Ito's palette: distinct with every common kind of colour blindness.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
VERDICT_COLOURS = {
    BETTER: PALETTE[2],
    EQUIVALENT: PALETTE[0],
    UNDECIDED: "#9aa0a6",
    WORSE: PALETTE[1],
    NEVER: "#5f6670",
    TIED: PALETTE[5],
}
VERDICTS = tuple(VERDICT_COLOURS)
MARKERS = "osD^vP*"
INK = "#1c2430"
LINES = ("-", "--", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
_PAGE_DPI, _PNG_DPI = 96, 150
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
    size : (float, float)
        Inches.
    draw : callable
        Draws on a matplotlib figure.
    section : str
        Part of the report it belongs to.
    head : sequence of str
        Columns of the data; none of a figure that is no file of its own.
    data : sequence of sequence
        Rows of the data.
    seen : str
        What the picture shows, from its data, for those who cannot see it.
    narrow : Figure or None
        The same for a phone, where this one would be too wide.
    as_drawn : bool
        Whether text is on colours, so that the picture stays light in the dark mode.
    """

    id: str
    title: str
    caption: str
    size: tuple[float, float]
    draw: Callable[[Canvas], None]
    section: str = ""
    head: Sequence[str] = ()
    data: Sequence[Sequence[object]] = ()
    seen: str = ""
    narrow: "Figure | None" = None
    as_drawn: bool = False

    @property
    def alternative(self) -> str:
        """The text that stands for the picture."""
        return f"{self.title}: {minus(self.seen or _span(self.head, self.data))}."

    @property
    def wide(self) -> bool:
        """Whether a phone shows it at its own size, to be moved, and not as a whole."""
        return self.size[0] > 7

    @property
    def pixels(self) -> tuple[int, int]:
        """Width and height on the page."""
        return round(self.size[0] * _PAGE_DPI), round(self.size[1] * _PAGE_DPI)


def luminance(colour: Any) -> float:
    """Return the relative luminance of a colour (WCAG 2)."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2])


def contrast(first: Any, second: Any) -> float:
    """Return the contrast of two colours, from 1 to 21 (WCAG 2)."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def ink_on(colour: Any) -> str:
    """Return black or white, whichever is easier to read on a colour."""
    return max(("black", "white"), key=lambda ink: contrast(ink, colour))


def verdicts_in(given: Iterable[str]) -> list[str]:
    """Return the verdicts that a legend or a count shows: ties, which are rare, where there are."""
    present = set(given)
    return [word for word in VERDICTS if word != TIED or word in present]


def _span(head: Sequence[str], data: Sequence[Sequence[object]]) -> str:
    """Describe the number of rows, and the range of the last column of numbers."""
    summary = f"{len(data):,} rows of {', '.join(map(str, head))}"
    for place in reversed(range(len(head))):
        values = (row[place] for row in data)
        numbers = [value for value in values if isinstance(value, float) and value == value]
        if numbers:
            return f"{summary}; {head[place]} from {min(numbers):.3g} to {max(numbers):.3g}"
    return summary


def write(figure: Figure, folder: Path) -> None:
    """Write ``folder/id.svg``, ``.png`` and ``.csv``, and those of its narrow form."""
    if figure.narrow:
        write(figure.narrow, folder)
    with _drawn(figure) as canvas:
        with atomic_path(folder / f"{figure.id}.svg") as partial:
            FigureCanvasSVG(canvas).print_svg(partial, metadata={"Date": None, "Creator": None})
        canvas.dpi = _PNG_DPI
        with atomic_path(folder / f"{figure.id}.png") as partial:
            FigureCanvasAgg(canvas).print_png(partial, metadata={"Software": None})
    rows = ([_short(value) for value in row] for row in figure.data)
    write_csv(folder / f"{figure.id}.csv", figure.head, rows)


def _plain_powers(canvas: Canvas) -> None:
    """Write the ticks of logarithmic axes as numbers: matplotlib's own need its mathematics."""
    for axes in canvas.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_scale() in ("log", "symlog"):
                axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
                axis.set_minor_formatter(NullFormatter())


def as_svg(figure: Figure) -> str:
    """Return a figure as SVG; no file is written."""
    text = io.StringIO()
    with _drawn(figure) as canvas:
        FigureCanvasSVG(canvas).print_svg(text, metadata={"Date": None, "Creator": None})
    return text.getvalue()


@contextmanager
def _drawn(figure: Figure) -> Iterator[Canvas]:
    with rc_context(_STYLE):
        canvas = Canvas(figsize=figure.size, layout="constrained")
        figure.draw(canvas)
        _plain_powers(canvas)
        # Laid out once, without drawing; each format is then drawn once, which `savefig` would do
        # twice.
        engine = canvas.get_layout_engine()
        assert engine is not None
        engine.execute(canvas)
        canvas.set_layout_engine("none")
        yield canvas


def _short(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value


@contextmanager
def drawn(figures: Sequence[Figure], folder: Path, threads: int) -> Iterator[None]:
    """Write every figure while the block goes on; at its end all are there.

    Parameters
    ----------
    figures : sequence of Figure
    folder : Path
        Gets the files of each (`deepcac.pages.figures.write`), the same for any `threads`.
    threads : int
        Processes that draw; with one this process does, before the block.

    Raises
    ------
    RuntimeError
        A figure could not be drawn.
    """
    if threads == 1:
        for figure in figures:
            write(figure, folder)
        yield
        return
    # Forked, since how a figure is drawn is a function that no other start could hand over.
    fork = multiprocessing.get_context("fork")
    ends = [fork.Pipe(duplex=False) for _ in range(threads)]
    drawers = [
        fork.Process(target=_draw, args=(figures[start::threads], folder, end[1]), daemon=True)
        for start, end in enumerate(ends)
    ]
    for drawer in drawers:
        drawer.start()
    try:
        yield
    finally:
        for (_, written), drawer in zip(ends, drawers, strict=True):
            written.close()  # so that one that was killed leaves an end, not a wait
            drawer.join()
    faults = [fault for (reader, _) in ends if (fault := _last_word(reader))]
    if faults:
        raise RuntimeError(f"not drawn: {'; '.join(faults)}")


def _draw(figures: Sequence[Figure], folder: Path, end: Connection) -> None:
    """Write figures, and say at the end what stood against it, if anything."""
    for figure in figures:
        try:
            write(figure, folder)
        except Exception as error:
            end.send(f"{figure.id} ({type(error).__name__}: {error})")
            return
    end.send("")


def _last_word(reader: Connection) -> str:
    try:
        return str(reader.recv())
    except EOFError:
        return "a process that drew was ended"
