"""The results of a page as lines of a card: the same tables, in another form."""

from deepcac.pages.sections import Section
from deepcac.pages.tables import Table
from deepcac.scoring.resampled_scores import ICI, INTERCEPT, RATIO, SLOPE
from deepcac.table.cards.model_card import TableLine, table_lines
from deepcac.table.pages.page_sections import Page
from deepcac.table.pages.score_tables import NAMES

# Table or section of a page, and the item of the checklist that it fills.
_ITEMS = {
    "scores": "performance",
    "mean-scores": "performance",
    "benefits": "net_benefit",
    "subgroups": "subgroups",
    "subgroup-differences": "subgroups",
    "places": "heterogeneity",
    "places-scores": "heterogeneity",
    "updates": "updating",
    "sizes": "sample_size",
    "study-size": "sample_size",
    "subtypes-km": "cluster_sizes",
    "subtypes-cac": "cluster_sizes",
}
_PLACES = (
    "Every place is scored by itself (see 23b). From five places on, scores are pooled by random "
    "effects, with an interval of the mean and one of a new place."
)
_CALIBRATION = [NAMES[score] for score in (RATIO, INTERCEPT, SLOPE, ICI)]


def page_facts(page: Page) -> dict[str, list[str]]:
    """Return what a page answers and shows, by the item of the checklist."""
    answer = page.answer
    facts: dict[str, list[str]] = {
        "answer": [answer.sentence, *answer.also, *answer.details],
        "limitations": list(answer.warnings),
    }
    for section in page.sections:
        _fill(facts, section)
    if "subgroups" in facts:
        facts["fairness"] = ["The scores of each subgroup and their differences are in 23a."]
    if "heterogeneity" in facts:
        facts["heterogeneity_method"] = [_PLACES]
    return {item: lines for item, lines in facts.items() if lines}


def _fill(facts: dict[str, list[str]], section: Section) -> None:
    """Add the notes of a section that fills an item, and the tables in it, in order."""
    item = _ITEMS.get(section.id)
    for block in section.blocks:
        if isinstance(block, Section):
            _fill(facts, block)
        elif isinstance(block, str) and item is not None:
            facts.setdefault(item, []).append(block)
        elif isinstance(block, Table) and block.id == "scores":
            _split_scores(facts, block)
        elif isinstance(block, Table) and block.id in _ITEMS and block.rows:
            lines = facts.setdefault(_ITEMS[block.id], [])
            # Two tables without a line between them are one table of markdown.
            after_table = bool(lines) and isinstance(lines[-1], TableLine)
            lines += [f"{block.title}:"] * after_table + table_lines(block.head, block.texts)


def _split_scores(facts: dict[str, list[str]], table: Table) -> None:
    for item, wanted in (("performance", False), ("calibration", True)):
        rows = [row for row in table.texts if (row[0] in _CALIBRATION) == wanted]
        facts.setdefault(item, []).extend(table_lines(table.head, rows))
