"""A described run is read back: what the crate says must be what lies in the folder."""

import hashlib
import json
import runpy
import subprocess
from pathlib import Path

import pytest

rocrate = pytest.importorskip("rocrate.rocrate")

from deepcac.errors import DataError  # noqa: E402
from deepcac_study.jobs.crate import Finished, describe, read_summary, versions  # noqa: E402

ROOT = Path(__file__).parents[3]
KINDS = ("process", "workflow", "provenance")
HEAD = "output_file\tdate\trule\tlog-file(s)\tinput-file(s)\tshellcmd\tstatus\tplan"
ROWS = [
    "data/x.parquet\tSun Nov 22 04:00:00 2026\tsplit\tlogs/s.log\tdata/f.parquet\t-\tok\tno update",
    "results/r.json\tSun Nov 22 04:00:05 2026\trun\tlogs/r2.log\tdata/x.parquet,/far/raw.csv\t-\tok\tno update",
    "results/r.scores\tSun Nov 22 04:00:06 2026\trun\tlogs/r2.log\tdata/x.parquet,/far/raw.csv\t-\tok\tno update",
    "results/q.json\tSun Nov 22 04:00:04 2026\trun\tlogs/r3.log\tdata/x.parquet\t-\tok\tno update",
]


def summary(*rows: str) -> str:
    return "\n".join(["Building DAG of jobs...", HEAD, *rows])


@pytest.fixture
def project(tmp_path):
    for name in (
        "workflow/Snakefile",
        "config/c.yaml",
        "data/f.parquet",
        "data/x.parquet",
        "results/r.json",
        "results/r.scores",
        "results/q.json",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"bytes of {name}")
    describe(tmp_path, read_summary(summary(*ROWS)), ["config/c.yaml"])
    return tmp_path


def test_what_has_not_run_is_named_with_its_target():
    pending = summary(ROWS[0].replace("no update", "update pending"))
    with pytest.raises(DataError, match=r"cac, deep"):
        read_summary(pending, ["cac", "deep"])


def test_a_call_that_snakemake_refuses_ends_without_a_traceback(monkeypatch, capsys):
    crate = runpy.run_path(str(ROOT / "workflow/scripts/crate.py"))
    refused = subprocess.CompletedProcess([], 1, "", "")
    monkeypatch.setattr(subprocess, "run", lambda *words, **more: refused)
    monkeypatch.setattr("sys.argv", ["crate.py", "--configfile", "confg.yaml"])
    assert crate["main"]() == 1
    assert capsys.readouterr().out == ""


def test_rows_of_one_log_are_one_job():
    jobs = read_summary(summary(*ROWS))
    assert [(job.rule, job.outputs) for job in jobs] == [
        ("split", ("data/x.parquet",)),
        ("run", ("results/r.json", "results/r.scores")),
        ("run", ("results/q.json",)),
    ]
    assert jobs[1].inputs == ("data/x.parquet", "/far/raw.csv")
    assert jobs[1].ended.startswith("2026-11-22T04:00:06")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "no summary"),
        (summary(ROWS[0].replace("\tok\t", "\tmissing\t")), "data/x.parquet: missing"),
        (summary(ROWS[0].replace("no update", "update pending")), "x.parquet: update pending"),
    ],
)
def test_an_unfinished_run_is_not_described(text, named):
    with pytest.raises(DataError, match=named):
        read_summary(text)


def test_the_crate_says_what_lies_there(project):
    crate = rocrate.ROCrate(project)
    assert crate.mainEntity.id == "workflow/Snakefile"
    assert crate.mainEntity["programmingLanguage"].id.endswith("#snakemake")
    for name in ("config/c.yaml", "data/f.parquet", "results/r.json"):
        entity = crate.get(name)
        assert entity["sha256"] == hashlib.sha256(f"bytes of {name}".encode()).hexdigest()
        assert entity["contentSize"] == str(len(f"bytes of {name}"))
    run = crate.get("#run")
    read = {entity.id for entity in run["object"]}
    assert read == {"config/c.yaml", "data/f.parquet", "#outside-raw.csv"}
    made = {entity.id for entity in run["result"]}
    assert made == {"data/x.parquet", "results/r.json", "results/r.scores", "results/q.json"}
    assert run["endTime"].startswith("2026-11-22T04:00:06")


