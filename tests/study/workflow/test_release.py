"""What a release needs: one version, a valid citation, a container and hosted checks that are ours."""

import csv
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import deepcac
from deepcac_study.papers.bibliography import PAPERS

ROOT = Path(__file__).parents[3]


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

TEMPLATES = [
    path
    for path in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    if path.stem != "config"
]


def validate(path: Path, schema: str = "citation-file-format") -> subprocess.CompletedProcess[str]:
    command = ["-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    return subprocess.run(
        [sys.executable, *command, str(path)], capture_output=True, text=True, check=False
    )


def test_the_citation_is_valid_and_a_broken_one_is_not(tmp_path):
    assert validate(ROOT / "CITATION.cff").returncode == 0
    broken = tmp_path / "CITATION.cff"
    broken.write_text(
        (ROOT / "CITATION.cff").read_text().replace("authors:\n  - name", "autors:\n  - name")
    )
    assert validate(broken).returncode == 1


def test_one_version_everywhere():
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == deepcac.__version__
    assert json.loads((ROOT / "codemeta.json").read_text())["version"] == deepcac.__version__
    assert "version" in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dynamic"]
    titles = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert titles[0] == "Unreleased"
    assert titles[1] == deepcac.__version__


def test_an_archive_has_the_authors_and_the_title_of_the_citation():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    archive = json.loads((ROOT / ".zenodo.json").read_text())
    assert [creator["name"] for creator in archive["creators"]] == [
        author["name"] for author in citation["authors"]
    ]
    assert (archive["title"], archive["license"]) == (citation["title"], citation["license"])
    package = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert archive["keywords"] == citation["keywords"] == package["keywords"]


def test_the_citation_and_codemeta_name_the_five_papers():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    codemeta = json.loads((ROOT / "codemeta.json").read_text())
    titles = [paper.reference.title for paper in PAPERS.values()]
    assert [work["title"] for work in citation["references"]] == titles
    assert [work["name"] for work in codemeta["referencePublication"]] == titles


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_issue_templates_are_forms_that_ask_for_no_patient_data(path):
    form = yaml.safe_load(path.read_text())
    assert {"name", "description", "body"} <= form.keys()
    ids = [part["id"] for part in form["body"]]
    assert len(ids) == len(set(ids))
    if path.stem in ("bug", "table"):
        assert "patient" in path.read_text()


def test_the_container_has_the_environment_of_a_clone():
    recipe = (ROOT / "Dockerfile").read_text()
    assert "RUN make env" in recipe
    assert "pip install" not in recipe
    (base,) = re.findall(r"^FROM (\S+)$", recipe, re.MULTILINE)
    environment = yaml.safe_load((ROOT / "envs" / "deepcac.yaml").read_text())
    (python,) = (d for d in environment["dependencies"] if str(d).startswith("python="))
    assert base.startswith(f"python:{python.removeprefix('python=')}-")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_hosted_checks_call_ours_with_pinned_actions(path):
    assert validate(path, "github-workflows").returncode == 0
    text = path.read_text()
    assert "secrets." not in text
    used = re.findall(r"uses: (\S+)", text)
    assert [action for action in used if not re.fullmatch(r"\S+@[0-9a-f]{40}", action)] == []
    commands = re.findall(r"run: (\S+)", text)
    assert set(commands) - {"git"} <= {".ci/run", ".ci/release"}


def test_every_criterion_that_is_met_has_the_file_that_meets_it():
    with (ROOT / "docs/results/criteria.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["state"] for row in rows} == {"met", "not met", "a person"}
    places = [(row, Path(name)) for row in rows for name in row["where"].split()]
    met = [name for row, name in places if row["state"] == "met"]
    assert [str(name) for name in met if not (ROOT / name).exists()] == []
    assert [row for row in rows if (row["state"] == "a person") == bool(row["where"])] == []


def test_the_paper_says_what_the_tables_do_and_cites_what_it_lists():
    paper = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    tables = {}
    for name in ("headline", "summary"):
        with (ROOT / f"docs/results/{name}.csv").open(encoding="utf-8", newline="") as file:
            tables[name] = list(csv.DictReader(file))
    assert tables["headline"][0]["sentence"] in paper
    cells = {
        row["quantity"]: row["value"]
        for row in tables["summary"]
        if (row["part"], row["paper"], row["group"]) == ("cells", "all", "independent")
    }
    said = (
        f"Of {cells['open']} independent printed numbers that open data can check, {cells['agree']}"
    )
    assert said in " ".join(paper.split())
    listed = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text("utf-8"), re.M)
    assert sorted(set(re.findall(r"@(\w+)", paper))) == sorted(listed)
    authors = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["authors"]
    front = yaml.safe_load(paper.split("---")[1])
    assert [author["name"] for author in front["authors"]] == [a["name"] for a in authors]


