"""Runs: methods with their k clusters on every split of a data set, to one record each."""

import logging
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from deepcac.errors import ConfigError
from deepcac.feature_matrix import FeatureMatrix, read_features
from deepcac.files.csv_files import write_csv
from deepcac.files.storage import read_json
from deepcac.scoring.metrics import Scores, score_clusters, score_predictions
from deepcac.scoring.subtypes import describe
from deepcac.task import Fitted, Task
from deepcac_study.catalogue.methods import Method
from deepcac_study.catalogue.protocol import Protocol
from deepcac_study.experiments.fit import device, fit, shared_stage
from deepcac_study.experiments.prepare import Setting, make_task
from deepcac_study.records import record as records
from deepcac_study.splits import Split, most_splits, read_splits, scheme

log = logging.getLogger(__name__)

Arm = tuple[Method, int]  # a method and its number of clusters
_LISTED = ("auroc", "auprc", "f1")


class RunFiles(NamedTuple):
    """Features and splits of a data set, and its pre-trained autoencoders (`fit.shared_stage`)."""

    features: Path
    splits: Path
    shared: Path | None = None


class _Done(NamedTuple):
    """One method on one split: entry of the record, row scores, and wall time by stage."""

    entry: dict[str, Any]
    scores: pa.Table
    seconds: dict[str, float]


def run(
    files: RunFiles,
    asked: Mapping[Path, Arm],
    *,
    dataset: str,
    protocol: Protocol,
    synthetic: bool = False,
    threads: int = 1,
) -> None:
    """Fit and score methods on every split, and write their records and row scores.

    `asked` maps the JSON to write to a method and its k (1 without clusters), all of one family;
    per-row scores are written next to the JSON. `threads` is only recorded:
    `deepcac_study.jobs.job` sets the limits.
    """
    features = read_features(files.features)
    for method, k in asked.values():
        _check(method, k, dataset, features)
    (family,) = {method.family for method, _ in asked.values()}
    settings = {k: Setting(dataset, k, protocol, family) for _, k in asked.values()}
    most = most_splits(protocol, sequence=features.n_steps > 1)
    splits = read_splits(files.splits, features.row_id, scheme(protocol, family))[:most]
    arms = tuple(asked.values())
    by_split = [_run_split(features, split, settings, arms, files.shared) for split in splits]
    shape = _shape(features)
    inputs = {name: records.file_digest(getattr(files, name)) for name in ("features", "splits")}
    for (path, (method, k)), done in zip(asked.items(), zip(*by_split, strict=True), strict=True):
        seconds: Counter[str] = Counter()
        for result in done:
            seconds.update(result.seconds)
        records.write_scores(path, [result.scores for result in done])
        record = {
            "synthetic": synthetic,
            **_head(settings[k], method),
            **shape,
            **_outcome([result.entry for result in done]),
            "inputs": inputs,
            "scores": records.file_digest(records.scores_path(path)),
            "machine": records.machine(dict(seconds), threads, device(method)),
        }
        records.write_record(path, record)


def list_runs(
    path: str | os.PathLike[str], runs: Sequence[Path], features: str | os.PathLike[str]
) -> None:
    """Write a CSV of the runs that one job made, one row per run, with digest and main scores.

    Snakemake tracks only this list, not how the records in it were made. So their modification
    times are set before that of the `features`: a run that is requested by its own path is made
    anew, and never served from older code.
    """
    time_before = Path(features).stat().st_mtime - 1
    rows = []
    for run_path in runs:
        record = read_json(run_path)
        means = (record["summary"].get(name, {}).get("mean", "") for name in _LISTED)
        rows.append([run_path.stem, record["digest"], *means])
        for file in (run_path, records.scores_path(run_path)):
            os.utime(file, (time_before, time_before))
    write_csv(path, ("run", "digest", *_LISTED), rows)


def _check(method: Method, k: int, dataset: str, features: FeatureMatrix) -> None:
    """Raise `ConfigError` for k > 1 of a method without clusters, or features of the wrong kind."""
    if not method.clustered and k != 1:
        raise ConfigError(f"{method.id} has no clusters; ask for {method.id}_k1, not k{k}")
    if method.sequence != (features.n_steps > 1):
        kinds = ("static features", "hourly sequences")
        raise ConfigError(
            f"{method.id} reads {kinds[method.sequence]}, but {dataset} has "
            f"{kinds[not method.sequence]}; ask for another method or data set"
        )


