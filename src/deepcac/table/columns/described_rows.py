"""A table with its description: the YAML file next to it, and its rows read strictly by it."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import yaml

from deepcac.errors import ConfigError, DataError
from deepcac.files.atomic import atomic_path
from deepcac.files.declared import checked, read_yaml
from deepcac.files.output_files import StrPath
from deepcac.scoring.small_cells import Count
from deepcac.table.columns.cell_texts import (
    DEFAULT,
    as_number,
    date_type,
    fits_format,
    uniform,
    uniform_names,
)
from deepcac.table.columns.cells import (
    as_texts,
    is_numeric,
    is_text,
    plain_type,
    uniform_text,
    unit_key,
)
from deepcac.table.columns.description import (
    A_LEVEL,
    DATES,
    EVENT,
    KEEP,
    LEAVE_OUT,
    LEAVE_ROWS_OUT,
    MISSING_VALUES,
    NUMBER,
    PATIENT,
    PROFILE,
    TEXT,
    TRUTH,
    WRITTEN,
    ColumnField,
    OpenQuestion,
    Resource,
    TableDescription,
)


def apply_answers(resource: Resource) -> Resource:
    """Return a description in which every answer that was given has its effect."""
    use, usual = resource.use, resource.table.missing_values
    fields = {column.name: column for column in resource.table.fields}
    leave_out, patient, outcome = dict(use.leave_out), use.patient, use.outcome
    given = [asked for asked in use.questions if asked.answer not in (None, KEEP)]
    for about, name in ((asked, name) for asked in given for name in asked.fields):
        if name not in fields:
            raise ConfigError(f"a question is about {name!r}, which is no field")
        if about.answer == LEAVE_OUT:
            leave_out.setdefault(name, "decided by a person")
        elif about.answer == PATIENT:
            patient = name
            leave_out.pop(name, None)
        elif outcome is not None and about.answer == LEAVE_ROWS_OUT:
            outcome = outcome.model_copy(update={"rows_without": LEAVE_OUT})
        elif outcome is not None and str(about.answer).startswith(f"{EVENT} "):
            event = str(about.answer).removeprefix(f"{EVENT} ")
            outcome = outcome.model_copy(update={"event": event})
        else:
            if outcome is not None and name == outcome.field:
                outcome = outcome.model_copy(update={"rows_without": LEAVE_OUT})
            fields[name] = fields[name].model_copy(update=_changed(fields[name], about, usual))
    roles = use.changed(patient=patient, outcome=outcome).roles()
    left = {name: why for name, why in leave_out.items() if name not in roles}
    return resource.changed(fields.values(), patient=patient, outcome=outcome, leave_out=left)


def _changed(column: ColumnField, asked: OpenQuestion, usual: tuple[str, ...]) -> dict[str, Any]:
    """Return what an answer changes in a field."""
    if str(asked.answer).startswith(f"{WRITTEN} "):
        kind, format = date_type(str(asked.answer).removeprefix(f"{WRITTEN} "))
        return {"type": kind, "format": format}
    verb, _, value = str(asked.answer).partition(" ")
    missing = usual if column.missing_values is None else column.missing_values
    if asked.answer == A_LEVEL:
        return {"missing_values": tuple(word for word in missing if word not in asked.values)}
    if verb == MISSING_VALUES:
        return {"missing_values": (*missing, *asked.values)}
    if verb == "decimal":
        return {"type": NUMBER, "decimal_char": value, "group_char": "," if value == "." else "."}
    if verb in (NUMBER, TEXT):
        return {"type": verb}
    raise ConfigError(f"{column.name!r}: {verb!r} is no answer that has an effect")


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
    """Return where the description of a table is: patients.yaml next to patients.csv.gz."""
    path = Path(table)
    bare = re.sub(r"\.(gz|zip|bz2|xz)$", "", path.name, flags=re.IGNORECASE)
    return path.parent / f"{Path(bare).stem}.yaml"


def read_description(file: StrPath) -> TableDescription:
    """Read a description file; raise `ConfigError`, with the position, if it is invalid."""
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
    """Read the description that is named, or else the one next to a table, if there is one."""
    if named is not None:
        return read_description(named)
    default = description_path(table)
    if not default.is_file():
        return None
    description = read_description(default)
    if Path(description.resource.path).name != Path(table).name:
        raise ConfigError(
            f"{default}: describes {description.resource.path!r}; if {Path(table).name!r} is to be "
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


_MOST_COLUMNS = 12  # at fault that one message names
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
WITH_UNIT = r"^(?P<number>[^%‰°µμA-Za-z]*\d)\s*(?P<unit>[%‰°µμA-Za-z].*)$"


@dataclass
class _Misfit:
    """The first cell of a column that does not fit, and how many rows have such cells."""

    row: int
    cell: str
    why: str
    rows: int = 0


class DescribedTable(os.PathLike[str]):
    """A table with its description: a path that is read by it wherever a table is read.

    It has the columns `only`, or all that are described if that is None.
    """

    def __init__(
        self, path: StrPath, description: TableDescription, only: Iterable[str] | None = None
    ) -> None:
        self.path = path
        self.description = description
        self.only = None if only is None else frozenset(only)

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return str(self.path)

    def rows(self, blocks: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield blocks of typed columns; null where a cell has no value.

        Another column, or one that is absent, is refused; after the last block so are the cells
        that do not fit, of all columns at once.
        """
        before, misfits = 0, dict[str, _Misfit]()
        for block in blocks:
            names = uniform_names(block.schema.names)
            self._check_names(names)
            columns = [
                self._column(name, column, before, misfits)
                for name, column in zip(names, block.columns, strict=True)
            ]
            before += block.num_rows
            yield pa.record_batch(columns, names=names, metadata=block.schema.metadata)
        if misfits:
            raise DataError(self._message(misfits))

    def _check_names(self, names: list[str]) -> None:
        # Who asks for some columns only says what their absence means.
        if self.only is not None:
            return
        fields = self.description.fields
        absent = [name for name in fields if name not in names]
        if absent:
            raise DataError(
                f"the table has no column {absent[0]!r}, which {self.description.place(absent[0])} "
                f"describes; it has {', '.join(names[:20])}"
            )
        further = [name for name in names if name not in fields]
        if further:
            raise DataError(
                f"column {further[0]!r} is not described; add it to the fields of "
                f"{self.description.file}, or take it out of the table"
            )

    def _column(
        self, name: str, column: pa.Array, before: int, misfits: dict[str, _Misfit]
    ) -> pa.Array:
        field = self.description.fields.get(name)
        if field is None or (self.only is not None and name not in self.only):
            return column
        column = plain_type(name, column)
        # Who asks for a column by its name reads it though no model learns from it.
        if self.only is None and name in self.description.resource.use.leave_out:
            return uniform_text(column) if is_text(column.type) else column
        missing = self.description.missing_values(field)
        why = ""
        if is_text(column.type):
            texts = without_missing(uniform_text(column.cast(pa.string())), missing)
            read, why = typed(texts, field)
        elif is_numeric(column.type):
            texts = as_texts(pa.chunked_array([column])).combine_chunks()
            read = without_number_codes(column, missing)
            if not (field.numeric or field.type == TRUTH):
                read = pc.if_else(pc.is_valid(read), texts, pa.scalar(None, pa.string()))
        else:  # of a file with types: dates, lists
            return column
        for reason, odd in _faults(field, read, texts, why):
            n = int(pc.sum(odd).as_py() or 0)
            if n:
                place = pc.index(odd, True).as_py()
                first = _Misfit(before + place + 1, str(texts[place].as_py()), reason)
                misfits.setdefault(name, first).rows += n
        return read

    def _message(self, misfits: dict[str, _Misfit]) -> str:
        """Return all columns at fault, each with a row, a cell and the line to change."""
        lines = []
        for name, first in list(misfits.items())[:_MOST_COLUMNS]:
            rows = f" (the first of {Count(first.rows)} such rows)" * (first.rows > 1)
            lines.append(
                f"column {name!r}, data row {first.row}: {first.cell!r} {first.why}{rows}; mend "
                f"it, or change {self.description.place(name)}"
            )
        further = len(misfits) - _MOST_COLUMNS
        return "\n  ".join(lines + [f"and {further} more columns"] * (further > 0))


