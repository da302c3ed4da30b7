"""Tables and figures declared in ``declarations.yaml``, and small CSV tables."""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Any

import yaml
from matplotlib.figure import Figure as Canvas

from deepcac.pages.figures import Figure
from deepcac.pages.forest import Forest
from deepcac.pages.tables import Cell, Table


def declared_table(name: str, rows: Sequence[Sequence[Cell]], /, **words: Any) -> Table:
    """Return a table declared in ``declarations.yaml`` with `rows`; `words` fill its texts."""
    return Table(rows=rows, **{"note": "", **declaration("tables", name, words)})


def declared_figure(
    name: str,
    /,
    *,
    size: tuple[float, float],
    draw: Callable[[Canvas], None],
    data: Sequence[Sequence[object]],
    seen: str = "",
    **words: Any,
) -> Figure:
    """Return a figure declared in ``declarations.yaml``; `words` fill its texts."""
    fields = declaration("figures", name, words)
    return Figure(size=size, draw=draw, data=data, seen=seen, **fields)


def declared_forest(name: str, forest: Forest, /, *, across: int, **words: Any) -> Figure:
    """Return the declared figure of a forest plot, with stacked panels on a phone."""
    wide = declared_figure(
        name, size=forest.size(across), draw=lambda canvas: forest.draw(canvas, across), **words
    )
    narrow = replace(
        wide,
        id=f"{wide.id}_narrow",
        size=forest.size(1),
        draw=lambda canvas: forest.draw(canvas, 1),
    )
    return replace(wide, narrow=narrow)


def declaration(kind: str, name: str, words: Mapping[str, Any]) -> dict[str, Any]:
    """Return the declaration of one of ``tables`` or ``figures``; `words` fill its texts.

    There is one word for each name in braces, and a list for a column ``*name``.
    """
    content = {"id": name, **_declarations()[kind][name]}
    texts = {key: text.format(**words) for key, text in content.items() if isinstance(text, str)}
    heads = [
        words[title[1:]] if title[:1] == "*" else [title.format(**words)]
        for title in content.get("head", ())
    ]
    head = {"head": tuple(str(cell) for cells in heads for cell in cells)} if heads else {}
    return {**content, **texts, **head}


def pages() -> dict[str, dict[str, Any]]:
    """Return the declaration of each page of the report, in the order of the menu."""
    return _declarations()["pages"]


def synonyms() -> list[list[str]]:
    """Return groups of synonyms; searching for one finds the others."""
    groups: list[list[str]] = yaml.safe_load(_beside("synonyms.yaml"))
    return groups


@cache
def _declarations() -> dict[str, dict[str, dict[str, Any]]]:
    content: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(_beside("declarations.yaml"))
    return content


def rows_of(name: str) -> list[dict[str, str]]:
    """Return the rows of a CSV in this package."""
    return list(csv.DictReader(_beside(name).splitlines()))


def _beside(name: str) -> str:
    """Return the text of a file in this package."""
    return (resources.files("deepcac_study.report") / name).read_text(encoding="utf-8")
