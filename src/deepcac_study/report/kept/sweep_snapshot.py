"""The sweeps that pages quote as small tables: separation terms, and switches by start.

They are kept with the snapshot, and shown by the documentation.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from deepcac.files.atomic import atomic_path
from deepcac.files.csv_files import write_frame
from deepcac.files.storage import read_json
from deepcac.pages.tables import How, Table
from deepcac.pages.wording import Row, three
from deepcac.scoring.statistics import corrected_t_test
from deepcac_study.records.sweep_tables import (
    CENTROIDS,
    PERMUTED,
    TERMS,
    load_sweeps,
    measured_tables,
    read_measured,
)
from deepcac_study.report.kept.run_snapshot import may_be_kept

SEPARATION, STARTS = "separation", "switch_starts"
SOUND = "sound"
_METRICS = ("auroc", "auprc")
_SWEEP = re.compile(r"^[a-z]+_(?=.*_k\d+$)|_k\d+$")  # what a sweep's name has beside the data set
_NOT_NUMBERS = ("seed", "term", "alpha", "status")
_SAID = ("no term", "AM-softmax", "distance of means", "the same, permuted labels")
_NAMES = dict(zip(TERMS, _SAID, strict=True))


def sweep_tables(results: Path) -> dict[str, pd.DataFrame]:
    """Return the tables of the finished sweeps of a folder ``results``.

    `SEPARATION` has a row a data set, term and weight: how many trainings there were and diverged,
    mean and deviation over the splits of what each measured. `STARTS` has `start_effects`.
    """
    sweeps = load_sweeps(open_tables(results / "sweeps"))
    terms = [_terms(table, *at) for at, table in sweeps.separation.items()]
    starts = [row for at, table in sweeps.starts.items() for row in start_effects(table, *at)]
    return {
        SEPARATION: pd.concat(terms, ignore_index=True) if terms else pd.DataFrame(),
        STARTS: pd.DataFrame(starts),
    }


def write_measured(results: Path, folder: Path) -> list[Path]:
    """Write what is no record of a run: sweeps as CSV, times, case studies.

    They lie below `folder` as below ``results``. Generated and restricted data are left out.
    """
    files = []
    for path in open_tables(results / "sweeps"):
        files.append(folder / path.relative_to(results).with_suffix(".csv"))
        write_frame(files[-1], read_measured(path))
    studies = sorted((results / "case_study").rglob("*.json"))
    open_ones = [path for path in studies if read_json(path)["dataset"] in may_be_kept()]
    means = (path.with_suffix(".features.parquet") for path in open_ones)
    for path in (*(results / "skmeans").glob("*.json"), *open_ones, *means):
        files.append(folder / path.relative_to(results))
        with atomic_path(files[-1]) as partial:
            partial.write_bytes(path.read_bytes())
    return files


def open_tables(folder: Path) -> list[Path]:
    """Return the tables of open data, and the grid, which is generated for a paper."""
    names = {path: _SWEEP.sub("", path.stem) for path in measured_tables(folder)}
    return [path for path, name in names.items() if name in may_be_kept() | {"grid"}]


def _terms(table: pd.DataFrame, dataset: str, k: int) -> pd.DataFrame:
    groups = table.groupby(["term", "alpha"], sort=False)
    measured = [name for name in table.columns if name not in _NOT_NUMBERS]
    mean, spread = groups[measured].mean(), groups[measured].std()
    rows = pd.concat([mean, spread.add_suffix("_sd")], axis=1).reset_index()
    rows.insert(2, "trainings", groups.size().to_numpy())
    rows.insert(3, "below_zero", groups["loss"].agg(lambda loss: (loss < 0).sum()).to_numpy())
    rows.insert(0, "k", k)
    rows.insert(0, "dataset", dataset)
    return rows


def start_effects(table: pd.DataFrame, dataset: str, k: int) -> list[dict[str, Any]]:
    """Return what each switch does, paired by split and start of the autoencoder.

    A row a method, switch and metric. ``mean`` and ``start_sd`` are those of the score, for the
    sound method, or of the score less that of the sound method on the same split from the same
    start. ``start_sd`` is the deviation between starts of one split; ``low`` and ``high`` bound the
    mean over splits (corrected resampled t-test on the means over starts).
    """
    scores = table.set_index(["method", "switch", "split", "start"])[list(_METRICS)]
    sizes = {name: float(table[name].mean()) for name in ("n_train", "n_test")}
    rows = []
    for (method, switch), group in scores.groupby(["method", "switch"], sort=False):
        less = group.droplevel([0, 1])
        if switch:
            less = less - scores.xs((method, ""), level=("method", "switch"))
        for metric in _METRICS:
            values = less[metric].dropna()
            by_split = values.groupby("split")
            test = corrected_t_test(by_split.mean().to_numpy(), **sizes)
            rows.append(
                {
                    "dataset": dataset,
                    "method": method,
                    "k": k,
                    "switch": switch or SOUND,
                    "metric": metric,
                    "splits": by_split.ngroups,
                    "starts": int(by_split.size().max()),
                    "mean": test.mean,
                    "low": test.low if switch else None,
                    "high": test.high if switch else None,
                    "start_sd": float(by_split.var().mean() ** 0.5),
                }
            )
    return rows


def separation(table: pd.DataFrame, datasets: str) -> Table:
    """Return the share of the scatter between classes, training / test rows, and the AUPRC."""
    by_place = {(r["term"], r["alpha"], r["dataset"]): r for r in table.to_dict("records")}

    def cell(dataset: str, write: Callable[[Row], str]) -> How:
        return lambda place: write(row) if (row := by_place.get((*place, dataset))) else ""

    columns: list[tuple[str, How]] = [
        ("term", lambda place: _NAMES[place[0]]),
        ("alpha", lambda place: f"{place[1]:g}" if place[1] else ""),
    ]
    for name in datasets.split(","):
        columns += [
            (name, cell(name, lambda row: f"{three(row['share'])} / {three(row['test_share'])}")),
            ("AUPRC", cell(name, lambda row: f"{three(row['auprc'])} +- {three(row['auprc_sd'])}")),
            ("length", cell(name, lambda row: f"{row['length']:.2g}")),
        ]
    return Table.of(dict.fromkeys(key[:2] for key in by_place), columns, n_labels=2)


def limits(table: pd.DataFrame, datasets: str) -> Table:
    """Return the weights from which longer latents pay: never, at the start, and on chance."""
    rows = table[table["term"].isin((CENTROIDS, PERMUTED))]
    first = rows.groupby(["dataset", "term"]).first()
    there = [
        name
        for name in datasets.split(",")
        if all((name, term) in first.index for term in (CENTROIDS, PERMUTED))
    ]

    def cell(term: str, column: str) -> How:
        return lambda name: format(first.loc[(name, term), column], ".3g")

    columns: dict[str, How] = {
        "data set": str,
        "beta p (1 - p)": lambda name: f"{rows[rows['dataset'] == name]['limit'].iloc[0]:.2g}",
        "all rows": cell(CENTROIDS, "start_scaling"),
        "batches": cell(CENTROIDS, "start_batch_scaling"),
        "permuted, all rows": cell(PERMUTED, "start_scaling"),
        "permuted, batches": cell(PERMUTED, "start_batch_scaling"),
    }
    return Table.of(there, columns)
