"""The two maps of the code: python docs/architecture_maps.py docs/contributing.md."""

import ast
import re
import sys
import tomllib
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
    rows = ["| layer | package or module | modules | what it holds |", "|---|---|---|---|"]
    for layer, rooms in enumerate(layers(package), start=1):
        number = str(layer)
        for room in rooms:
            holds = f"{_modules(package, room)} | {_what(package, room)}"
            rows.append(f"| {number} | **{room}** | {holds} |")
            number = ""
    return "\n".join([*rows, ""])


def _modules(package: str, room: str) -> int:
    place = ROOT / "src" / package / room
    return len([p for p in place.rglob("*.py") if p.stem != "__init__"]) if place.is_dir() else 1


def _what(package: str, room: str) -> str:
    """Return the first line of a room's docstring."""
    place = ROOT / "src" / package / room
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.splitlines()[0]


def with_maps(page: str) -> str:
    """Return the page with today's maps between its marks."""
    before, rest = page.split(START)
    return f"{before}{START}\n{maps()}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(with_maps(page.read_text(encoding="utf-8")), encoding="utf-8")
