"""The two maps of the code: python docs/architecture_maps.py docs/contributing.md."""

import ast
import re
import sys
import tomllib
from itertools import chain, repeat
from pathlib import Path

ROOT = Path(__file__).parents[1]
START = "<!-- maps: made by docs/architecture_maps.py from pyproject.toml and the code -->\n"
END = "<!-- end of maps -->"


def layers(package: str) -> list[list[str]]:
    """Return the rooms of a package, a list a layer, from its import contract."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    (own,) = (one for one in contracts if one.get("containers") == [package])
    return [re.split(r" [|:] ", layer) for layer in own["layers"]]


def maps() -> str:
    """Return both maps as Markdown."""
    titles = {"deepcac": "The library", "deepcac_study": "The study"}
    return "\n".join(f"### {title}: `{name}`\n\n{_map(name)}" for name, title in titles.items())


def _map(package: str) -> str:
    """Return a row for each package, and a row for the single modules of a layer."""
    rows = ["| layer | package or module | what it holds |", "|---|---|---|"]
    for layer, rooms in enumerate(layers(package), start=1):
        packages = [room for room in rooms if (ROOT / "src" / package / room).is_dir()]
        modules = ", ".join(f"`{room}`" for room in rooms if room not in packages)
        holds = [f"| **{room}** | {_what(package, room)} |" for room in packages]
        holds += [f"| {modules} | |"] if modules else []
        numbers = chain([layer], repeat(""))
        rows += [f"| {number} {row}" for number, row in zip(numbers, holds, strict=False)]
    return "\n".join([*rows, ""])


def _what(package: str, room: str) -> str:
    """Return the first line of a package's docstring."""
    file = ROOT / "src" / package / room / "__init__.py"
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.splitlines()[0]


def with_maps(page: str) -> str:
    """Return the page with today's maps between its marks."""
    before, rest = page.split(START)
    return f"{before}{START}\n{maps()}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(with_maps(page.read_text(encoding="utf-8")), encoding="utf-8")
