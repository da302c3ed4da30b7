"""The jobs of a log and their longest chain, from a log written by hand."""

import importlib.util
from pathlib import Path

import pandas as pd
import pytest
import yaml

from deepcac_study.catalogue.registry import load_registry
from deepcac_study.jobs.layout import Layout

ROOT = Path(__file__).parents[3]
# Raw to features takes 2 + 3 s, then one run of 10 s and one of 4 s; a second chain takes 10 s.
JOBS = (
    ("fetch", 1, "", "raw", 0, 2),
    ("features", 2, "raw", "features", 2, 5),
    ("run", 3, "features, elsewhere", "slow.json", 5, 15),
    ("other", 4, "", "other.json", 0, 10),
    ("run", 5, "features", "fast.json, fast.parquet", 9, 13),
    ("report", 6, "slow.json, fast.json, other.json", "index.html", 15, 16),
)


@pytest.fixture(scope="module")
def whole_run():
    path = ROOT / "benchmarks" / "whole_run.py"
    spec = importlib.util.spec_from_file_location("whole_run", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def log():
    events = []
    for rule, number, inputs, outputs, starts, ends in JOBS:
        asked = [f"    input: {inputs}"] * bool(inputs) + [f"    output: {outputs}"]
        events.append((starts, 1, [f"rule {rule}:", *asked, f"    jobid: {number}", "    x: 1"]))
        events.append((ends, 0, [f"Finished jobid: {number} (Rule: {rule})"]))
    lines = ["Building DAG of jobs...", "job stats"]
    for second, _, told in sorted(events, key=lambda one: one[:2]):
        lines += [f"[Tue Nov 24 12:59:{40 + second:02d} 2026]", *told, "a line of a job: 3"]
    return lines


def test_the_longest_chain_goes_through_what_a_job_waits_for(whole_run):
    jobs = whole_run.read_log(log())
    assert sorted(job.seconds for job in jobs) == [1, 2, 3, 4, 10, 10]
    chain = whole_run.longest_chain(jobs)
    assert [job.outputs[0] for job in chain] == ["raw", "features", "slow.json", "index.html"]
    assert sum(int(row[-1]) for row in whole_run.rows(jobs)) == 4


def test_a_job_that_did_not_finish_is_left_out(whole_run):
    lines = [line for line in log() if "jobid: 3 (" not in line]
    jobs = whole_run.read_log(lines)
    assert len(jobs) == 5
    assert [job.rule for job in whole_run.longest_chain(jobs)] == ["other", "report"]


def test_the_sentences_stand_between_the_marks(whole_run):
    said = whole_run.told(whole_run.read_log(log()))
    assert said.startswith("6 jobs in 0 minutes.")
    assert "fetch 0.0, features 0.1, run 0.2, report 0.0." in said


def test_the_page_has_what_its_table_says(whole_run):
    page = (ROOT / "docs" / "workflow.md").read_text(encoding="utf-8")
    said = page.split(whole_run.START)[1].split(whole_run.END)[0]
    table = (ROOT / "docs" / "results" / "whole_run.csv").read_text(encoding="utf-8")
    assert said.startswith(f"{len(table.splitlines()) - 1} jobs in ")


def test_the_run_made_nothing_that_decides_no_claim():
    """Only `everything` makes these runs and sweeps."""
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    layout = Layout(load_registry(ROOT / "config" / "registry"), config)
    made = set(pd.read_csv(ROOT / "docs" / "results" / "whole_run.csv")["makes"])
    beside = {*layout.runs_beside()} - {*layout.all_runs()}
    beside |= {f"results/sweeps/{name}.parquet" for name in config["sweeps_beside"]}
    assert len(made) > 400
    assert len(beside) > len(config["sweeps_beside"])
    assert not made & beside