def _head(setting: Setting, method: Method) -> dict[str, Any]:
    """Return the fields of a record that name its setting and method."""
    return {
        "schema": 1,
        "dataset": setting.dataset,
        "method": method.id,
        "k": setting.k,
        "protocol": setting.protocol.name,
        "switches": sorted(setting.protocol.labels),
    }


def _outcome(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Return splits, summary and status of a record: the first status that is not "ok"."""
    statuses = [entry["status"] for entry in entries]
    return {
        "status": next((s for s in statuses if s != "ok"), "ok"),
        "splits": entries,
        "summary": records.summarise(entries),
    }


def _shape(features: FeatureMatrix) -> dict[str, int | float]:
    """Return rows, features, classes and the share of missing values."""
    return {
        "n_rows": len(features.row_id),
        "n_features": len(features.names),
        "n_classes": features.n_classes,
        "missing": round(float(np.isnan(features.X).mean()), 6),
    }


class ClusterView(NamedTuple):
    """Scores and description of the clusters of one split, for the record."""

    scores: Scores
    summary: dict[str, Any]


def _run_split(
    features: FeatureMatrix,
    split: Split,
    settings: Mapping[int, Setting],
    arms: Sequence[Arm],
    shared: Path | None,
) -> list[_Done]:
    """Make the task once, and the clusters once per k, and run every method on them.

    The time of shared stages is recorded in full for each method.
    """
    clock = [time.perf_counter()]
    first = make_task(features, split, settings[arms[0][1]])
    tasks = {k: replace(first, k=k) for k in settings}
    clock.append(time.perf_counter())
    common = {
        k: shared_stage(tasks[k], setting, [m for m, n_clusters in arms if n_clusters == k], shared)
        for k, setting in settings.items()
    }
    clock.append(time.perf_counter())
    stages = dict(zip(("prepare", "shared"), np.diff(clock).tolist(), strict=True))
    seen: dict[bytes, ClusterView] = {}
    done = []
    for method, k in arms:
        start, task = time.perf_counter(), tasks[k]
        fitted = fit(task, settings[k], method, common[k])
        spent = stages | {"fit": time.perf_counter() - start}
        start = time.perf_counter()
        entry = split_entry(task, fitted, seen)
        scores = records.row_scores(features.row_id[split.test], task, fitted)
        spent |= {f"fit.{stage}": value for stage, value in fitted.seconds.items()}
        spent["score"] = time.perf_counter() - start
        shown = {name: entry["metrics"].get(name) for name in ("f1", "auroc", "auprc")}
        log.info("%s k%d split %d: %s, %.1f s", method.id, k, split.seed, shown, spent["fit"])
        done.append(_Done(entry, scores, spent))
    return done


def split_entry(
    task: Task, fitted: Fitted, seen: dict[bytes, ClusterView] | None = None
) -> dict[str, Any]:
    """Return the record's entry of one split; `seen` caches cluster scores between methods."""
    view = _cluster_view(task, fitted, {} if seen is None else seen)
    finished = fitted.status == "ok"
    return {
        "seed": task.seed,
        "status": fitted.status,
        "n_train": len(task.y_train),
        "n_validation": len(task.y_validation),
        "n_test": len(task.y_test),
        "metrics": score_predictions(task, fitted) | view.scores if finished else {},
        "clusters": view.summary,
        "hyperparameters": fitted.hyperparameters,
        "tuned": list(fitted.tuned),
        "history": {name: _finite(curve) for name, curve in fitted.history.items()},
    }


def _cluster_view(task: Task, fitted: Fitted, seen: dict[bytes, ClusterView]) -> ClusterView:
    """Score and describe the clusters, or return the cached view of equal ones in `seen`."""
    parts = (fitted.train_cluster, fitted.cluster, fitted.embedding_test)
    key = b"".join(part.tobytes() for part in parts if part is not None)
    if key not in seen:
        summary = describe(task, fitted, task.names or None)
        seen[key] = ClusterView(score_clusters(task, fitted), summary)
    return seen[key]


def _finite(curve: list[float]) -> list[float | None]:
    """Return the curve with None for NaN and infinities, as in JSON."""
    return [float(v) if np.isfinite(v) else None for v in curve]