def test_every_job_hangs_on_a_step_and_the_engine_has_versions(project):
    crate = rocrate.ROCrate(project)
    (whole,) = crate.get_by_type("OrganizeAction")
    controls = [entity for entity in whole["object"] if entity.type == "ControlAction"]
    assert len(controls) == len(whole["object"]) == 3
    assert {c["instrument"]["workExample"].id for c in controls} == {"#tool-run", "#tool-split"}
    assert all(c["object"]["instrument"] is c["instrument"]["workExample"] for c in controls)
    required = {
        e["name"]: e["softwareVersion"] for e in whole["instrument"]["softwareRequirements"]
    }
    assert required == {n: v for n, v in versions().items() if n != "snakemake"}
    assert {"deepcac", "numpy", "scikit-learn"} <= required.keys()
    software = [*crate.get_by_type("SoftwareApplication"), *crate.get_by_type("ComputerLanguage")]
    assert all(entity["version"] and entity["url"] for entity in software)
    assert crate.get("#tool-run")["url"] == "workflow/Snakefile"
    assert crate.get("#software-numpy")["url"].startswith("https://")


def test_the_runs_that_a_list_names_are_of_its_job(project):
    (project / "results/runs.csv").write_text("run,digest\nlr_k1,a\n")
    for name in ("results/lr_k1.json", "results/lr_k1.scores.parquet"):
        (project / name).write_text(name)
    job = Finished("table_runs", ("data/x.parquet",), ("results/runs.csv",), "2026-11-22")
    describe(project, [job], ["config/c.yaml"])
    made = {entity.id for entity in rocrate.ROCrate(project).get("#job-0")["result"]}
    assert made == {"results/runs.csv", "results/lr_k1.json", "results/lr_k1.scores.parquet"}


def test_no_folder_outside_the_project_is_told(project):
    text = (project / "ro-crate-metadata.json").read_text()
    assert "/far" not in text
    assert str(project) not in text


def test_the_crate_names_its_profiles_and_has_what_every_crate_must_have(project):
    content = json.loads((project / "ro-crate-metadata.json").read_text())
    assert content["@context"][0] == "https://w3id.org/ro/crate/1.3/context"
    entities = {entity["@id"]: entity for entity in content["@graph"]}
    assert len(entities) == len(content["@graph"])
    descriptor, root = entities["ro-crate-metadata.json"], entities["./"]
    assert descriptor["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.3"}
    wanted = {f"https://w3id.org/ro/wfrun/{kind}/0.6" for kind in KINDS}
    profiles = {one["@id"] for one in root["conformsTo"]}
    assert profiles == wanted | {"https://w3id.org/workflowhub/workflow-ro-crate/1.1"}
    assert {entities[profile]["version"] for profile in wanted} == {"0.6"}
    assert all("Profile" in entities[profile]["@type"] for profile in profiles)
    assert {"name", "description", "datePublished", "license", "mainEntity"} <= root.keys()
    assert {"ComputationalWorkflow", "HowTo"} < {*entities[root["mainEntity"]["@id"]]["@type"]}


def test_a_missing_library_is_one_line(tmp_path, monkeypatch):
    import sys

    from deepcac.errors import ConfigError

    monkeypatch.setitem(sys.modules, "rocrate.rocrate", None)
    with pytest.raises(ConfigError, match=r"deepcac\[crate\]"):
        describe(tmp_path, [Finished("r", (), ("x",), "2026-11-22")], [])
