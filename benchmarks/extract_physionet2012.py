"""Seconds and memory from 12,000 ICU files to features, against pandas.read_csv file by file.

    DEEPCAC_MIRROR=FOLDER python benchmarks/extract_physionet2012.py

Each arm runs in a process of its own, with one thread, from the mirror's archives to the 114
features in memory. The pandas arm gets every file as bytes from the same archive reader (so it pays
for no unpacking to disk), reads it with pandas.read_csv, and aggregates with groupby; it skips the
cleaning rules. The workflow's arm does everything, the parquet files between its two steps
included.
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

SETS = ("a", "b", "c")


def product(mirror: Path) -> dict[str, float]:
    """Run the two steps of the workflow."""
    import numpy as np

    from deepcac.features.cic import cic_features
    from deepcac.features.summaries import summarise
    from deepcac.sources.physionet2012 import extract
    from deepcac.storage import read_table

    begin = time.perf_counter()
    summarise(np.zeros(1, dtype=np.intp), np.zeros(1), 1)
    seconds = {"compile": time.perf_counter() - begin}
    with tempfile.TemporaryDirectory() as folder:
        events, outcomes = Path(folder, "events.parquet"), Path(folder, "outcomes.parquet")
        begin = time.perf_counter()
        extract(
            {letter: mirror / f"set-{letter}.tar.xz" for letter in SETS},
            {letter: mirror / f"Outcomes-{letter}.txt" for letter in SETS},
            events_path=events,
            outcomes_path=outcomes,
        )
        seconds["read"] = time.perf_counter() - begin
        features, _ = cic_features("cic", read_table(events), read_table(outcomes))
        seconds["total"] = time.perf_counter() - begin
    assert features.X.shape == (12000, 114)
    return seconds


def file_by_file(mirror: Path) -> dict[str, float]:
    """Read every file with pandas.read_csv, and aggregate with groupby."""
    import pandas as pd

    from deepcac.features.johnson import FIVE, TWO
    from deepcac.sources.archive import members

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


ARMS: dict[str, Callable[[Path], dict[str, float]]] = {
    "product": product,
    "pandas file by file": file_by_file,
}


def main() -> None:
    """Run one arm (given by name), or both and print the comparison."""
    mirror = Path(os.environ.get("DEEPCAC_MIRROR", ""), "physionet2012")
    if not mirror.is_dir():
        sys.exit("set DEEPCAC_MIRROR to a folder that holds physionet2012/set-a.tar.xz")
    if len(sys.argv) == 2:
        seconds = ARMS[sys.argv[1]](mirror)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(seconds | {"peak": peak}))
        return
    results = {}
    for arm in ARMS:
        run = subprocess.run(
            [sys.executable, __file__, arm],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
        results[arm] = json.loads(run.stdout)
        print(arm, *(f"{key} {value:.2f}" for key, value in results[arm].items()), sep="  ")
    ours, theirs = results["product"], results["pandas file by file"]
    for stage in ("read", "total"):
        print(f"{stage}: {theirs[stage] / ours[stage]:.1f} times faster")
    print(f"peak memory: {ours['peak']:.0f} MiB against {theirs['peak']:.0f} MiB")


if __name__ == "__main__":
    main()
