"""The description of a table: a Data Package resource that says how each column is read.

It is a YAML file next to its table. Everything but the block ``deepcac`` is a tabular data
resource of Data Package 2.0 (https://datapackage.org/standard/data-resource/), so that other
programs read it too.
"""

import difflib
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, ConfigDict, Field, field_validator, model_validator
from pydantic.alias_generators import to_camel

from deepcac.errors import ConfigError, DataError
from deepcac.files.declared import Entry, checked
from deepcac.table.columns.cell_texts import DEFAULT, check_format, uniform

PROFILE: Final = "https://datapackage.org/profiles/2.0/dataresource.json"
NUMBER: Final = "number"
TEXT: Final = "string"
TRUTH: Final = "boolean"
DATE: Final = "date"
DATES: Final = ("date", "datetime", "time", "year", "yearmonth", "duration")
_MODEL = "the model"  # where a description is that a model keeps
# Answers to a question, besides those that name a type, a sign or the event.
LEAVE_OUT: Final = "leave out"
KEEP, MISSING_VALUES, PATIENT, SITE = "keep", "missing", "patient", "site"
EVENT: Final = "event"  # of an answer that names it: "event dead"
WRITTEN: Final = "dates as"  # of an answer that names the pattern: "dates as %d/%m/%Y"
A_LEVEL, LEAVE_ROWS_OUT = "a level", "leave these rows out"
# What a column with a role is.
ROLES: Final = ("the label", "the id", "the patient", "the follow-up time")
THE_LABEL, THE_SITE = ROLES[0], "the site"


ColumnType = Literal[
    "number", "integer", "string", "boolean", "date", "datetime", "time", "year", "yearmonth",
    "duration", "any",
]  # fmt: skip


_Uniform = Annotated[str, AfterValidator(uniform)]
_Finite = Annotated[float, Field(allow_inf_nan=False)]
_DELIMITER = r"^[\t !#-/:-@\[-`{-~]$"  # ASCII, and neither a letter, a digit nor a quotation mark
_GROUP_SIGN = r"^[^\pL\pN+-]?$"


class _Filled(Entry):
    """A mapping that ignores known keys with an empty value."""

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, content: Any) -> Any:
        empty = ("", "null", "~", None)
        if not isinstance(content, dict):
            return content
        return {
            key: value
            for key, value in content.items()
            if value not in empty or key not in cls.model_fields
        }


class _Standard(Entry):
    """A part of the standard, which may have properties that no command needs."""

    model_config = ConfigDict(
        extra="ignore", frozen=True, populate_by_name=True, alias_generator=to_camel
    )

    @model_validator(mode="before")
    @classmethod
    def _without_slips(cls, content: Any) -> Any:
        """Raise `ConfigError` for an unknown key that resembles a known one."""
        if isinstance(content, dict):
            names = {str(field.validation_alias) for field in cls.model_fields.values()}
            plain = {name.lower(): name for name in names}
            for key in content.keys() - names - cls.model_fields.keys():
                slip = str(key).lower()
                near = difflib.get_close_matches(slip, plain, n=1, cutoff=0.85)
                near += [name for name in plain if sorted(name) == sorted(slip)]
                if near:
                    raise ConfigError(f"no such key {key!r}; did you mean {plain[near[0]]!r}?")
        return content


class Dialect(_Standard):
    """How a file is laid out."""

    # Of delimited text; None finds it from the first lines
    delimiter: str | None = Field(default=None, pattern=_DELIMITER)
    # Lines of the file, from 1, whose last one ends the header; empty to find it
    header_rows: tuple[Annotated[int, Field(ge=1)], ...] = ()
    sheet_name: str | None = None  # of a spreadsheet that has several


class Constraints(_Standard, _Filled):
    """The range that the numbers of a column have."""

    minimum: _Finite | None = None
    maximum: _Finite | None = None


class ColumnField(_Standard):
    """How a column is read."""

    name: _Uniform
    # Of Data Package: number, integer, string, boolean, date, and further ones for dates
    type: ColumnType = "string"
    categories: tuple[str, ...] = ()  # the levels of a text, if no other one may occur
    # Cells without a value, in place of those of the whole table
    missing_values: tuple[str, ...] | None = None
    decimal_char: Literal[".", ","] = "."
    group_char: str = Field(default="", pattern=_GROUP_SIGN)  # between thousands
    unit: str = ""  # written behind the numbers in the cells
    # Of dates: a pattern as %d.%m.%Y, "default" for ISO 8601, "any" for no one pattern
    format: str = DEFAULT
    # False if cells also hold a unit; for other programs
    bare_number: bool = True
    true_values: tuple[str, ...] = ("true", "True", "TRUE", "1")  # words of a boolean
    false_values: tuple[str, ...] = ("false", "False", "FALSE", "0")  # words of a boolean
    constraints: Constraints = Constraints()

    @field_validator("categories", mode="before")
    @classmethod
    def _values(cls, categories: Any) -> Any:
        """Return plain values; the standard also knows objects of a value and its label."""
        if not isinstance(categories, list):
            return categories
        plain = [c["value"] if isinstance(c, dict) and "value" in c else c for c in categories]
        return [str(value) if isinstance(value, int | float) else value for value in plain]

    @model_validator(mode="after")
    def _check(self) -> "ColumnField":
        if self.group_char == self.decimal_char:
            raise ConfigError(f"{self.name!r}: one sign cannot be for both decimals and thousands")
        if self.type in DATES:
            check_format(self.name, self.format)
        return self

    @property
    def numeric(self) -> bool:
        """Whether the cells are numbers."""
        return self.type in (NUMBER, "integer")


