"""What holds for all tests: those on the real raw files need a mirror."""

import os
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings
from mirrors import MIRROR

# No example has a time limit: a busy machine is no fault. In CI the examples are always the same.
settings.register_profile("ours", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("ours")

# Read when torch and BLAS are loaded: two workers that each take all cores wait for each other.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # A command takes as many processes as joblib counts cores, where no test asks for a number.
    os.environ.setdefault("LOKY_MAX_CPU_COUNT", "1")

# A wheel has the library only: beside one, the files of tests that need the study are left out.
_STUDY_IS_HERE = find_spec("deepcac_study") is not None
_OF_THE_STUDY = re.compile(r"^(?:from|import) (?:deepcac_study|catalogued)\b", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    if _STUDY_IS_HERE or collection_path.suffix != ".py":
        return None
    return bool(_OF_THE_STUDY.search(collection_path.read_text(encoding="utf-8"))) or None


def pytest_report_header() -> str | None:
    return None if _STUDY_IS_HERE else "the study is not installed: its tests are left out"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if MIRROR.is_dir():
        return
    skip = pytest.mark.skip(reason="needs the real raw files: DEEPCAC_MIRROR names no folder")
    for item in items:
        if item.get_closest_marker("real"):
            item.add_marker(skip)
