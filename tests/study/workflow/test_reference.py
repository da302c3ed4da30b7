"""The reference and the command's page say what the code does."""

import importlib.util
import inspect
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from checkouts import PAGES

DOCS = Path(__file__).parents[3] / "docs"
griffe = pytest.importorskip("griffe")


def _script(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def package():
    """The library as the site reads it."""
    site = yaml.safe_load((DOCS.parent / "mkdocs.yml").read_text())
    plugin = next(one["mkdocstrings"] for one in site["plugins"] if "mkdocstrings" in one)
    options = plugin["handlers"]["python"]["options"]
    own = [str(DOCS.parent / name) if "/" in name else name for name in options["extensions"]]
    return griffe.load(
        "deepcac",
        search_paths=[str(DOCS.parent / "src")],
        docstring_parser=options["docstring_style"],
        extensions=griffe.load_extensions(*own),
    )


def _documented(package):
    """Yield every class and function of the reference, as documented and as it is."""
    for path in re.findall(r"^::: (\S+)$", (DOCS / "reference.md").read_text(), re.MULTILINE):
        told = package[path.removeprefix("deepcac.")]
        home = path if told.is_module else path.rpartition(".")[0]
        import_module(home)
        if told.is_module:
            public = [one for name, one in told.members.items() if not name.startswith("_")]
            pairs = [
                (one, getattr(sys.modules[home], one.name)) for one in public if not one.is_alias
            ]
        else:
            pairs = [(told, getattr(sys.modules[home], told.name))]
        for one, real in pairs:
            if one.is_class or one.is_function:
                yield one, real
            for name, method in one.members.items() if one.is_class else ():
                if method.is_function and not name.startswith("_"):
                    yield method, getattr(real, name)


def test_every_default_of_the_reference_is_that_of_the_signature(package):
    checked, wrong = 0, []
    for told, real in _documented(package):
        if told.docstring is None:
            continue
        for section in told.docstring.parsed:
            if section.kind is not griffe.DocstringSectionKind.parameters:
                continue
            signature = inspect.signature(real).parameters
            for one in section.value:
                if one.name.startswith("*"):  # what the base class describes
                    continue
                if one.name not in signature:
                    wrong.append(f"{told.path}: no parameter {one.name}")
                    continue
                default, names = signature[one.name].default, sys.modules[real.__module__].__dict__
                said = inspect.Parameter.empty if one.default is None else eval(one.default, names)
                checked += 1
                if said is not default and said != default:
                    wrong.append(f"{told.path}({one.name}): {one.default}, it is {default!r}")
    assert not wrong
    assert checked > 100


def test_the_page_of_the_command_is_the_commands_own():
    page = (DOCS / "command.md").read_text()
    assert page == _script("command_page").with_command(page), "run `make docs`"
    assert "--budget" in page


def test_an_option_that_three_commands_share_is_described_once():
    shared, own = "* `--seed <int>`: The seed.\n", "* `--out <path>`: The page.\n"
    command = "## `{}`\n\n**Options**:\n\n" + shared + "{}* `--help`: Show.\n\nExample\n\n"
    text = "Top.\n\n" + "".join(map(command.format, "abc", (own, own, "")))
    made = _script("command_page").once(text)
    assert made.count(shared) == 1
    assert made.count(own) == 2
    assert made.count("* Shared: `--seed`\n") == 3
    assert "`--help`" not in made
    assert made.index("## Options that several") < made.index("## `a`")


PLACE = re.compile(
    r"(?<![\w/])((?:\.\./)?(?:src|tests|docs|workflow|config|benchmarks)/[\w./-]+\.\w+)"
)


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_every_file_that_a_page_names_is_there(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    named = {place.removeprefix("../") for place in PLACE.findall(text)}
    assert {place for place in named if not (DOCS.parent / place).exists()} == set()


LINK = re.compile(r"\]\(([^)\s]+)\)")
READ = [
    *PAGES,
    *sorted(DOCS.glob("archive/*.md")),
    DOCS / "results" / "README.md",
    DOCS.parent / "tests" / "README.md",
]


@pytest.mark.parametrize("page", READ, ids=[str(page.relative_to(DOCS.parent)) for page in READ])
def test_every_link_of_a_page_leads_to_a_file(page):
    """Anchors, and what the site makes of links, `make docs` checks (docs/site_links.py)."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = {link.partition("#")[0] for link in LINK.findall(text) if "://" not in link}
    # The gallery's pictures are made with the site.
    asked = {link for link in links if link and not link.startswith("gallery-")}
    assert {link for link in asked if not (page.parent / link).exists()} == set()
