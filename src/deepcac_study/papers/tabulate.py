"""Conversion of records to the long table of scores (`papers.score_table`)."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd

from deepcac_study.catalogue.registry import DEMO
from deepcac_study.papers.class_decomposition.gains import decomposition_rows, printed_rows
from deepcac_study.papers.score_table import Scores
from deepcac_study.papers.supervised_kmeans.clustering_losses import loss_rows
from deepcac_study.records.clusterings import Clusterings
from deepcac_study.records.decompositions import BASES, ResampledRecord
from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Run
from deepcac_study.records.stored import Stored
from deepcac_study.records.studies import CaseStudy
from deepcac_study.records.sweep_tables import Sweeps
from deepcac_study.records.theorem_checks import TheoryRecord, checks

Rows = Iterator[dict[str, Any]]
_IDS = ["source", "synthetic", "protocol", "dataset", "method", "k", "seed", "path"]
_MOVES = 0.01  # decrease of the training loss by which an alpha counts as moving rows


def tabulate(findings: Findings) -> Scores:
    """Return all findings as one long table."""
    frames = [pd.DataFrame(columns=_IDS)]
    frames += [
        pd.DataFrame(rows).assign(source=source)
        for source, rows in (
            ("runs", [row for run in findings.runs for row in _splits(run)]),
            ("fits", [row for run in findings.runs for row in _passes(run)]),
            ("folds", [row for run in findings.runs for row in _folds(run)]),
            *_theorems(findings.theory),
            *((s, rows) for study in findings.studies for s, rows in _case_study(study).items()),
            ("decomposition", [*decomposition_rows(findings.decompositions), *printed_rows()]),
            ("bias_variance", [row for r in findings.resampled for row in _parts(r)]),
            *_clusterings(findings.clusterings),
        )
        if len(rows)
    ]
    frames += _sweeps(findings.sweeps)
    return Scores(pd.concat(frames, ignore_index=True))


def _ids(record: Stored) -> dict[str, Any]:
    """Return the columns that identify a record."""
    content = record.record
    ids = {"dataset": record.dataset, "protocol": content.get("protocol", "sound")}
    return {**ids, "synthetic": float(record.synthetic), "path": record.path, "k": content.get("k")}


def _splits(run: Run) -> Rows:
    """Yield the scores of a run on each split; a row without scores for a run without splits."""
    about = {
        **_ids(run),
        "method": run.method,
        "status": run.status,
        "n_rows": run.record.get("n_rows"),
        "n_features": run.record.get("n_features"),
        "n_classes": int(run.record.get("n_classes", 2)),
        "maj": max(run.class_shares, default=None),
        "macro": "D1" in run.record.get("switches", ()),
    }
    for split in run.splits or [{}]:
        curve = (split.get("history") or {}).get("separation") or [np.nan]
        sizes = (split.get("clusters") or {}).get("sizes_train", [])
        tuned = split["hyperparameters"] if "alpha" in split.get("tuned", ()) else {}
        yield {
            **about,
            "seed": split.get("seed"),
            "n_test": split.get("n_test"),
            "n_train": split.get("n_train"),
            # Some methods learn from the validation rows too.
            "n_learn": split.get("n_train", 0) + split.get("n_validation", 0),
            "alpha": tuned.get("alpha"),
            "first_separation": curve[0],
            "last_separation": curve[-1],
            "empty_cluster": bool(sizes) and min(map(sum, sizes)) == 0,
            "majorities": frozenset(int(np.argmax(counts)) for counts in sizes if sum(counts)),
            **split.get("metrics", {}),
        }


def _passes(run: Run) -> Rows:
    """Yield the measurements of a fit at its start and after each pass.

    Classifiers share clusterings: fits of one data set, k and split with equal curves get the same
    number.
    """
    for split in run.splits:
        if curves := split.get("history"):
            key = hash((split["seed"], *((name, *curve) for name, curve in sorted(curves.items()))))
            moves, silhouettes = curves.get("moves", [0.0]), curves.get("silhouette", ())
            about = {
                "moved": len(curves.get("cost", ())) > 1 and moves[0] > 0,
                "with_silhouettes": len(silhouettes) > 1,
            }
            for step, values in enumerate(zip_longest(*curves.values(), fillvalue=np.nan)):
                fit = {"method": run.method, "seed": split["seed"], "clustering": key, "step": step}
                yield {**_ids(run), **about, **fit, **dict(zip(curves, values, strict=True))}


def _folds(run: Run) -> Rows:
    """Yield the cross-validated F1 of each split at its best alpha, if alpha was tuned."""
    if run.status == "ok":
        for seed, f1 in enumerate(run.fold_scores):
            yield {**_ids(run), "method": run.method, "seed": seed, "f1": f1}


def _theorems(records: Sequence[TheoryRecord]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return (table, rows) pairs: costs, risks, log losses, inequalities and growth."""
    tables = {
        name: [
            {**_ids(record), "method": row.get("arm"), **row}
            for record in records
            for row in record.record[name]
        ]
        for name in ("cost", "risk", "log_loss")
    }
    inequalities = [
        {**_ids(record), "bound": check.bound, "right": check.right, "holds": check.holds}
        for record in records
        for check in checks(record)
    ]
    growth = [
        {**_ids(record), "axis": axis, "exponent": record.record["growth"][axis]}
        for record in records
        for axis in "ndk"
    ]
    return [*tables.items(), ("inequalities", inequalities), ("growth", growth)]