def test_a_release_is_published_without_a_secret_after_its_build():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]
    assert jobs["publish"]["needs"] == ["build", "pages"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert [name for name in jobs if "permissions" in jobs[name]] == ["publish"]
    *_, last = jobs["publish"]["steps"]
    assert last["uses"].startswith("pypa/gh-action-pypi-publish@")
    assert last["with"] == {"attestations": True}


def test_hosted_checks_run_every_part_of_ours():
    (parts,) = re.findall(r"^parts=\((.*)\)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    hosted = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    matrix = hosted["jobs"]["check"]["strategy"]["matrix"]["part"]
    assert {*matrix} == {*parts.split(), "starts"}  # which takes longest, in a job of its own


SECRETS = (
    *("patients.csv", "risk.csv", "compare.html", ".env", "notes.txt", "ro-crate-metadata.json"),
    *(".dvc/config.local", ".dvc/cache/files/md5/ab/c", ".git/config", "config/patients.csv"),
    *("config/registry/private/mine.yaml", "config/rows.parquet", "data/features/mine.parquet"),
    *("data/raw/mimic3/ADMISSIONS.csv", "data/patients.csv", "results/cic/lr_k1.scores.parquet"),
    *("workflow/patients.csv", "src/rows.parquet", "src/model.deepcac", "logs/x.log"),
    *(
        "src/mine.xls",
        "config/mine.sav",
        "workflow/mine.dta",
        "src/mine.csv.gz",
        "config/model.json",
    ),
    *("src/model.card.md", "config/rows.feather", "workflow/export.zip", "src/model.skops"),
    *("data/splits/.x.parquet.1.partial", ".snakemake/log/x", "mine/patients.csv"),
)


def enters(path: str, lines: list[str]) -> bool:
    """Tell whether Docker takes a file: the last line that names it, or a folder of it, counts."""
    taken = True
    for line in lines:
        pattern = re.escape(line.lstrip("!").strip("/"))
        pattern = pattern.replace(r"\*\*/", "(.*/)?").replace(r"\*", "[^/]*")
        if re.fullmatch(f"{pattern}(/.*)?", path):
            taken = line.startswith("!")
    return taken


def test_only_what_git_tracks_enters_the_container():
    text = (ROOT / ".dockerignore").read_text().splitlines()
    lines = [line for line in text if line and not line.startswith("#")]
    assert [path for path in SECRETS if enters(path, lines)] == []
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    needed = (
        "src/",
        "workflow/",
        "config/",
        "envs/",
        "locks/",
        "pyproject.toml",
        "Makefile",
        "data/",
    )
    tracked = [path for path in listed.stdout.splitlines() if path.startswith(needed)]
    assert [path for path in tracked if not enters(path, lines)] == []
    assert lines[0] == "*"


def test_tables_of_ones_own_are_not_tracked():
    named = ["patients.csv", "risk.csv", "compare.html", "model.json", "model.deepcac", "x.xlsx"]
    asked = ["git", "check-ignore", *named, *SECRETS[:4]]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert set(named) <= set(done.stdout.splitlines())


def test_the_catalogue_finds_what_it_reads():
    code = [line for line in (ROOT / "Snakefile").read_text().splitlines() if line[:1] not in "#"]
    assert code == ['workflow.include("workflow/Snakefile", overwrite_default_target=True)']
    for name in ("workflow/Snakefile", "config/README.md", ".test/config/config.yaml"):
        assert (ROOT / name).is_file()
    schema = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())
    assert "datasets" in schema["properties"]
    assert "$ref" not in str(schema)
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert usage["software-stack-deployment"] == {
        "conda": False,
        "report": True,
    }  # no environment was solved
