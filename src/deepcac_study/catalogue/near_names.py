"""The end of an error message on an unknown name: similar names, else all known ones."""

import difflib
from collections.abc import Collection, Iterable

_LONG = 300  # characters that a list of all names may have


def similar_names(name: str, names: Iterable[str]) -> list[str]:
    """Return up to three similar names, ignoring case, the most similar first."""
    by_lower = {entry.lower(): entry for entry in names}
    return [by_lower[near] for near in difflib.get_close_matches(name.lower(), by_lower)]


def near_names(name: str, names: Collection[str]) -> str:
    """Return the end of a message on an unknown name: similar names, else the known ones."""
    near, listed = similar_names(name, names), ", ".join(names)
    if near:
        return f"near names: {', '.join(near)}"
    if len(listed) > _LONG:
        return (
            f"none of the {len(names)} known is near it: {listed[:_LONG].rpartition(',')[0]}, ..."
        )
    return f"known: {listed}" if names else "none is known"
