import re
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[3]


LOCKS = sorted((ROOT / "locks").glob("*.txt"))


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines)


def name_of(entry: str) -> str:
    return re.match(r"[A-Za-z0-9_-]+", entry)[0].lower()


def test_locks_and_constraints_have_the_same_pins():
    lines = [line for path in LOCKS for line in path.read_text().splitlines()]
    locked = [line.split()[0].split("==") for line in lines if "==" in line]
    assert {name: version.removesuffix("+cpu") for name, version in locked} == pins()


def test_every_locked_file_has_hashes_and_no_address():
    for path in LOCKS:
        text = path.read_text()
        entries = re.split(r"\n(?=\S)", text.strip())
        whole = re.compile(r"[a-z][a-z0-9-]*==[\w.+]+( *\\?\n? *--hash=sha256:[0-9a-f]{64})+")
        assert [entry for entry in entries if not whole.fullmatch(entry)] == []


def test_conda_environments_carry_the_versions_of_constraints():
    files = sorted((ROOT / "envs").glob("*.yaml"))
    assert files
    for path in files:
        dependencies = yaml.safe_load(path.read_text())["dependencies"]
        (pip,) = (entry["pip"] for entry in dependencies if isinstance(entry, dict))
        pinned = [entry for entry in pip if "==" in entry]
        assert pinned
        for entry in pinned:
            name, version = name_of(entry), entry.split("==")[1]
            assert pins()[name.replace("_", "-")] == version, f"{path.name}: {name}"


def test_the_conda_environment_has_what_jobs_import_and_the_workflow_itself():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = declared["optional-dependencies"]
    (jobs,) = (entry for entry in extras["workflow"] if entry.startswith("deepcac["))
    # People's own tables are judged by the command, in no job.
    parts = set(re.findall(r"\w+", jobs)) - {"deepcac", "tables"}
    asked = [*declared["dependencies"], *(entry for part in parts for entry in extras[part])]
    names = {name_of(entry) for entry in (*asked, *extras["workflow"])} - {"deepcac"}
    assert {"snakemake", "snakemake-executor-plugin-slurm", "dvc"} <= names
    text = (ROOT / "envs" / "deepcac.yaml").read_text()
    (pip,) = (e["pip"] for e in yaml.safe_load(text)["dependencies"] if isinstance(e, dict))
    assert names - set(map(name_of, pip)) == set()
    # It is built without isolation, which a list for pip cannot say.
    version = pins()["iisignature"]
    assert f"pip install --no-build-isolation iisignature=={version}" in text


def test_every_declared_dependency_is_pinned():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project, groups = declared["project"], declared["dependency-groups"]
    lists = [project["dependencies"], *project["optional-dependencies"].values(), *groups.values()]
    asked = [entry for entries in lists for entry in entries if isinstance(entry, str)]
    names = {name_of(entry) for entry in asked} - {"deepcac"}
    assert len(names) > 40
    assert names - pins().keys() == set()


def test_torch_is_imported_by_nothing_that_does_not_train():
    imports = "sys, deepcac, deepcac.cac, deepcac_study.experiments.run, deepcac_study.jobs.layout"
    code = f"import {imports}; deepcac.CACClassifier; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_scripts_are_short_and_modules_have_a_job():
    scripts = list((ROOT / "workflow" / "scripts").glob("*.py"))
    assert scripts
    assert [s.name for s in scripts if len(s.read_text().splitlines()) > 60] == []
    names = {path.name for path in (ROOT / "src").rglob("*.py")}
    assert not names & {"utils.py", "helpers.py", "misc.py", "common.py"}
