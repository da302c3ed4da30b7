"""A card as markdown: what it knows of table, model and software, and what stays a marked blank."""

import csv
import html
import json
import platform
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from deepcac import __version__
from deepcac.files.atomic import atomic_path
from deepcac.files.output_files import StrPath, check_output
from deepcac.pages.sections import Remarks, Section
from deepcac.pages.tables import Table, grid
from deepcac.scoring.small_cells import NOTE, OTHERS, OWNER, Count, OfSome, Rule, Share, Text
from deepcac.table.answer import Answer, arm_name, contender_name
from deepcac.table.budgeted_trials import TableRun, Trials
from deepcac.table.found_subtypes import STABILITY_RESAMPLES, FoundClustering
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.pages.page_sections import Page

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
    """Return the boilerplate entries for a command or a kind of clusters.

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
    """Return where a card goes, next to the output, and check it as `check_output` does."""
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
    two items ask for is under the first. A key that no item has is a `KeyError`.
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
        content = list(facts.get(item.key, ()))
        if content and first[item.key] != item:
            content = [f"See {first[item.key].number}."]
        elif item.key and not content:
            content = [NOT_COMPUTED]
        paragraphs += [_markdown(fact, rule) for fact in content]
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


_SOFTWARE = ("numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "lightgbm", "torch")


def table_facts(source: StrPath, table: LabelledTable, command: str) -> Facts:
    """Return what a card says of any table with outcomes; `command` is as typed."""
    n, time = len(table.features.label), table.outcome.time
    return {
        "data": [f"{Path(source).name}, read on {date.today().isoformat()}.", NOTE],
        "outcome": [
            f"Column {table.label!r}: {' or '.join(table.classes)}. It is no predictor.",
            "The table has no times, so the tool cannot tell whether the time to it is right."
            if table.follow is None
            else f"The horizon is {table.follow.horizon:g}, in the unit of {time!r}, which is no "
            "predictor either.",
        ],
        "sample_size": [Text("{} rows, {} of the rarest class.", Count(n), Count(table.rarest))],
        "flow": [Text("{} rows in the file, {} rows used.", Count(table.total), Count(n))],
        "structure": [
            "Every row is taken for another patient."
            if table.group is None
            else "The rows of a patient stay in one part of every resample.",
            _censoring(table),
        ],
        "code": [f"Command: {command}", software()],
    }


def predictor_facts(table: LabelledTable) -> Facts:
    """Return what a card says of the columns that a model learns from."""
    used = table.encoder.used
    holes = sum(column.missing > 0 for column in used)
    return {
        "predictors": [
            f"{len(used)} of {len(table.columns)} columns, from which "
            f"{table.features.X.shape[1]} features are made. No column was chosen by its relation "
            "to the outcome."
        ],
        "coding": [
            *(f"{column.name!r}: {', '.join(column.levels)}." for column in used if column.levels),
            "All other columns are numbers.",
        ],
        "missing": [f"{holes} of {len(used)} columns miss values (see 20b)."],
        "limitations": ["No column predicts the label or the row almost perfectly."]
        * (not table.leaks),
    }


def software() -> str:
    """Return the versions of what a result depends on."""
    versions = [f"deepcac {__version__}", f"Python {platform.python_version()}"]
    for name in _SOFTWARE:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return f"Software: {', '.join(versions)}."


def _censoring(table: LabelledTable) -> str:
    if table.follow is None:
        return "The outcome of every row is taken as known; nobody is taken as censored."
    lost = int((~table.follow.outcome_known).sum())
    rival = (
        "Competing events are no censoring: the risk is the cumulative incidence."
        if table.follow.other is not None
        else "No competing event was named."
    )
    share = Text("{} of the patients", Share(lost, len(table.follow.time)))
    few = Text("{} patients", Count(lost))
    return Text(
        "Censoring: {} have an unknown outcome at the horizon; fits and scores are weighted by the "
        "inverse chance of being followed. {}",
        *(OfSome(share, lost, instead=few), rival),
    )


# Table or section of a page, and the item of the checklist that it fills.
_ITEMS = {
    "remarks": "preparation",
    "columns": "characteristics",
    "scores": "performance",
    "mean-scores": "performance",
    "comparisons": "performance",
    "benefits": "net_benefit",
    "subgroups": "subgroups",
    "subgroup-differences": "subgroups",
    "places": "heterogeneity",
    "places-scores": "heterogeneity",
    "updates": "updating",
    "sizes": "sample_size",
    "study-size": "sample_size",
    "subtypes-km": "cluster_sizes",
    "subtypes-cac": "cluster_sizes",
    "method": "model",
    "measures": "measures",
}
# What another item of a card says of one that is filled.
_ELSEWHERE = {
    "subgroups": ("fairness", "The scores of each subgroup and their differences are in 23a."),
    "heterogeneity": (
        "heterogeneity_method",
        "Every place is scored by itself (see 23b). From five places on, scores are pooled by "
        "random effects, with an interval of the mean and one of a new place.",
    ),
}


def write_card_of(card: StrPath, shown: Page, facts: Facts, run: TableRun) -> None:
    """Write a card of some facts, and of what a page shows."""
    write_card(card, joined(facts, page_facts(shown)), exact=run.exact)
    run.say(f"card: {card}")


def page_facts(page: Page) -> Facts:
    """Return what a page answers and shows, by the item of the checklist."""
    answer: Answer = page.answer
    facts: dict[str, list[str | Table]] = {
        "answer": [line for line in (answer.sentence, *answer.also, *answer.details) if line],
        "limitations": list(answer.warnings),
    }
    for section in page.sections:
        _fill(facts, section)
    for item, (other, line) in _ELSEWHERE.items():
        facts[other] = [line] * (item in facts)
    return facts


def _fill(facts: dict[str, list[str | Table]], section: Section) -> None:
    """Add the notes of a section that fills an item, and the tables in it, in order."""
    of_section = _ITEMS.get(section.id)
    for block in section.blocks:
        item = _ITEMS.get(block.id) if isinstance(block, Table) else of_section
        if isinstance(block, Section):
            _fill(facts, block)
        elif isinstance(block, Remarks):
            lines = [block.head] * bool(block.head) + [*block.lines]
            facts.setdefault("limitations" if block.warning else str(item), []).extend(lines)
        elif isinstance(block, str | Table) and item is not None:
            facts.setdefault(item, []).append(block)
            if isinstance(block, Table) and block.id == "scores":
                facts["calibration"] = ["See Performance."]


def compare_facts(
    table: LabelledTable, trials: Trials, clusterings: list[FoundClustering]
) -> Facts:
    """Return the lines of a card that hold for a comparison; see `compare_page`."""
    draws = [
        (contender_name(name), str(t), json.dumps(values, sort_keys=True))
        for name, record in trials.records.items()
        for t, values in enumerate(record.values)
    ]
    return {
        "title": [f"Do clusters help a tuned risk model of {table.label!r} on {table.name!r}?"],
        "partition": [
            f"{len(trials.seeds)} resamples, seeds {trials.seeds[0]} to {trials.seeds[-1]}; how "
            "they are drawn is in 12c."
        ],
        "model": ["Settings tried:", Table.of_texts("", "", ("model", "trial", "values"), draws)],
        "sample_size": [Text("At most {:,} training rows per resample.", trials.train_rows)],
        "cluster_algorithm": [_named(clustering) for clustering in clusterings],
        "cluster_stability": [
            f"{arm_name(clustering.arm)}: adjusted Rand index {clustering.stability:z.2f} between "
            "these clusters and those of the training rows of resamples "
            f"(at most {STABILITY_RESAMPLES})."
            for clustering in clusterings
        ],
    }


def _named(clustering: FoundClustering) -> str:
    alpha = f", alpha {clustering.alpha:g}" if clustering.alpha else ""
    arm = arm_name(clustering.arm)
    return f"{arm}: {clustering.k} clusters asked for{alpha}; ten starts of k-means."
