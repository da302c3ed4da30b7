"""Counts of printed cells that agree and of claims that hold, by paper, for the first page.

``summary.csv`` has a row for each number, with the columns

- part: ``cells`` or ``claims``;
- paper: key of `bibliography.PAPERS`, ``all`` for the five together, ``authors`` for the logs of
  DeepCAC's authors, which are not in ``all``;
- group: for cells ``independent`` or ``derived`` (they follow from other cells or repeat them); for
  claims ``sound`` or ``as_published``, or a kind (`claims.KINDS`), where repeated claims count
  once: its sound verdicts, and those as published under its name with ``_as_published``;
- quantity: for cells ``printed`` (all with an entry), ``open`` (open data can decide them),
  ``agree``, ``differ``, ``no_score`` (the run ended without one), ``not_run``, ``needs_access``,
  ``not_rebuildable``, ``settings``, ``rivals`` (pairs of our number and the printed one of another
  method), ``rivals_agree`` and ``null_rate``, their ratio, with its interval ``null_low`` and
  ``null_high`` and the mean over cells ``null_by_cell`` (`null_rate.NullRate`); for claims
  ``claims``, ``holds``, ``partly``, ``fails``, ``cannot_hold``, ``undecided``, ``toy``,
  ``not_decidable``, ``not_rebuildable``, ``not_run``;
- value: the number; null rates are shares, empty without rivals.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from deepcac_study.papers.agreement import AGREE, DIFFER, LOST, NOT_PRINTED, NOT_RUN, SETTING
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.claim_verdicts import VERDICTS
from deepcac_study.papers.claims import KINDS, Claim
from deepcac_study.papers.entry import Entry
from deepcac_study.papers.ledger import NEEDS_ACCESS, number, standing
from deepcac_study.papers.names import LOGS
from deepcac_study.papers.null_rate import null_rate

ALL = "all"
NULL = ("null_rate", "null_low", "null_high", "null_by_cell")
PUBLISHED = "_as_published"  # ends the name of a kind
_OF_KINDS = tuple(f"{kind}{name}" for kind in KINDS for name in ("", PUBLISHED))
_CELL = ("standing", "run", "rivals", "rivals_agree")
_NAMED = (AGREE, DIFFER, NOT_RUN, NEEDS_ACCESS, LOST, SETTING)
_CAC = ("cac_v1", "cac_v2", "deepcac")
_DECIDED = {
    "holds": ("holds", "hold"),
    "partly": ("holds in part", "hold in part"),
    "fails": ("fails", "fail"),
    "cannot_hold": ("cannot hold", "cannot hold"),
}


@dataclass(frozen=True)
class Count:
    """One row of ``summary.csv``; the module's docstring explains the fields."""

    part: str
    paper: str
    group: str
    quantity: str
    value: str


def summary(ledger: Sequence[Entry], claims: Sequence[Claim]) -> list[Count]:
    """Return every count, in a fixed order: cells and verdicts, grouped by paper and group."""
    cells = pd.DataFrame(_cells(ledger), columns=["paper", "group", *_CELL])
    verdicts = pd.DataFrame(_verdicts(claims), columns=["paper", "group", "verdict"])
    rows = []
    for paper in (ALL, *PAPERS, LOGS):
        keys = [*PAPERS] if paper == ALL else [paper]
        printed, made = (table[table["paper"].isin(keys)] for table in (cells, verdicts))
        for group in ("independent", "derived"):
            counts = _of_cells(printed[printed["group"] == group])
            rows += [Count("cells", paper, group, *pair) for pair in counts]
        for group in ("sound", "as_published", *_OF_KINDS):
            decided = made.loc[made["group"] == group, "verdict"]
            if len(decided):
                rows += [Count("claims", paper, group, *pair) for pair in _of_claims(decided)]
    return rows


def _cells(ledger: Iterable[Entry]) -> Iterator[tuple[object, ...]]:
    """Yield paper, group, standing, run and counts of rivals per printed cell."""
    for entry in ledger:
        if entry.verdict != NOT_PRINTED:
            group = "derived" if entry.derived else "independent"
            rivals = entry.rivals or 0, entry.rivals_agree or 0
            yield (entry.paper, group, standing(entry), entry.run, *rivals)


def _verdicts(claims: Iterable[Claim]) -> Iterator[tuple[str, str, str]]:
    """Yield paper, group and verdict of each claim; by kind, repeated claims count once."""
    for claim in claims:
        for name, verdict in (("", claim.verdict), (PUBLISHED, claim.as_published)):
            yield claim.paper, name.removeprefix("_") or "sound", verdict
            if not claim.same_as:
                yield claim.paper, f"{claim.kind}{name}", verdict


