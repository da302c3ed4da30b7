"""What every page says of its table: columns that know the label, and names that may be quoted."""

from deepcac.pages.sections import Block, Remarks
from deepcac.table.findings.label_leaks import HEAD
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.page_text import quotable


def page_names(table: LabelledTable, *names: str) -> frozenset[str]:
    """Return what a page may quote: `names`, and those that its table has."""
    return quotable(table.columns, (*table.classes, *table.words, table.label, *names))


def leak_warning(table: LabelledTable) -> list[Block]:
    """Return a warning of columns that know the label."""
    return [Remarks(table.leaks, HEAD, warning=True)] if table.leaks else []
