"""What holds for all tests: those on the real raw files need a mirror."""

import os

import pytest
from hypothesis import settings
from mirrors import MIRROR

# No example has a time limit: a busy machine is no fault. In CI the examples are always the same.
settings.register_profile("ours", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("ours")

# Read when torch and BLAS are loaded: two workers that each take all cores wait for each other.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if MIRROR.is_dir():
        return
    skip = pytest.mark.skip(reason="needs the real raw files: DEEPCAC_MIRROR names no folder")
    for item in items:
        if item.get_closest_marker("real"):
            item.add_marker(skip)
