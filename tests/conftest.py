"""What holds for all tests: those on the real raw files need a mirror."""

import pytest
from mirrors import MIRROR


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if MIRROR.is_dir():
        return
    skip = pytest.mark.skip(reason="needs the real raw files: DEEPCAC_MIRROR names no folder")
    for item in items:
        if item.get_closest_marker("real"):
            item.add_marker(skip)
