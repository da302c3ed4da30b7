"""Growth of the MIMIC-III extraction: seconds and peak memory against CHARTEVENTS rows.

Usage: python benchmarks/extract_mimic3.py [--millions 1 2 4] [--threads 1] [--repeats 1]

Each size is generated, extracted in a fresh process (so that its peak memory is its own) and
deleted. The exponent p of seconds ~ rows^p is fitted by least squares on logarithms; about 1 is
linear. On a machine that does other work too, the CPU seconds are the ones to look at.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from deepcac_study.simulate.mimic3_tables import simulate
from deepcac_study.sources.mimic3 import extract

ROWS_A_STAY = 345


def measure(raw: Path, tidy: Path, threads: int) -> None:
    start = time.perf_counter()
    extract(raw, tidy, threads=threads, scratch=tidy)
    seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = used.ru_utime + used.ru_stime
    print(json.dumps({"seconds": seconds, "cpu": cpu, "peak_mib": used.ru_maxrss / 1024}))


def run(rows: int, threads: int, repeats: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="bench-mimic3-") as name:
        raw, tidy = Path(name) / "raw", Path(name) / "tidy"
        tidy.mkdir()
        simulate(raw, n=rows // ROWS_A_STAY, seed=0)
        chart = raw / "CHARTEVENTS.csv"
        with open(chart, "rb") as file:
            lines = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b"")) - 1
        command = [sys.executable, __file__, "--child", str(raw), str(tidy), str(threads)]
        results = [
            json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            for _ in range(repeats)
        ]
        best = min(results, key=lambda result: result["seconds"])
        size = chart.stat().st_size / 2**20
    return {"chartevents_rows": lines, "chartevents_mib": round(size), **best}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--millions", type=float, nargs="+", default=[1, 2, 4])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        raw, tidy, threads = options.child
        measure(Path(raw), Path(tidy), int(threads))
        return
    sizes = [round(1e6 * millions) for millions in options.millions]
    results = [run(rows, options.threads, options.repeats) for rows in sizes]
    for result in results:
        print(
            f"{result['chartevents_rows']:>12,} rows {result['chartevents_mib']:>6} MiB "
            f"{result['seconds']:8.2f} s {result['cpu']:8.2f} CPU s {result['peak_mib']:8.0f} MiB"
        )
    if len(results) > 1:
        rows = np.log([result["chartevents_rows"] for result in results])
        for key in ("seconds", "cpu"):
            slope = np.polyfit(rows, np.log([result[key] for result in results]), 1)[0]
            print(f"exponent of {key} {slope:.2f}")


if __name__ == "__main__":
    main()
