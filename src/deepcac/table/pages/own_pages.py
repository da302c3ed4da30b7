"""Pages of one's own table: one HTML file each, which needs no other."""

import base64
import os
import re
from collections.abc import Mapping
from typing import Any

from deepcac.files.atomic import atomic_path
from deepcac.pages.figures import Figure, as_svg
from deepcac.pages.templating import environment
from deepcac.table.reading.label_leaks import HEAD


def write_page(path: str | os.PathLike[str], template: str, content: Mapping[str, Any]) -> None:
    """Write a page from a template of this package.

    Parameters
    ----------
    path : path-like
        HTML file to write.
    template : str
        Name of the template.
    content : mapping
        What the template shows.
    """
    made = environment("deepcac.table")
    made.filters |= {"address": _address, "minus": _minus}
    text = made.get_template(template).render(leaks_head=HEAD, **content)
    with atomic_path(path) as partial:
        partial.write_text(text, encoding="utf-8")


def _minus(text: object) -> str:
    """Return a text with real minus signs before its numbers."""
    return re.sub(r"(^|[\s(])-(?=[\d.])", "\\1−", str(text))


def _address(figure: Figure) -> str:
    """Return a figure as an address that needs no file."""
    coded = base64.b64encode(as_svg(figure).encode()).decode()
    return f"data:image/svg+xml;base64,{coded}"
