import re
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[3]


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = (line.split("==") for line in lines if "==" in line)
    return {name.lower().replace("_", "-"): version for name, version in pairs}


def test_conda_environments_carry_the_versions_of_constraints():
    files = sorted((ROOT / "envs").glob("*.yaml"))
    assert files
    for path in files:
        dependencies = yaml.safe_load(path.read_text())["dependencies"]
        (pip,) = (entry["pip"] for entry in dependencies if isinstance(entry, dict))
        pinned = [entry for entry in pip if "==" in entry]
        assert pinned
        for entry in pinned:
            name, version = entry.split("==")
            assert pins()[name.lower().replace("_", "-")] == version, f"{path.name}: {name}"


def test_every_declared_dependency_is_pinned():
    text = (ROOT / "pyproject.toml").read_text()
    block = text[text.index("dependencies = [") : text.index("[tool.")]
    names = re.findall(r'^\s*"([A-Za-z0-9-]+)', block, flags=re.M)
    names = [name for name in names if name != "deepcac"]
    assert len(names) > 15
    assert [n for n in names if n.lower().replace("_", "-") not in pins()] == []


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
