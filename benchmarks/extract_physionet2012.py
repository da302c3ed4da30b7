"""Seconds and memory from 12,000 ICU files to features, against pandas.read_csv file by file.

    DEEPCAC_MIRROR=FOLDER python benchmarks/extract_physionet2012.py

Each arm runs in a process of its own, from the mirror's archives to the 114 features in memory.
The pandas arm gets every file as bytes from the same archive reader (so it pays for no unpacking to
disk), reads it with pandas.read_csv, and aggregates with groupby; it checks and cleans nothing. The
arm "workflow" is the two steps as Snakemake runs them, with the parquet files between them.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from deepcac.feature_matrix import write_features
from deepcac.files.storage import read_table
from deepcac_study.features import cic
from deepcac_study.features.johnson import FIVE, TWO, summarise
from deepcac_study.raw.archive import members
from deepcac_study.sources.physionet2012 import extract, read_outcomes, read_sets
from deepcac_study.sources.physionet2012_scan import scan

SETS = ("a", "b", "c")


def product(mirror: Path, threads: int) -> dict[str, float]:
    """Read, parse, check and summarise in memory."""
    begin = time.perf_counter()
    archives = {letter: mirror / f"set-{letter}.tar.xz" for letter in SETS}
    events = pa.concat_tables(read_sets(archives, threads=threads))
    stays = [read_outcomes(mirror / f"Outcomes-{letter}.txt", letter) for letter in SETS]
    seconds = {"read": time.perf_counter() - begin}
    features, _ = cic.cic_features("death", events, pa.concat_tables(stays))
    seconds["total"] = time.perf_counter() - begin
    assert features.X.shape == (12000, 114)
    return seconds


def workflow(mirror: Path) -> dict[str, float]:
    """Run the two steps of the workflow, through their files."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        events, outcomes = Path(folder, "events.parquet"), Path(folder, "outcomes.parquet")
        extract(
            {letter: mirror / f"set-{letter}.tar.xz" for letter in SETS},
            {letter: mirror / f"Outcomes-{letter}.txt" for letter in SETS},
            events_path=events,
            outcomes_path=outcomes,
            threads=2,
        )
        seconds = {"read": time.perf_counter() - begin}
        features, _ = cic.cic_features("death", read_table(events), read_table(outcomes))
        write_features(Path(folder, "cic.parquet"), features)
        seconds["total"] = time.perf_counter() - begin
    return seconds


def file_by_file(mirror: Path) -> dict[str, float]:
    """Read every file with pandas.read_csv, and aggregate with groupby."""
    begin = time.perf_counter()
    frames = []
    for letter in SETS:
        for name, content in members(mirror / f"set-{letter}.tar.xz"):
            frame = pd.read_csv(BytesIO(content))
            frame["record"] = int(Path(name).stem)
            frames.append(frame)
    table = pd.concat(frames, ignore_index=True)
    hours = table["Time"].str.split(":", expand=True).astype(int)
    table["minute"] = 60 * hours[0] + hours[1]
    seconds = {"read": time.perf_counter() - begin}
    groups = table[table["Parameter"].isin({*FIVE, *TWO})].groupby(["record", "Parameter"])["Value"]
    blocks = [groups.agg(how).unstack() for how in ("first", "last", "min", "max", "median")]
    ventilated = table[table["Parameter"] == "MechVent"].groupby("record")["minute"]
    urine = table[table["Parameter"] == "Urine"].groupby("record")["Value"].sum()
    features = pd.concat([*blocks, ventilated.min(), ventilated.max(), urine], axis=1)
    seconds["total"] = time.perf_counter() - begin
    assert len(features) == 12000
    return seconds


BASELINE = "pandas file by file"
ARMS: dict[str, Callable[[Path], dict[str, float]]] = {
    BASELINE: file_by_file,
    "product, 1 thread": lambda mirror: product(mirror, 1),
    "product, 2 threads": lambda mirror: product(mirror, 2),
    "workflow, 2 threads": workflow,
}


def measure(arm: str) -> dict[str, float]:
    """Run one arm in a process of its own."""
    threads = "2" if arm.endswith("2 threads") else "1"
    run = subprocess.run(
        [sys.executable, __file__, arm],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": threads},
    )
    return json.loads(run.stdout)


def main() -> None:
    """Run one arm (given by name), or all and print the comparison."""
    mirror = Path(os.environ.get("DEEPCAC_MIRROR", ""), "physionet2012")
    if not mirror.is_dir():
        sys.exit("set DEEPCAC_MIRROR to a folder that holds physionet2012/set-a.tar.xz")
    if len(sys.argv) == 2:
        # Compiled before the clock starts.
        summarise(np.zeros(1, dtype=np.intp), np.zeros(1), 1)
        scan(b"00:00,HR,1\n", 1, ("HR",))
        begin = time.process_time()
        seconds = ARMS[sys.argv[1]](mirror)
        seconds["cpu"] = time.process_time() - begin
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(seconds | {"peak": peak}))
        return
    baseline: dict[str, float] = {}
    for arm in ARMS:
        result = measure(arm)
        baseline = baseline or result
        print(
            f"{arm:20}  read {result['read']:6.2f} s  to features {result['total']:6.2f} s  "
            f"({baseline['total'] / result['total']:.1f} x)  cpu {result['cpu']:6.2f} s  "
            f"({baseline['cpu'] / result['cpu']:.1f} x)  peak {result['peak']:5.0f} MiB"
        )


if __name__ == "__main__":
    main()
