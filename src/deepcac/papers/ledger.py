"""The ledger: every printed cell beside our numbers, with a verdict that a rule gives."""

import csv
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from deepcac.cac.path import GRID
from deepcac.experiments.finished import Run, Runs
from deepcac.papers.printed import CROSS_VALIDATED, PrintedCell, published_protocols
from deepcac.papers.summaries import Summaries
from deepcac.report.case_studies import REMARKS, CaseStudy
from deepcac.storage import atomic_path

AGREE, DIFFER, NOT_RUN, NOT_PRINTED, SETTING = (
    "agree",
    "differ",
    "not run",
    "not printed",
    "setting",
)
_PERCENT_ITEMS = ("accuracy", "delta_accuracy", "loss_delta")
_SETTING_TABLES = ("skmeans_table2_C",)


@dataclass(frozen=True)
class Ours:
    """Our number for a printed cell.

    Attributes
    ----------
    mean, sd : float or None
        None where the run has no such score.
    status : str
        Of the run.
    run : str
        The run (or runs) that decide.
    agrees : bool or None
        Where not the rule for scores decides, what does.
    """

    mean: float | None
    sd: float | None
    status: str
    run: str
    agrees: bool | None = None


@dataclass(frozen=True)
class Entry:
    """One row of the ledger; numbers as text, so that the file is the same bytes each time.

    `difference`, `verdict` and `run` belong to the protocol named in `decided_by`: as published
    where such a run exists, because the print was made that way, else sound.
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


def entries(
    cells: Iterable[PrintedCell], runs: Runs, studies: Iterable[CaseStudy] = ()
) -> list[Entry]:
    """Hold every printed cell against the runs.

    Parameters
    ----------
    cells : iterable of PrintedCell
        In the order of the ledger.
    runs : Runs
        Synthetic runs never decide a cell.
    studies : iterable of CaseStudy, optional
        Those of the printed data set decide DeepCAC's Tables 7 and 8.
    """
    summaries = Summaries(runs)
    described = {study.protocol: study for study in studies if study.printed}
    return [_entry(cell, runs, summaries, described) for cell in cells]


def _entry(
    cell: PrintedCell, runs: Runs, summaries: Summaries, studies: Mapping[str, CaseStudy]
) -> Entry:
    if cell.source in REMARKS:
        sound, published = (_of_study(cell, studies, name) for name in ("sound", "as_published"))
        return _held(cell, sound, published, REMARKS[cell.source])
    sound = _ours(cell, "sound", runs, summaries)
    folds = cell.source.removesuffix("_summary") in CROSS_VALIDATED
    candidates = (
        _ours(cell, protocol, runs, summaries)
        for protocol in published_protocols(cell.paper, cell.method_id, folds=folds)
    )
    published = next(filter(None, candidates), None)
    return _held(cell, sound, published, summaries.remark(cell))


def _held(cell: PrintedCell, sound: Ours | None, published: Ours | None, remark: str) -> Entry:
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


def _ours(cell: PrintedCell, protocol: str, runs: Runs, summaries: Summaries) -> Ours | None:
    if cell.kind == "summary":
        value = summaries.value(cell, protocol)
        return None if value is None else Ours(value.mean, None, "ok", f"{value.runs} runs")
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


def _of_study(cell: PrintedCell, studies: Mapping[str, CaseStudy], protocol: str) -> Ours | None:
    study = studies.get(protocol)
    answer = study.answer(cell) if study else None
    if study is None or answer is None:
        return None
    value, sd, agrees = answer
    return Ours(value, sd, "ok", study.path, agrees)


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


def verdict(cell: PrintedCell, ours: Ours | None) -> str:
    """Say whether our number agrees with the print.

    Scores agree if they differ by at most 2 combined standard deviations, or by 0.02 where no
    spread is printed (a printed sd of 0 is a repeated split and says nothing). Percentages take
    2 points, counts must be equal, a blank in the print agrees with a run that found no result.
    A tuned alpha agrees within half a step of our grid; one beyond the grid was not tried.
    """
    if cell.source in _SETTING_TABLES:
        return SETTING
    if ours is None:
        if cell.needs:
            return f"needs {cell.needs}"
        return NOT_RUN if cell.text else NOT_PRINTED
    if ours.agrees is not None:
        return AGREE if ours.agrees else DIFFER
    if cell.value is None:
        unfinished = "did not finish" in cell.note and ours.status == "timeout"
        return AGREE if unfinished else NOT_PRINTED
    if ours.mean is None:
        return ours.status if ours.status != "ok" else NOT_RUN
    if cell.kind == "alpha":
        return _of_tuned(ours.mean, cell.value)
    near = abs(ours.mean - cell.value) <= tolerance(cell, ours.sd) + 1e-9
    return AGREE if near else DIFFER


def _of_tuned(ours: float, printed: float) -> str:
    if not GRID[0] <= printed <= GRID[-1]:
        return NOT_RUN
    steps = np.diff(np.log(GRID))
    return AGREE if abs(math.log(ours / printed)) <= steps.max() / 2 + 1e-9 else DIFFER


def tolerance(cell: PrintedCell, our_sd: float | None) -> float:
    """Return the largest difference that still agrees."""
    if cell.item.startswith(("n_", "best_count")):
        return 0.0
    if cell.sd:
        return 2 * math.hypot(cell.sd, our_sd or 0.0)
    if cell.item in _PERCENT_ITEMS or "_pct_" in cell.item:
        return 2.0
    return 0.02


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
