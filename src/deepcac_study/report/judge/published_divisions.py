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
    rows: list[dict[str, Any]] = list(rows_of("public_results.csv"))
    return tuple(Printed(**{**row, "value": float(row["value"])}) for row in rows)


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
        auroc = self.record["scores"]["auroc"]
        return int(auroc["events"]), int(auroc["n_test"])

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
    contenders = [
        Divided(name, {**content, **contender})
        for name, content in scored
        for contender in content["contenders"]
    ]
    return sorted(
        contenders,
        key=lambda contender: (
            contender.division,
            -contender.score("auroc")[0],
            contender.contender,
        ),
    )


def division_tables(contenders: Sequence[Divided]) -> list[Table]:
    """Return the table of all divisions; [] without one."""
    if not contenders:
        return []
    rows: list[list[Cell]] = []
    for group in _by_task(contenders).values():
        rows += [_row(contender) for contender in group]
        rows += [_printed_row(group[0], result) for result in _printed(group[0])]
    return [declared_table("published_divisions", rows, columns=map(people, _SHOWN))]


def _by_task(contenders: Sequence[Divided]) -> dict[str, list[Divided]]:
    groups: dict[str, list[Divided]] = {}
    for contender in contenders:
        groups.setdefault(contender.task, []).append(contender)
    return groups


def _row(contender: Divided) -> list[Cell]:
    events, rows = contender.counts
    scores = (_with_interval(contender.score(metric)) for metric in _SHOWN)
    label = contender_label(contender.contender)
    return text_row(contender.task, label, f"{events:,} of {rows:,}", *scores, "this study")


def _with_interval(score: tuple[float, float, float]) -> str:
    value, low, high = score
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


def _printed(contender: Divided) -> list[Printed]:
    task = (
        contender.record["dataset"],
        " ".join(contender.record["train"]),
        contender.record["test"],
    )
    return [row for row in printed_results() if (row.dataset, row.train, row.test) == task]


def _printed_row(contender: Divided, printed: Printed) -> list[Cell]:
    values = (number(printed.value) if metric == printed.metric else "" for metric in _SHOWN)
    return text_row(contender.task, printed.who, "", *values, printed.source)


def division_figures(contenders: Sequence[Divided]) -> list[Figure]:
    """Return the scores of all divisions with their intervals; [] without one."""
    if not contenders:
        return []
    groups = _by_task(contenders)
    data = [
        (contender.task, contender.contender, metric, *contender.score(metric))
        for metric in _SHOWN
        for contender in contenders
    ]
    data += [
        (contender.task, printed.who, printed.metric, printed.value, np.nan, np.nan)
        for contender, *_ in groups.values()
        for printed in _printed(contender)
    ]
    return [
        declared_figure(
            "published_divisions",
            size=(9.2, 1.3 + 0.26 * len(contenders) + 0.45 * len(groups)),
            draw=lambda canvas: _draw(canvas, groups),
            data=data,
            seen="; ".join(map(_best, groups.values())),
        )
    ]


def _best(contenders: Sequence[Divided]) -> str:
    best = max(contenders, key=lambda contender: contender.score("auroc")[0])
    score, name = best.score("auroc")[0], contender_label(best.contender)
    return f"{best.task}: highest AUROC {score:.3f}, {name}"


def _draw(canvas: Canvas, groups: Mapping[str, Sequence[Divided]]) -> None:
    heights = [len(group) + 1 for group in groups.values()]
    grid = canvas.subplots(len(groups), len(_SHOWN), squeeze=False, height_ratios=heights)
    for line, (task, group) in zip(grid, groups.items(), strict=True):
        for axis, metric in zip(line, _SHOWN, strict=True):
            for place, contender in enumerate(group):
                value, low, high = contender.score(metric)
                axis.errorbar(
                    value,
                    place,
                    xerr=[[max(value - low, 0)], [max(high - value, 0)]],
                    fmt="o",
                    color=contender_colour(contender.contender, place),
                    markersize=4,
                    elinewidth=1.1,
                )
            _draw_printed(
                axis, [result for result in _printed(group[0]) if result.metric == metric]
            )
            axis.set(ylim=(len(group) - 0.5, -1.1))
            axis.set_yticks(range(len(group)), [])
        line[0].set_yticks(
            range(len(group)), [contender_label(contender.contender) for contender in group]
        )
        line[0].set_title(task, loc="left", fontweight="bold")
    for axis, metric in zip(grid[-1], _SHOWN, strict=True):
        axis.set(xlabel=people(metric))


def _draw_printed(axis: Axes, printed: Sequence[Printed]) -> None:
    for result in printed:
        axis.axvline(result.value, color="#555555", linewidth=0.9, linestyle="--")
    low, high = axis.get_xlim()
    for result in printed:
        right = result.value > (low + high) / 2
        who, side = result.who.partition(" (")[0], "right" if right else "left"
        text = f"{who} " if right else f" {who}"
        axis.text(result.value, -0.75, text, size=7, va="center", ha=side)


def division(table: pd.DataFrame, name: str) -> Table:
    """Return every contender on a published division, the highest first."""

    def score(metric: str) -> How:
        places = (metric, f"{metric}_low", f"{metric}_high")
        return lambda row: "{} [{}, {}]".format(*(three(row[place]) for place in places))

    rows = table[table["division"] == name].sort_values("auroc", ascending=False)
    scores = {people(metric): score(metric) for metric in _SHOWN}
    return Table.of(rows, {"method": ("contender", contender_label), **scores})
