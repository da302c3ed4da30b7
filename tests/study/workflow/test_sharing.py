"""Sharing: what leaves, what comes back, and what Snakemake plans then.

The files here hold made-up bytes at the paths of the whole demo: no rule is run, only planned.
`test_workflow.py` shares a part that was really built.
"""

import io
import json
import os
import re
import runpy
import shutil
import subprocess
from contextlib import chdir, redirect_stdout
from pathlib import Path

import pytest
import yaml
from checkouts import ROOT, checkout, python, snakemake
from stores import DVC, bucket, connect  # noqa: F401 (a fixture)

from deepcac.errors import DataError, DeepCACError
from deepcac.files.storage import write_json
from deepcac_study.catalogue.config import check_config
from deepcac_study.catalogue.registry import load_registry
from deepcac_study.jobs.layout import Layout
from deepcac_study.jobs.pointers import find_pointers, write_pointer
from deepcac_study.jobs.sharing import RESULTS, STAGES, Origins, pull, share, shared_files

SCRIPT = runpy.run_path(str(ROOT / "workflow/scripts/pointers.py"))["main"]
REGISTRY = load_registry(ROOT / "config" / "registry")
RECORD = "results/cic/lr_k1.json"
STAGE = "data/pretrained/cic.safetensors"
FEATURES = "data/features/cic.parquet"
OPEN = dict.fromkeys((RECORD, STAGE, FEATURES), "")


def layout(config: str, **more) -> Layout:
    content = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    content |= yaml.safe_load((ROOT / "config" / config).read_text())
    return Layout(REGISTRY, check_config(content | more, REGISTRY))


def make_up(folder: Path, files) -> None:
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        if file.endswith(".json"):  # a record without its digest would be refused as edited
            write_json(folder / file, {"made up": file})
        else:
            (folder / file).write_text(f"made-up content of {file}\n")


def demo(folder: Path, target: str, *options: str) -> str:
    words = ["--cores", "1", "--configfile", "config/demo.yaml", *options, "--", target]
    return snakemake(folder, *words)


def planned(folder: Path) -> dict[str, int]:
    said = demo(folder, "all", "--dry-run")
    counted = re.search(r"^job +count\n[- ]+\n(.*?)\n\n", said, re.MULTILINE | re.DOTALL)
    assert counted, said
    rows = map(str.split, counted[1].splitlines())
    return {name: int(n) for name, n in rows}


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
    assert kinds >= {"features", "splits", "pretrained", "cohorts", "theory"}
    assert kinds >= {"demo_cic", "as_published", "sweeps", "case_study", "skmeans"}
    assert not kinds & {"raw", "tidy", "report"}


# What each job of a small workflow is made from; `r` reads nothing and makes nothing up.
JOBS = {
    "data/tidy/cic/x": [("extract", ["data/raw/physionet2012/set-a.archive"])],
    "data/features/mine.parquet": [],
    "data/features/cic.parquet": [("features", ["data/tidy/cic/x"])],
    "data/features/grid.parquet": [("grid", [])],
    "results/one": [("run", ["data/features/cic.parquet", "data/features/grid.parquet"])],
    "results/demo_both": [("judge", ["results/one", "results/mine"])],
    "results/mine": [("run", ["data/features/mine.parquet"])],
    "results/nothing": [("r", [])],
    "results/either": [("a", ["nowhere"]), ("b", ["results/mine"]), ("c", ["results/one"])],
    "results/loop": [("a", ["results/loop"])],
    "results/mimic": [("a", ["data/raw/demo_mimic3/rows"])],
    "data/raw/demo_mimic3/rows": [("grid", [])],
    "results/tables": [("a", ["data/raw/demo_mimic3", "data/raw/demo_mimic3/rows"])],
}


@pytest.mark.parametrize(
    ("file", "origin"),
    [
        ("data/features/cic.parquet", ""),
        ("results/one", ""),
        ("results/mine", "data/features/mine.parquet"),
        ("results/demo_both", "data/features/mine.parquet"),  # whatever it is called
        ("results/nothing", "rule r"),
        ("results/either", "data/features/mine.parquet"),  # a job without its input is none
        ("results/loop", "results/loop"),
        ("results/never_heard_of", "results/never_heard_of"),
        ("data/raw/physionet2012/by_hand.csv", "data/raw/physionet2012/by_hand.csv"),
        ("results/tables", "data/raw/demo_mimic3"),  # the folder of tables, and each in it
        ("results/mimic", "data/raw/demo_mimic3/rows"),  # restricted rows where a stand-in belongs
    ],
)
def test_what_a_file_is_made_from_is_followed_back_to_its_origin(
    tmp_path, monkeypatch, file, origin
):
    monkeypatch.chdir(tmp_path)
    make_up(tmp_path, ["data/features/mine.parquet", "data/raw/demo_mimic3/rows"])
    folders = {"mimic3": str(tmp_path / "data/raw/demo_mimic3")}
    given = layout("demo.yaml", restricted=folders)
    origins = Origins(given, lambda name: JOBS.get(name, []), {"grid"})
    assert origins.closed(file) == origin


