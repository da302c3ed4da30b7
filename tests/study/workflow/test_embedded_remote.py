"""A fresh clone has the splits of the open data by a bare `dvc pull`, and nothing else."""

import subprocess

import pyarrow.parquet as pq
import pytest
from checkouts import ROOT
from stores import DVC

from deepcac.errors import DataError
from deepcac_study.catalogue.registry import load_registry
from deepcac_study.jobs.pointers import find_pointers
from deepcac_study.jobs.sharing import share

STORE = ROOT / "data" / "cache"
SPLITS = list(find_pointers([ROOT / "data" / "splits"]))
REGISTRY = load_registry(ROOT / "config" / "registry")


def test_the_remote_in_the_repository_holds_the_splits_and_nothing_else():
    objects = {path.relative_to(STORE).as_posix() for path in STORE.rglob("*") if path.is_file()}
    assert objects == {pointer.object_name for pointer in SPLITS}
    assert sum((STORE / name).stat().st_size for name in objects) < 6e6
    for pointer in SPLITS:
        assert pointer.cached(STORE), pointer.path
        source = REGISTRY.source(REGISTRY.dataset(pointer.target.stem).source)
        assert not source.closed, pointer.path
        schema = pq.read_schema(STORE / pointer.object_name)
        assert schema.names[0] == "row_id"
        parts = {name.rstrip("_0123456789") for name in schema.names[1:]}
        assert parts <= {"split", "holdout", "fold"}


@pytest.fixture
def clone(tmp_path):
    folder = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True)
    return folder


@pytest.mark.slow
def test_a_bare_pull_brings_the_splits_and_status_is_clean(clone):
    done = subprocess.run([*DVC, "pull"], cwd=clone, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for pointer in find_pointers([clone / "data" / "splits"]):
        assert pointer.state() == "same", pointer.path
    status = subprocess.run([*DVC, "status"], cwd=clone, capture_output=True, text=True, check=True)
    assert status.stdout.strip() == "Data and pipelines are up to date."
    with pytest.raises(DataError, match="for splits only; name one of your own"):
        share(clone, [], {})
