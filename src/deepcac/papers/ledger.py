"""The ledger: every printed cell beside our numbers, with a verdict that a rule gives."""

import csv
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from deepcac.atomic import atomic_path
from deepcac.experiments.finished import Run, Runs
from deepcac.papers.agreement import Answers, Ours, verdict
from deepcac.papers.cac_v1.table_summaries import Summaries
from deepcac.papers.class_decomposition.gain_table import GainTable
from deepcac.papers.deepcac.length_of_stay import ClusterTables
from deepcac.papers.findings import Findings
from deepcac.papers.printed import PrintedCell, printed_cells, published_protocols
from deepcac.papers.supervised_kmeans.cluster_losses import LossTables


@dataclass(frozen=True)
class Entry:
    """One row of the ledger; numbers as text, so that the file is the same bytes each time.

    `difference`, `verdict` and `run` belong to the protocol named in `decided_by`: as published
    where such a run exists, because the paper's number was made that way, else sound.
    """

    paper: str
    table: str
    kind: str
    dataset: str
    method: str
    k: str
    item: str
    printed: str
    printed_sd: str
    sound: str
    sound_sd: str
    as_published: str
    as_published_sd: str
    difference: str
    verdict: str
    decided_by: str
    run: str
    sound_verdict: str
    note: str


def entries(found: Findings) -> list[Entry]:
    """Compare every printed cell with what was found; synthetic runs never decide a cell."""
    answers: tuple[Answers, ...] = (
        Summaries(found.runs),
        ClusterTables(found.studies),
        LossTables(found.clusterings),
        GainTable(found.decompositions),
    )
    special = {source: one for one in answers for source in one.sources}
    return [_entry(cell, found.runs, special) for cell in printed_cells()]


def _entry(cell: PrintedCell, runs: Runs, special: Mapping[str, Answers]) -> Entry:
    one = special.get(cell.source)

    def ours(protocol: str) -> Ours | None:
        return one.answer(cell, protocol) if one else _ours(cell, protocol, runs)

    protocols = published_protocols(cell.paper, cell.method_id, folds=cell.folds)
    published = next(filter(None, map(ours, protocols)), None)
    return _beside(cell, ours("sound"), published, one.remark(cell) if one else "")


def _beside(cell: PrintedCell, sound: Ours | None, published: Ours | None, remark: str) -> Entry:
    """Return the entry of a cell beside our numbers."""
    deciding = published or sound
    difference = ""
    if deciding and deciding.mean is not None and cell.value is not None:
        difference = number(deciding.mean - cell.value, signed=True)
    return Entry(
        paper=cell.paper,
        table=cell.table,
        kind=cell.kind,
        dataset=cell.dataset,
        method=cell.method,
        k=cell.k,
        item=cell.item,
        printed=cell.text,
        printed_sd="" if cell.sd is None else number(cell.sd),
        sound=number(sound.mean if sound else None),
        sound_sd=number(sound.sd if sound else None),
        as_published=number(published.mean if published else None),
        as_published_sd=number(published.sd if published else None),
        difference=difference,
        verdict=verdict(cell, deciding),
        decided_by=("as published" if published else "sound") if deciding else "",
        run=deciding.run if deciding else "",
        sound_verdict=verdict(cell, sound),
        note="; ".join(filter(None, (cell.note, remark))),
    )


def _ours(cell: PrintedCell, protocol: str, runs: Runs) -> Ours | None:
    """Return what one run gives for a cell, None without that run."""
    if cell.kind == "data":
        found = runs.where(protocol=protocol, dataset=cell.dataset_id, synthetic=False)
        return _of_data(cell.item, found[0]) if found else None
    if cell.n_clusters is None or not cell.method_id:
        return None
    run = runs.find(protocol, cell.dataset_id, cell.method_id, cell.n_clusters)
    if run is None or run.synthetic:
        return None
    if cell.kind == "alpha":
        return _of_alpha(run)
    metric = cell.item if cell.kind == "log" else run.reported(cell.item, cell.paper)
    score = run.score(metric) if run.status == "ok" else None
    if score is None:
        return Ours(None, None, run.status, run.path)
    # One split has no spread.
    return Ours(score[0], score[1] if len(run.splits) > 1 else None, run.status, run.path)


def _of_alpha(run: Run) -> Ours | None:
    """Return the median tuned alpha over the splits; a fixed alpha decides nothing."""
    values = [
        float(split["hyperparameters"]["alpha"])
        for split in run.splits
        if "alpha" in split.get("tuned", ())
    ]
    if not values:
        return None
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return Ours(float(np.median(values)), sd, run.status, run.path)


def _of_data(item: str, run: Run) -> Ours | None:
    keys = {"n_instances": "n_rows", "n_features": "n_features", "n_classes": "n_classes"}
    if item in keys:
        value = run.record.get(keys[item])
        return None if value is None else Ours(float(value), None, run.status, run.path)
    if item != "maj" or not run.splits:
        return None
    shares = class_shares(run)
    return Ours(max(shares), None, run.status, run.path) if shares else None


def class_shares(run: Run) -> list[float]:
    """Return the share of each class among the training and test rows of the first split."""
    clusters = run.splits[0].get("clusters") or {}
    sizes = [*clusters.get("sizes_train", []), *clusters.get("sizes_test", [])]
    if not sizes:
        return []
    counts = np.sum(sizes, axis=0)
    return [float(share) for share in counts / counts.sum()]


def number(value: float | None, *, signed: bool = False) -> str:
    """Write a number with at most four decimals; empty for None."""
    if value is None:
        return ""
    text = f"{value:+.4f}" if signed else f"{value:.4f}"
    text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "+0") else text


def counts(rows: Iterable[Entry]) -> dict[str, int]:
    """Return how often each verdict occurs, most frequent first."""
    return dict(
        sorted(Counter(row.verdict for row in rows).items(), key=lambda kv: (-kv[1], kv[0]))
    )


def write(path: str | Path, rows: Iterable[Entry]) -> None:
    """Write the ledger as CSV."""
    with atomic_path(path) as partial, open(partial, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [f.name for f in fields(Entry)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
