"""One page per paper: its tables with our numbers, its claims, and deviations of its program."""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import pandas as pd

from deepcac.pages.figures import Figure
from deepcac.pages.sections import Block, Section, Statement, titled
from deepcac.pages.tables import Table
from deepcac.pages.wording import minus, people
from deepcac_study.catalogue.facts import facts
from deepcac_study.catalogue.methods import label as method_label
from deepcac_study.catalogue.protocol import Switch, switches
from deepcac_study.papers.bibliography import PAPERS, Paper
from deepcac_study.papers.summary import cells_in_words, claims_in_words
from deepcac_study.report.declarations import declared_table
from deepcac_study.report.papers.ledger_tables import Place, claims_table, figure_patterns
from deepcac_study.report.report_page import ReportPage
from deepcac_study.report.site.contents import Contents

_METRICS = ("auroc", "f1", "auprc")  # the first available one is reported
_MOST = 4  # our figures per figure of the paper
_CELLS = (
    "Each cell shows, from top to bottom: the printed value, our run as published, our run by the "
    "corrected protocol, and how far the deciding run lies from the printed value. ✓ agrees, ✗ "
    "differs, grey was not run."
)
_PICTURES = (
    "The papers' pictures are not copied here. Each heading says what the printed figure plots; "
    "below it stand our own figures of the same quantity."
)
_DRAWING = "We have no figure to compare: it is a drawing, or its runs are not in this report."
_PROTOCOLS = (
    "Our runs follow one of two protocols. The corrected protocol does what the paper's text says, "
    "without leaks. As published does what its program did."
)
_SWITCHED = (
    "Each difference is a switch that can be turned on by itself. Its effect is the score with it "
    "minus the score without it. A switch that was not run shows no effect."
)
_SMALL = 0.0005  # a difference that three decimals do not show


def touching(paper: str) -> list[Switch]:
    """Return the switches that affect a printed table of a paper, given by its key."""
    every = switches().values()
    if not any(paper in switch.touches for switch in every):
        return []
    return [
        switch for switch in every if paper in switch.touches or switch.touches.startswith("all")
    ]


def switch_sentences(chosen: Iterable[Switch], effects: pd.DataFrame) -> list[str]:
    """Return a sentence for each switch that was run, with its largest effect."""
    sentences = []
    for switch in chosen:
        rows = effects[effects["protocol"] == switch.label]
        metric = next((name for name in _METRICS if name in set(rows["metric"])), None)
        if metric:
            sentences.append(_sentence(switch, rows[rows["metric"] == metric]))
    return sentences


def _sentence(switch: Switch, rows: pd.DataFrame) -> str:
    """Return what a switch changes, by its largest change over the runs."""
    largest: Any = next(rows.loc[[rows["mean"].abs().idxmax()]].itertuples())
    what = f"the {people(largest.metric)} of {method_label(largest.method)} on {largest.dataset}"
    what += f", k = {largest.k}" * (largest.k > 1)
    text = (
        f"{switch.label}. The program: {switch.published}. The text: {switch.sound}. "
        f"Without this difference {what} {_change(largest)}"
    )
    if len(rows) > 1:
        moved = rows["second_mean"] - rows["first_mean"]
        text += f"; this is the largest change of {len(rows)} runs, from {moved.min():+.3f} to "
        text += f"{moved.max():+.3f}"
    return minus(f"{text}.")


def _change(row: Any) -> str:
    """Return a text on the change of the score from the program's way to the text's."""
    moved = row.second_mean - row.first_mean
    if abs(moved) < _SMALL:
        return f"stays at {row.second_mean:.3f}"
    verb = "rises" if moved > 0 else "falls"
    interval = f", 95 % interval {-row.high:+.3f} to {-row.low:+.3f}" * (row.low == row.low)
    return f"{verb} from {row.first_mean:.3f} to {row.second_mean:.3f} ({moved:+.3f}{interval})"


def paper_pages(shown: Contents) -> list[ReportPage]:
    """Return the page of every paper: its tables, figures and claims, and its program."""
    targets = report_places(shown)
    return [_page(paper, shown, targets) for paper in PAPERS.values()]


