"""The report's pages by subject; the menu shows those that have something to show."""

from collections.abc import Mapping

from deepcac_study.report.site.contents import Contents

PAGES = {
    "papers": "Papers",
    "ledger": "Ledger",
    "claims": "Claims",
    "judge": "Judge",
    "clustering": "Comparisons",
    "switches": "Switches",
    "subtypes": "Subtypes",
    "learning": "Supervised k-means",
    "decomposition": "Class decomposition",
    "theory": "Theory",
    "figures": "Curves",
    "runs": "Runs",
    "data": "Data",
    "own": "Own data",
    "synthetic": "Generated data",
}
# What is always there: what the papers print and claim, whether it was run or not.
_ALWAYS = ("papers", "ledger", "claims")
SUBJECTS = {
    "Papers": _ALWAYS,
    "Judge": ("judge",),
    "Comparisons": ("clustering", "switches"),
    "Subtypes": ("subtypes",),
    "Methods": ("learning", "decomposition", "theory"),
    "Curves": ("figures",),
    "Runs and data": ("runs", "data"),
    "Other data": ("own", "synthetic"),
}

Menu = dict[str, list[tuple[str, str]]]


def menu(shown: Contents, subtypes: Mapping[str, int]) -> Menu:
    """Return the pages of each subject that have content, as pairs of id and name.

    Parameters
    ----------
    shown : Contents
    subtypes : mapping
        Number of pages of subtypes by kind: ``real``, ``own``, ``synthetic``.
    """
    kinds = {"subtypes": "real", "own": "own", "synthetic": "synthetic"}

    def filled(page: str) -> bool:
        rows = any(table.rows for table in shown.tables.get(page, ()))
        many = subtypes.get(kinds.get(page, ""), 0)
        return bool(page in _ALWAYS or rows or shown.figures.get(page) or many)

    every = {
        subject: [(page, PAGES[page]) for page in pages if filled(page)]
        for subject, pages in SUBJECTS.items()
    }
    return {subject: pages for subject, pages in every.items() if pages}
