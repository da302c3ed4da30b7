"""The documentation's tables of transfer, scorecards and richer labels."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from deepcac.judging.contenders import CAC, CELLS, HASH, KM
from deepcac.pages.figures import verdicts_in
from deepcac.pages.tables import How, Table
from deepcac.pages.wording import bounds, four, people, three
from deepcac.scoring.equivalence import LEVEL, NOT_TESTED
from deepcac_study.judge.further.further_files import PLANTED
from deepcac_study.judge.further.further_tables import richer_table, scorecard_table, transfer_table
from deepcac_study.judge.further.further_verdicts import REAL
from deepcac_study.judge.further.richer_labels import ALONE, RICH, SHUFFLED, SOFT, STACKED
from deepcac_study.judge.further.scorecards import CARDS, ONE
from deepcac_study.judge.further.transfer import DIRECTIONS, FIXED, FORCED, GLOBAL, NONE, UPDATE
from deepcac_study.judge.study_files import FOLDER, FURTHER, RICHER, SCORECARDS, TRANSFER
from deepcac_study.report.judge.judge_figures import contender_label
from deepcac_study.report.kept.judge_docs import STYLES, counted
from deepcac_study.report.kept.run_snapshot import open_records

MOVES, CARDED, LABELLED = (f"judge_{part}" for part in (TRANSFER, SCORECARDS, RICHER))
DECIDED = (MOVES, CARDED, LABELLED)
_READ: dict[str, Callable[[Iterable[Path]], pd.DataFrame]] = {
    MOVES: transfer_table,
    CARDED: scorecard_table,
    LABELLED: richer_table,
}
_PARTS = {KM: "k-means clusters", CAC: "CAC clusters", CELLS: "random partition", HASH: "hash"}
_NAMES = {
    **{GLOBAL: "global", NONE: "no recalibration", ONE: "one card", ALONE: "the learner alone"},
    **{RICH: "a model in each rich cluster", SOFT: "memberships as predictors"},
    **{STACKED: "predicted labels as predictors", UPDATE: "ridge update on all predictors"},
    DIRECTIONS: "principal components",
}
_OVER_ONE = [(f"{arm}_{k}", ONE) for arm in (KM, CAC) for k in CARDS]
# Which rows go together, and what their first columns say.
_BY = ["question", "contender", "reference", "learner"]
_COMPARED: dict[str, How] = {
    "question": lambda group: group[0][0].replace("_", " "),
    "compared": lambda group: " less ".join(map(_name, group[0][1:3])),
    "learner": lambda group: contender_label(group[0][3]),
}


def further_rows(results: Path) -> dict[str, pd.DataFrame]:
    """Return the comparisons of a folder ``results``, not decided yet; empty where nothing ran."""
    places = zip(DECIDED, FURTHER, strict=True)
    study = Path(FOLDER).name
    return {
        name: _READ[name](open_records(results, f"{study}/{part}/*.json")) for name, part in places
    }


def transfer_counts(table: pd.DataFrame, metric: str) -> Table:
    """Count the verdicts on moves to another hospital, by question and learner."""
    own = table[(table["metric"] == metric) & (table["cohort"] == REAL)]

    def excluded(column: str) -> How:
        return lambda group: (group[1][column] < LEVEL).sum()

    columns: dict[str, How] = {
        **_COMPARED,
        "comparisons": lambda group: len(group[1]),
        **counted(verdicts_in(own["verdict"])),
        "gain excluded": excluded("p_gain_excluded"),
        "after Holm": excluded("p_gain_excluded_holm"),
    }
    return Table.of(own.groupby(_BY, sort=False), columns, n_labels=3)


def transfer_gains(
    table: pd.DataFrame, contender: str, metric: str, reference: str = GLOBAL
) -> Table:
    """Return what one way gains over another, by move, learner and number of labels."""
    own = _pair(table, contender, reference)
    own = own[(own["metric"] == metric) & (own["cohort"] == REAL)]

    def at(labels: int) -> How:
        return lambda group: _only(group[1][group[1]["labels"] == labels])

    columns: dict[str, How] = {
        "target": lambda group: _move(group[0][0]),
        "learner": lambda group: contender_label(group[0][1]),
        **{f"{m:,} labels": at(m) for m in sorted(own["labels"].unique())},
    }
    return Table.of(own.groupby(["move", "learner"], sort=False), columns, n_labels=2)


def card_gains(table: pd.DataFrame, metric: str) -> Table:
    """Return what several cards gain over one, and over cards in a random partition."""
    own = table[(table["metric"] == metric) & (table["cohort"] == REAL)]
    pairs = [*_OVER_ONE, *((f"{KM}_{k}", f"{CELLS}_{k}") for k in CARDS)]
    columns: dict[str, How] = {
        "data set": lambda group: group[0][0],
        "items": lambda group: group[0][1],
        "one card": lambda group: three(_pair(group[1], KM, ONE)["reference_score"].item()),
        **_gains(pairs, _only),
    }
    return Table.of(own.groupby(["dataset", "items"], sort=False), columns, n_labels=2)


def label_gains(table: pd.DataFrame, *metrics: str) -> Table:
    """Return what richer labels bring by some metrics, with intervals, one row a comparison."""

    def gain(metric: str) -> How:
        def cell(group: tuple[Any, pd.DataFrame]) -> str:
            found = group[1][group[1]["metric"] == metric]
            row = found.iloc[0].to_dict()
            return _only(found) if row["verdict"] in NOT_TESTED else f"{_only(found)} {bounds(row)}"

        return cell

    columns = {**_COMPARED, **{people(metric): gain(metric) for metric in metrics}}
    return Table.of(table.groupby(_BY, sort=False), columns, n_labels=3)


def planted_moves(table: pd.DataFrame, metric: str) -> Table:
    """Return what was found where subtypes shift in the target, by shift and labels."""
    own = table[(table["metric"] == metric) & (table["cohort"] != REAL)]
    pairs = [(FIXED + KM, GLOBAL), (FORCED + KM, GLOBAL), (FORCED + KM, FORCED + CELLS)]
    return _planted(own, "labels", "shift", pairs, _only)


def planted_cards(table: pd.DataFrame, metric: str) -> Table:
    """Return in how many planted cohorts several cards beat one, by strength and items."""
    own = table[(table["metric"] == metric) & (table["cohort"] != REAL)]
    pairs = [*_OVER_ONE, (f"{KM}_2", f"{CELLS}_2"), (HASH, ONE)]

    def found(rows: pd.DataFrame) -> str:
        row = rows.iloc[0]
        return f"{three(row['mean'], signed=True)}, {row['found']:.0f} of {row['cohorts']:.0f}"

    return _planted(own, "items", "strength", pairs, found)


def _planted(
    own: pd.DataFrame,
    size: str,
    strength: str,
    pairs: Iterable[tuple[str, str]],
    write: Callable[[pd.DataFrame], str],
) -> Table:
    columns: dict[str, How] = {
        strength: lambda group: group[0][0].removeprefix(PLANTED),
        size: lambda group: f"{group[0][1]:,.0f}",
        **_gains(pairs, write),
    }
    order = own["cohort"].str.removeprefix(PLANTED).astype(float).sort_values(kind="stable").index
    return Table.of(own.loc[order].groupby(["cohort", size], sort=False), columns, n_labels=2)


def _gains(
    pairs: Iterable[tuple[str, str]], write: Callable[[pd.DataFrame], str]
) -> dict[str, How]:
    """Return a column for each pair, with what is written of its rows in a group."""

    def gain(pair: tuple[str, str]) -> How:
        return lambda group: write(_pair(group[1], *pair))

    return {" less ".join(map(_name, pair)): gain(pair) for pair in pairs}


def _pair(rows: pd.DataFrame, contender: str, reference: str) -> pd.DataFrame:
    return rows[(rows["contender"] == contender) & (rows["reference"] == reference)]


def _only(rows: pd.DataFrame) -> str:
    """Write the difference of the one row in the style of its verdict; empty without any."""
    if rows.empty:
        return ""
    row = rows.iloc[0]
    return four(row["mean"], STYLES[str(row["verdict"])], signed=True)


def _move(name: str) -> str:
    """Return ``2019, A to B`` for physionet2019_a_b, and ``2012, CCU`` for physionet2012_ccu."""
    source, *groups = name.split("_")
    year = source.removeprefix("physionet")
    shown = [one if year == "2012" and len(groups) == 2 else one.upper() for one in groups]
    return f"{year}, {' to '.join(shown)}"


def _name(way: str) -> str:
    """Return a contender of any of the three questions as people write it."""
    if way in _NAMES:
        return _NAMES[way]
    for start, words in ((FORCED, "{}, k >= 2"), (FIXED, "fixed {}"), (SHUFFLED, "{}, shuffled")):
        if way.startswith(start):
            return words.format(_name(way.removeprefix(start)))
    arm, _, k = way.partition("_")
    return f"{k} cards in {_PARTS[arm]}" if k else _PARTS.get(arm, arm)
