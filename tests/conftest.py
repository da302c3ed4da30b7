"""What holds for all tests: those on the real raw files need a mirror."""

import os

import pytest
from hypothesis import settings
from mirrors import MIRROR

# No example has a deadline, because a busy machine would miss it. In CI they are the same in each
# run, so that what fails there fails everywhere.
settings.register_profile("tests", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("tests")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if MIRROR.is_dir():
        return
    skip = pytest.mark.skip(reason="needs the real raw files: DEEPCAC_MIRROR names no folder")
    for item in items:
        if item.get_closest_marker("real"):
            item.add_marker(skip)
