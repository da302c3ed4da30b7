"""A table that is read cell by cell as its description says, to compare with the product."""

import csv
import math
import random
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from deepcac.table.columns.described_rows import DescribedTable, find_description
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.reading.table_files import read_blocks

_HEAD = "$schema: https://datapackage.org/profiles/2.0/dataresource.json\nname: patients\n"
_FIELDS = """path: patients.csv
type: table
dialect: {delimiter: ',', headerRows: ['1']}
schema:
  missingValues: ['', NA]
  fields:
    - {name: patient, type: string}
    - {name: age, type: integer, missingValues: ['', '-9'], constraints: {minimum: '18', maximum: '99'}}
    - {name: crp, type: number, unit: mg/L, bareNumber: 'false', groupChar: ','}
    - {name: weight, type: number, decimalChar: ',', groupChar: .}
    - {name: sex, type: string, categories: [f, m]}
    - {name: ward, type: string}
    - {name: smoker, type: boolean, trueValues: ['yes'], falseValues: ['no']}
    - {name: seen, type: date, format: '%d.%m.%Y'}
    - {name: stay, type: number}
    - {name: died, type: string}
"""
DESCRIPTIONS = [
    _HEAD + _FIELDS + """deepcac:
  outcome:
    field: died
    event: 'yes'
    rows_without: leave out
  id: patient
  leave_out:
    seen: a date
    stay: known too late
  questions:
    - check: cells
      fields: [age]
      question: Is 44 an age?
      values: ['44']
      answers: [keep, missing, leave out]
      answer: missing
    - {check: '', fields: [ward], question: Were wards known, answers: [keep, leave out], answer: leave out}
""",
    _HEAD + _FIELDS + """deepcac:
  outcome: {field: stay, above: '9'}
  patient: patient
  site: ward
  leave_out: {died: known too late}
""",
]  # fmt: skip
_USE = ("outcome", "id", "patient", "site", "leave_out", "questions")
_OUTCOME = ("field", "event", "above", "time", "horizon", "competing", "rows_without")
_QUESTION = ("fields", "check", "question", "answers", "values", "answer")
_SIMPLE = ("keep", "missing", "leave out")
_ISO = {"date": "%Y-%m-%d", "datetime": "%Y-%m-%dT%H:%M:%S", "time": "%H:%M:%S"}
_TYPES = ("number", "integer", "string", "boolean", "year", "yearmonth", "duration", "any", *_ISO)


def write_patients(path: Path) -> None:
    """Write the table that the descriptions describe."""
    draw, rows = random.Random(0), []
    for i in range(120):
        age = draw.choice((-9, *range(20, 90)))
        crp = f"{draw.uniform(1, 40):.1f}{draw.choice((' mg/L', 'mg/l', ''))}"
        seen = f"{draw.randint(1, 28):02d}.{draw.randint(1, 12):02d}.2020"
        weight = f"{draw.uniform(50, 99):.1f}".replace(".", ",")
        smoker, died = draw.choice(("yes", "no", "NA")), draw.choice(("yes", "no", "no", ""))
        ward = draw.choice(("icu", "er"))
        rows.append([f"p{i:03d}", age, crp, weight, draw.choice("fm"), ward, smoker, seen,
                     round(draw.uniform(1, 20), 1), died])  # fmt: skip
    head = [name.split(",")[0] for name in _FIELDS.split("{name: ")[1:]]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])


def read_by_description(path: Path, plain: Any) -> bool:
    """Tell whether the product reads the table beside a description as the plain reading says."""
    table = path.with_suffix(".csv")
    if not table.exists():
        write_patients(table)
    description = find_description(table)
    assert description is not None
    described = DescribedTable(table, description)
    blocks = list(read_blocks(described))
    read = {name: [c for b in blocks for c in b[name].to_pylist()] for name in description.fields}
    found = read_labelled(described, rows=1000)
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    try:
        cells, left = _cells(plain, rows)
        outcome = _outcome(plain["deepcac"], cells)
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError):
        return False
    labels = dict(zip(found.features.row_id.tolist(), found.features.label.tolist(), strict=True))
    predictors = {column.name for column in found.encoder.used}
    events = outcome is None or labels == outcome or _coded(labels, found.words, outcome)
    return read == cells and not predictors & left and events


def _coded(labels: dict[int, int], words: tuple[str, ...], outcome: dict[int, Any]) -> bool:
    return {row: words[code] for row, code in labels.items()} == outcome


def _word(value: Any) -> str:
    assert isinstance(value, str)
    return value


def _words(values: Any) -> list[str]:
    assert isinstance(values, list)
    return [_word(value).strip() for value in values]


def _maybe(value: Any) -> str | None:
    return None if value in (None, "", "~", "null") else _word(value).strip()


def _get(entry: dict[str, Any], name: str, usual: Any) -> Any:
    """Return a value by its name of the standard, or that of our code."""
    return entry.get(name, entry.get(re.sub("[A-Z]", lambda m: f"_{m[0].lower()}", name), usual))