@pytest.mark.parametrize("source", ["gusto", "crash2", "physionet2012"])
def test_what_is_made_from_data_of_no_stated_licence_is_not_shared(source):
    stated = source == "physionet2012"
    entry = REGISTRY.source(source)
    assert (bool(entry.licence), entry.closed, entry.restricted) == (stated, not stated, False)
    given = layout("demo.yaml")
    raw = f"{given.raw_folder(source)}/{next(iter(entry.files))}"
    jobs = {"data/features/of_it.parquet": [("features", [raw])], raw: [("fetch_raw", [])]}
    origins = Origins(given, lambda name: jobs.get(name, []), set())
    assert bool(origins.closed("data/features/of_it.parquet")) is not stated


@pytest.mark.long
@pytest.mark.slow
def test_after_a_pull_from_s3_only_the_report_is_planned(tmp_path, bucket, monkeypatch):  # noqa: F811
    source, clone = checkout(tmp_path / "source"), checkout(tmp_path / "clone")
    monkeypatch.chdir(source)  # which files there are depends on what lies in the folder
    files = shared_files(layout("demo.yaml"))
    make_up(source, files)
    connect(source, bucket)
    assert f"{len(files)} files pushed; commit" in demo(source, "share")
    connect(clone, bucket)
    for pointer in (*source.rglob("data/**/*.dvc"), source / RESULTS):
        shutil.copy(pointer, clone / pointer.relative_to(source))
    said = python(clone, "workflow/scripts/pointers.py", "pull")
    ours = {str(p.target.relative_to(ROOT)) for p in find_pointers([ROOT / "data" / "splits"])}
    assert f"{len(ours.union(files))} files are here" in said
    assert planned(clone) == {"all": 1, "report": 1, "total": 2}
    (clone / "results/demo_cic/cac_lr_k3.json").unlink()
    assert planned(clone) == {"all": 1, "report": 1, "run": 1, "total": 3}


@pytest.mark.slow
def test_a_second_call_replaces_what_changed_and_keeps_what_did_not(project, tmp_path):
    share(project, [RECORD, STAGE, FEATURES], OPEN)
    before = (project / STAGES).read_bytes()
    (project / RECORD).write_text("another record")
    share(project, [RECORD, STAGE, FEATURES], OPEN)
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
    with pytest.raises(DataError, match=f"{own}: made from .* restricted") as caught:
        share(project, [RECORD, *([own] if how == "asked" else [])], OPEN)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "store").exists()


@pytest.mark.slow
def test_features_that_changed_are_not_shared_under_their_pointer(project, tmp_path):
    write_pointer(project / f"{FEATURES}.dvc", [project / FEATURES])
    (project / FEATURES).write_text("other rows")
    with pytest.raises(DataError, match=r"cic\.parquet: .*its pointer"):
        share(project, [FEATURES], OPEN)
    assert not (tmp_path / "store").exists()


@pytest.mark.slow
@pytest.mark.parametrize("place", ["remote", pytest.param("cache", marks=pytest.mark.long)])
def test_a_damaged_copy_is_named_removed_and_mended(project, tmp_path, place):
    files = [RECORD, STAGE, FEATURES]
    share(project, files, OPEN)
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
    with pytest.raises(DataError, match=rf"{STAGE} \(.*: came damaged") as caught:
        pull(project)
    assert "\n" not in str(caught.value)
    assert not (project / STAGE).exists()
    assert not pointer.in_cache(cache).exists()
    if place == "remote":
        copy.unlink()  # as the message says
        (project / STAGE).write_bytes(whole)
        share(project, files, OPEN)
        (project / STAGE).unlink()
    assert pull(project) == (3, [])
    assert (project / STAGE).read_bytes() == whole


def pointers_script(folder: Path, *words: str, code: int = 0) -> str:
    """Call the script in this process; return what it prints, or the line of its error."""
    said = io.StringIO()
    with chdir(folder), redirect_stdout(said):
        try:
            found = SCRIPT([*words])
        except DeepCACError as error:
            found = 1
            print(error)
    assert found == code, said.getvalue()
    return said.getvalue()


def named_by(project: Path, pointer: str) -> set[str]:
    return {p.target.relative_to(project).as_posix() for p in find_pointers([project / pointer])}


@pytest.mark.slow
def test_a_second_configuration_adds_to_what_was_shared_until_a_file_is_dropped(project, tmp_path):
    other = "results/wdbc/lr_k1.json"
    make_up(project, [other])
    share(project, [RECORD, other, STAGE], {**OPEN, other: ""})
    (project / other).unlink()
    make_up(project, ["data/pretrained/wdbc.safetensors"])
    more = ["data/pretrained/wdbc.safetensors", RECORD]
    share(project, more, {**OPEN, **dict.fromkeys([other, *more], "")})
    assert named_by(project, RESULTS) == {RECORD, other}
    assert named_by(project, STAGES) == {STAGE, more[0]}
    assert pull(project) == (4, [])
    assert json.loads((project / other).read_text())["made up"] == other
    pointers_script(project, "drop", other, STAGE)
    assert (named_by(project, RESULTS), named_by(project, STAGES)) == ({RECORD}, {more[0]})
    assert (project / other).exists()
    pointers_script(project, "drop", RECORD)
    assert not (project / RESULTS).exists()
    assert "no pointer" in pointers_script(project, "drop", RECORD, code=1)


