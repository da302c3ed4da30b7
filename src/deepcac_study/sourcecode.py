"""Digests of the project's code: to rerun stages, and to invalidate compiled functions.

Numba checks only the file of a compiled function, not those of the functions that it calls, and
Snakemake only a rule's script. Both miss an edit in an imported module.
"""

import ast
import atexit
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path

from deepcac.errors import ConfigError
from deepcac.files.atomic import atomic_path, check_writable

# The libraries that compute: another version of one may end in other digits.
LIBRARIES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "torch",
    "xgboost-cpu",
    "xgboost",
    "lightgbm",
    "catboost",
)
PACKAGES = ("deepcac", "deepcac_study")
_ROOT = Path(__file__).parents[1]
_CODE = (".py", ".pyc")
_COMPILES = re.compile(r"^\s*(import numba|from (numba|deepcac\.compilation))\b", re.MULTILINE)
_IMPORT = re.compile(
    r"^[ \t]*(?:from ([\w.]+) import (\([^)]*\)|[^\n(]+)|import ([\w., ]+))", re.MULTILINE
)
_DECORATOR = re.compile(r"^[ \t]*@(\w+)", re.MULTILINE)
_NAME = re.compile(r"[\w.]+")
_KNOWN, _KEPT = "code.json", 5000  # of some 400 modules
_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")


@cache
def code_digest(*names: str, without: str = "") -> str:
    """Return the SHA-256 over the code that some modules use, its tables and `versions`.

    `names` are modules or packages (``"deepcac.cac"``), taken with all that they import from both
    packages; an unknown one is a `ConfigError`. The catalogue's tables, and code that a table
    names, are left out: a rule gets digests of those that its job uses
    (`deepcac_study.jobs.named_code`). Also left out is the package `without`, which the job never
    runs, with modules that only it imports. Comments, docstrings, formatting and the version do not
    count.
    """
    start = [module for name in names for module in _below(name)]
    modules = _closure(start, without)
    bare = _bare_digests(modules)
    return _sha(f"{_libraries()}\n{_digest(modules, bare.__getitem__)}")


@cache
def _libraries() -> str:
    return "\n".join(f"{name} {number}" for name, number in versions(LIBRARIES).items())


