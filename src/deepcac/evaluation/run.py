"""One run: a method with k clusters on every split of a data set, to one record."""

import logging
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from deepcac.errors import ConfigError
from deepcac.evaluation import record as records
from deepcac.evaluation.methods import Method, device, fit
from deepcac.evaluation.metrics import score
from deepcac.evaluation.prepare import Setting, make_task
from deepcac.evaluation.subtypes import describe
from deepcac.evaluation.task import Fitted, Task
from deepcac.features.matrix import FeatureMatrix, read_features
from deepcac.protocol import Protocol
from deepcac.splits import Split, read_splits, scheme

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RunFiles:
    """Files that a run reads and writes.

    Attributes
    ----------
    features, splits : path
        Of the data set.
    shared : path or None
        Clusterings or pre-trained autoencoders (see `methods.fit`).
    record : path
        The JSON to write; the per-row scores go beside it.
    """

    features: Path
    splits: Path
    shared: Path | None
    record: Path


def run(
    files: RunFiles,
    method: Method,
    *,
    dataset: str,
    k: int,
    protocol: Protocol,
    synthetic: bool = False,
    threads: int = 1,
) -> None:
    """Fit and score a method on every split, and write the record and the row scores.

    Parameters
    ----------
    files : RunFiles
    method : Method
    dataset : str
        Data set id.
    k : int
        Number of clusters; must be 1 for a method without clusters.
    protocol : Protocol
    synthetic : bool
        Whether the data are generated.
    threads : int
        For the record; the limits themselves are set by `deepcac.job`.
    """
    features = read_features(files.features)
    _check(method, k, dataset, features)
    setting = Setting(dataset, k, protocol, method.family)
    splits = read_splits(files.splits, features.row_id, scheme(protocol, method.family))
    done = [_run_split(features, split, setting, method, files.shared) for split in splits]
    seconds: Counter[str] = Counter()
    for *_, spent in done:
        seconds.update(spent)
    record = {
        "synthetic": synthetic,
        **_head(setting, method),
        **_shape(features),
        **_outcome([entry for entry, _, _ in done]),
        "inputs": {
            name: records.file_digest(getattr(files, name)) for name in ("features", "splits")
        },
        "machine": records.machine(dict(seconds), threads, device(method)),
    }
    records.write_scores(files.record, [scores for _, scores, _ in done])
    records.write_record(files.record, record)


def _check(method: Method, k: int, dataset: str, features: FeatureMatrix) -> None:
    """Refuse what cannot be run: clusters of a method without any, or rows of the wrong kind."""
    if not method.clustered and k != 1:
        raise ConfigError(f"{method.id} has no clusters; ask for {method.id}_k1, not k{k}")
    if method.sequence != (features.n_steps > 1):
        kinds = ("static features", "hourly sequences")
        raise ConfigError(
            f"{method.id} reads {kinds[method.sequence]}, but {dataset} has "
            f"{kinds[not method.sequence]}; ask for another method or data set"
        )


def _head(setting: Setting, method: Method) -> dict[str, Any]:
    return {
        "schema": 1,
        "dataset": setting.dataset,
        "method": method.id,
        "k": setting.k,
        "protocol": setting.protocol.name,
        "switches": sorted(setting.protocol.labels),
    }


def _outcome(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the splits, their summary, and the first status that is not ok."""
    statuses = [entry["status"] for entry in entries]
    return {
        "status": next((s for s in statuses if s != "ok"), "ok"),
        "splits": entries,
        "summary": records.summarise(entries),
    }


def _shape(features: FeatureMatrix) -> dict[str, int | float]:
    return {
        "n_rows": len(features.row_id),
        "n_features": len(features.names),
        "n_classes": features.n_classes,
        "missing": round(float(np.isnan(features.X).mean()), 6),
    }


def _run_split(
    features: FeatureMatrix, split: Split, setting: Setting, method: Method, shared: Path | None
) -> tuple[dict[str, Any], pa.Table, dict[str, float]]:
    start = time.perf_counter()
    task = make_task(features, split, setting)
    prepared = time.perf_counter()
    fitted = fit(task, method, shared)
    done = time.perf_counter()
    entry = split_entry(task, fitted)
    scores = records.row_scores(features.row_id[split.test], task, fitted)
    spent = {"prepare": prepared - start, "fit": done - prepared}
    spent |= {f"fit.{stage}": value for stage, value in fitted.seconds.items()}
    spent["score"] = time.perf_counter() - done
    shown = {name: entry["metrics"].get(name) for name in ("f1", "auroc", "auprc")}
    log.info("%s split %d: %s, %.1f s", method.id, split.seed, shown, done - start)
    return entry, scores, spent


def split_entry(task: Task, fitted: Fitted) -> dict[str, Any]:
    """Return what the record says of one split."""
    names = task.names or None
    return {
        "seed": task.seed,
        "status": fitted.status,
        "n_train": len(task.y_train),
        "n_validation": len(task.y_validation),
        "n_test": len(task.y_test),
        "metrics": score(task, fitted) if fitted.status == "ok" else {},
        "clusters": describe(task, fitted, names),
        "hyperparameters": fitted.hyperparameters,
        "tuned": list(fitted.tuned),
        "history": {name: _finite(curve) for name, curve in fitted.history.items()},
    }


def _finite(curve: list[float]) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in curve]
