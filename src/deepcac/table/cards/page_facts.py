"""The results of a page as lines of a card: the same tables, in another form."""

from deepcac.table.cards.model_card import table_lines
from deepcac.table.pages.page import Page, Table, tables_of

# Table of a page, and the item of the checklist that it fills.
_ITEMS = {
    "scores": "performance",
    "mean-scores": "performance",
    "benefits": "net_benefit",
    "subgroups": "subgroups",
    "subgroup-differences": "subgroups",
    "places": "heterogeneity",
    "places-scores": "heterogeneity",
    "updates": "updating",
    "study-size": "sample_size",
    "subtypes-km": "cluster_sizes",
    "subtypes-cac": "cluster_sizes",
}


def page_facts(page: Page) -> dict[str, list[str]]:
    """Return what a page answers and shows, by the item of the checklist."""
    answer = page.answer
    facts = {
        "answer": [answer.sentence, *answer.also, *answer.details],
        "limitations": list(answer.warnings),
    }
    for section in page.sections:
        for table in tables_of(section.blocks):
            if table.id in _ITEMS and table.rows:
                lines = [f"{table.title}:", *_lines(table)]
                facts[_ITEMS[table.id]] = [*facts.get(_ITEMS[table.id], ()), *lines]
    return {item: lines for item, lines in facts.items() if lines}


def _lines(table: Table) -> list[str]:
    return table_lines(table.head, table.rows)