class Schema(_Standard):
    """The columns of a table."""

    fields: tuple[ColumnField, ...]
    missing_values: tuple[str, ...] = ("",)

    @model_validator(mode="after")
    def _check(self) -> "Schema":
        names = [column.name for column in self.fields]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ConfigError(f"field {min(twice)!r} occurs twice")
        return self


class Outcome(_Filled):
    """What the models predict."""

    field: _Uniform
    event: _Uniform | None = None  # the value that counts as the event, of two
    above: _Finite | None = None  # for a number: values above it are the event
    time: _Uniform | None = None  # column of the follow-up time
    horizon: float | None = None  # time up to which an event counts
    # Values of `field` after which the event can no longer happen
    competing: tuple[_Uniform, ...] = ()
    # "leave out" leaves rows out whose outcome is not known; they are refused otherwise
    rows_without: Literal["leave out"] | None = None

    def followed_as(self, other: "Outcome") -> "Outcome":
        """Return this outcome at the horizon of another one, with its competing events."""
        follow = {"time": other.time, "horizon": other.horizon, "competing": other.competing}
        return self.model_copy(update=follow)

    @model_validator(mode="after")
    def _check(self) -> "Outcome":
        if (self.time is None) != (self.horizon is None):
            raise ConfigError("time and horizon of an outcome go together: name both")
        if self.horizon is not None and not 0 < self.horizon < math.inf:
            raise ConfigError(f"horizon {self.horizon:g}: name a time after the start")
        if self.competing and self.time is None:
            raise ConfigError("competing events go with a time and a horizon; name them too")
        if self.competing and self.above is not None:
            raise ConfigError("a number that is divided (above) has no competing events")
        if self.event in self.competing:
            raise ConfigError(f"{self.event!r} cannot be both the event and a competing one")
        return self


class OpenQuestion(_Filled):
    """What a person must decide before the table is used."""

    fields: tuple[str, ...] = ()  # the columns that it is about; empty for the rows as a whole
    check: str = ""  # name of the check that asks: it asks nothing that is answered here
    question: str
    answers: tuple[str, ...]
    # The cells that it is about; the answer "missing" makes no value of them
    values: tuple[str, ...] = ()
    answer: str | None = None  # one of the answers, once it is decided

    @model_validator(mode="after")
    def _check(self) -> "OpenQuestion":
        if self.answer is not None and self.answer not in self.answers:
            raise ConfigError(f"the answer {self.answer!r} is none of {', '.join(self.answers)}")
        return self


