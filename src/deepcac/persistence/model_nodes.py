"""Limits on the nodes of a model file, checked before skops audits or builds anything in it.

Arrays of types that are not in the table never reach compiled code of another library.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable
from typing import Any

from deepcac.errors import DataError
from deepcac.persistence.state_table import ALLOWED

SCHEMA = "schema.json"
_MOST_NODES, _MOST_DEPTH = 100_000, 100
_LOADERS = (
    *("DTypeNode", "DictNode", "JsonNode", "ListNode", "LossNode", "NdArrayNode", "ObjectNode"),
    *("RandomStateNode", "TupleNode", "TypeNode"),
)


def named_types(archive: zipfile.ZipFile) -> list[str]:
    """Return the distinct names of types in a skops file that are not in the state table.

    The audit of skops visits a shared node once per path to it, which can double with each level.
    So every node must be written out in full where it occurs, as skops does.

    Raises
    ------
    DataError
        There are too many nodes, they are nested too deeply, or one refers to another.
    """
    try:
        schema = json.loads(archive.read(SCHEMA))
    except RecursionError as error:
        raise DataError("its parts lie too deep in each other") from error
    names: dict[str, None] = {}
    written: dict[Any, Any] = {}
    waiting, n = [(schema, 0)], 0
    while waiting:
        node, depth = waiting.pop()
        if isinstance(node, dict) and ("__class__" in node or "__loader__" in node):
            n += 1
            own = node.get("__id__")
            shares = "file" in node and written.setdefault(f"file {node['file']}", own) != own
            first = written.setdefault(own, node)
            cached = node.get("__loader__") == "CachedNode"
            if not own or shares or cached or (first is not node and _bare(first) != _bare(node)):
                raise DataError("has parts that refer to others; each must be written out")
            name = f"{node.get('__module__')}.{node.get('__class__')}"
            if name not in ALLOWED or node.get("__loader__") not in _LOADERS:
                names[name] = None
        if n > _MOST_NODES or depth > _MOST_DEPTH:
            raise DataError(f"has more than {_MOST_NODES:,} parts, or they lie too deep")
        inside = node.values() if isinstance(node, dict) else node
        if isinstance(node, dict | list):
            waiting += [(part, depth + 1) for part in reversed([*inside])]
    return list(names)


def _bare(node: Any) -> Any:
    """Return a node without the ids and array names in it, which differ between equal nodes."""
    if isinstance(node, dict):
        new = ("__id__", "file")
        return {name: _bare(part) for name, part in node.items() if name not in new}
    return [_bare(part) for part in node] if isinstance(node, list) else node


def untrusted_line(names: Iterable[str]) -> str:
    """Return an error message on types that are not in the table."""
    return (
        f"holds a {', a '.join(names)}, whose state cannot be checked; name it in trusted=[...] "
        "if you trust it, or say trusted=True"
    )
