"""The networks of the study on a GPU beside one thread of the CPU: seconds, scores, same digits.

    python benchmarks/gpu_networks.py data cic deepcac,dmnn 3 gpu.csv

`data` holds `features/` and `splits/`. Each method is fitted to the first split as `all` fits it
(pre-training included), once on the CPU and twice on the GPU, after one fit that warms the GPU up.
Seconds are by the clock.
"""

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score, roc_auc_score

from deepcac.feature_matrix import read_features
from deepcac.task import Fitted, Task
from deepcac_study.catalogue.methods import Method, parse_method
from deepcac_study.catalogue.protocol import SOUND
from deepcac_study.experiments.networks.deep_methods import fit_task
from deepcac_study.experiments.prepare import Setting, make_task
from deepcac_study.splits import read_splits


def fit(task: Task, setting: Setting, method: Method, **settings: Any) -> tuple[Fitted, float]:
    """Return a fit and its seconds."""
    start = time.perf_counter()
    fitted = fit_task(task, setting, method, settings={"n_threads": 1, **settings})
    return fitted, time.perf_counter() - start


def compare(task: Task, setting: Setting, method: Method) -> dict[str, object]:
    """Fit a method on both devices; return a row of the table."""
    cpu, cpu_seconds = fit(task, setting, method, device="cpu")
    fit(task, setting, method, device="cuda", max_epochs=1)
    gpu, gpu_seconds = fit(task, setting, method, device="cuda")
    again, _ = fit(task, setting, method, device="cuda")
    auroc = [roc_auc_score(task.y_test, fitted.probability[:, 1]) for fitted in (cpu, gpu)]
    epochs = [_epochs(fitted) for fitted in (cpu, gpu)]
    return {
        "dataset": setting.dataset,
        "method": method.id,
        "k": setting.k,
        "cpu_seconds": round(cpu_seconds, 1),
        "gpu_seconds": round(gpu_seconds, 1),
        "cpu_epochs": epochs[0],
        "gpu_epochs": epochs[1],
        "cpu_auroc": round(auroc[0], 4),
        "gpu_auroc": round(auroc[1], 4),
        "rand_of_clusters": round(adjusted_rand_score(cpu.cluster, gpu.cluster), 3),
        "gpu_repeats": np.array_equal(gpu.probability, again.probability),
    }


def _epochs(fitted: Fitted) -> int:
    return sum(len(curve) for name, curve in fitted.history.items() if name.endswith("_loss"))


def main() -> None:
    """Print a row per method, and append it to the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("dataset")
    parser.add_argument("methods")
    parser.add_argument("k", type=int)
    parser.add_argument("table", type=Path)
    asked = parser.parse_args()
    features = read_features(asked.data / f"features/{asked.dataset}.parquet")
    split = read_splits(asked.data / f"splits/{asked.dataset}.parquet", features.row_id, "seeds")[0]
    for name in asked.methods.split(","):
        method = parse_method(name)
        setting = Setting(asked.dataset, asked.k if method.clustered else 1, SOUND, "deep")
        row = compare(make_task(features, split, setting), setting, method)
        print(row, flush=True)
        new = not asked.table.exists()
        with asked.table.open("a", newline="") as file:
            writer = csv.DictWriter(file, row)
            if new:
                writer.writeheader()
            writer.writerow(row)


if __name__ == "__main__":
    main()
