"""Docs name modules and files that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PACKAGES = ("deepcac", "deepcac_study")
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]
FILE, DOTTED = re.compile(r"`([\w/]+/\w+\.py)`"), re.compile(r"`([a-z_]+(?:\.[a-zA-Z_]+)*)`")


def is_there(name):
    """Say whether a dotted name is a module of a package, or what one defines."""
    parts = name.split(".")
    for package in PACKAGES:
        whole = ROOT / "src" / package / "/".join(parts)
        if whole.with_suffix(".py").exists() or (whole / "__init__.py").exists():
            return True
        module = whole.parent.with_suffix(".py")
        defined = rf"^(def|class) {parts[-1]}\b|^{parts[-1]}\b"
        if module.exists() and re.search(defined, module.read_text(encoding="utf-8"), re.MULTILINE):
            return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page):
    bases = [ROOT, ROOT / "src", ROOT / "workflow", *(ROOT / "src" / name for name in PACKAGES)]
    named = FILE.findall(page.read_text(encoding="utf-8"))
    assert [n for n in named if not any((base / n).exists() for base in bases)] == []


def test_modules_that_the_page_on_reliability_names_exist():
    text = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    table = text.partition("## What holds the promise")[2].partition("\n## ")[0]
    last = [line.split("|")[3] for line in table.splitlines() if line.count("|") == 4]
    named = [name for cell in last for name in DOTTED.findall(cell) if not name.endswith(".csv")]
    assert len(named) > 20
    assert [name for name in named if not is_there(name)] == []


def test_every_experiment_with_networks_is_in_the_gpu_profile():
    rules = (ROOT / "workflow" / "rules" / "experiments.smk").read_text(encoding="utf-8")
    calls = re.findall(
        r"rule (?:\w+ as )?(\w+)(?: with)?:(?:(?!^\w).)*?call=\"([\w.]+)\"", rules, re.S | re.M
    )
    trained = {name for name, call in calls if ".networks." in call}
    (profile,) = (ROOT / "workflow" / "profiles" / "gpu").iterdir()
    asked = set(re.findall(r"^  (\w+):\n    gpu: 1", profile.read_text(), re.MULTILINE))
    assert len(trained) >= 2
    assert trained <= asked