def _page(paper: Paper, shown: Contents, targets: Mapping[str, Place]) -> ReportPage:
    """Return a paper's page: tables, figures, claims and switches."""
    claims = [claim for claim in shown.claims if claim.paper == paper.key]
    tables = [table for table in shown.tables["papers"] if table.group == paper.key]
    printed = _printed_figures(paper, shown.all_figures)
    blocks = (block for section in printed for block in section.blocks)
    placed = {block.id for block in blocks if isinstance(block, Figure)}
    others = (f for section in paper.pictures for f in shown.figures.get(section, ()))
    more = [figure for figure in others if figure.id not in placed][:_MOST]
    cells = cells_in_words(shown.counts, paper.key)
    fared = claims_in_words(shown.counts, paper.key) if cells else ""
    sections = [
        Section("tables", "Its tables next to ours", [_CELLS, *titled(tables, folded=True)]),
        *([Section("figures", "Its figures, and ours", [_PICTURES, *printed])] if printed else []),
        Section("claims", "Its claims", [claims_table(claims, f"claims_{paper.key}", targets)]),
        *([Section("more", "More figures behind its claims", more)] if more else []),
        Section(
            "program",
            "Where its program differs from its text",
            [
                _SWITCHED,
                *map(Statement, switch_sentences(touching(paper.key), shown.switched)),
                *titled([_switches(paper, shown.tables["switches"][0])]),
            ],
        ),
    ]
    answer = f"{paper.proposes} {cells or 'Nothing of this paper was run here.'} {fared}"
    return ReportPage(
        id=f"paper_{paper.key}",
        heading=f"{paper.label}: {paper.reference.title}",
        blocks=sections,
        first=[str(paper.reference), _PROTOCOLS, Statement(answer)],
        name=paper.label,
        written=frozenset(table.id for table in tables),
    )


def _printed_figures(paper: Paper, drawn: Sequence[Figure]) -> list[Section]:
    """Return sections on the figures of a paper, with ours that correspond."""
    panels: dict[str, list[str]] = {}
    for row in facts("figures", paper.folder):
        panel = f"({row['panel']}) " if row["panel"] else ""
        panels.setdefault(row["figure"], []).append(f"{panel}{row['what_is_plotted']}")
    sections, seen = [], set[str]()
    for number, plotted in panels.items():
        patterns = figure_patterns(paper.key, number)
        ours = [
            f for f in drawn if any(fnmatchcase(f"figure:{f.id}", pattern) for pattern in patterns)
        ][:_MOST]
        above = ", ".join(figure.title for figure in ours if figure.id in seen)
        sentences = [f"Shown above: {above}."] * bool(above) or [_DRAWING] * (not ours)
        new: list[Block] = [figure for figure in ours if figure.id not in seen]
        blocks = [*plotted, *map(Statement, sentences), *new]
        sections.append(Section(f"printed-{number}", f"Figure {number}", blocks))
        seen |= {figure.id for figure in ours}
    return sections


def _switches(paper: Paper, table: Table) -> Table:
    """Return the rows of the switches that affect a printed table of the paper."""
    labels = {switch.label for switch in touching(paper.key)}
    rows = [row for row in table.rows if row[0].text in labels]
    return declared_table("paper_switches", rows, key=paper.key, label=paper.label, head=table.head)


def report_places(shown: Contents) -> dict[str, Place]:
    """Return the places of all non-empty tables and figures, by ``table:id`` and ``figure:id``."""
    targets = {}
    for page, tables in shown.tables.items():
        for table in tables:
            if table.rows:
                home = f"paper_{table.group}" if table.group else page
                title = table.title
                if table.group:  # the paper's year and authors are next to it
                    paper = PAPERS[table.group]
                    title = title.replace(paper.citation, paper.label)
                targets[f"table:{table.id}"] = Place(title, f"pages/{home}.html#table-{table.id}")
    for page, figures in shown.figures.items():
        for figure in figures:
            title = figure.title.partition(" (as ")[0]
            targets[f"figure:{figure.id}"] = Place(
                f"Figure: {title}", f"pages/{page}.html#figure-{figure.id}"
            )
    return targets