def _faults(
    field: ColumnField, read: pa.Array, texts: pa.Array, why: str
) -> Iterator[tuple[str, pa.Array]]:
    """Yield (reason, mask) for cells that are unparsable, not a category, or out of range."""
    if why:
        yield why, pc.and_(pc.is_valid(texts), pc.is_null(read))
    if field.categories and is_text(read.type):
        levels = pa.array([uniform(level) for level in field.categories], pa.string())
        right = pc.or_(pc.is_in(read, value_set=levels), pc.is_null(read))
        yield f"is none of its {len(field.categories)} categories", pc.invert(right)
    limits = field.constraints
    if is_numeric(read.type) and not pa.types.is_boolean(read.type):
        for limit, outside in ((limits.minimum, pc.less), (limits.maximum, pc.greater)):
            if limit is not None:
                yield "lies outside its range", outside(read, limit)


def typed(texts: pa.Array, field: ColumnField) -> tuple[pa.Array, str]:
    """Parse texts as the field's type; return values, null if invalid, and the error message."""
    if field.numeric:
        numbers = as_declared_numbers(texts, field)
        if field.type != "integer":
            return numbers, "is no number"
        whole = pc.equal(numbers, pc.floor(numbers))
        return pc.if_else(whole, numbers, pa.scalar(None, pa.float64())), "is no whole number"
    if field.type == TRUTH:
        words = [uniform(word) for word in (*field.true_values, *field.false_values)]
        place = pc.index_in(texts, value_set=pa.array(words, pa.string()))
        return pc.less(place, len(field.true_values)), "is neither true nor false"
    if field.type in DATES:
        distinct = pc.unique(texts).drop_null()
        fits = fits_format(distinct.to_pylist(), field.type, field.format)
        written = pc.is_in(texts, value_set=distinct.filter(pa.array(fits)))
        how = "ISO 8601" if field.format == DEFAULT else field.format
        return pc.if_else(written, texts, None), f"is no {field.type} that is written as {how}"
    return texts, ""


