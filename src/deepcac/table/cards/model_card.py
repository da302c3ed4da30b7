"""A card as markdown: every item of the checklist, filled, "not computed", or a marked blank."""

import csv
import html
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from deepcac.files.atomic import atomic_path
from deepcac.scoring.small_cells import OTHERS, OWNER, Rule, Text
from deepcac.table.output_files import StrPath, check_output

Facts = Mapping[str, Sequence[str]]

NOT_COMPUTED = "Not computed."
_HEAD = (
    "A draft for the report on this model. The numbers are those of TRIPOD+AI (Collins et al., BMJ "
    "2024, e078378); C1 to C10 are about clusters. P1 to P19 ask, in words of our own, what "
    "PROBAST+AI (Moons et al., BMJ 2025, e082505) judges: participants, predictors, outcome and "
    "analysis. What the tool knows is filled in. Every [to be filled by you] is yours, and so is "
    "every judgement. This card does not say that a guideline is met."
)


_OWN = (
    "**This card is only for the owner of the table: it has true counts. It must not leave your "
    "hands.**"
)


class TableLine(Text):
    """A line of a table of `table_lines`, whose cells are escaped; any other line is plain text."""


class Item(NamedTuple):
    """One line of the checklist.

    Attributes
    ----------
    number, part, topic : str
    key : str
        Of the fact that fills it; empty where a tool knows nothing.
    ask : str
        What only the authors know; empty where they need not add anything.
    """

    number: str
    part: str
    topic: str
    key: str
    ask: str


@cache
def checklist() -> tuple[Item, ...]:
    """Return every item, in order."""
    file = resources.files("deepcac.table.cards") / "checklist.csv"
    lines = file.read_text(encoding="utf-8").splitlines()
    return tuple(Item(*row) for row in list(csv.reader(lines))[1:])


def card_path(out: StrPath, *inputs: StrPath) -> Path:
    """Return where a card goes, beside the output, and check it as `check_output` does."""
    path = Path(out).with_suffix(".card.md")
    check_output(path, *inputs)
    return path


def joined(*facts: Facts) -> dict[str, list[str]]:
    """Return facts of several sources; lines of one key stand after each other."""
    keys = dict.fromkeys(key for source in facts for key in source)
    return {key: [line for source in facts for line in source.get(key, ())] for key in keys}


def write_card(path: StrPath, facts: Facts, *, exact: bool = False) -> None:
    """Write a card as markdown, with true counts only if it is the owner's own (`exact`).

    Facts are lines by key of the checklist; what is absent is not computed. Lines of
    `table_lines` are part of a table, all others are escaped here. A key that no item has is a
    `KeyError`.
    """
    unknown = set(facts) - {item.key for item in checklist()}
    if unknown:
        raise KeyError(f"no item for {sorted(unknown)}")
    rule = OWNER if exact else OTHERS
    lines, part = ["# Model card", *["", _OWN] * exact, "", _HEAD], ""
    for item in checklist():
        if item.part != part:
            part = item.part
            lines += ["", f"## {part}"]
        lines += ["", f"### {item.number}. {item.topic}", "", *_filled(item, facts, rule)]
    with atomic_path(path) as partial:
        partial.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _filled(item: Item, facts: Facts, rule: Rule) -> list[str]:
    content = list(facts.get(item.key, ())) or ([NOT_COMPUTED] if item.key else [])
    lines: list[str] = []
    for line in content:
        table = isinstance(line, TableLine)
        if lines and not (table and isinstance(lines[-1], TableLine)):
            lines.append("")
        text = rule.show(line)
        lines.append(TableLine.of(text, text) if table else escaped(text))
    if not item.ask:
        return lines
    return [*lines, *[""] * bool(lines), f"[to be filled by you: {item.ask}]"]


def escaped(text: str) -> str:
    """Return text that is neither markdown nor HTML, on one line."""
    plain = html.escape(" ".join(str(text).split()), quote=False)
    for sign in "\\`*_[]|#":
        plain = plain.replace(sign, f"\\{sign}")
    return plain


def table_lines(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table of markdown; cells are escaped."""
    first, *others = map(_row, (head, *rows))
    return [first, TableLine.by(lambda rule: f"|{' --- |' * len(head)}"), *others]


def _row(cells: Sequence[str]) -> TableLine:
    return TableLine.by(lambda rule: f"| {' | '.join(escaped(rule.show(c)) for c in cells)} |")
