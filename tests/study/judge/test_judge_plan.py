"""The plan is older than what it plans: its commit, and its date, against the shipped records."""

import json
import re
import subprocess
from datetime import datetime
from pathlib import Path

import pytest

from deepcac_study.judge.tables.made_with import BEGUN
from deepcac_study.records.record_archive import read

ROOT = Path(__file__).parents[3]
PLAN = "docs/archive/judge-plan.md"
FORMER = "docs/judge-plan.md"  # where it was when the runs were made
PLANNED = ("judge/tables/",)


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def planned():
    """The machine blocks of the records that the plan announces."""
    found = read(ROOT / "docs/results/records")
    return {
        path: json.loads(data)["machine"]
        for path, data in found.items()
        if path.startswith(PLANNED)
    }


@pytest.mark.long
def test_every_planned_record_says_when_it_was_begun_after_the_day_of_the_plan(planned):
    text = (ROOT / PLAN).read_text(encoding="utf-8")
    day = re.search(r"fixed on (\d{4}-\d\d-\d\d)", text)
    assert day
    assert planned
    for path, made in planned.items():
        assert datetime.fromisoformat(made[BEGUN]).date().isoformat() >= day[1], path


def first_plan(text):
    """Return the plan of these records, without where its links lead.

    Later plans follow under dated headings of their own; pages that it links to have moved.
    """
    return re.sub(r"\]\([^)]*\)", "]", text.partition("\n## Plan of ")[0].strip())


@pytest.mark.long
def test_the_code_of_every_record_held_the_plan_as_it_is_now(planned):
    """The commit of a record is older than the record, so the plan in it is, too."""
    now = first_plan((ROOT / PLAN).read_text(encoding="utf-8"))
    for commit in {made["git_commit"] for made in planned.values()}:
        if git("cat-file", "-e", commit).returncode:
            pytest.skip(f"a history without {commit[:7]}")
        assert first_plan(git("show", f"{commit}:{FORMER}").stdout) == now


@pytest.mark.long
def test_a_commit_with_the_plan_is_older_than_every_record(planned):
    for path, made in planned.items():
        stamp = git("show", "-s", "--format=%cI", made["git_commit"])
        if stamp.returncode:
            pytest.skip("no history")
        committed = datetime.fromisoformat(stamp.stdout.strip())
        assert committed < datetime.fromisoformat(made[BEGUN]), path
