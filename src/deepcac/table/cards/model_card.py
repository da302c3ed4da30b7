"""A card as markdown: every item of the checklist, filled, "not computed", or a marked blank."""

import csv
import html
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from deepcac.files.atomic import atomic_path
from deepcac.pages.tables import Table, grid
from deepcac.scoring.small_cells import OTHERS, OWNER, Rule
from deepcac.table.output_files import StrPath, check_output

Facts = Mapping[str, Sequence[str | Table]]

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
    return tuple(Item(*row) for row in _rows("checklist.csv"))


@cache
def usual_facts(*what: str) -> Facts:
    """Return what every card of a command, or of clusters of a kind, says alike.

    `what` are names in the column ``of`` of ``usual.csv``.
    """
    facts: dict[str, list[str | Table]] = {}
    for key, of, text in _rows("usual.csv"):
        if set(of.split()) & set(what):
            facts.setdefault(key, []).append(text)
    return facts


def _rows(name: str) -> list[list[str]]:
    """Return the rows of a file of this folder, without its head."""
    text = (resources.files("deepcac.table.cards") / name).read_text(encoding="utf-8")
    return list(csv.reader(text.splitlines()))[1:]


def card_path(out: StrPath, *inputs: StrPath) -> Path:
    """Return where a card goes, beside the output, and check it as `check_output` does."""
    path = Path(out).with_suffix(".card.md")
    check_output(path, *inputs)
    return path


def joined(*facts: Facts) -> dict[str, list[str | Table]]:
    """Return facts of several sources; those of one key stand after each other."""
    keys = dict.fromkeys(key for source in facts for key in source)
    return {key: [fact for source in facts for fact in source.get(key, ())] for key in keys}


def write_card(path: StrPath, facts: Facts, *, exact: bool = False) -> None:
    """Write a card as markdown, with true counts only if it is the owner's own (`exact`).

    Facts are sentences and tables by key of the checklist; what is absent is not computed. What
    two items ask for stands under the first. A key that no item has is a `KeyError`.
    """
    unknown = set(facts) - {item.key for item in checklist()}
    if unknown:
        raise KeyError(f"no item for {sorted(unknown)}")
    rule = OWNER if exact else OTHERS
    paragraphs, part = ["# Model card", *[_OWN] * exact, _HEAD], ""
    first = {item.key: item for item in reversed(checklist())}
    for item in checklist():
        if item.part != part:
            part = item.part
            paragraphs.append(f"## {part}")
        paragraphs.append(f"### {item.number}. {item.topic}")
        own = list(facts.get(item.key, ()))
        if own and first[item.key] != item:
            own = [f"See {first[item.key].number}."]
        elif item.key and not own:
            own = [NOT_COMPUTED]
        paragraphs += [_markdown(fact, rule) for fact in own]
        if item.ask:
            paragraphs.append(f"[to be filled by you: {item.ask}]")
    with atomic_path(path) as partial:
        partial.write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8")


def _markdown(fact: str | Table, rule: Rule) -> str:
    if isinstance(fact, Table):
        return grid(fact.under(rule), escaped).rstrip()
    return escaped(rule.show(fact))


def escaped(text: str) -> str:
    """Return text that is neither markdown nor HTML, on one line."""
    plain = html.escape(" ".join(str(text).split()), quote=False)
    for sign in "\\`*_[]|#":
        plain = plain.replace(sign, f"\\{sign}")
    return plain