def _cells(plain: Any, rows: list[dict[str, str]]) -> tuple[dict[str, list[Any]], set[str]]:
    """Return the cells of each column, and the columns that are no predictors."""
    schema, use, dialect = plain["schema"], plain.get("deepcac", {}), plain.get("dialect", {})
    fields = {_word(field["name"]).strip(): dict(field) for field in schema["fields"]}
    assert len(fields) == len(schema["fields"])
    assert {*fields} == {*rows[0]}
    assert {*use} <= {*_USE}
    assert {*use["outcome"]} <= {*_OUTCOME}
    assert dialect.get("delimiter", ",") == ","
    assert {int(row) for row in _get(dialect, "headerRows", [])} <= {1}
    assert plain["path"].rpartition("/")[2] == "patients.csv"
    outcome, usual = use["outcome"], _words(_get(schema, "missingValues", [""]))
    named = (outcome["field"], *map(use.get, ("id", "patient", "site")), outcome.get("time"))
    roles = [role.strip() for role in named if _maybe(role) is not None]
    assert len({*roles}) == len(roles)
    left = {_word(name).strip() for name in use.get("leave_out") or {}}
    for asked in use.get("questions", []):
        assert {*asked} <= {*_QUESTION}
        assert asked["answer"] in _words(asked["answers"])
        assert asked["answer"] in _SIMPLE, "an answer that the plain reading does not know"
        for name in _words(asked.get("fields", [])):
            if asked["answer"] == "missing":
                missing = _get(fields[name], "missingValues", usual)
                fields[name]["missingValues"] = _words(missing) + _words(asked.get("values", []))
            left |= {name} if asked["answer"] == "leave out" else {*()}
    assert {*roles} | left <= {*fields}
    left -= {*roles}
    cells = {}
    for name, field in fields.items():
        texts = [row[name] for row in rows]
        cells[name] = texts if name in left else _column(field, texts, usual)
    dates = {name for name, field in fields.items() if field.get("type") in _ISO}
    return cells, left | {*roles} | dates


def _column(field: dict[str, Any], texts: list[str], usual: list[str]) -> list[Any]:
    missing = _words(_get(field, "missingValues", usual))
    codes = {value for word in missing if (value := _number(word)) is not None}
    limits = field.get("constraints", {})
    low, high = (
        float(_maybe(limits.get(way)) or far)
        for way, far in (("minimum", "-1e400"), ("maximum", "1e400"))
    )
    assert not math.isnan(low)
    assert not math.isnan(high)
    assert _word(field.get("type", "string")) in _TYPES
    levels = [c["value"] if isinstance(c, dict) else c for c in _get(field, "categories", [])]
    read, values = _reader(field), list[Any]()
    for text in texts:
        gone = text in missing or _number(text) in codes
        value = None if gone else read(text)
        assert gone or not isinstance(value, float) or low <= value <= high
        assert gone or not levels or not isinstance(value, str) or value in map(str.strip, levels)
        values.append(value)
    return values


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text) else None


def _reader(field: dict[str, Any]) -> Callable[[str], Any]:
    """Return what reads a cell of a field, and raises if it does not fit."""
    match kind := field.get("type", "string"):
        case "number" | "integer":
            return lambda text: _declared(text, field, kind == "integer")
        case "boolean":
            yes = _words(_get(field, "trueValues", ["true", "True", "TRUE", "1"]))
            no = _words(_get(field, "falseValues", ["false", "False", "FALSE", "0"]))
            return lambda text: (yes + no).index(text) < len(yes)
        case "date" | "datetime" | "time":
            pattern = field.get("format", "default")
            pattern = _ISO[kind] if pattern == "default" else pattern
            return lambda text: text if pattern == "any" or datetime.strptime(text, pattern) else ""
    return str


def _declared(text: str, field: dict[str, Any], whole: bool) -> float:
    point, group = _get(field, "decimalChar", "."), _get(field, "groupChar", "")
    assert point in (".", ",")
    assert point != group
    assert len(group) < 2
    unit = _word(field.get("unit", "")).lower()
    match = re.fullmatch(r"(.*\d) ?([^\d.,]+)", text)
    if unit and match and match[2].replace(".", "").lower() == unit:
        text = match[1]
    if group and re.fullmatch(
        rf"[1-9]\d?\d?({re.escape(group)}\d\d\d)+({re.escape(point)}\d*)?", text
    ):
        text = text.replace(group, "")
    assert point == "." or "." not in text
    value = _number(text.replace(point, "."))
    assert value is not None
    assert not whole or value == int(value)
    return value


def _outcome(use: dict[str, Any], cells: dict[str, list[Any]]) -> dict[int, Any] | None:
    """Return the label of each row that has one, by its number; None at a horizon."""
    outcome = use["outcome"]
    if _maybe(outcome.get("time")) is not None:
        return None
    above, event = _maybe(outcome.get("above")), _maybe(outcome.get("event"))
    known = {
        i: cell
        for i, cell in enumerate(cells[outcome["field"].strip()], 1)
        if cell not in (None, "")
    }
    assert len(known) == len(next(iter(cells.values()))) or outcome.get("rows_without")
    if above is not None:
        return {row: int(cell > float(above)) for row, cell in known.items()}
    if event is not None:
        return {row: int(cell == event) for row, cell in known.items()}
    return {row: f"{cell:g}" if isinstance(cell, float) else cell for row, cell in known.items()}
