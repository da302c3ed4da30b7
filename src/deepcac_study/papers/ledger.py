"""The ledger: every printed cell with our numbers and a verdict by a rule."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import Field, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from deepcac.files.atomic import atomic_path
from deepcac.types import Floats
from deepcac_study.catalogue.protocol import protocol_folder
from deepcac_study.papers.agreement import AGREE, DIFFER, NOT_RUN, Answers, Ours, tolerance, verdict
from deepcac_study.papers.cac_v1.table_summaries import Summaries
from deepcac_study.papers.class_decomposition.gains import GainTable
from deepcac_study.papers.deepcac.length_of_stay import ClusterTables
from deepcac_study.papers.entry import SIGNED, Entry
from deepcac_study.papers.names import restricted
from deepcac_study.papers.null_rate import cells_by_place, place, reasons_derived
from deepcac_study.papers.printed import PrintedCell, printed_cells
from deepcac_study.papers.score_table import Scores, Splits
from deepcac_study.papers.supervised_kmeans.clustering_losses import LossTables
from deepcac_study.papers.tabulate import tabulate
from deepcac_study.records.reader import Findings

NEEDS_ACCESS = "needs access"
DECIMALS = 4


def entries(findings: Findings) -> list[Entry]:
    """Return an entry for every printed cell, compared with results on the papers' data."""
    scores = tabulate(findings).of_the_papers()
    tables = (Summaries, ClusterTables, LossTables, GainTable)
    answers: list[Answers] = [table(scores) for table in tables]
    special = {source: answerer for answerer in answers for source in answerer.sources}
    cells = printed_cells()
    rivals = cells_by_place(cells)
    return [
        _entry(cell, special.get(cell.source) or _OfRuns(scores), rivals[place(cell)], origin)
        for cell, origin in zip(cells, reasons_derived(cells), strict=True)
    ]


def _entry(
    cell: PrintedCell, answers: Answers, neighbours: Sequence[PrintedCell], origin: str
) -> Entry:
    """Return the ledger entry of a cell; `neighbours` are other methods' cells at its place."""
    sound, ours = answers.answer(cell, "sound"), answers.answer(cell, cell.protocol)
    published = None if cell.protocol == "sound" else ours
    decided = verdict(cell, ours, cell.protocol)
    others = [
        other
        for other in neighbours
        if decided in (AGREE, DIFFER)
        and ours
        and ours.agrees is None
        and other.method != cell.method
    ]
    # A rival is held to the rule of the cell whose place it would take.
    fooled = sum(
        verdict(replace(other, protocol=cell.protocol), ours, cell.protocol) == AGREE
        for other in others
    )
    return Entry(
        paper=cell.paper,
        table=cell.table,
        kind=cell.kind,
        dataset=cell.dataset,
        method=cell.method,
        k=cell.k,
        item=cell.item,
        printed=cell.text,
        printed_sd=_rounded(cell.sd),
        sound=_rounded(sound.mean if sound else None),
        sound_sd=_rounded(sound.sd if sound else None),
        as_published=_rounded(published.mean if published else None),
        as_published_sd=_rounded(published.sd if published else None),
        difference=_difference(cell, ours),
        bound=_bound(cell, ours, decided),
        verdict=decided,
        needs=(cell.needs or answers.target(cell)) if decided == NOT_RUN else cell.lost,
        decided_by=cell.protocol,
        run=ours.run if ours else "",
        sound_verdict=verdict(cell, sound, "sound"),
        derived=origin or answers.not_counted(cell),
        rivals=len(others) if others else None,
        rivals_agree=fooled if others else None,
        note="; ".join(filter(None, (cell.note, answers.remark(cell)))),
    )


def _difference(cell: PrintedCell, ours: Ours | None) -> float | None:
    """Return our number minus the printed one; None if either is missing."""
    if ours is None or ours.mean is None or cell.value is None:
        return None
    return _rounded(ours.mean - cell.value)


def _bound(cell: PrintedCell, ours: Ours | None, decided: str) -> float | None:
    """Return the largest difference that agrees; None where no difference decides."""
    if decided not in (AGREE, DIFFER) or cell.kind == "alpha" or cell.value is None:
        return None
    if ours is None or ours.mean is None or ours.agrees is not None:
        return None
    return _rounded(tolerance(cell, ours.sd, cell.protocol))


