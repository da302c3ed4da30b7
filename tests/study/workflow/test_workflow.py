"""The workflow itself, on the demo's raw formats: whole, killed, repeated, shared."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from checkouts import checkout, environment, python
from stores import connect

from deepcac.files.storage import content_digest
from deepcac_study.catalogue.methods import classifiers
from deepcac_study.jobs.sharing import RESULTS, pointed_files, pull, share

FEATURES = "data/features/demo_diabetes.parquet"
SPLITS = "data/splits/demo_diabetes.parquet"
RUN = "results/demo_diabetes/cac_lr_k2.json"
SCORES = "results/demo_diabetes/cac_lr_k2.scores.parquet"

SNAKEMAKE = ["-m", "snakemake", "--cores", "1"]

pytestmark = pytest.mark.slow


def arguments(*targets: str) -> list[str]:
    config = ["--configfile", "config/demo.yaml", "--config", "demo_records=300"]
    return [*SNAKEMAKE, *config, "--", *targets]


def run(folder: Path, command: list[str], code: int = 0) -> str:
    return python(folder, *command, code=code)


def outcome(folder: Path) -> dict[str, bytes | str]:
    """Return the bytes of every output; of the record, the part that is no timing."""
    files: dict[str, bytes | str] = {
        name: (folder / name).read_bytes() for name in (FEATURES, SPLITS, SCORES)
    }
    return files | {RUN: content_digest(json.loads((folder / RUN).read_text()))}


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    folder = checkout(tmp_path_factory.mktemp("finished"))
    run(folder, arguments(RUN))
    return folder


@pytest.mark.long
def test_a_second_call_does_nothing(finished):
    before = (finished / RUN).stat().st_mtime_ns
    assert "Nothing to be done" in run(finished, arguments(RUN))
    assert (finished / RUN).stat().st_mtime_ns == before


@pytest.mark.long
def test_killed_in_the_middle_and_started_again_gives_the_same_bytes(finished, tmp_path):
    folder = checkout(tmp_path)
    process = subprocess.Popen(
        [sys.executable, *arguments(RUN)],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 300
    while not (folder / FEATURES).exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert (folder / FEATURES).exists()
    assert not (folder / RUN).exists()
    run(folder, [*arguments()[:-1], "--unlock"])
    run(folder, arguments(RUN))
    assert outcome(folder) == outcome(finished)
    assert list(folder.rglob("*.partial")) == []


PLAN = """
runs:
  - part: cac
    protocols: [sound, as_published]
    datasets: [demo_cic]
    methods: [{methods}]
    k: [2]
  - {{part: cac, protocols: [sound], datasets: [demo_cic], methods: [cac_lr], k: [3]}}
  - {{part: cac, switches: [A4], datasets: [demo_cic], methods: [km_lr, cac_lr], k: [2]}}
  - part: deep
    protocols: [sound, as_published]
    datasets: [demo_cic, demo_sepsis_ts]
    methods: [km_z, deepcac_ts]
    k: {{default: [1, 2, 3]}}
runs_beside:
  - {{part: deep, protocols: [sound], datasets: [demo_cic], methods: [dmnn], k: [2]}}
"""


def planned_jobs(folder: Path, *targets: str) -> dict[str, int]:
    methods = [f"{arm}{x}" for arm in ("", "km_", "cac_") for x in classifiers()]
    (folder / "plan.yaml").write_text(PLAN.format(methods=", ".join(methods)))
    command = [*SNAKEMAKE, "-n", "--configfile", "config/demo.yaml", "plan.yaml", "--", *targets]
    said = run(folder, command)
    return {rule: int(n) for rule, n in re.findall(r"^(\w*runs?) +(\d+)$", said, re.MULTILINE)}


def test_classical_runs_of_a_table_share_a_job_and_networks_have_their_own(tmp_path):
    folder = checkout(tmp_path)
    # By protocol: sound with k = 2 and 3, as published, and one difference alone.
    assert planned_jobs(folder, "cac", "deep") == {"table_runs": 3, "deep_run": 12}


@pytest.mark.long
def test_a_run_that_is_asked_for_by_itself_has_a_job_of_its_own(tmp_path):
    alone = [f"results/{folder}demo_cic/km_svm_k2.json" for folder in ("", "as_published/")]
    alone += ["results/demo_cic/km_z_k2.json"]
    assert planned_jobs(checkout(tmp_path), *alone) == {"run": 2, "deep_run": 1}


@pytest.mark.long
def test_what_decides_no_claim_is_made_for_everything_only(tmp_path):
    folder = checkout(tmp_path)
    papers = planned_jobs(folder, "all")
    assert planned_jobs(folder, "everything") == {**papers, "deep_run": papers["deep_run"] + 1}


def test_a_configuration_of_ones_own_starts_empty(tmp_path):
    folder = checkout(tmp_path)
    (folder / "own.yaml").write_text("datasets: [demo_diabetes]\nseeds: [0]\n")
    said = run(folder, [*SNAKEMAKE, "-n", "--configfile", "own.yaml"])
    rules = set(re.findall(r"^([a-z_0-9]+) +[0-9]+$", said, re.MULTILINE))
    assert "build_features" in rules
    assert not {"fetch", "run", "judge_trials", "decomposition", "sweep"} & rules


def test_a_raw_file_that_cannot_be_had_is_one_clear_line(tmp_path):
    folder = checkout(tmp_path)
    said = run(folder, [*SNAKEMAKE, "data/raw/titanic/titanic3.csv"], code=1)
    (line,) = {part.split("error: ")[1] for part in said.splitlines() if "error: " in part}
    assert "titanic3.csv" in line
    assert "DEEPCAC_MIRROR" in line
    assert not (folder / "data/raw/titanic/titanic3.csv").exists()


@pytest.mark.long
def test_what_was_pulled_is_not_built_again(finished, tmp_path):
    source, clone, store = (
        tmp_path / "source",
        checkout(tmp_path / "clone"),
        str(tmp_path / "store"),
    )
    shutil.copytree(finished, source)
    shared = [FEATURES, SPLITS, RUN, SCORES]
    for folder in (source, clone):
        connect(folder, store)
    share(source, shared, dict.fromkeys([*shared, *pointed_files(source)], ""))
    for pointer in (f"{FEATURES}.dvc", f"{SPLITS}.dvc", RESULTS):
        shutil.copy(source / pointer, clone / pointer)
    _, absent = pull(clone)
    assert {str(p.target.relative_to(clone)) for p in absent}.isdisjoint(shared)
    planned = arguments(RUN)
    planned.insert(len(SNAKEMAKE), "--dry-run")
    assert "Nothing to be done" in run(clone, planned)
    assert outcome(clone) == outcome(finished)
