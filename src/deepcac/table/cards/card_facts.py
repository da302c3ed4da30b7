"""What a card knows of a table, of a comparison and its software, and what a page fills of it."""

import json
import platform
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from deepcac import __version__
from deepcac.pages.sections import Remarks, Section
from deepcac.pages.tables import Table
from deepcac.scoring.small_cells import NOTE, Count, OfSome, Share, Text
from deepcac.table.answer import Answer, arm_name, contender_name
from deepcac.table.budgeted_trials import TableRun, Trials
from deepcac.table.cards.model_card import Facts, joined, write_card
from deepcac.table.found_subtypes import STABILITY_RESAMPLES, FoundClustering
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.output_files import StrPath
from deepcac.table.pages.page_sections import Page

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
