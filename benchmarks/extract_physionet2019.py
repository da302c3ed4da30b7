"""Time and memory of reading 40,336 sepsis files, against pandas.read_csv file by file.

Run as ``DEEPCAC_MIRROR=folder python benchmarks/extract_physionet2019.py [--every 10]``. Pandas is
timed on every n-th file, already unpacked in memory, and extrapolated linearly; ours is the whole
step: unpack, parse, check, write the parquet file. The first ratio leaves unpacking out for pandas
alone, the second counts it for both. The peak memory is that of our step alone.
"""

import argparse
import io
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

from deepcac_study.raw.archive import members
from deepcac_study.sources.physionet2019 import extract


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=10, help="pandas reads every n-th file")
    every = parser.parse_args().every
    if "DEEPCAC_MIRROR" not in os.environ:
        sys.exit("set DEEPCAC_MIRROR to the folder that holds physionet2019/training_setA.tar.xz")
    folder = Path(os.environ["DEEPCAC_MIRROR"]) / "physionet2019"
    archives = {hospital: folder / f"training_set{hospital}.tar.xz" for hospital in "AB"}

    with tempfile.TemporaryDirectory() as scratch:
        begin, begin_cpu = time.perf_counter(), time.process_time()
        extract(archives, Path(scratch) / "hourly.parquet")
        ours, ours_cpu = time.perf_counter() - begin, time.process_time() - begin_cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20

    begin = time.perf_counter()
    files = [
        data for path in archives.values() for name, data in members(path) if name.endswith(".psv")
    ]
    unpacking = time.perf_counter() - begin
    sample = files[::every]
    begin, begin_cpu = time.perf_counter(), time.process_time()
    pd.concat([pd.read_csv(io.BytesIO(data), sep="|") for data in sample])
    sampled, sampled_cpu = time.perf_counter() - begin, time.process_time() - begin_cpu
    share = len(sample) / len(files)

    print(
        f"ours: {ours:.1f} s ({ours_cpu:.1f} s of processor) for {len(files)} files, "
        f"peak memory {peak:.2f} GiB"
    )
    print(
        f"pandas.read_csv: {sampled:.1f} s ({sampled_cpu:.1f} s of processor) for {len(sample)} "
        f"files, {'extrapolated to ' if every > 1 else ''}{sampled / share:.1f} s for all"
    )
    print(
        f"ratio: {sampled / share / ours:.1f} "
        f"(processor time: {sampled_cpu / share / ours_cpu:.1f}); with {unpacking:.1f} s of "
        f"unpacking for pandas as well: {(sampled / share + unpacking) / ours:.1f}"
    )


if __name__ == "__main__":
    main()
