"""Run the numeric tests as on other kinds of CPU, and with two threads: python tests/cpus.py.

OpenBLAS, oneDNN, torch, NumPy and numba choose their instructions by the CPU that they find, so
sums end in other digits elsewhere. Each can be told to use fewer; a test that hangs on the last
digits fails then. More arguments go to pytest, and ``--kind NAME`` runs one kind alone.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

LIBRARY = (
    *("cac", "consensus", "decomposition", "judging", "nn", "scoring", "similarity", "subtyping"),
    *("test_newton_svm.py", "test_preprocess.py"),
)
STUDY = ("experiments", "features", "judge")
_PLAIN = {"X86_V2"}
_HASWELL = _PLAIN | {"X86_V3", "AVX2", "FMA3"}


def _without(kept: set[str]) -> str:
    """Return the instruction sets that NumPy would choose here, but for `kept`."""
    return " ".join(n for n in __cpu_dispatch__ if __cpu_features__.get(n) and n not in kept)


def kinds() -> dict[str, Mapping[str, str]]:
    """Return the environment of each kind."""
    one = {"OMP_NUM_THREADS": "1"}
    return {
        "nehalem": one
        | {
            "OPENBLAS_CORETYPE": "Nehalem",
            "ATEN_CPU_CAPABILITY": "default",
            "ONEDNN_MAX_CPU_ISA": "SSE41",
            "NPY_DISABLE_CPU_FEATURES": _without(_PLAIN),
            "NUMBA_CPU_NAME": "nehalem",
            "NUMBA_CPU_FEATURES": "",
        },
        "haswell": one
        | {
            "OPENBLAS_CORETYPE": "Haswell",
            "ATEN_CPU_CAPABILITY": "avx2",
            "ONEDNN_MAX_CPU_ISA": "AVX2",
            "NPY_DISABLE_CPU_FEATURES": _without(_HASWELL),
            "NUMBA_CPU_NAME": "haswell",
            "NUMBA_CPU_FEATURES": "",
        },
        "threads": {"OMP_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2"},
    }


def main() -> int:
    """Run pytest once a kind; return the first exit code that is no success."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=list(kinds()), action="append")
    asked, more = parser.parse_known_args()
    here = Path(__file__).parent
    places = [str(here / "library" / name) for name in LIBRARY]
    places += [str(here / "study" / name) for name in STUDY]
    codes = []
    for kind in asked.kind or kinds():
        workers = [] if kind == "threads" else ["-n", str(os.cpu_count()), "--dist", "loadfile"]
        line = [sys.executable, "-m", "pytest", "-q", "-m", "not long and not slow", *workers]
        print(f"== as {kind}", flush=True)
        # Compiled kernels of another kind must not be taken from the cache.
        with tempfile.TemporaryDirectory() as cache:
            told = {
                name: value for name, value in kinds()[kind].items() if value or "NUMBA" in name
            }
            environment = os.environ | told | {"NUMBA_CACHE_DIR": cache}
            codes.append(subprocess.run([*line, *more, *places], env=environment).returncode)
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(main())
