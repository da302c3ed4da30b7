"""Marked rows of patients, under names that mislead: what leaves the machine holds none of them.

What is made from them is read off the jobs that Snakemake lists, so that the answer does not come
from the code that decides what is shared.
"""

import json
import os
import re
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from checkouts import checkout, snakemake
from described_tables import inferred
from stores import connect

from deepcac.files.storage import write_json
from deepcac_study.jobs.pointers import align_times
from deepcac_study.private_data_set import add_table

pytestmark = pytest.mark.slow
MARK = "7654321.125"  # in rows of patients, and in all that is made from them
OWN = ("opencic", "wdbc_of_ours", "titanic_demo")  # as if they were open, or generated


def config(folder: Path) -> Path:
    """Write a configuration in which open data and rows of patients meet everywhere."""
    both = ["demo_ards", "wdbc", "ards", *OWN]
    mimic = folder / "data" / "raw" / "demo_open"
    mimic.mkdir(parents=True)
    (mimic / "ADMISSIONS.csv").write_text(MARK)
    content = yaml.safe_load((folder / "config" / "demo.yaml").read_text()) | {
        "restricted": {"mimic3": str(mimic)},
        "datasets": both,
        "runs": [
            {"part": "cac", "protocols": ["sound"], "datasets": both, "methods": ["lr", "km_lr"], "k": [2]},
            {"part": "deep", "protocols": ["sound"], "datasets": ["ards"], "methods": ["deepcac"], "k": [2]},
        ],
        "judge": {
            "matches": [{"datasets": both, "contenders": ["lr", "cac_lr"]}],
            "planted": [{"name": "lr", "strengths": [0], "cohorts": 2, "rows": 800, "contenders": ["lr", "cac_lr"]}],
        },
        "sweeps": [f"alpha_{OWN[2]}_k2", "alpha_wdbc_k2"],
        "case_studies": ["ards_k2"],
        "theory": [f"{OWN[0]}_k2", "wdbc_k2"],
        "decomposition": ["wdbc", OWN[1]],
    }  # fmt: skip
    path = folder / "hostile.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def add_patients(folder: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"])
    table["died"] = rng.choice(["yes", "no"], 120)
    table.loc[::5, "a"] = float(MARK)
    table.to_csv(folder / "patients.csv", index=False)
    for name in OWN:
        add_table(inferred(folder / "patients.csv"), name, folder)


def hostile(folder: Path, *words: str, code: int = 0) -> str:
    return snakemake(folder, "--cores", "1", "--configfile", "hostile.yaml", *words, code=code)


def listed(said: str) -> list[tuple[set[str], set[str]]]:
    """Return inputs and outputs of every job of a dry run."""
    jobs = re.findall(r"^ *(?:local)?rule \w+:\n((?: +\w+: .*\n)+)", said, re.MULTILINE)
    fields = (dict(re.findall(r"^ +(\w+): (.*)$", job, re.MULTILINE)) for job in jobs)
    return [(words(own.get("input", "")), made(words(own.get("output", "")))) for own in fields]


def made(outputs: set[str]) -> set[str]:
    """Return outputs with the runs of tables, of which Snakemake knows the list alone."""
    folders = [name.removesuffix("runs.csv") for name in outputs if name.endswith("/runs.csv")]
    runs = product(folders, ("lr_k1", "km_lr_k2"), (".json", ".scores.parquet"))
    return outputs | set(map("".join, runs))


def words(text: str) -> set[str]:
    return set(text.split(", ")) - {""}


