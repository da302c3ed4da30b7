"""Questions that a table of scores answers by a group-by (``questions.yaml``)."""

from functools import cache
from importlib import resources

from pydantic import Field

from deepcac.files.declared import Entry, checked, parsed


class Question(Entry):
    """One entry of ``questions.yaml``."""

    title: str = Field(description="the heading of its table")
    note: str = Field(description="what a reader must know to read it")
    by: list[str] = Field(description="columns that tell what is compared")
    scores: list[str] = Field(min_length=1, description="columns that are averaged")


@cache
def questions() -> dict[str, Question]:
    """Return every question by its name, which is letters only."""
    text = (resources.files("deepcac_study.catalogue") / "questions.yaml").read_text("utf-8")
    entries = parsed(text)
    return {
        name: checked(Question, entry, f"questions.yaml, {name}") for name, entry in entries.items()
    }
