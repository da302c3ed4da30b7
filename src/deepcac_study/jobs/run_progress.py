"""The last lines of a run: what its report answers, or the scores of the runs asked for."""

import html
import logging
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from deepcac_study.catalogue.registry import Registry

_FIRST = (("p", "what"), ("h1", "answer"))  # how the report's first page begins


def ending(page: str | os.PathLike[str]) -> str:
    """Return the last lines of a run that made the report: what it is, what it answers, where."""
    text = Path(page).read_text(encoding="utf-8")
    lines = [_text_of(rf'<{name} class="{kind}">(.*?)</{name}>', text) for name, kind in _FIRST]
    return "\n".join(filter(None, [*lines, f"report: {page}"]))


def _text_of(pattern: str, page: str) -> str:
    match = re.search(pattern, page, re.DOTALL)
    text = html.unescape(re.sub(r"</?\w[^>]*>", "", match[1])) if match else ""
    return " ".join(text.split())


@contextmanager
def only_warned(logger: logging.Logger) -> Iterator[None]:
    """Turn a fault into a warning: what a finished run says last never changes its exit code."""
    try:
        yield
    except Exception as error:  # whatever it is, every file that was asked for is there
        reason = " ".join(str(error).split())
        logger.warning(f"All jobs are done, but not what follows them: {reason}")


def run_endings(records: Iterable[str], registry: Registry, most: int = 3) -> Iterator[str]:
    """Yield the last lines on runs that were asked for by name: score, printed value, page.

    Each run gets its page. More than `most` runs are read with ``deepcac show``.
    """
    # The report is loaded only where a run was asked for.
    from deepcac_study.report.runs.run_page import write_run_page

    for record in islice(records, most):
        page = write_run_page(record, registry)
        yield "\n".join([*page.lines, f"page: {page.path}"])
