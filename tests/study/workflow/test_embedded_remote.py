"""A bare `dvc pull` brings the splits of the open data, and touches nothing else."""

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from checkouts import ROOT, checkout, python
from stores import connect

from deepcac.errors import DataError
from deepcac_study.catalogue.registry import load_registry
from deepcac_study.jobs.pointers import find_pointers, write_pointer
from deepcac_study.jobs.sharing import pointed_files, share

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


def states(folder: Path) -> set[str]:
    return {pointer.state() for pointer in find_pointers([folder / "data" / "splits"])}


@pytest.mark.slow
def test_a_bare_pull_without_git_brings_the_splits_and_status_is_clean(tmp_path):
    folder = checkout(tmp_path)
    python(folder, "-m", "dvc", "pull")
    assert states(folder) == {"same"}
    status = python(folder, "-m", "dvc", "status")
    assert "up to date" in status
    with pytest.raises(DataError, match="splits only"):
        share(folder, [], {})


@pytest.mark.long
@pytest.mark.slow
def test_a_bare_pull_deletes_nothing_whatever_was_made_shared_or_pulled(tmp_path):
    folder, name = checkout(tmp_path / "project"), "data/features/mine.parquet"
    rows = folder / name
    rows.write_bytes(b"rows")
    write_pointer(folder / f"{name}.dvc", [rows])
    python(folder, "workflow/scripts/pointers.py")  # as a run ends
    python(folder, "-m", "dvc", "pull")
    assert rows.exists()
    assert states(folder) == {"same"}

    connect(folder, str(tmp_path / "store"))  # as `make share REMOTE=...`
    share(folder, [name], dict.fromkeys(pointed_files(folder), ""))
    shutil.rmtree(folder / ".dvc" / "cache")
    for pointer in find_pointers([folder / f"{name}.dvc", folder / "data" / "splits"]):
        pointer.target.unlink()
    python(folder, "workflow/scripts/pointers.py", "pull", name)
    python(folder, "-m", "dvc", "pull")
    assert rows.read_bytes() == b"rows"
    assert states(folder) == {"same"}