def as_declared_numbers(texts: pa.Array, field: ColumnField) -> pa.Array:
    """Return texts as numbers with the signs and the unit of a field; null where they are none."""
    if field.unit:
        parts = pc.extract_regex(texts, WITH_UNIT)
        numbers, units = (pc.struct_field(parts, part) for part in ("number", "unit"))
        spellings = pc.unique(units).drop_null().to_pylist()
        alike = [unit for unit in spellings if unit_key(unit) == unit_key(field.unit)]
        bare = pc.is_in(units, value_set=pa.array(alike, pa.string()))
        texts = pc.if_else(pc.fill_null(bare, False), numbers, texts)
    if field.group_char:
        group, point = re.escape(field.group_char), re.escape(field.decimal_char)
        between = rf"^[+-]?[1-9]\d{{0,2}}({group}\d{{3}})+({point}\d*)?$"
        grouped = pc.match_substring_regex(texts, between)
        texts = pc.if_else(grouped, pc.replace_substring(texts, field.group_char, ""), texts)
    if field.decimal_char == ",":
        pointed = pc.match_substring(texts, ".")
        texts = pc.if_else(pointed, "", pc.replace_substring(texts, ",", "."))
    number = pc.match_substring_regex(texts, _NUMBER)
    return pc.if_else(number, texts, pa.scalar(None, pa.string())).cast(pa.float64())


def without_missing(texts: pa.Array, missing: tuple[str, ...]) -> pa.Array:
    """Return texts with null for those that mean no value; a number means so in any spelling."""
    words = pa.array([uniform(word) for word in missing], pa.string())
    gone = pc.is_in(texts, value_set=words)
    for code in filter(lambda code: code is not None, map(as_number, missing)):
        plain = pc.match_substring_regex(texts, r"^-?(0|[1-9]\d*)(\.\d+)?$")
        values = pc.if_else(plain, texts, pa.scalar(None, pa.string())).cast(pa.float64())
        gone = pc.or_(gone, pc.fill_null(pc.equal(values, code), False))
    return pc.if_else(pc.fill_null(gone, True), pa.scalar(None, pa.string()), texts)


def without_number_codes(column: pa.Array, missing: tuple[str, ...]) -> pa.Array:
    """Return numbers with null for those that mean no value, and for NaN."""
    if pa.types.is_boolean(column.type):
        return column
    values = column.cast(pa.float64(), safe=False)
    codes = [code for code in map(as_number, missing) if code is not None]
    gone = pc.is_in(values, value_set=pa.array(codes, pa.float64()))
    gone = pc.or_(gone, pc.is_null(values, nan_is_null=True))
    return pc.if_else(gone, pa.scalar(None, column.type), column)
