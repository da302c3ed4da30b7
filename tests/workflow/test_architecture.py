"""The picture of the layers is the import contract's; what a module may hold is bounded."""

import ast
import re
import tomllib
from pathlib import Path

from deepcac_study.catalogue.methods import methods
from deepcac_study.catalogue.registry import load_registry

ROOT = Path(__file__).parents[2]
START = "<!-- layers: made from pyproject.toml by tests/workflow/test_architecture.py -->\n"
END = "<!-- end of layers -->"
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def layers() -> list[str]:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    return contract["contracts"][0]["layers"]


def picture() -> str:
    lines = ["```mermaid", "flowchart TD"]
    lines += [f'    l{i}["{re.sub(" [|:] ", ", ", layer)}"]' for i, layer in enumerate(layers())]
    lines.append("    " + " --> ".join(f"l{i}" for i in range(len(layers()))))
    return "\n".join([*lines, "```\n"])


def test_the_page_shows_the_layers_of_the_contract():
    page = (ROOT / "docs" / "architecture.md").read_text()
    shown = page.split(START)[1].split(END)[0]
    assert shown == picture(), "put this between the marks of docs/architecture.md:\n" + picture()


def test_every_part_of_the_package_is_in_a_layer():
    named = {name for layer in layers() for name in re.split(r" [|:] ", layer)}
    parts = {
        path.stem if path.is_file() else path.name for path in (ROOT / "src/deepcac").iterdir()
    }
    assert parts - named == {"__init__", "__pycache__", "py"} & parts


def test_no_two_modules_have_one_name():
    names = [path.name for path in SOURCES if path.name != "__init__.py"]
    shared = {name for name in names if names.count(name) > 1}
    assert shared <= {"claims.py"}  # the rules of each paper, in its folder


def test_modules_and_functions_are_short():
    long_modules = {p.name for p in SOURCES if len(p.read_text().splitlines()) > 300}
    assert long_modules == set()
    long_functions = {
        f"{path.name}: {node.name}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and _statements(node) > 40
    }
    assert long_functions <= ALLOWED


# Compiled loops: a call inside them that is not inlined would cost more than it explains.
ALLOWED = {"kernel.py: _sweep", "drift.py: _terms", "weights.py: renew"}


# The same word for something else: the package, a learning rate, the paper, a diagnosis group, a source's columns.
OTHER_MEANING = {
    ("deepcac", name)
    for name in (
        "finished",
        "record",
        "ranges",
        "persistence",
        "download",
        "figures",
        "sourcecode",
        "crate",
    )
} | {
    ("deepcac", "casetables"),
    ("deepcac", "command"),
    ("deepcac", "commands"),
    ("deepcac", "comparisons"),
    ("diabetes", "diabetes"),
    ("uci_diabetes", "uci_diabetes"),
    ("lr", "constraints"),
    ("lr", "subtype_classifier"),
    ("svm", "repeated_runs"),
    ("svm", "finished_decompositions"),
    ("nb", "repeated_runs"),
    ("nb", "finished_decompositions"),
    ("ec3", "ec3"),
    ("deepcac", "firstpage"),
    ("wdbc", "flat_tables"),
}


def test_ids_of_methods_and_data_sets_stand_in_the_catalogue_alone():
    registry = load_registry(ROOT / "config" / "registry")
    ids = {*methods(), *registry.datasets}
    found = {
        (node.value, path.stem)
        for path in SOURCES
        if not {"catalogue", "papers", "published"} & set(path.parts)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value in ids
    }
    assert found - OTHER_MEANING == set()


def _statements(node: ast.FunctionDef) -> int:
    """Count a function's lines without its docstring."""
    first = node.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    docstring = first.end_lineno - first.lineno + 1 if documented else 0
    return node.end_lineno - node.lineno + 1 - docstring
