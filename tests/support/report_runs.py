"""Small run records and score files, as the run loop writes them, for tests of the report."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from deepcac.files.csv_files import write_csv
from deepcac.pages.figures import Figure
from deepcac_study.catalogue.protocol import named_protocols
from deepcac_study.records.record import (
    file_digest,
    scores_path,
    summarise,
    write_record,
    write_scores,
)


@contextmanager
def without_pictures() -> Iterator[None]:
    """Write the data of figures, and empty pictures beside them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("deepcac.pages.figures.write", _write_data)
        yield


def _write_data(figure: Figure, folder: Path) -> None:
    for one in filter(None, (figure, figure.narrow)):
        write_csv(folder / f"{one.id}.csv", one.head, one.data)
        (folder / f"{one.id}.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
        (folder / f"{one.id}.png").touch()


N_TRAIN, N_VALIDATION, N_TEST = 570, 180, 250


def write_run(
    results: Path,
    dataset: str,
    method: str,
    k: int,
    *,
    protocol: str = "sound",
    strength: float = 1.0,
    seeds: tuple[int, ...] = (0, 1, 2),
    status: str = "ok",
    synthetic: bool = False,
    alpha: float | None = None,
    scores: bool = True,
    clusters: dict[str, object] | None = None,
) -> Path:
    """Write one run; `strength` moves the positive rows' scores and so every metric.

    `clusters` replaces entries of what the record says about the clusters of each split.
    """
    folder = results
    if protocol != "sound":
        named = protocol.startswith("as_published")
        folder = results / protocol if named else results / "switches" / protocol
    path = folder / dataset / f"{method}_k{k}.json"
    tables = [_scores(seed, k, strength) for seed in seeds]
    splits = [
        _split(seed, k, table, alpha, status) for seed, table in zip(seeds, tables, strict=True)
    ]
    for split in splits:
        split["clusters"] |= clusters or {}
    record = {
        "schema": 1,
        "dataset": dataset,
        "method": method,
        "k": k,
        "protocol": protocol,
        "switches": _switches(protocol),
        "status": status,
        "synthetic": synthetic,
        "n_rows": 1000,
        "n_features": 12,
        "n_classes": 2,
        "missing": 0.125,
        "splits": splits,
        "summary": summarise(splits),
        "inputs": {"features": "0" * 64, "splits": "1" * 64},
        "machine": {
            "seconds": {"fit": 1.5, "predict": 0.25},
            "peak_memory_mb": 210.0,
            "threads": 1,
            "device": "cpu",
            "versions": {},
            "git_commit": "0123456789abcdef",
        },
    }
    if scores and status == "ok":
        write_scores(path, tables)
        record["scores"] = file_digest(scores_path(path))
    write_record(path, record)
    return path


def _switches(protocol: str) -> list[str]:
    if protocol == "sound":
        return []
    return sorted(named_protocols().get(protocol, [protocol]))


def _scores(seed: int, k: int, strength: float) -> pa.Table:
    rng = np.random.default_rng(seed)
    label = (rng.random(N_TEST) < 0.3).astype(np.int64)
    score = 1 / (1 + np.exp(-(rng.normal(size=N_TEST) + strength * label - 1)))
    return pa.table(
        {
            "row_id": rng.permutation(1000)[:N_TEST].astype(np.int64),
            "seed": np.full(N_TEST, seed, dtype=np.int64),
            "label": label,
            "predicted": (score > 0.5).astype(np.int64),
            "cluster": rng.integers(0, k, N_TEST),
            "p_0": 1 - score,
            "p_1": score,
        }
    )


def _split(seed: int, k: int, table: pa.Table, alpha: float | None, status: str) -> dict[str, Any]:
    label, predicted = (table[name].to_numpy() for name in ("label", "predicted"))
    hit = int(((label == 1) & (predicted == 1)).sum())
    f1 = 2 * hit / int((label == 1).sum() + (predicted == 1).sum())
    return {
        "seed": seed,
        "status": status,
        "n_train": N_TRAIN,
        "n_validation": N_VALIDATION,
        "n_test": N_TEST,
        "metrics": dict.fromkeys(("f1", "auroc", "auprc"))
        if status != "ok"
        else {
            "f1": f1,
            "f1_macro": f1 + 0.1,
            "auroc": 0.6 + f1 / 3,
            "auroc_macro": 0.6 + f1 / 3,
            "auprc": f1 + 0.02,
            "auprc_macro": f1 + 0.2,
            "min_se_pp": f1,
            "brier": 0.2,
            "ece": 0.1,
            "accuracy": float((label == predicted).mean()),
            "log_loss": 0.5,
            "silhouette": 0.2 if k > 1 else None,
            "nmi": None,
            "ari": None,
        },
        "clusters": {
            "sizes_train": [[400 // k, 170 // k]] * k,
            "sizes_test": [[175 // k, 75 // k]] * k,
            "found": k,
            "polarisation": 0.7,
            "collapsed": False,
            "features": [
                {"cluster": j, "feature": f"Lactate_{j}", "effect": 0.8 - j, "p": 0.0004}
                for j in range(k)
            ],
        },
        "hyperparameters": {} if alpha is None else {"alpha": alpha},
        "tuned": [] if alpha is None else ["alpha"],
        "history": {} if k == 1 else dict(HISTORY),
    }


HISTORY = {
    "cost": [100.0, 80.0, 70.0, 69.0],
    "within": [90.0, 91.0, 92.0, 92.0],
    "separation": [10.0, 30.0, 40.0, 41.0],
    "moves": [50.0, 20.0, 3.0, 0.0],
}
