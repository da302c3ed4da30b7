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
from checkouts import checkout, environment
from stores import connect

from deepcac.catalogue.registry import load_registry
from deepcac.sharing import RESULTS, STAGES, pull, share
from deepcac.storage import content_digest

FEATURES = "data/features/demo_diabetes.parquet"
SPLITS = "data/splits/demo_diabetes.parquet"
RUN = "results/demo_diabetes/cac_lr_k2.json"
CLUSTERINGS = "data/clusterings/demo_diabetes_k2.parquet"
SCORES = "results/demo_diabetes/cac_lr_k2.scores.parquet"

SNAKEMAKE = [sys.executable, "-m", "snakemake", "--cores", "1"]

pytestmark = pytest.mark.slow


def arguments(*targets: str) -> list[str]:
    config = ["--configfile", "config/demo.yaml", "--config", "demo_records=300"]
    return [*SNAKEMAKE, *config, "--", *targets]


def run(folder: Path, command: list[str], code: int = 0) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment(folder), capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


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


def test_a_second_call_does_nothing(finished):
    before = (finished / RUN).stat().st_mtime_ns
    assert "Nothing to be done" in run(finished, arguments(RUN))
    assert (finished / RUN).stat().st_mtime_ns == before


def test_killed_in_the_middle_and_started_again_gives_the_same_bytes(finished, tmp_path):
    folder = checkout(tmp_path)
    process = subprocess.Popen(
        arguments(RUN),
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


def test_runs_that_tune_nothing_share_a_job(tmp_path):
    methods = {"": ("lr", "lda"), "km_": ("lr", "svm"), "cac_": ("lr", "svm")}
    targets = [
        f"results/{folder}demo_cic/{arm}{x}_k{2 if arm else 1}.json"
        for folder in ("", "as_published/")
        for arm, classifiers in methods.items()
        for x in classifiers
    ]
    planned = arguments(*targets)
    planned.insert(len(SNAKEMAKE), "--dry-run")
    said = run(checkout(tmp_path), planned)
    jobs = dict(re.findall(r"^(run|untuned_arm|published_cac) +(\d+)$", said, re.MULTILINE))
    assert jobs == {"run": "2", "untuned_arm": "4", "published_cac": "1"}


def test_a_raw_file_that_cannot_be_had_is_one_clear_line(finished):
    said = run(finished, [*SNAKEMAKE, "data/raw/titanic/titanic3.csv"], code=1)
    (line,) = {part.split("error: ")[1] for part in said.splitlines() if "error: " in part}
    assert "titanic3.csv" in line
    assert "DEEPCAC_MIRROR" in line
    assert not (finished / "data/raw/titanic/titanic3.csv").exists()


def test_what_was_pulled_is_not_built_again(finished, tmp_path):
    source, clone, store = (
        tmp_path / "source",
        checkout(tmp_path / "clone"),
        str(tmp_path / "store"),
    )
    shutil.copytree(finished, source)
    shared = [FEATURES, SPLITS, CLUSTERINGS, RUN, SCORES]
    for folder in (source, clone):
        connect(folder, store)
    share(source, shared, load_registry(source / "config" / "registry"))
    for pointer in (f"{FEATURES}.dvc", f"{SPLITS}.dvc", STAGES, RESULTS):
        shutil.copy(source / pointer, clone / pointer)
    assert pull(clone)[0] == len(shared)
    planned = arguments(RUN)
    planned.insert(len(SNAKEMAKE), "--dry-run")
    assert "Nothing to be done" in run(clone, planned)
    assert outcome(clone) == outcome(finished)
