"""A page of the report: its heading and its blocks."""

from collections.abc import Sequence
from dataclasses import dataclass

from deepcac.pages.sections import Block


@dataclass(frozen=True)
class ReportPage:
    """A page: its heading, the blocks above the contents, and the blocks below.

    Attributes
    ----------
    id, heading : str
        Name of its file without the suffix; the first line.
    blocks : sequence of Block
        Blocks in the list of contents.
    first : sequence of Block
        Blocks above the list of contents.
    name, subject : str
        Name in the menu, and the subject under which it is listed.
    written : frozenset of str
        Ids of the tables that are also written as files.
    back, of : str
        For pages of subtypes: the page that lists them, and the data set.
    synthetic : bool
        Whether all data are generated.
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
