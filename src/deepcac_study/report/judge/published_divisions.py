"""Contenders on divisions of the rows that others published results on."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from deepcac.files.storage import read_json
from deepcac.pages.figures import Figure
from deepcac.pages.tables import Cell, How, Table, text_row
from deepcac.pages.wording import people, three
from deepcac_study.judge.study_files import PUBLIC
from deepcac_study.papers.ledger import number
from deepcac_study.report.declarations import declared_figure, declared_table, rows_of
from deepcac_study.report.judge.judge_figures import contender_colour, contender_label

# A metric, and by which of the stored choices of a trial it is shown.
_SHOWN = {"auroc": "auroc", "auprc": "auprc", "min_se_pp": "auprc"}


class Printed(NamedTuple):
    """One printed score."""

    # The division: the groups learnt from, joined by a space, and the group tested on.
    dataset: str
    train: str
    test: str
    metric: str
    value: float
    # Whose score it is, and where it is printed.
    who: str
    source: str


@cache
def printed_results() -> tuple[Printed, ...]:
    """Return every printed score of ``public_results.csv``."""
    found: list[dict[str, Any]] = list(rows_of("public_results.csv"))
    return tuple(Printed(**{**row, "value": float(row["value"])}) for row in found)


@dataclass(frozen=True)
class Divided:
    """One contender on one division, as `deepcac_study.judge.division_scores` scored it."""

    division: str
    record: dict[str, Any]

    @property
    def contender(self) -> str:
        """Its id."""
        return str(self.record["contender"])

    @property
    def task(self) -> str:
        """What is learnt from, and tested on."""
        learnt = " + ".join(self.record["train"])
        return f"{self.record['dataset']}, {learnt} to {self.record['test']}"

    @property
    def counts(self) -> tuple[int, int]:
        """Test rows with the outcome, and all."""
        one = self.record["scores"]["auroc"]
        return int(one["events"]), int(one["n_test"])

    def score(self, metric: str) -> tuple[float, float, float]:
        """Return a metric with its interval; the trials were chosen by AUROC, or by AUPRC."""
        value, low, high = self.record["scores"][_SHOWN[metric]][metric]
        return float(value), float(low), float(high)


def load_divisions(paths: Iterable[str | os.PathLike[str]]) -> list[Divided]:
    """Read ``{division}.json`` files (`divided`); trials, in folders of divisions, are left out."""
    scored = (path for path in map(Path, paths) if path.parent.name == PUBLIC)
    return divided((path.stem, read_json(path)) for path in scored)


def divided(scored: Iterable[tuple[str, dict[str, Any]]]) -> list[Divided]:
    """Return the contenders of scored divisions: by division, the highest AUROC first.

    Given are names, and what `deepcac_study.judge.division_scores.score_division` returns.
    """
    found = [
        Divided(name, {**content, **one})
        for name, content in scored
        for one in content["contenders"]
    ]
    return sorted(found, key=lambda one: (one.division, -one.score("auroc")[0], one.contender))


def division_tables(found: Sequence[Divided]) -> list[Table]:
    """Return the table of all divisions; [] without one."""
    if not found:
        return []
    rows: list[list[Cell]] = []
    for own in _by_task(found).values():
        rows += [_row(one) for one in own]
        rows += [_printed_row(own[0], one) for one in _printed(own[0])]
    return [declared_table("published_divisions", rows, columns=map(people, _SHOWN))]


def _by_task(found: Sequence[Divided]) -> dict[str, list[Divided]]:
    groups: dict[str, list[Divided]] = {}
    for one in found:
        groups.setdefault(one.task, []).append(one)
    return groups


def _row(one: Divided) -> list[Cell]:
    events, rows = one.counts
    scores = (_with_interval(one.score(metric)) for metric in _SHOWN)
    label = contender_label(one.contender)
    return text_row(one.task, label, f"{events:,} of {rows:,}", *scores, "this study")


def _with_interval(score: tuple[float, float, float]) -> str:
    value, low, high = score
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


def _printed(one: Divided) -> list[Printed]:
    task = (one.record["dataset"], " ".join(one.record["train"]), one.record["test"])
    return [row for row in printed_results() if (row.dataset, row.train, row.test) == task]


def _printed_row(one: Divided, printed: Printed) -> list[Cell]:
    values = (number(printed.value) if metric == printed.metric else "" for metric in _SHOWN)
    return text_row(one.task, printed.who, "", *values, printed.source)


def division_figures(found: Sequence[Divided]) -> list[Figure]:
    """Return the scores of all divisions with their intervals; [] without one."""
    if not found:
        return []
    groups = _by_task(found)
    data = [
        (one.task, one.contender, metric, *one.score(metric)) for metric in _SHOWN for one in found
    ]
    data += [
        (one.task, printed.who, printed.metric, printed.value, np.nan, np.nan)
        for one, *_ in groups.values()
        for printed in _printed(one)
    ]
    return [
        declared_figure(
            "published_divisions",
            size=(9.2, 1.3 + 0.26 * len(found) + 0.45 * len(groups)),
            draw=lambda canvas: _draw(canvas, groups),
            data=data,
            seen="; ".join(map(_best, groups.values())),
        )
    ]


def _best(own: Sequence[Divided]) -> str:
    best = max(own, key=lambda one: one.score("auroc")[0])
    score, name = best.score("auroc")[0], contender_label(best.contender)
    return f"{best.task}: highest AUROC {score:.3f}, {name}"


def _draw(canvas: Canvas, groups: Mapping[str, Sequence[Divided]]) -> None:
    heights = [len(own) + 1 for own in groups.values()]
    grid = canvas.subplots(len(groups), len(_SHOWN), squeeze=False, height_ratios=heights)
    for line, (task, own) in zip(grid, groups.items(), strict=True):
        for axis, metric in zip(line, _SHOWN, strict=True):
            for place, one in enumerate(own):
                value, low, high = one.score(metric)
                axis.errorbar(
                    value,
                    place,
                    xerr=[[max(value - low, 0)], [max(high - value, 0)]],
                    fmt="o",
                    color=contender_colour(one.contender, place),
                    markersize=4,
                    elinewidth=1.1,
                )
            _draw_printed(axis, [one for one in _printed(own[0]) if one.metric == metric])
            axis.set(ylim=(len(own) - 0.5, -1.1))
            axis.set_yticks(range(len(own)), [])
        line[0].set_yticks(range(len(own)), [contender_label(one.contender) for one in own])
        line[0].set_title(task, loc="left", fontweight="bold")
    for axis, metric in zip(grid[-1], _SHOWN, strict=True):
        axis.set(xlabel=people(metric))


def _draw_printed(axis: Axes, printed: Sequence[Printed]) -> None:
    for one in printed:
        axis.axvline(one.value, color="#555555", linewidth=0.9, linestyle="--")
    low, high = axis.get_xlim()
    for one in printed:
        right = one.value > (low + high) / 2
        who, side = one.who.partition(" (")[0], "right" if right else "left"
        text = f"{who} " if right else f" {who}"
        axis.text(one.value, -0.75, text, size=7, va="center", ha=side)


def division(table: pd.DataFrame, name: str) -> Table:
    """Return every contender on a published division, the highest first."""

    def score(metric: str) -> How:
        places = (metric, f"{metric}_low", f"{metric}_high")
        return lambda row: "{} [{}, {}]".format(*(three(row[place]) for place in places))

    own = table[table["division"] == name].sort_values("auroc", ascending=False)
    scores = {people(metric): score(metric) for metric in _SHOWN}
    return Table.of(own, {"method": ("contender", contender_label), **scores})
