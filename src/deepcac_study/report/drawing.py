"""Drawing all figures of a report, in processes of their own where there are cores."""

import multiprocessing
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from deepcac.pages.figures import Figure, write


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
        fork.Process(target=_draw, args=(figures[own::threads], folder, end[1]), daemon=True)
        for own, end in enumerate(ends)
    ]
    for drawer in drawers:
        drawer.start()
    try:
        yield
    finally:
        for (_, written), drawer in zip(ends, drawers, strict=True):
            written.close()  # so that one that was killed leaves an end, not a wait
            drawer.join()
    faults = [fault for (told, _) in ends if (fault := _last_word(told))]
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


def _last_word(told: Connection) -> str:
    try:
        return str(told.recv())
    except EOFError:
        return "a process that drew was ended"
