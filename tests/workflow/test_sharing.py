"""Sharing: what leaves, what comes back, and what Snakemake plans then.

The files here hold made-up bytes at the paths of the whole demo: no rule is run, only planned.
`test_workflow.py` shares a part that was really built.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from checkouts import ROOT, checkout, environment
from stores import DVC, bucket, connect  # noqa: F401 (a fixture)

from deepcac.catalogue.config import check_config
from deepcac.catalogue.registry import load_registry
from deepcac.errors import DataError
from deepcac.layout import Layout
from deepcac.pointers import find_pointers, write_pointer
from deepcac.sharing import RESULTS, STAGES, pull, restricted_parts, share, shared_files

REGISTRY = load_registry(ROOT / "config" / "registry")
RECORD = "results/cic/lr_k1.json"
STAGE = "data/clusterings/cic_k2.parquet"
FEATURES = "data/features/cic.parquet"


def layout(config: str, **more) -> Layout:
    content = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    content |= yaml.safe_load((ROOT / "config" / config).read_text())
    return Layout(REGISTRY, check_config(content | more, REGISTRY))


def make_up(folder: Path, files) -> None:
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(f"made-up content of {file}\n")


def snakemake(folder: Path, target: str, *options: str) -> str:
    command = [sys.executable, "-m", "snakemake", "--cores", "1"]
    command += ["--configfile", "config/demo.yaml"]
    command += [*options, "--", target]
    done = subprocess.run(
        command, cwd=folder, env=environment(folder), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def planned(folder: Path) -> dict[str, int]:
    said = snakemake(folder, "all", "--dry-run")
    counted = re.search(r"^job +count\n[- ]+\n(.*?)\n\n", said, re.MULTILINE | re.DOTALL)
    assert counted, said
    return {name: int(n) for name, n in map(str.split, counted[1].splitlines())}


@pytest.fixture
def project(tmp_path):
    """A DVC project with one file of each kind and a folder as remote."""
    folder = tmp_path / "p"
    (folder / ".dvc").mkdir(parents=True)
    connect(folder, str(tmp_path / "store"))
    make_up(folder, (RECORD, STAGE, FEATURES))
    return folder


def files_of(store: Path) -> set[str]:
    return {path.read_text() for path in store.rglob("*") if path.is_file()}


def test_the_whole_demo_is_shared_but_for_the_report():
    files = shared_files(layout("demo.yaml"))
    kinds = {file.split("/")[1] for file in files}
    assert kinds >= {"features", "splits", "clusterings", "pretrained", "tidy", "theory"}
    assert kinds >= {"demo_cic", "as_published", "sweeps", "case_study", "skmeans", "profiles"}
    assert not kinds & {"raw", "report"}
    assert {file.rpartition("/")[2][:7] for file in files if "/tidy/" in file} == {"cohort_"}


def test_nothing_of_restricted_data_is_shared(tmp_path):
    folders = {"mimic3": str(tmp_path), "wids": str(tmp_path), "webkb_authors": None}
    reachable = layout("config.yaml", restricted=folders)
    names = ("ards", "ards_ts", "wid_mortality")
    everything = reachable.feature_files() + reachable.all_runs() + reachable.stage_files()
    for name in names:
        assert any(name in re.split(r"[/.]|_k\d", file) for file in everything)
    shared = shared_files(reachable)
    assert not [f for f in shared for name in names if name in re.split(r"[/.]|_k\d", f)]
    assert {"data/features/ards_demo.parquet", "data/features/webkb_n_pairs.parquet"} < set(shared)
    assert set(shared) == set(shared_files(layout("config.yaml")))


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("data/features/ards.parquet", "ards"),
        ("data/features/as_published/ards_ts.parquet", "ards_ts"),
        ("data/clusterings/switches/A1/wid_mortality_k2.parquet", "wid_mortality"),
        ("results/sweeps/alpha_ards_k3.parquet", "ards"),
        ("results/profiles/wid_mortality.json", "wid_mortality"),
        ("data/tidy/mimic3/cohort_x.json", "mimic3"),
        ("data/features/webkb_authors_pairs.parquet", "webkb_authors"),
        ("data/features/demo_ards.parquet", None),
        ("data/tidy/demo_mimic3/cohort_ards.json", None),
        ("results/ards_ts_demo/deepcac_ts_k2.json", None),
        ("results/skmeans/times.json", None),
        ("results/uci_diabetes/lr_k1.json", None),
    ],
)
def test_names_of_restricted_data_are_known_in_any_path(file, name):
    assert list(restricted_parts(REGISTRY, [file])) == [(file, name)]


@pytest.mark.long
@pytest.mark.slow
def test_after_a_pull_from_s3_only_the_report_is_planned(tmp_path, bucket):  # noqa: F811
    source, clone = checkout(tmp_path / "source"), checkout(tmp_path / "clone")
    files = shared_files(layout("demo.yaml"))
    make_up(source, files)
    connect(source, bucket)
    snakemake(source, "share")
    connect(clone, bucket)
    for pointer in (*source.rglob("data/**/*.dvc"), source / RESULTS):
        shutil.copy(pointer, clone / pointer.relative_to(source))
    command = [sys.executable, "workflow/scripts/pointers.py", "pull"]
    said = subprocess.run(
        command, cwd=clone, env=environment(clone), check=True, capture_output=True, text=True
    ).stdout
    assert f"{len(files)} files are here as they were shared" in said
    assert planned(clone) == {"all": 1, "report": 1, "total": 2}
    (clone / "results/demo_cic/cac_lr_k3.json").unlink()
    assert planned(clone) == {"all": 1, "report": 1, "run": 1, "total": 3}


@pytest.mark.slow
def test_a_second_call_replaces_what_changed_and_keeps_what_did_not(project, tmp_path):
    share(project, [RECORD, STAGE, FEATURES], REGISTRY)
    before = (project / STAGES).read_bytes()
    (project / RECORD).write_text("another record")
    share(project, [RECORD, STAGE, FEATURES], REGISTRY)
    assert "another record" in files_of(tmp_path / "store")
    assert (project / STAGES).read_bytes() == before
    targets = [p.target.relative_to(project).as_posix() for p in find_pointers([project / RESULTS])]
    assert targets == [RECORD]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["asked", "pointed", "grouped"])
def test_restricted_derivatives_are_refused_and_nothing_is_pushed(project, tmp_path, how):
    own = {"asked": RECORD, "pointed": FEATURES, "grouped": STAGE}[how].replace("cic", "ards")
    make_up(project, [own])
    if how != "asked":
        pointer = project / (f"{own}.dvc" if how == "pointed" else STAGES)
        write_pointer(pointer, [project / own])
    with pytest.raises(DataError, match=f"{own}: made from ards, which is restricted") as caught:
        share(project, [RECORD, *([own] if how == "asked" else [])], REGISTRY)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "store").exists()


@pytest.mark.slow
def test_features_that_changed_are_not_shared_under_their_pointer(project, tmp_path):
    write_pointer(project / f"{FEATURES}.dvc", [project / FEATURES])
    (project / FEATURES).write_text("other rows")
    with pytest.raises(DataError, match=r"cic\.parquet: not the bytes of its pointer"):
        share(project, [FEATURES], REGISTRY)
    assert not (tmp_path / "store").exists()


@pytest.mark.slow
@pytest.mark.parametrize("place", ["remote", "cache"])
def test_a_damaged_copy_is_named_removed_and_mended(project, tmp_path, place):
    files = [RECORD, STAGE, FEATURES]
    share(project, files, REGISTRY)
    (pointer,) = find_pointers([project / STAGES])
    cache, store = project / ".dvc" / "cache", tmp_path / "store"
    copy = pointer.in_cache(store if place == "remote" else cache)
    whole = copy.read_bytes()
    copy.chmod(0o644)
    copy.write_bytes(b"\0" + whole[1:])
    copy.chmod(0o444)  # as DVC left it: a rotten disk changes no rights
    for file in files:
        (project / file).unlink()
    if place == "remote":
        shutil.rmtree(cache)
    with pytest.raises(DataError, match=rf"{STAGE}: came damaged") as caught:
        pull(project)
    assert "\n" not in str(caught.value)
    assert not (project / STAGE).exists()
    assert not pointer.in_cache(cache).exists()
    if place == "remote":
        copy.unlink()  # as the message says
        (project / STAGE).write_bytes(whole)
        share(project, files, REGISTRY)
        (project / STAGE).unlink()
    assert pull(project) == (3, 0)
    assert (project / STAGE).read_bytes() == whole


@pytest.mark.slow
def test_a_damaged_cache_is_mended_before_it_is_pushed(project, tmp_path):
    write_pointer(project / STAGES, [project / STAGE])
    subprocess.run([*DVC, "commit", "-q", "-f", STAGES], cwd=project, check=True)
    (pointer,) = find_pointers([project / STAGES])
    copy = pointer.in_cache(project / ".dvc" / "cache")
    copy.chmod(0o644)
    copy.write_text("rot")
    copy.chmod(0o444)
    share(project, [STAGE], REGISTRY)
    assert files_of(tmp_path / "store") == {(project / STAGE).read_text()}


@pytest.mark.slow
def test_a_remote_that_lacks_files_gives_the_others_and_counts_them(project, tmp_path):
    share(project, [RECORD, STAGE], REGISTRY)
    write_pointer(project / f"{FEATURES}.dvc", [project / FEATURES])
    for file in (RECORD, STAGE, FEATURES):
        (project / file).unlink()
    assert pull(project) == (2, 1)
    with pytest.raises(DataError, match="dvc pull failed") as caught:
        pull(project, [f"{FEATURES}.dvc"])
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_no_remote_is_one_line(project):
    subprocess.run([*DVC, "remote", "remove", "--local", "store"], cwd=project, check=True)
    with pytest.raises(DataError, match="dvc push failed.*remote") as caught:
        share(project, [RECORD], REGISTRY)
    assert "\n" not in str(caught.value)