class Use(_Filled):
    """What the columns are for, and what is still to be decided."""

    outcome: Outcome | None = None
    id: _Uniform | None = None
    patient: _Uniform | None = None
    site: _Uniform | None = None
    leave_out: Mapping[_Uniform, str] = {}
    questions: tuple[OpenQuestion, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> "Use":
        self.roles()
        return self

    def changed(self, **lines: Any) -> "Use":
        """Return it with other lines; two roles of one column are a `ConfigError`."""
        changed = self.model_copy(update=lines)
        changed.roles()
        return changed

    def roles(self) -> dict[str, str]:
        """Return the columns with a role, and which; two of one column are a `ConfigError`."""
        label = time = None
        if self.outcome is not None:
            label, time = self.outcome.field, self.outcome.time
        roles: dict[str, str] = {}
        names = (label, self.id, self.patient, time, self.site)
        for name, role in zip(names, (*ROLES, THE_SITE), strict=True):
            if name is not None and name in roles:
                raise ConfigError(f"column {name!r} cannot be both {roles[name]} and {role}")
            roles |= {} if name is None else {name: role}
        return roles

    def no_predictors(self) -> dict[str, str]:
        """Return the columns that models do not use, and why."""
        return {**self.leave_out, **self.roles()}

    def refuse_role(self, name: str, what: str) -> None:
        """Raise `ConfigError` if a column already has a role other than the site."""
        if (role := self.roles().get(name, THE_SITE)) != THE_SITE:
            raise ConfigError(f"column {name!r} cannot be both {role} and {what}")

    def open_questions(self) -> list[OpenQuestion]:
        """Return the questions without an answer; a role of its columns answers one on leaks."""
        roles = {name for name, role in self.roles().items() if role != THE_LABEL}
        return [
            asked
            for asked in self.questions
            if asked.answer is None and not (asked.fields and {*asked.fields} <= roles)
        ]


class Resource(_Standard):
    """What a file of a description holds."""

    profile: Literal["https://datapackage.org/profiles/2.0/dataresource.json"] = Field(
        default=PROFILE, validation_alias="$schema", serialization_alias="$schema"
    )
    name: str
    path: str
    type: Literal["table"] = "table"
    dialect: Dialect = Dialect()
    table: Schema = Field(validation_alias="schema", serialization_alias="schema")
    use: Use = Field(default=Use(), validation_alias="deepcac", serialization_alias="deepcac")

    @model_validator(mode="after")
    def _check(self) -> "Resource":
        """Refuse a role of a column that is no field."""
        names = [column.name for column in self.table.fields]
        for name in self.use.no_predictors():
            if name not in names:
                raise ConfigError(f"{name!r} has a role and is no field; there are {names[:20]}")
        return self

    def changed(self, fields: Iterable[ColumnField] | None = None, **lines: Any) -> "Resource":
        """Return it with other fields, and other lines on the use of its columns."""
        fields = self.table.fields if fields is None else tuple(fields)
        table = self.table.model_copy(update={"fields": fields})
        return self.model_copy(update={"table": table, "use": self.use.changed(**lines)})


@dataclass(frozen=True)
class TableDescription:
    """A description, and the file that it was read from."""

    resource: Resource
    file: str  # for messages
    lines: Mapping[str, int]  # column to the line of the file that describes it
    # Whether it was made from this very table, so that it has all questions
    looked_at: bool = False

    @cached_property
    def fields(self) -> dict[str, ColumnField]:
        """The columns by name."""
        return {column.name: column for column in self.resource.table.fields}

    @property
    def use(self) -> Use:
        """What the columns are for."""
        return self.resource.use

    @property
    def outcome(self) -> Outcome:
        """What the models predict, where it is known."""
        if self.use.outcome is None:
            raise ConfigError(f"{self.file}: names no outcome; add it, or say --label COLUMN")
        return self.use.outcome

    def missing_values(self, column: ColumnField) -> tuple[str, ...]:
        """Return the cells of a column that hold no value."""
        if column.missing_values is None:
            return self.resource.table.missing_values
        return column.missing_values

    def place(self, name: str) -> str:
        """Return where a column is described."""
        return f"{self.file}, line {self.lines[name]}" if name in self.lines else self.file

    def reduced(self, names: Collection[str]) -> "TableDescription":
        """Return what a model keeps: how columns are read, and the outcome.

        Levels stay out: a model names none of few patients.
        """
        kept = (column for column in self.resource.table.fields if column.name in names)
        resource = self.resource.changed(c.model_copy(update={"categories": ()}) for c in kept)
        outcome = self.use.outcome
        whole = outcome is not None and {outcome.field, outcome.time or outcome.field} <= {*names}
        use = Use(outcome=outcome if whole else None)
        changed = {"use": use, "dialect": Dialect(), "path": "table"}
        return TableDescription(resource.model_copy(update=changed), _MODEL, {})

    def with_fields(self, like: "TableDescription") -> "TableDescription":
        """Return the description with the fields of another one."""
        fields = (like.fields.get(field.name, field) for field in self.resource.table.fields)
        left = {name: why for name, why in self.use.leave_out.items() if name not in like.fields}
        return replace(self, resource=self.resource.changed(fields, leave_out=left))

    def to_dict(self) -> dict[str, Any]:
        """Return the description as JSON-ready data."""
        return self.resource.model_dump(mode="json", by_alias=True, exclude_defaults=True)

    @classmethod
    def from_dict(cls, content: object) -> "TableDescription":
        """Return the description that `to_dict` wrote; an impossible one is a `DataError`."""
        try:
            return cls(checked(Resource, content, "its description"), _MODEL, {})
        except ConfigError as error:
            raise DataError(str(error)) from error

    def with_use(self, **lines: Any) -> "TableDescription":
        """Return the description with other lines on the use of its columns."""
        return replace(self, resource=self.resource.changed(**lines))

    def with_roles(self, label: str | None = None, site: str | None = None) -> "TableDescription":
        """Return the description with another outcome or site, if a command names one.

        A column that had the role, or is the time of an outcome that is another now, is left out.
        """
        before, lines = self.use.roles(), dict[str, Any]()
        if label is not None and before.get(uniform(label)) != THE_LABEL:
            lines["outcome"] = Outcome(field=label)
        if site is not None:
            lines["site"] = uniform(site)
        changed = self.with_use(**lines)
        now = changed.use.roles()
        other = {name: f"{role} of the description" for name, role in before.items()}
        leave_out = {**self.use.leave_out, **other}
        return changed.with_use(leave_out={n: why for n, why in leave_out.items() if n not in now})

    def refuse_open(self) -> None:
        """Refuse a description with questions that nobody has answered."""
        if opened := self.use.open_questions():
            raise ConfigError(f"{self.file}: {question_lines(opened)}")


def question_lines(questions: Sequence[OpenQuestion]) -> str:
    """Return questions with their answers, a line each, under a head."""
    lines = (f"\n  {q.question} answer: {' | '.join(q.answers)}" for q in questions)
    return f"{len(questions)} question{'s' * (len(questions) > 1)} to answer:{''.join(lines)}"
