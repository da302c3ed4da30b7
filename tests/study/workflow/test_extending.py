"""docs/contributing.md is followed to the letter in a fresh checkout."""

import csv
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from checkouts import ROOT, checkout, environment

pytestmark = pytest.mark.slow


def blocks(page: Path) -> list[tuple[str, str]]:
    return re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(), flags=re.S | re.M)


def follow(folder: Path, language: str, text: str) -> None:
    named = re.match(r"# ([\w/.]+)\n", text)
    if named:
        path = folder / named[1]
        assert not path.exists(), f"{named[1]} is there already; the page must not change files"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    elif language == "sh":
        done = subprocess.run(
            ["bash", "-euc", text],
            cwd=folder,
            env=environment(folder),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_the_page_is_followed_in_a_fresh_checkout(tmp_path):
    folder = checkout(tmp_path)
    found = blocks(ROOT / "docs" / "contributing.md")
    assert [language for language, _ in found[:3]] == ["sh", "yaml", "sh"]
    reports = {}  # of each configuration: the next one replaces it
    for language, text in found:
        follow(folder, language, text)
        if named := re.search(r"--configfile config/(\w+)\.yaml", text):
            reports[named[1]] = tmp_path / "reports" / named[1]
            shutil.copytree(folder / "results" / "report", reports[named[1]])
    record = json.loads((folder / "results" / "wisconsin" / "cac_lr_k2.json").read_text())
    assert (record["n_rows"], record["n_features"]) == (569, 30)
    assert record["summary"]["auroc"]["mean"] > 0.97  # a model that learnt nothing has .5
    assert "Soft vote" in (reports["wisconsin"] / "tables" / "own_runs.md").read_text()
    own = json.loads((folder / "results" / "wisconsin" / "km_vote_k2.json").read_text())
    assert own["splits"][0]["hyperparameters"]["classifier"] == "vote"
    assert own["summary"]["auroc"]["mean"] > 0.97
    judged = read(folder / "results" / "judge" / "verdicts.csv")
    asked = {(row["question"], row["reference"]) for row in judged if row["contender"] == "ward_lr"}
    assert asked >= {("help", "lr"), ("any_partition", "cells_lr")}
    assert "LR in ward clusters" in (reports["ward"] / "pages" / "judge.html").read_text()
    answer = read(reports["rows"] / "tables" / "question_rows.csv")
    sizes = {int(row["rows"]): float(row["auroc"].split()[0]) for row in answer}
    assert list(sizes) == [50, 100, 200, 400]
    assert sizes[400] > 0.97
    page = (reports["rows"] / "pages" / "questions.html").read_text()
    assert "How many rows" in page


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
