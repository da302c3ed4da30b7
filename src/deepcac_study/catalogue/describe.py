"""Pages and schemas made from the catalogue: data sources, keys of the configuration."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from deepcac.errors import one_line_errors
from deepcac.files.atomic import atomic_path
from deepcac_study.catalogue.config import Budget, Config, Plan
from deepcac_study.catalogue.entries import Source
from deepcac_study.catalogue.registry import load_registry

_KEYS = "<!-- keys: made from the models by `python -m deepcac_study.catalogue.describe` -->"
_KEYS_END = "<!-- end of keys -->"
_SOURCES = (
    "<!-- registry: made from config/registry by `python -m deepcac_study.catalogue.describe` -->\n"
)
_SOURCES_END = "<!-- end of registry -->\n"


def with_sources(page: str, registry_dir: str | os.PathLike[str]) -> str:
    """Return a page with the table of `describe_sources` between its marks."""
    before, rest = page.split(_SOURCES)
    table = describe_sources(registry_dir)
    return before + _SOURCES + table + _SOURCES_END + rest.split(_SOURCES_END)[1]


def describe_sources(registry_dir: str | os.PathLike[str]) -> str:
    """Return a Markdown table of the sources of a valid registry folder and their data sets."""
    sources = load_registry(Path(registry_dir), private=False).sources.values()
    rows = [
        (
            f"[{_escaped(source.title)}]({source.homepage})",
            ", ".join(f"`{name}`" for name in source.datasets),
            f"{source.terms}{'; access must be asked for' * source.restricted}",
        )
        for source in sorted(sources, key=lambda source: source.title.lower())
    ]
    return _table(("source", "data sets", "licence"), rows)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *([_in_cell(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _in_cell(text: str) -> str:
    return (
        text if "`" in text or text.startswith(("<", "[")) else _escaped(text).replace("|", r"\|")
    )


def _escaped(text: str) -> str:
    """Escape asterisks, underscores and angle brackets for Markdown."""
    for mark in "\\*_<>`":
        text = text.replace(mark, "\\" + mark)
    return text


def describe_keys(page: str) -> str:
    """Return the page on the configuration with its table of keys renewed."""
    parts = (("runs/*/", Plan), ("skmeans/*/", Budget))
    rows = [*_keys(Config)]
    rows += [(f"{place}{name}", text) for place, model in parts for name, text in _keys(model)]
    table = _table(("key", "meaning"), ((f"`{name}`", text) for name, text in rows))
    head, rest = page.split(_KEYS, 1)
    return head + _KEYS + "\n" + table + _KEYS_END + rest.split(_KEYS_END, 1)[1]


def _keys(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    for name, field in model.model_fields.items():
        plain = isinstance(field.default, str | int) or (name == "seeds" and field.default)
        default = f". Default: `{field.default}`" if plain else ""
        yield name, f"{field.description}{default}"


def schema(model: type[BaseModel]) -> str:
    """Return the JSON schema of a kind of file as YAML, with references inlined.

    Editors validate by it, and the Snakemake workflow catalogue shows its keys.
    """
    content = model.model_json_schema()
    kinds = content.pop("$defs", {})

    def inline(part: Any) -> Any:
        if isinstance(part, list):
            return [inline(entry) for entry in part]
        if not isinstance(part, dict):
            return part
        # A title repeats the name of its key.
        left_out = {"$ref", "title"} if isinstance(part.get("title"), str) else {"$ref"}
        properties = {name: inline(part[name]) for name in part if name not in left_out}
        kind = part.get("$ref", "").removeprefix("#/$defs/")
        return inline(kinds[kind]) | properties if kind else properties

    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return yaml.safe_dump(draft | inline(content), sort_keys=False, allow_unicode=True, width=100)


def main() -> None:
    """Write the pages and the schemas."""
    data, keys = Path("docs/data.md"), Path("config/README.md")
    for path, text in (
        (data, with_sources(data.read_text(encoding="utf-8"), "config/registry")),
        (keys, describe_keys(keys.read_text(encoding="utf-8"))),
        (Path("workflow/schemas/config.schema.yaml"), schema(Config)),
        (Path("workflow/schemas/registry.schema.yaml"), schema(Source)),
    ):
        with atomic_path(path) as partial:
            partial.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    with one_line_errors():
        main()