def versions(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of those libraries that are installed."""
    installed = {}
    for name in names:
        with suppress(metadata.PackageNotFoundError):
            installed[name] = metadata.version(name)
    return installed


@cache
def _declared(text: str) -> str:
    """Return the content of a YAML text, in order and without comments."""
    import yaml  # jobs start without it

    return json.dumps(yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)), default=str)


def folder_digest(folder: Path, pattern: str = "*.yaml") -> str:
    """Return a digest of the files of a folder, so that a step runs again when one changes."""
    return _read_digest({path.name: path for path in sorted(folder.glob(pattern))})


def files_digest(names: Iterable[str]) -> str:
    """Return a digest of files that are not inputs, so that a step runs again when one changes."""
    return _read_digest({name: Path(name) for name in names})


def _read_digest(paths: Mapping[str, Path]) -> str:
    """Return 16 hex digits over names and contents of the files."""
    digest = hashlib.sha256()
    for name, path in paths.items():
        digest.update(f"{name}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def compiled_cache() -> Path | None:
    """Set and return numba's cache folder for the current state of all compiled functions.

    It is ``deepcac/numba/DIGEST`` in the user's cache folder, or below ``NUMBA_CACHE_DIR`` if that
    is set; a private temporary folder if neither can be written. Only this process's environment is
    changed, and only before numba is imported, which reads it once; after that None is returned.
    Importing the package never calls this: the folder would get other packages' functions too.
    """
    if "numba" in sys.modules:
        return None
    # Comments count: compiling again takes seconds, but every job would have to parse the code.
    digest = _digest(_closure(_compiled_modules()), _text)[:16]
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given and Path(given).name == digest:
        return Path(given)
    folder = Path(given) / digest if given else _user_cache() / "numba" / digest
    try:
        folder.mkdir(parents=True, exist_ok=True)
        check_writable(folder)
    except (OSError, ConfigError):
        folder = Path(tempfile.mkdtemp(prefix="deepcac-numba-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    return folder


def _user_cache() -> Path:
    named = os.environ.get("XDG_CACHE_HOME")
    return (Path(named) if named else Path(os.path.expanduser("~"), ".cache")) / "deepcac"


def _below(name: str) -> list[str]:
    """Return a module, or all modules of a package."""
    modules = [module for module in _modules() if module == name or module.startswith(f"{name}.")]
    if not modules:
        raise ConfigError(f"no module {name}; name one as in `import {name}`")
    return modules


def _digest(modules: Iterable[str], code: Callable[[str], str]) -> str:
    """Return SHA-256 of the modules' names and code, then of the tables they read."""
    digest = hashlib.sha256()
    for name in sorted(modules):
        digest.update(f"{name}\n{code(name)}\n".encode())
    for path in _tables_of(modules):
        digest.update(f"{path.relative_to(_ROOT).as_posix()}\n".encode())
        is_yaml = path.suffix == ".yaml"
        digest.update(_declared(path.read_text("utf-8")).encode() if is_yaml else path.read_bytes())
    return digest.hexdigest()


def _tables_of(modules: Iterable[str]) -> list[Path]:
    """Return the tables in the packages of modules, except the catalogue's.

    A new data set, method or label does not affect what a finished stage computed.
    """
    computing = [name for name in modules if not name.startswith("deepcac_study.catalogue")]
    return sorted({path for name in computing for path in _tables(_modules()[name].parent)})


@cache
def _modules() -> dict[str, Path]:
    """Return the file of every module of both packages, by its full name."""
    files = sorted(file for name in PACKAGES for file in (_ROOT / name).rglob("*.py"))
    parts = {path: path.relative_to(_ROOT).with_suffix("").parts for path in files}
    return {".".join(words).removesuffix(".__init__"): path for path, words in parts.items()}


@cache
def _text(name: str) -> str:
    return _modules()[name].read_text(encoding="utf-8")


def _bare_digests(names: Iterable[str]) -> dict[str, str]:
    """Return a digest of each module's code without comments and docstrings.

    Parsing takes most of a second, so the results are stored in the user's cache folder, by a
    digest of the text and of the Python that parsed it, so that no entry can be out of date.
    """
    texts = {name: _sha(f"{sys.version}\n{_text(name)}") for name in names}
    stored = _stored_code()
    bare = {
        text_digest: stored.get(text_digest) or _sha(_bare(_text(name)))
        for name, text_digest in texts.items()
    }
    if not bare.keys() <= stored.keys():
        stored |= bare
        with suppress(OSError), atomic_path(_user_cache() / _KNOWN) as partial:
            partial.write_text(json.dumps(dict(list(stored.items())[-_KEPT:])), encoding="utf-8")
    return {name: bare[text_digest] for name, text_digest in texts.items()}


@cache
def _stored_code() -> dict[str, str]:
    """Return the stored results; empty if the file is missing or damaged."""
    try:
        stored = json.loads((_user_cache() / _KNOWN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _bare(text: str) -> str:
    """Return code without comments, docstrings and the version number."""
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if not _is_version(node)]
    # Statements alone: a walk through every expression takes as long as the parser.
    nodes: list[ast.AST] = [tree]
    while nodes:
        node = nodes.pop()
        nodes += [inner for block in _BLOCKS for inner in getattr(node, block, ())]
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node, clean=False
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _is_version(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__version__"


@cache
def _tables(folder: Path) -> tuple[Path, ...]:
    """Return the files other than code in a folder and its subfolders that are not packages."""
    files: list[Path] = []
    for path in folder.iterdir():
        if path.is_dir() and path.name != "__pycache__" and not (path / "__init__.py").exists():
            files += _tables(path)
        elif path.is_file() and path.suffix not in _CODE:
            files.append(path)
    return tuple(files)


@cache
def _imported(name: str) -> list[tuple[str, str, str]]:
    """Return the imports of a module, also inside functions, as (module, name, alias).

    The module of plain imports is empty. A regular expression takes a tenth of a parser's time.
    """
    imports = []
    for module, several, plain in _IMPORT.findall(_text(name)):
        for clause in re.sub(r"#.*", "", several or plain).split(","):
            words = _NAME.findall(clause)  # one, or three with `as` between
            imports += [(module, words[0], words[-1])] if words else []
    return imports


@cache
def _imports(name: str) -> set[str]:
    """Return the modules of both packages that a module imports."""
    imports = _imported(name)
    inside = {f"{module}.{what}" for module, what, _ in imports}
    return (inside | {module or what for module, what, _ in imports}) & _modules().keys()


def _closure(names: Iterable[str], without: str = "") -> set[str]:
    """Return the modules and all they import, but not through modules of `without`."""
    modules: set[str] = set()
    left_out = set(_below(without)) if without else set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in modules:
            modules.add(name)
            waiting += _imports(name) - left_out
    return modules


def _compiled_modules() -> list[str]:
    """Return the modules with compiled functions, by numba or a decorator of such a module."""
    direct = {name for name in _modules() if _COMPILES.search(_text(name))}

    def decorates(name: str) -> bool:
        used = set(_DECORATOR.findall(_text(name))) if name not in direct else set()
        return bool(used) and any(
            alias in used for module, what, alias in _imported(name) if (module or what) in direct
        )

    return sorted(name for name in _modules() if name in direct or decorates(name))