@pytest.mark.slow
def test_every_damaged_file_is_named_and_the_others_get_one_time(project, tmp_path):
    share(project, [RECORD, STAGE, FEATURES], OPEN)
    shutil.rmtree(project / ".dvc" / "cache")
    for file in (RECORD, STAGE):
        (pointer,) = [
            one
            for one in find_pointers([project / RESULTS, project / STAGES])
            if one.target == project / file
        ]
        copy = pointer.in_cache(tmp_path / "store")
        copy.chmod(0o644)
        copy.write_text("rot")
        copy.chmod(0o444)
        (project / file).unlink()
    os.utime(project / FEATURES, (1, 1))
    with pytest.raises(DataError) as caught:
        pull(project)
    assert RECORD in str(caught.value)
    assert STAGE in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (project / RECORD).exists()
    assert not (project / STAGE).exists()
    assert (project / FEATURES).stat().st_mtime > 1


@pytest.mark.slow
def test_a_file_that_is_here_and_differs_from_its_pointer_is_not_replaced(project):
    share(project, [RECORD, FEATURES], OPEN)
    (project / FEATURES).write_text("rows of my own")
    (project / RECORD).unlink()
    with pytest.raises(DataError, match=rf"^{FEATURES}: here, but not .*; nothing was pulled$"):
        pull(project)
    assert (project / FEATURES).read_text() == "rows of my own"
    assert not (project / RECORD).exists()
    assert pull(project, [RECORD]) == (1, [])  # what was asked for is no other file


@pytest.mark.slow
def test_a_remote_that_is_not_there_is_named_even_if_every_file_is_here(project, tmp_path):
    share(project, [RECORD], OPEN)
    shutil.rmtree(tmp_path / "store")
    assert "has nothing at" in pointers_script(project, "pull", code=1)
    assert "is no call; known: pull" in pointers_script(project, "poll", code=1)


@pytest.mark.slow
def test_a_damaged_cache_is_mended_before_it_is_pushed(project, tmp_path):
    write_pointer(project / STAGES, [project / STAGE])
    subprocess.run([*DVC, "commit", "-q", "-f", STAGES], cwd=project, check=True)
    (pointer,) = find_pointers([project / STAGES])
    copy = pointer.in_cache(project / ".dvc" / "cache")
    copy.chmod(0o644)
    copy.write_text("rot")
    copy.chmod(0o444)
    share(project, [STAGE], OPEN)
    assert files_of(tmp_path / "store") == {(project / STAGE).read_text()}


@pytest.mark.slow
def test_a_remote_that_lacks_files_gives_the_others_and_counts_them(project, tmp_path):
    share(project, [RECORD, STAGE], OPEN)
    write_pointer(project / f"{FEATURES}.dvc", [project / FEATURES])
    for file in (RECORD, STAGE, FEATURES):
        (project / file).unlink()
    here, absent = pull(project)
    assert (here, [one.target for one in absent]) == (2, [project / FEATURES])
    said = pointers_script(project, "pull")
    (line,) = [line for line in said.splitlines() if "not in the remote:" in line]
    assert line == f"not in the remote: {FEATURES} ({absent[0].object_name})"
    with pytest.raises(DataError, match=rf"^{FEATURES}: not in the remote") as caught:
        pull(project, [f"{FEATURES}.dvc"])
    assert "\n" not in str(caught.value)
    pointers_script(project, "pull", f"{FEATURES}.dvc", code=1)
    with pytest.raises(DataError, match=r"other\.parquet: no pointer"):
        pull(project, ["data/features/other.parquet"])


@pytest.mark.slow
def test_a_pull_reads_no_pointer_but_the_projects_own_and_stays_inside(project, tmp_path):
    share(project, [RECORD], OPEN)
    (victim := tmp_path / "victim").write_text("not of the project")
    text = (project / RESULTS).read_text()
    (project / "docs").mkdir()
    (project / "docs" / "x.dvc").write_text(text.replace("results/cic/lr_k1.json", "page"))
    assert pull(project) == (1, [])
    assert not (project / "docs" / "page").exists()
    for path in ("../victim", str(victim)):
        (project / RESULTS).write_text(text.replace("results/cic/lr_k1.json", path))
        with pytest.raises(DataError, match=r"results\.dvc: .*its folder") as caught:
            pull(project)
        assert "\n" not in str(caught.value)
    assert victim.read_text() == "not of the project"


@pytest.mark.slow
def test_no_remote_is_one_line(project):
    subprocess.run([*DVC, "remote", "remove", "--local", "store"], cwd=project, check=True)
    with pytest.raises(DataError, match="dvc push failed.*remote") as caught:
        share(project, [RECORD], OPEN)
    assert "\n" not in str(caught.value)
