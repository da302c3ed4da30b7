"""Descriptions as YAML files beside their tables: written, found, read, and extended."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from deepcac.errors import ConfigError
from deepcac.files.atomic import atomic_path
from deepcac.files.declared import checked, read_yaml
from deepcac.table.columns.cell_texts import uniform
from deepcac.table.columns.description import PROFILE, OpenQuestion, Resource, TableDescription
from deepcac.table.columns.given_answers import apply_answers
from deepcac.table.output_files import StrPath


def as_yaml(resource: Resource) -> str:
    """Return the text of a description, a line for each column."""
    content = resource.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    fields = content["schema"].pop("fields")
    use = content.pop("deepcac", {})
    use.pop("questions", None)
    parts = [
        yaml.safe_dump(
            {"$schema": PROFILE, "name": resource.name, "path": resource.path, "type": "table"}
            | {key: value for key, value in content.items() if key == "dialect"},
            sort_keys=False, allow_unicode=True, width=10_000,
        ),
        "schema:\n",
        _inline("  missingValues: ", list(resource.table.missing_values)),
        "  fields:\n",
        *(_inline("    - ", {"name": column["name"], "type": "string"} | column)
          for column in fields),
        yaml.safe_dump({"deepcac": use}, sort_keys=False, allow_unicode=True, width=10_000),
        "  questions:\n" if resource.use.questions else "",
        *map(_question, resource.use.questions),
    ]  # fmt: skip
    return "".join(parts)


def _inline(before: str, content: Any) -> str:
    text = yaml.safe_dump(
        content, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**9
    )
    return f"{before}{text.removesuffix('...' + chr(10)).strip()}\n"


def _question(asked: OpenQuestion) -> str:
    """Return a question with an empty answer, to be filled in."""
    return (
        _inline("    - check: ", asked.check)
        + _inline("      fields: ", list(asked.fields))
        + _inline("      question: ", asked.question)
        + (_inline("      values: ", list(asked.values)) if asked.values else "")
        + _inline("      answers: ", list(asked.answers))
        + f"      answer: {asked.answer or ''}\n"
    )


def description_path(table: StrPath) -> Path:
    """Return where the description of a table is: patients.yaml beside patients.csv.gz."""
    path = Path(table)
    bare = re.sub(r"\.(gz|zip|bz2|xz)$", "", path.name, flags=re.IGNORECASE)
    return path.parent / f"{Path(bare).stem}.yaml"


def read_description(file: StrPath) -> TableDescription:
    """Read a description; what is no possible one is a `ConfigError` with its place."""
    # Every scalar is text: -9, 007 and an unquoted yes are what a person wrote.
    content = read_yaml(file, texts=True)
    if not isinstance(content, dict) or "schema" not in content:
        raise ConfigError(
            f"{file}: describes no table (it has no schema); rename it, or name the description "
            "by --description"
        )
    resource = apply_answers(checked(Resource, content, str(file)))
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    lines = _lines(yaml.compose(Path(file).read_text("utf-8"), loader))
    return TableDescription(resource, str(file), lines)


def find_description(table: StrPath, named: StrPath | None = None) -> TableDescription | None:
    """Read the description that is named, or else the one beside a table, if there is one."""
    if named is not None:
        return read_description(named)
    beside = description_path(table)
    if not beside.is_file():
        return None
    description = read_description(beside)
    if Path(description.resource.path).name != Path(table).name:
        raise ConfigError(
            f"{beside}: describes {description.resource.path!r}; if {Path(table).name!r} is to be "
            "read by it too, say so by --description"
        )
    return description


def add_questions(file: StrPath, questions: Sequence[OpenQuestion]) -> None:
    """Add questions to a description; its other lines stay as they are."""
    text = Path(file).read_text("utf-8")
    head = re.search(r"^  questions:[ \t]*(\[\])?[ \t]*$", text, re.MULTILINE)
    added = "".join(map(_question, questions))
    if head:
        before, after = text[: head.start()], text[head.end() + 1 :]
        # An editor may have indented the list otherwise.
        if indent := re.match(" *(?=- )", after):
            added = re.sub("^    ", indent[0], added, flags=re.MULTILINE)
        text = f"{before}  questions:\n{added}{after}"
    elif re.search(r"^deepcac:[ \t]*$(?!.*^\S)", text, re.MULTILINE | re.DOTALL):
        text = f"{text.rstrip()}\n  questions:\n{added}"
    else:
        raise ConfigError(
            f"{file}: has no block deepcac at its end to which questions are added; move it there"
        )
    with atomic_path(file) as partial:
        Path(partial).write_text(text, "utf-8")


def _lines(node: Any) -> dict[str, int]:
    """Return the line of each field."""
    schema = _value(node, "schema")
    fields = _value(schema, "fields")
    entries = getattr(fields, "value", ())
    return {
        uniform(str(name.value)): entry.start_mark.line + 1
        for entry in entries
        if (name := _value(entry, "name")) is not None
    }


def _value(node: Any, key: str) -> Any:
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for name, value in pairs if name.value == key), None)
