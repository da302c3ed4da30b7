"""What a switch does to a network, beside what another start of its autoencoder does."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from deepcac.feature_matrix import FeatureMatrix
from deepcac.scoring.metrics import score_predictions
from deepcac_study.catalogue.methods import DEEPCAC, KM_Z, parse_method
from deepcac_study.catalogue.protocol import Protocol
from deepcac_study.experiments.networks.deep_methods import fit_task, pretrain_tasks
from deepcac_study.experiments.prepare import Setting, make_task
from deepcac_study.splits import Split

log = logging.getLogger(__name__)

STARTS = 3
# Those that change neither the features nor the splits.
SWITCHES = {DEEPCAC: ("D4", "D6", "D8", "D10", "D16", "D18", "D19"), KM_Z: ("D19",)}
_OF_INPUTS = ("D4", "D18")  # what an autoencoder is pre-trained on is another, too


def start_sweep(
    features: FeatureMatrix,
    splits: Iterable[Split],
    dataset: str,
    k: int,
    *,
    starts: int = STARTS,
    switches: Mapping[str, tuple[str, ...]] = SWITCHES,
) -> pa.Table:
    """Fit methods soundly and with one switch on, from the same starts of the autoencoder.

    The first start is that of the study's own runs.

    Parameters
    ----------
    starts : int
        Seeds of each split.

    Returns
    -------
    pyarrow.Table
        A row a split, start and fit: ``split``, ``start``, ``method``, ``k``, ``switch`` (empty
        for the sound method), ``status``, ``n_train``, ``n_test``, ``auroc``, ``auprc``.
    """
    rows: list[dict[str, Any]] = []
    for split in splits:
        for start in range(starts):
            with TemporaryDirectory() as folder:
                rows += _of_start(features, split, (dataset, k, start), switches, Path(folder))
    return pa.Table.from_pylist(rows)


def _of_start(
    features: FeatureMatrix,
    split: Split,
    asked: tuple[str, int, int],
    switches: Mapping[str, tuple[str, ...]],
    folder: Path,
) -> Iterator[dict[str, Any]]:
    dataset, k, start = asked
    for method, labels in switches.items():
        for label in ("", *labels):
            protocol = Protocol(frozenset({label} if label else ()))
            setting = Setting(dataset, k, protocol, "deep")
            task = make_task(features, split, setting)
            task = replace(task, seed=split.seed + 100 * start)
            pretrained = folder / (label if label in _OF_INPUTS else "sound")
            if not pretrained.exists():
                pretrain_tasks([task], setting, pretrained)
            fitted = fit_task(task, setting, parse_method(method), pretrained)
            scores = score_predictions(task, fitted) if fitted.status == "ok" else {}
            row = {
                "split": split.seed,
                "start": start,
                "method": method,
                "k": k,
                "switch": label,
                "status": fitted.status,
                "n_train": len(task.y_train),
                "n_test": len(task.y_test),
                **{metric: scores.get(metric) for metric in ("auroc", "auprc")},
            }
            log.info("%s", row)
            yield row
