"""The nodes of a model file, bounded before anything in it is audited or made.

No compiled code of another library sees the arrays of a type that is not in the table.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

from deepcac.errors import DataError
from deepcac.persistence.state_table import ALLOWED

SCHEMA = "schema.json"
_MOST_NODES, _MOST_DEPTH = 100_000, 100
_LOADERS = (
    *("CachedNode", "DTypeNode", "DictNode", "JsonNode", "ListNode", "LossNode", "NdArrayNode"),
    *("ObjectNode", "RandomStateNode", "TupleNode", "TypeNode"),
)


def named_types(archive: zipfile.ZipFile) -> list[str]:
    """Return what a file of skops names and is not in the table, each once, in order.

    Raises
    ------
    DataError
        The audit of skops would visit too many nodes, or they lie too deep in each other.
    """
    try:
        schema = json.loads(archive.read(SCHEMA))
    except RecursionError as error:
        raise DataError("its parts lie too deep in each other") from error
    if _visits(schema, {}) > _MOST_NODES:
        raise DataError(f"has more than {_MOST_NODES:,} parts")
    names = (
        name for name, loader in _nodes(schema) if name not in ALLOWED or loader not in _LOADERS
    )
    return list(dict.fromkeys(names))


def _visits(part: Any, visits: dict[Any, int], depth: int = 0) -> int:
    """Return how many nodes an audit of a part visits.

    skops takes a node for the first one of the same number, and its audit visits that one's parts
    as often as it is reached, which can double with each level.
    """
    if depth > _MOST_DEPTH:
        raise DataError("its parts lie too deep in each other")
    inside = part.values() if isinstance(part, dict) else part
    if not isinstance(part, dict | list):
        return 0
    if not (isinstance(part, dict) and "__loader__" in part):
        return sum(_visits(each, visits, depth + 1) for each in inside)
    number = str(part.get("__id__"))
    if number in visits:
        return visits[number]
    visits[number] = 1  # a part inside that refers to this one is not visited again
    visits[number] += sum(_visits(each, visits, depth + 1) for each in inside)
    if visits[number] > _MOST_NODES:
        raise DataError(f"has more than {_MOST_NODES:,} parts")
    return visits[number]


def _nodes(part: Any) -> Iterator[tuple[str, object]]:
    """Yield type and loader of every node that is written in a schema."""
    if isinstance(part, dict) and ("__class__" in part or "__loader__" in part):
        yield f"{part.get('__module__')}.{part.get('__class__')}", part.get("__loader__")
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _nodes(each)


def untrusted_line(names: Iterable[str]) -> str:
    """Say what a file holds that is not in the table."""
    return (
        f"holds a {', a '.join(names)}, whose state cannot be checked; name it in trusted=[...] "
        "if you trust it, or say trusted=True"
    )
