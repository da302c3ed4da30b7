"""A page of the report: its heading and its blocks."""

from collections.abc import Sequence
from dataclasses import dataclass

from deepcac.pages.sections import Block


@dataclass(frozen=True)
class ReportPage:
    """A page: its heading, what is said first, and its blocks.

    Attributes
    ----------
    id, heading : str
        Its file, without the ending; the first line.
    blocks : sequence of Block
        Those that the list of contents names.
    first : sequence of Block
        Those above it.
    name, subject : str
        What the menu calls it, and the subject that it is listed under.
    written : frozenset of str
        Ids of the tables that are files as well.
    back, of : str
        The page of all pages of subtypes, and the data set that these are of.
    synthetic : bool
        Whether no patient stands behind it.
    """

    id: str
    heading: str
    blocks: Sequence[Block]
    first: Sequence[Block] = ()
    name: str = ""
    subject: str = ""
    written: frozenset[str] = frozenset()
    back: str = ""
    of: str = ""
    synthetic: bool = False
