"""One class of a UCI set clustered by the mixture, by StepMix and by scikit-learn's mixture."""

import os
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.mixture import GaussianMixture
from stepmix.stepmix import StepMix

from deepcac.decomposition.mixtures.mixed import Columns, Filler, Mixed
from deepcac.decomposition.mixtures.mixture import fit_mixture
from deepcac.files.storage import read_table
from deepcac_study.sources import weka_uci

K, ROWS, REPEATS = 4, 400, 3


def rows_of(name: str) -> Mixed:
    raw = Path(os.environ["DEEPCAC_MIRROR"]) / "weka_uci" / f"{name}.arff"
    with tempfile.TemporaryDirectory() as folder:
        weka_uci.extract(raw, f"{folder}/tidy", f"{folder}/cohort")
        table = read_table(f"{folder}/tidy").drop_columns(["row_id"]).to_pandas()
    text = [name for name in table if not pd.api.types.is_numeric_dtype(table[name])]
    table = table.astype(dict.fromkeys(text, "category"))
    most = table["class"].value_counts().index[0]
    X = table[table["class"] == most].drop(columns="class").iloc[:ROWS]
    rows = Columns.of(X).encode(X)
    return Filler.of(rows).fill(rows)


def ours(rows: Mixed) -> float:
    return fit_mixture(rows, K, np.random.default_rng(0)).posterior(rows)[1]


def stepmix(rows: Mixed) -> float:
    kinds = {"numbers": {"model": "gaussian_diag", "n_columns": rows.numbers.shape[1]}}
    if rows.codes.shape[1]:
        kinds["codes"] = {"model": "categorical", "n_columns": rows.codes.shape[1]}
    table = np.hstack([rows.numbers, rows.codes])
    model = StepMix(
        K, measurement=kinds, n_init=1, max_iter=100, random_state=0, verbose=0, progress_bar=0
    )
    return float(model.fit(table).score(table))


def gaussian(rows: Mixed) -> float:
    model = GaussianMixture(K, covariance_type="diag", tol=1e-6, random_state=0)
    return float(model.fit(rows.numbers).score(rows.numbers))


def seconds(fit: object, rows: Mixed) -> float:
    fit(rows)  # compiled, imported
    spent = []
    for _ in range(REPEATS):
        start = time.process_time()
        fit(rows)
        spent.append(time.process_time() - start)
    return min(spent)


def main() -> None:
    warnings.simplefilter("ignore")
    for name in ("letter", "credit-g", "mushroom"):
        rows = rows_of(name)
        spent = {"ours": seconds(ours, rows)}
        if rows.numbers.shape[1]:
            spent["stepmix"] = seconds(stepmix, rows)
        if not rows.codes.shape[1]:
            spent["gaussian"] = seconds(gaussian, rows)
        text = ", ".join(f"{key} {1e3 * value:.1f} ms" for key, value in spent.items())
        print(f"{name}: {text}")


if __name__ == "__main__":
    main()
