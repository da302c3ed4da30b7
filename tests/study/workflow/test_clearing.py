"""`make clean`: what rules can make again goes, what is people's own stays."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deepcac_study.catalogue.registry import load_registry
from deepcac_study.jobs.clearing import clear

ROOT = Path(__file__).parents[3]
OWN = [
    "data/raw/mimic3/ADMISSIONS.csv.gz",
    "data/raw/wids/training_v2.csv",
    "data/raw/webkb/webkb-data.archive",  # no address: somebody put it there
    "data/raw/physionet2012/notes.txt",
    "data/features/mine.parquet",
    "data/features/mine.parquet.dvc",
    "data/features/cic.parquet.dvc",
    "study/results/report/index.html",
    "results/README.md",
]
MADE = [
    "data/raw/physionet2012/set-a.archive",
    "data/raw/demo_mimic3/ADMISSIONS.csv",
    "data/tidy/mimic3/stays.parquet",
    "data/cohorts/cic.json",
    "data/features/cic.parquet",
    "data/features/demo_cic.parquet",
    "data/features/as_published/cic.parquet",
    "data/features/synth_pairs_nodes.parquet",
    "data/features/synthetic_cac_i000_o100_c2.parquet",
    "data/features/.mine.parquet.1.partial",
    "data/splits/as_published/mine.parquet",
    "data/pretrained/cic.safetensors",
    "results/cic/lr_k1.json",
    "logs/report.log",
    ".snakemake/metadata/a",
]


def write(folder: Path) -> None:
    for name in (*OWN, *MADE):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def left(folder: Path) -> list[str]:
    return [name for name in (*OWN, *MADE) if (folder / name).exists()]


def test_only_what_rules_can_make_again_is_deleted(tmp_path):
    write(tmp_path)
    clear(tmp_path, load_registry(ROOT / "config" / "registry", private=False))
    assert left(tmp_path) == OWN


def test_an_empty_folder_is_no_error(tmp_path):
    clear(tmp_path, load_registry(ROOT / "config" / "registry", private=False))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("environment", [".venv", ".venv-report", None])
def test_it_runs_in_the_environment_that_is_here_or_asks_for_one(tmp_path, environment):
    shutil.copy(ROOT / "Makefile", tmp_path)
    if environment:
        for name in {environment, ".venv-report"}:
            (tmp_path / name).mkdir()
            (tmp_path / name / "ready").touch()
        call = ["make", "--dry-run", "clean"]
    else:
        call = ["make", "clean"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False)
    if environment:
        assert (
            f"PYTHONPATH=src {environment}/bin/python -m deepcac_study.jobs.clearing" in done.stdout
        )
    else:
        assert done.returncode != 0
        assert done.stderr.startswith("make clean: ")
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("link", [False, True])
def test_the_target_clears_the_folder_that_it_stands_in(tmp_path, link):
    """A folder of results that is a link is not followed."""
    recipe = re.search(r"^clean:\n\t@.*\n\t(.*)\n", (ROOT / "Makefile").read_text(), re.M)
    assert recipe
    assert "rm " not in recipe[1]
    write(tmp_path)
    if link:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere/kept").touch()
        (tmp_path / "data/clusterings").symlink_to(tmp_path / "elsewhere")
    module = recipe[1].split(" -m ")[1]
    call = [sys.executable, "-m", module]
    subprocess.run(call, cwd=tmp_path, check=True)
    assert left(tmp_path) == OWN
    assert not link or (tmp_path / "elsewhere/kept").exists()