def _case_study(study: CaseStudy) -> dict[str, list[dict[str, Any]]]:
    keys = ("seed", "auprc", "student_auprc")
    return {
        "features": [_ids(study) | dict(row) for _, row in study.table.iterrows()],
        "students": [
            {**_ids(study), **{key: split[key] for key in keys}} for split in study.record["splits"]
        ],
    }


def _parts(record: ResampledRecord) -> Rows:
    """Yield the changes of bias and variance by the search, by base classifier."""
    for base in BASES:
        parts = {part: record.change(base, part) for part in ("bias", "variance")}
        yield {**_ids(record), "base": base, **parts}


def _clusterings(clusterings: Clusterings) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return (table, rows) pairs: losses, then times and checks where there are any."""
    sources = {"losses": list(loss_rows(clusterings.runs))}
    if clusterings.times:
        about = {"path": clusterings.times.path, "limit": clusterings.times.record["max_iter"]}
        sources["times"] = [about | row for row in clusterings.times.rows("rows")]
    if clusterings.checks:
        for name in ("training", "large_clusters", "noise_free", "loss", "kmeans"):
            rows = clusterings.checks.record[name]
            path = {"path": clusterings.checks.path}
            sources[name] = [path | row for row in (rows if isinstance(rows, list) else [rows])]
    for name in sources.keys() - {"losses"}:
        sources[name] = [{**row, "protocol": "sound"} for row in sources[name]]
    return list(sources.items())


def _sweeps(sweeps: Sweeps) -> list[pd.DataFrame]:
    """Return a frame per sweep, with its source, protocol and path as columns."""
    frames = []
    for name in ("alpha", "weights", "separation"):
        for (dataset, k), table in sweeps.of(name).items():
            path = f"results/sweeps/{name}_{dataset}_k{k}.parquet"
            made: dict[str, Any] = {
                "synthetic": float(dataset.startswith(DEMO)),
                "protocol": "sound",
                "path": path,
            }
            frame = table.assign(source=f"{name} sweep", dataset=dataset, k=k, **made)
            frames.append(_moving(frame if "seed" in frame else frame.assign(seed=0)))
    if sweeps.grid is not None:
        path = "results/sweeps/grid.parquet"
        frames.append(sweeps.grid.assign(source="grid", protocol="sound", path=path))
    return frames


def _moving(sweep: pd.DataFrame) -> pd.DataFrame:
    """Add a column that marks alphas above 0 at which passes lower the training loss by over 0.01.

    At smaller alphas hardly any row moves, and the few passes do not show the speed.
    """
    if "train_log_loss" not in sweep:
        return sweep
    loss = sweep.groupby(["seed", "alpha"])["train_log_loss"]
    falls = loss.transform("first") - loss.transform("last")
    return sweep.assign(moving=(sweep["alpha"] > 0) & (falls > _MOVES))
