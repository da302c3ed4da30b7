"""docs/as-a-module.md is true: another workflow takes the rules and builds on their results."""

import json
import re
import subprocess
import sys

import pytest
from checkouts import ROOT, checkout, environment


def snakefile() -> str:
    page = (ROOT / "docs" / "as-a-module.md").read_text()
    (block,) = re.findall(r"^```python\n(.*?)^```$", page, flags=re.S | re.M)
    return block


def test_the_page_needs_ten_lines():
    assert len([line for line in snakefile().splitlines() if line.strip()]) == 9


@pytest.mark.slow
def test_another_workflow_uses_this_one(tmp_path):
    clone, outside = tmp_path / "DeepCAC-repro", tmp_path
    clone.mkdir()
    checkout(clone)
    (outside / "Snakefile").write_text(snakefile())
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "1"],
        cwd=outside,
        env=environment(clone),
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert re.search(r"^deepcac_run +1$", said, re.MULTILINE)
    record = json.loads((outside / "results/demo_diabetes/lr_k1.json").read_text())
    assert [split["seed"] for split in record["splits"]] == [0]  # of its own configuration
    shown = re.search(r'"mean": ([\d.]+)', (outside / "mine" / "auroc.txt").read_text())
    assert float(shown[1]) == record["summary"]["auroc"]["mean"]
    assert not (clone / "results").exists()


@pytest.mark.slow
def test_the_small_run_of_the_catalogue_is_planned_to_the_report(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--directory", ".test", "--dry-run"],
        cwd=checkout(tmp_path),
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    jobs = dict(re.findall(r"^(run|table_runs_1|report|all) +(\d+)$", said, re.MULTILINE))
    assert jobs == {"table_runs_1": "1", "report": "1", "all": "1"}
