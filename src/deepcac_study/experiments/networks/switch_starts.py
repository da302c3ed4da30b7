"""Effects of switches on networks, compared with other random starts of the autoencoder."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from deepcac.feature_matrix import FeatureMatrix
from deepcac.files.storage import read_json
from deepcac.scoring.metrics import score_predictions
from deepcac_study.catalogue.methods import parse_method
from deepcac_study.catalogue.protocol import Protocol
from deepcac_study.catalogue.run_paths import STARTED
from deepcac_study.experiments.networks.deep_methods import fit_task, pretrain_tasks
from deepcac_study.experiments.prepare import Setting, make_task
from deepcac_study.splits import Split

log = logging.getLogger(__name__)

STARTS = 3
_OF_INPUTS = ("D4", "D18")  # what an autoencoder is pre-trained on is another, too

# Status, rows to train and to test on, and scores.
Outcome = tuple[str, int, int, Mapping[str, float | None]]


def start_sweep(
    features: FeatureMatrix,
    splits: Iterable[Split],
    dataset: str,
    k: int,
    *,
    runs: Iterable[Path] = (),
    starts: int = STARTS,
    switches: Mapping[str, tuple[str, ...]] = STARTED,
) -> pa.Table:
    """Fit methods soundly and with one switch on, from the same starts of the autoencoder.

    `starts` is the number of seeds per split; the first is that of the study's runs, whose records
    (`runs`) are reused. Returned is a row per split, start and fit: ``split``, ``start``,
    ``method``, ``k``, ``switch`` (empty for the sound method), ``status``, ``n_train``, ``n_test``,
    ``auroc``, ``auprc``.
    """
    first = _outcomes(runs)
    rows: list[dict[str, Any]] = []
    for split in splits:
        for start in range(starts):
            outcomes = {} if start else first
            with TemporaryDirectory() as folder:
                fit = partial(_fit, features, split, (dataset, k, start), Path(folder))
                for method, labels in switches.items():
                    for label in ("", *labels):
                        outcome = outcomes.get((split.seed, method, label)) or fit(method, label)
                        rows.append(_row(split.seed, start, (method, k, label), outcome))
    return pa.Table.from_pylist(rows)


def _outcomes(runs: Iterable[Path]) -> dict[tuple[int, str, str], Outcome]:
    """Return the outcomes in run records, by split, method and switch."""
    outcomes = {}
    for path in runs:
        record = read_json(path)
        for of in record["splits"]:
            name = (of["seed"], record["method"], "".join(record["switches"]))
            outcomes[name] = (of["status"], of["n_train"], of["n_test"], of["metrics"])
    return outcomes


def _fit(
    features: FeatureMatrix,
    split: Split,
    asked: tuple[str, int, int],
    folder: Path,
    method: str,
    label: str,
) -> Outcome:
    """Fit one start; return status, numbers of training and test rows, and scores."""
    dataset, k, start = asked
    setting = Setting(dataset, k, Protocol(frozenset({label} if label else ())), "deep")
    task = make_task(features, split, setting)
    task = replace(task, seed=split.seed + 100 * start)
    pretrained = folder / (label if label in _OF_INPUTS else "sound")
    if not pretrained.exists():
        pretrain_tasks([task], setting, pretrained)
    fitted = fit_task(task, setting, parse_method(method), pretrained)
    scores = score_predictions(task, fitted) if fitted.status == "ok" else {}
    return fitted.status, len(task.y_train), len(task.y_test), scores


def _row(seed: int, start: int, fit: tuple[str, int, str], outcome: Outcome) -> dict[str, Any]:
    """Return the table row of a fit and log it."""
    method, k, label = fit
    status, n_train, n_test, scores = outcome
    row = {
        "split": seed,
        "start": start,
        "method": method,
        "k": k,
        "switch": label,
        "status": status,
        "n_train": n_train,
        "n_test": n_test,
        **{metric: scores.get(metric) for metric in ("auroc", "auprc")},
    }
    log.info("%s", row)
    return row
