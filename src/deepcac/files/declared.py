"""Declarations in YAML files: typed entries, errors in one line, and the code they name."""

import difflib
import math
import os
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from deepcac.errors import ConfigError

Model = TypeVar("Model", bound=BaseModel)
# What is wanted where a value has another type, by pydantic's name of the fault.
_WANTED = {
    "string_type": "one text", "float_type": "a number", "float_parsing": "a number",
    "int_type": "a whole number", "int_parsing": "a whole number", "tuple_type": "a list",
    **dict.fromkeys(("dict_type", "model_type"), "a block of key: value"),
}  # fmt: skip
_MOST_LEVELS = 100  # of some ten thousand libyaml ends the process
_MOST_VALUES = 100_000  # of a file whose aliases stand for more values than it has characters


class Entry(BaseModel):
    """Base of the parts of a declaration: frozen, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def parsed(text: str) -> Any:
    """Parse a YAML text; libyaml, where PyYAML has it, takes a tenth of the time."""
    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


class _UnclearError(yaml.YAMLError):
    """YAML with a repeated key, or whose content does not fit in memory."""

    def __init__(self, problem: str, mark: Any) -> None:
        super().__init__(problem)
        self.problem, self.problem_mark = problem, mark


def read_yaml(file: str | os.PathLike[str], *, texts: bool = False) -> Any:
    """Read a YAML file that a person wrote; every scalar becomes a string if `texts`.

    Raises
    ------
    ConfigError
        It is not YAML; a key is repeated, of which PyYAML would take the last; or it has so many
        levels, or aliases for so many values, that reading it could use up the memory.
    """
    kind = "BaseLoader" if texts else "SafeLoader"
    loader = getattr(yaml, f"C{kind}", getattr(yaml, kind))
    try:
        text = Path(file).read_text("utf-8")
        _refuse_deep(yaml.parse(text, loader))
        parser = loader(text)
        node = parser.get_single_node()
        if node is None:
            return None
        n_values, n_levels = _written_out(node, {})
        if n_values > max(len(text), _MOST_VALUES) or n_levels > _MOST_LEVELS + 1:
            raise _UnclearError("aliases (*) stand for too many values", node.start_mark)
        return parser.construct_document(node)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}" if mark else ""
        if isinstance(error, _UnclearError):
            reason = error.problem
        elif isinstance(error, yaml.YAMLError):
            reason = (
                "is no YAML; look there and one line above for a bracket, a quotation mark or "
                "spaces that are missing"
            )
        elif isinstance(error, UnicodeError):
            reason = "is not UTF-8 text; save it as UTF-8"
        else:  # 2020-02-30
            reason = f"is no YAML ({error})"
        raise ConfigError(f"{file}{place}: {reason}") from error


def _refuse_deep(events: Iterable[yaml.Event]) -> None:
    """Raise if the YAML nests deeper than `_MOST_LEVELS`."""
    level = 0
    for event in events:
        level += isinstance(event, yaml.CollectionStartEvent)
        level -= isinstance(event, yaml.CollectionEndEvent)
        if level > _MOST_LEVELS:
            raise _UnclearError("has too many levels", event.start_mark)


def _written_out(node: yaml.Node, sizes: dict[int, tuple[float, float]]) -> tuple[float, float]:
    """Return the number of values and of levels with aliases expanded; infinite for a cycle.

    A repeated key raises `_UnclearError`.
    """
    if id(node) in sizes:
        return sizes[id(node)]
    sizes[id(node)] = math.inf, math.inf
    parts = node.value if isinstance(node, yaml.SequenceNode) else ()
    if isinstance(node, yaml.MappingNode):
        keys = set[str]()
        for key, _ in node.value:
            if str(key.value) in keys:
                why = f"{key.value!r} occurs twice; take one of them out"
                raise _UnclearError(why, key.start_mark)
            keys.add(str(key.value))
        parts = [part for pair in node.value for part in pair]
    inside = [_written_out(part, sizes) for part in parts]
    n_levels = 1 + max((levels for _, levels in inside), default=0)
    sizes[id(node)] = 1 + sum(values for values, _ in inside), n_levels
    return sizes[id(node)]


def resolve(path: str) -> Any:
    """Import and return the object of a dotted name (``deepcac.nn.fnn.FNNClassifier``)."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def checked(model: type[Model], content: object, where: str) -> Model:
    """Validate the content of a file; the first fault becomes a one-line error.

    Parameters
    ----------
    model : type
        What the content must be.
    content : object
        As read from YAML.
    where : str
        The file, for the message.

    Raises
    ------
    ConfigError
        It names the place of the fault, and similar names if a key is unknown.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join(["$", *(str(part) for part in fault["loc"] if part != "[key]")])
        kinds: dict[type, str] = {list: "the list ", dict: "the block "}
        value = f"{kinds.get(type(fault['input']), '')}{fault['input']!r}"[:80]
        hint = "" if fault["type"] == "missing" else f", not {value}"
        if wanted := _WANTED.get(fault["type"]):
            fault["msg"] = f"{wanted} is wanted"
        if fault["type"] == "extra_forbidden":
            keys = _keys(model, fault["loc"])
            near = difflib.get_close_matches(str(fault["loc"][-1]), keys, n=2, cutoff=0.75)
            meant = " or ".join(map(repr, near))
            hint = f"; did you mean {meant}?" if near else f"; known: {', '.join(keys)}"
            fault["msg"] = "no such key"
        reason = fault.get("ctx", {}).get("error", f"{fault['msg']}{hint}")
        raise ConfigError(f"{where}: at {place}: {reason}") from error


def _keys(model: type[BaseModel], place: Iterable[int | str]) -> list[str]:
    """Return the known keys at the place of a fault."""
    for part in place:
        by_name = dict(zip(_names(model), model.model_fields.values(), strict=True))
        field = by_name.get(str(part))
        inner = next(_models(field.annotation), None) if field else None
        model = inner or model
    return _names(model)


def _names(model: type[BaseModel]) -> list[str]:
    """Return the keys of a model, by their aliases in a file."""
    return [field.serialization_alias or name for name, field in model.model_fields.items()]


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models inside a type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)