def _rounded(value: float | None) -> float | None:
    """Return a number as in the ledger: with four decimals, and no negative zero."""
    return None if value is None else round(float(value), DECIMALS) + 0.0


@dataclass(frozen=True)
class _OfRuns(Answers):
    """Our numbers for cells that a single run decides."""

    scores: Scores
    sources = ()

    def answer(self, cell: PrintedCell, protocol: str) -> Ours | None:
        """Return the number of one run for a cell, None without that run."""
        if cell.kind == "data":
            return self._of_data(cell, protocol)
        place = (protocol, cell.dataset_id, cell.method_id, cell.n_clusters or 0)
        if (run := self.scores.runs.get(place)) is None:
            return None
        if cell.kind == "alpha":
            tuned = run.values("alpha")
            sd = float(tuned.std(ddof=1)) if len(tuned) > 1 else 0.0
            return Ours(float(np.median(tuned)), sd, run.status, run.path) if len(tuned) else None
        values = _values(run, cell)
        if run.status != "ok" or not len(values):
            return Ours(None, None, run.status, run.path)
        # One split has no spread.
        spread = float(values.std(ddof=1)) if len(values) > 1 else None
        return Ours(float(values.mean()), spread, run.status, run.path)

    def _of_data(self, cell: PrintedCell, protocol: str) -> Ours | None:
        """Return a property of the data, from any run on them."""
        item = {"n_instances": "n_rows"}.get(cell.item, cell.item)
        run = self.scores.of_data.get((protocol, cell.dataset_id))
        values = run.values(item) if run else np.empty(0)
        return Ours(float(values[0]), None, run.status, run.path) if run and len(values) else None

    def remark(self, cell: PrintedCell) -> str:
        """Return a note on our AUPRC of the positive class, if the cell is a mean over classes."""
        place = ("sound", cell.dataset_id, cell.method_id, cell.n_clusters or 0)
        run = self.scores.runs.get(place) if cell.averaged and cell.item == "auprc" else None
        if not run or run["n_classes"][0] > 2 or not len(run.values("auprc")):
            return ""
        mean = run.values("auprc").mean()
        return f"AUPRC: mean over the classes; of the positive class {mean:.3f} (sound)"

    def target(self, cell: PrintedCell) -> str:
        """Return the path of the record that would decide a cell."""
        folder = f"results/{protocol_folder(cell.protocol)}{cell.dataset_id}"
        if cell.kind == "data":
            return f"any run in {folder}/" if cell.dataset_id else "a data set of its own"
        if not (cell.dataset_id and cell.method_id and cell.n_clusters):
            return "a method of its own"
        return f"{folder}/{cell.method_id}_k{cell.n_clusters}.json"


def _values(run: Splits, cell: PrintedCell) -> Floats:
    """Return the values (splits,) of the metric that a cell was printed in, under any protocol.

    DeepCAC prints means over the classes, even for two (switch D1).
    """
    if cell.kind == "log":
        return run.values(cell.item)
    return (
        run.values(f"{cell.item}_macro") if cell.averaged else run.reported(cell.item, cell.paper)
    )


def number(value: float | None, *, signed: bool = False) -> str:
    """Format a number with at most `DECIMALS` decimals; empty for None."""
    if value is None:
        return ""
    text = f"{value:{'+' if signed else ''}.{DECIMALS}f}"
    text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "+0") else text


def standing(entry: Entry) -> str:
    """Return the verdict of an entry, with a separate one for those that need restricted data."""
    asked = entry.verdict == NOT_RUN and entry.needs in restricted().values()
    return NEEDS_ACCESS if asked else entry.verdict


def write_rows(path: str | Path, kind: Any, rows: Iterable[Any]) -> None:
    """Write dataclass rows as CSV, with a header even if there are none."""
    columns = fields(kind)
    with atomic_path(path) as partial, open(partial, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(column.name for column in columns)
        writer.writerows(
            [_text(getattr(row, column.name), column) for column in columns] for row in rows
        )


def _text(value: str | float | None, column: Field[Any]) -> str:
    return value if isinstance(value, str) else number(value, signed=column.metadata == SIGNED)