def _of_cells(cells: pd.DataFrame) -> list[tuple[str, str]]:
    """Return (name, text) pairs: counts of cells by standing and the null rate."""
    count = Counter(cells["standing"])
    counts = {
        "printed": len(cells),
        "open": len(cells) - count[NEEDS_ACCESS] - count[LOST] - count[SETTING],
        "agree": count[AGREE],
        "differ": count[DIFFER],
        "no_score": len(cells) - sum(count[name] for name in _NAMED),
        "not_run": count[NOT_RUN],
        "needs_access": count[NEEDS_ACCESS],
        "not_rebuildable": count[LOST],
        "settings": count[SETTING],
        "rivals": sum(cells["rivals"]),
        "rivals_agree": sum(cells["rivals_agree"]),
    }
    null = null_rate(*(cells[name].tolist() for name in ("run", "rivals_agree", "rivals")))
    shares = (null.rate, null.low, null.high, null.by_cell)
    texts = [number(share) if share == share else "" for share in shares]
    counted = [(name, str(value)) for name, value in counts.items()]
    return [*counted, *zip(NULL, texts, strict=True)]


def _of_claims(verdicts: Iterable[str]) -> list[tuple[str, str]]:
    count = Counter(verdicts)
    counted = [(name, str(count[verdict])) for name, verdict in VERDICTS.items()]
    return [("claims", str(count.total())), *counted]


def value(
    counts: Iterable[Count], part: str, quantity: str, *, paper: str = ALL, group: str = ""
) -> float:
    """Return one number of the summary; NaN if it is not there.

    The default of `group` is ``independent`` for cells and ``sound`` for claims.
    """
    wanted = group or ("independent" if part == "cells" else "sound")
    place = (part, paper, wanted, quantity)
    (count,) = [c for c in counts if (c.part, c.paper, c.group, c.quantity) == place]
    return float(count.value or "nan")


def cells_in_words(counts: Sequence[Count], paper: str = ALL) -> str:
    """Return a sentence on how many independent printed values were checked, and how many agree.

    It is empty if no run decides any of them.
    """
    names = ("printed", "open", "agree", "differ", "not_run")
    printed, checkable, agree, differ, waiting = (
        value(counts, "cells", name, paper=paper) for name in names
    )
    if not agree + differ:
        return ""
    differing = f"{differ:,.0f} {'differs' if differ == 1 else 'differ'}"
    missing = f"{waiting:,.0f} {'has' if waiting == 1 else 'have'} not been run"
    return (
        f"Open data can decide {checkable:,.0f} of {'its ' * (paper != ALL)}{printed:,.0f} "
        f"independent printed values: {agree:,.0f} {'agrees' if agree == 1 else 'agree'} with our "
        "runs"
        f"{f', {differing} and {missing}' if waiting else f' and {differing}'}."
    )


def claims_in_words(counts: Sequence[Count], paper: str = ALL) -> str:
    """Return a sentence on the sound verdicts on the claims of all papers, or of one."""
    names = ("claims", *VERDICTS)
    numbers = {name: round(value(counts, "claims", name, paper=paper)) for name in names}
    whose = "the papers'" if paper == ALL else "its"
    return f"Of {whose} {numbers['claims']} claims, {in_words(numbers)}."


def in_words(counts: Mapping[str, int]) -> str:
    """Return counts of verdicts in words: "3 hold, 1 fails and 2 are not decided"."""
    rest = counts["claims"] - sum(counts[name] for name in _DECIDED)
    phrases = [(counts[name], words) for name, words in _DECIDED.items()]
    phrases.append((rest, ("is not decided", "are not decided")))
    parts = [f"{n} {words[n > 1]}" for n, words in phrases if n]
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def on_prediction(counts: Iterable[Count]) -> str:
    """Return a sentence on the claims that CAC or DeepCAC predicts better; empty without any."""
    groups = ("prediction", f"prediction{PUBLISHED}")
    tallies = {group: dict.fromkeys(("claims", *VERDICTS), 0) for group in groups}
    for count in counts:
        if count.group in groups and count.paper in _CAC:
            tallies[count.group][count.quantity] += round(float(count.value))
    sound, published = tallies.values()
    if not any(sound[name] for name in (*_DECIDED, "undecided")):
        return ""
    n, n_published = sound["holds"], published["holds"]
    subject = f"{n or 'none'} of the {sound['claims']} claims that CAC or DeepCAC predicts better"
    return (
        f"Under the corrected protocol, {subject} {'are' if n > 1 else 'is'} confirmed: "
        f"{in_words(sound)}. Run as published, {n_published or 'none'} "
        f"{'hold' if n_published > 1 else 'holds'}."
    )