def tainted(jobs: list[tuple[set[str], set[str]]], start: set[str]) -> set[str]:
    """Return all files that are made from some, directly or not."""
    found, before = set(start), -1
    while before != len(found):
        before = len(found)
        for inputs, outputs in jobs:
            found |= outputs if inputs & found else set()
    return found


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project where everything is there: made up, with the mark in what patients' rows made."""
    folder = checkout(tmp_path_factory.mktemp("leaks") / "p")
    add_patients(folder)
    config(folder)
    jobs = listed(hostile(folder, "-n", "-p", "--forceall", "everything", "splits"))
    rows = {f"data/features/{name}.parquet" for name in OWN}
    closed = tainted(jobs, {*rows, str(folder / "data/raw/demo_open")})
    files = set().union(*(outputs for _, outputs in jobs))
    for file in sorted(files - rows):
        path = folder / file
        if not path.is_dir() and not file.startswith("results/report"):
            path.parent.mkdir(parents=True, exist_ok=True)
            held = f"{MARK if file in closed else 'open'} {file}"
            if file.startswith("results/") and file.endswith(".json"):
                write_json(path, {"held": held})  # a record that is not whole is refused
            else:
                path.write_text(f"{held}\n")
    align_times(path for path in folder.rglob("*") if path.is_file())
    return folder, closed


def test_nothing_that_is_made_from_patients_rows_is_pushed(project, tmp_path):
    folder, closed = project
    connect(folder, str(tmp_path / "store"))
    hostile(folder, "--rerun-triggers", "mtime", "--", "share")
    held = [path.read_text() for path in (tmp_path / "store").rglob("*") if path.is_file()]
    pushed = {re.search(rf'(?:{MARK}|open) ([^\s"]+)', text)[1] for text in held}
    assert [text for text in held if MARK in text] == []
    assert {"results/judge/verdicts.csv"} <= closed
    assert {"results/judge/wdbc/cac_lr.parquet"} <= pushed
    assert {"data/features/demo_ards.parquet", "results/judge/planted/lr_0.json"} <= pushed
    assert {"results/demo_ards/lr_k1.json", "results/wdbc/km_lr_k2.scores.parquet"} <= pushed
    pointers = "".join(path.read_text() for path in folder.rglob("*.dvc") if path.is_file())
    assert not any(f"path: {name}" in pointers for name in OWN)


@pytest.mark.long
@pytest.mark.parametrize("target", ["all", "share", f"results/judge/{OWN[0]}/lr.json"])
def test_a_bucket_gets_nothing_of_them(project, target):
    folder, _ = project
    storage = ["--default-storage-provider", "s3", "--default-storage-prefix", "s3://b/x"]
    keys = {f"SNAKEMAKE_STORAGE_S3_{name}_KEY": "test" for name in ("ACCESS", "SECRET")}
    os.environ.update(keys)
    said = hostile(folder, "-n", *storage, "--", target, code=1)
    assert "mimic3 is restricted" in said
    content = yaml.safe_load((folder / "hostile.yaml").read_text())
    other = folder / "other.yaml"
    other.write_text(json.dumps(content | {"restricted": {}}))
    said = hostile(folder, "-n", *storage, "--configfile", "other.yaml", "--", target, code=1)
    assert re.search(r"unknown data set '(ards|opencic|wdbc_of_ours|titanic_demo)'", said)


@pytest.mark.long
def test_the_report_shows_no_single_value_of_them(tmp_path):
    folder = checkout(tmp_path)
    add_patients(folder)
    content = yaml.safe_load((folder / "config" / "demo.yaml").read_text()) | {
        "datasets": [OWN[0]],
        "seeds": [0],
        "runs": [
            {
                "part": "cac",
                "protocols": ["sound"],
                "datasets": [OWN[0]],
                "methods": ["lr", "cac_lr"],
                "k": [2],
            }
        ],
        "judge": {
            "matches": [{"datasets": [OWN[0]], "contenders": ["lr", "cac_lr"]}],
            **{"resamples": 3, "resamples_small": 3, "trials": 2},
        },
        "sweeps": [f"alpha_{OWN[0]}_k2"],
        **{name: [] for name in ("skmeans", "case_studies", "theory", "decomposition")},
    }
    (folder / "hostile.yaml").write_text(yaml.safe_dump(content))
    hostile(folder, "--", "all")
    pages = [path for path in (folder / "results" / "report").rglob("*") if path.is_file()]
    texts = {path.name: path.read_text(errors="replace") for path in pages}
    assert OWN[0] in "".join(texts.values())
    shown = re.compile(r"7[,\u202f ]?654[,\u202f ]?321|7\.65(43213?)?e\+?0?6")
    assert [name for name, text in texts.items() if shown.search(text)] == []
