"""The picture of the layers is the import contract's; what a module may hold is bounded."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from architecture_maps import layers, with_maps

import deepcac
from deepcac_study.catalogue.methods import methods
from deepcac_study.catalogue.registry import load_registry

ROOT = Path(__file__).parents[3]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


PACKAGES = ("deepcac", "deepcac_study")


def test_the_page_shows_the_maps_of_today():
    page = (ROOT / "docs" / "contributing.md").read_text()
    assert page == with_maps(page), "python docs/architecture_maps.py docs/contributing.md"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_room_is_in_one_of_at_most_eight_layers(package):
    named = {room for layer in layers(package) for room in layer}
    parts = {p.stem if p.is_file() else p.name for p in (ROOT / "src" / package).iterdir()}
    assert parts - named == {"__init__", "__pycache__", "py"} & parts
    assert len(layers(package)) <= 8


def test_no_folder_holds_more_than_two_dozen_modules():
    count = Counter(path.parent for path in SOURCES if path.name != "__init__.py")
    assert {str(folder): n for folder, n in count.items() if n > 24} == {}


def test_no_two_modules_have_one_name():
    names = [path.name for path in SOURCES if path.name != "__init__.py"]
    shared = {name for name in names if names.count(name) > 1}
    assert shared <= {"checks.py"}  # what the claims of each paper ask, in its folder


@pytest.mark.parametrize("package", PACKAGES)
def test_no_two_classes_of_a_house_have_one_name(package):
    names = Counter(
        node.name
        for path in SOURCES
        if path.relative_to(ROOT / "src").parts[0] == package
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef)
    )
    assert {name for name, n in names.items() if n > 1} == set()


ALIAS = re.compile(r"^\w+ = npt\.NDArray\[np\.(float64|int64|bool_)\]$", re.M)


def test_arrays_of_floats_integers_and_flags_are_named_in_one_module():
    assert {path.name for path in SOURCES if ALIAS.search(path.read_text())} == {"types.py"}


PRIVATE = re.compile(
    r"^\s*(from sklearn\S*\._|import sklearn\S*\._|from sklearn.* import .*\b_\w)", re.M
)


def test_private_names_of_scikit_learn_are_imported_in_one_module():
    users = {path.name for path in SOURCES if PRIVATE.search(path.read_text())}
    assert users == {"sklearn_compat.py"}


def test_modules_and_functions_are_short():
    long_modules = {p.name for p in SOURCES if len(p.read_text().splitlines()) > 500}
    assert long_modules == set()
    long_functions = {
        f"{path.name}: {node.name}"
        for path in SOURCES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef) and _statements(node) > 50
    }
    assert long_functions <= ALLOWED


# A compiled loop: a call inside it that is not inlined would cost more than it explains.
ALLOWED = {"kernel.py: _sweep"}


# A command has a parameter for each of its options, a public estimator for each setting.
COMMANDS = {f"commands.py: {name}" for name in ("compare", "fit", "validate")}
MOST_PARAMETERS = 8


def test_functions_have_few_parameters():
    many = {
        name
        for path in SOURCES
        for scope in ast.walk(tree(path))
        for node in ast.iter_child_nodes(scope)
        if isinstance(node, ast.FunctionDef) and _parameters(node) > MOST_PARAMETERS
        for name in [f"{path.name}: {node.name}"]
        if not (isinstance(scope, ast.ClassDef) and scope.name in deepcac.__all__)
    }
    assert many == COMMANDS | ALLOWED


def _parameters(function: ast.FunctionDef) -> int:
    """Count the parameters of a function, or of a method beside its object."""
    names = [node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)]
    return len([name for name in names if name not in ("self", "cls")])


# The same word for something else: the package, a learning rate, the paper, a diagnosis group, a source's columns,
# a learner of the judge.
OTHER_MEANING = {
    ("deepcac", name)
    for name in (
        "runs",
        "record",
        "ranges",
        "persistence",
        "download",
        "figures",
        "sourcecode",
        "crate",
        "described_rows",
        "labelled_table",
    )
} | {
    ("deepcac", "casetables"),
    ("deepcac", "command"),
    ("deepcac", "commands"),
    ("deepcac", "description"),
    ("deepcac", "comparisons"),
    ("diabetes", "diabetes"),
    ("uci_diabetes", "uci_diabetes"),
    ("lr", "base"),
    ("lr", "subtype_classifier"),
    ("svm", "repeated_runs"),
    ("svm", "decompositions"),
    ("nb", "repeated_runs"),
    ("nb", "decompositions"),
    ("ec3", "ec3"),
    ("deepcac", "firstpage"),
    ("wdbc", "flat_tables"),
    ("lr", "contenders"),
    ("lr", "answer"),
    ("lr", "clinical_forest"),
    ("lr", "by_size"),
    ("lr", "planted_sizes"),
    ("lr", "mixture_of_experts"),
    ("deepcac", "ledger_tables"),
}


def test_ids_of_methods_and_data_sets_stand_in_the_catalogue_alone():
    registry = load_registry(ROOT / "config" / "registry")
    ids = {*methods(), *registry.datasets}
    found = {
        (node.value, path.stem)
        for path in SOURCES
        if path.relative_to(ROOT / "src").parts[1] not in ("catalogue", "papers", "published")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant) and node.value in ids
    }
    assert found - OTHER_MEANING == set()


# Words that say nothing of what they name.
HOUSE_WORDS = {"each", "found", "kept", "known", "one", "own", "said", "told"}


@pytest.mark.parametrize("package", PACKAGES)
def test_functions_name_things_after_the_field(package):
    functions = [
        (path, node)
        for path in SOURCES
        if path.relative_to(ROOT / "src").parts[0] == package
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef)
    ]
    users = [f"{path.name}: {node.name}" for path, node in functions if _house_words(node)]
    assert len(users) / len(functions) < 0.02, users


def _house_words(function: ast.FunctionDef) -> set[str]:
    """Return the house words among a function's name, parameters, locals and attributes."""
    names = [
        *function.name.split("_"),
        *(argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)),
    ]
    waiting = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue  # counted by itself
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        elif isinstance(node, ast.Attribute):
            names.append(node.attr)
        elif isinstance(node, ast.arg | ast.keyword):
            names.append(node.arg or "")
        waiting += ast.iter_child_nodes(node)
    return {name.strip("_") for name in names} & HOUSE_WORDS


def _statements(node: ast.FunctionDef) -> int:
    """Count the lines of a function's body, without its signature and docstring."""
    first = node.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    body = node.body[1:] if documented else node.body
    return node.end_lineno - body[0].lineno + 1 if body else 0
