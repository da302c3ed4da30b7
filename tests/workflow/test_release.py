"""What a release needs: one version, a valid citation, a container recipe with our versions."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]


def validate(path: Path) -> subprocess.CompletedProcess[str]:
    command = ["-m", "check_jsonschema", "--builtin-schema", "vendor.citation-file-format"]
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
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == version
    titles = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert titles[0] == "Unreleased"
    assert titles[1] == version


def test_the_container_has_the_versions_of_constraints():
    recipe = (ROOT / "Dockerfile").read_text()
    installs = re.findall(r"pip install (.*)", recipe)
    assert len(installs) == 3
    assert all("--constraint constraints.txt" in line and "==" not in line for line in installs)
    (base,) = re.findall(r"^FROM (\S+)$", recipe, re.MULTILINE)
    environment = yaml.safe_load((ROOT / "envs" / "deepcac.yaml").read_text())
    (python,) = (d for d in environment["dependencies"] if str(d).startswith("python="))
    assert base.startswith(f"python:{python.removeprefix('python=')}-")
    extras = set(re.search(r"\.\[([a-z,]+)\]", installs[0])[1].split(","))
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert extras <= known.keys()
    assert "workflow" in extras


def test_no_rows_enter_the_container():
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    kept_from_git = (ROOT / ".gitignore").read_text().splitlines()
    data = [
        line.strip("/")
        for line in kept_from_git
        if line.startswith(("/data/", "/results", "/logs"))
    ]
    assert len(data) == 8
    assert set(data) <= set(ignored)


def test_the_catalogue_finds_what_it_reads():
    code = [line for line in (ROOT / "Snakefile").read_text().splitlines() if line[:1] not in "#"]
    assert code == ['workflow.include("workflow/Snakefile", overwrite_default_target=True)']
    for name in ("workflow/Snakefile", "config/README.md", ".test/config/config.yaml"):
        assert (ROOT / name).is_file()
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert usage["software-stack-deployment"] == {"conda": True, "report": True}
