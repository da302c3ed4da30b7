"""What may hold rows of patients is never added to git by habit, and nothing of the project is hidden."""

import subprocess
from itertools import product

import pytest
from checkouts import ROOT

READ = "csv tsv txt psv dat data xls xlsx xlsm xlsb ods pq parquet feather arrow dta sav zsav por xpt sas7bdat rds json jsonl arff h5 npz duckdb sqlite ipynb"
PACKED = "csv.gz tsv.gz txt.gz zip tar.gz tgz tar.xz 7z csv.zst parquet.zip"
BESIDE = "csv~ csv.bak xlsx.bak parquet.orig tsv.tmp csv.backup numbers docx doc odt"
WRITTEN = "html deepcac skops card.md safetensors pkl joblib svg png pdf zip log"
FOLDERS = (
    *("", "data", "data/mine", "data/features", "config", "config/registry", "docs", "docs/mine"),
    *("src", "src/deepcac", "src/deepcac_study", "tests", "workflow", "workflow/scripts", "mine"),
    *("benchmarks", ".test", ".test/config", "envs", "mimic-iii/1.4", "data/splits/mine"),
)


def ignored(names: list[str]) -> set[str]:
    """Return those names that `git add -A` passes by, as if none were tracked."""
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin"],
        cwd=ROOT,
        input="\n".join(names),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return set(done.stdout.splitlines())


@pytest.mark.parametrize(
    "endings", [READ, PACKED, WRITTEN, BESIDE], ids=["read", "packed", "written", "beside"]
)
def test_a_table_or_what_is_made_of_it_is_ignored_in_every_folder(endings):
    spelt = [one for ending in endings.split() for one in (ending, ending.upper())]
    names = [
        f"{folder}/patients.{ending}".removeprefix("/")
        for folder, ending in product(FOLDERS, spelt)
        if not (folder == "docs" and ending == "png")  # the pictures of the pages
    ]
    assert set(names) - ignored(names) == set()


@pytest.mark.parametrize(
    "name",
    [
        *("report.zip", "mine/ADMISSIONS.csv.gz", "config/registry/private/mine.yaml", ".env"),
        *("results/report/index.html", "study/index.html", "data/raw/physionet2012/set-a.zip"),
        *("data/features/.mine.parquet.x1.partial", "logs/runs/mine/table.log"),
        *(".~lock.patients.csv#", "mine/.patients.csv.swp", "~$patients.xlsx", "#patients.csv#"),
        *("spotcheck/results/cic/lr_k1.json", "wards/folder.card.md", "run.tar.gz"),
    ],
)
def test_what_commands_write_is_ignored(name):
    assert ignored([name]) == {name}


def test_nothing_that_is_tracked_is_hidden_nor_what_would_be_written_beside_it():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, check=True, text=True
    )
    assert ignored(listed.stdout.splitlines()) == set()
    new = [
        "docs/results/new.csv",
        "src/deepcac_study/catalogue/columns/new.csv",
        "src/deepcac/new.py",
    ]
    new += [
        "docs/new.md",
        "data/features/new.parquet.dvc",
        "tests/library/test_new.py",
        "results.dvc",
    ]
    new += ["config/new.yaml", "config/registry/new.yaml", "src/deepcac_study/papers/new/t1.csv"]
    assert ignored(new) == set()
