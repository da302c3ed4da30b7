"""The report's pages: a small first page, one page per subject and one per paper."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from deepcac.files.atomic import atomic_path
from deepcac.pages.figures import Figure
from deepcac.pages.sections import Block, Section, Statement, titled
from deepcac.pages.tables import Table
from deepcac.pages.templating import environment
from deepcac_study.catalogue.protocol import switches
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.summary import Count, cells_in_words, claims_in_words, on_prediction
from deepcac_study.report.data.source_notes import source_sections
from deepcac_study.report.declarations import pages as declared_pages
from deepcac_study.report.declarations import synonyms
from deepcac_study.report.judge.judgement import basis, sentence
from deepcac_study.report.papers.ledger_tables import claims_table, ledger_table
from deepcac_study.report.report_page import ReportPage
from deepcac_study.report.site.contents import Contents
from deepcac_study.report.site.firstpage import (
    answer,
    claims_by_paper,
    protocols_in_words,
    provenance,
    values_table,
)
from deepcac_study.report.site.material import Material, generated_only
from deepcac_study.report.site.paperpages import paper_pages, report_places, switch_sentences
from deepcac_study.report.subtypes.subtype_figures import of_pages
from deepcac_study.report.subtypes.subtypepages import (
    KINDS,
    SubtypePage,
    pages_table,
    subtype_sections,
)

# Title, question, and a note on the first page about the report.
_QUESTION = "Do clusters of patients help to predict their risk?"
REAL = (
    "Real study: clustering-aware classification, reproduced",
    _QUESTION,
    "Three papers claim that clusters of patients help to predict their risk; two others provide "
    "the methods. Here every number and claim that they published is next to our own runs. "
    "Then we ask the question again, with models that are tuned equally.",
)
OWN = (
    "Own data: clustering-aware classification",
    "",
    "Runs on data that no paper has. They say nothing about the papers.",
)
BOTH = (
    "DEMO on real and generated data: clustering-aware classification",
    _QUESTION,
    "Here the whole workflow asks small real tables that no paper has, with few resamples, and "
    "generated cohorts. That shows that everything runs, and says nothing about the papers.",
)
DEMO = (
    "DEMO with generated data: clustering-aware classification",
    _QUESTION,
    "Here the whole workflow asks small generated cohorts. That shows that everything runs, and "
    "says nothing about the papers.",
)
_OTHER = "Other data"  # its pages are written only where the menu leads there
_NO_SET = "Several data sets, or none"


def write_site(shown: Contents, subtypes: Sequence[SubtypePage], out: Path) -> None:
    """Write ``out/index.html`` and ``out/pages/*.html``."""
    made = environment("deepcac_study.report.site")
    made_from = shown.material.made_from
    pages = _pages(shown, subtypes)
    menu: dict[str, list[tuple[str, str]]] = {}
    for page in pages:
        if page.blocks:
            menu.setdefault(page.subject, []).append((page.id, page.name))
    title, question, what = _heading(shown.material)
    made.globals |= {
        "menu": menu,
        "synonyms": synonyms(),
        "question": question,
        "what": what,
        "made_from": made_from,
        "provenance": "" if made_from else provenance(shown.material.runs.items),
    }
    _write(made, out / "index.html", "index.html", {**_first(shown), "title": title})
    latents = of_pages(shown.all_figures)
    inner = [
        *((page.id, page) for page in pages if page.blocks or page.subject != _OTHER),
        *(("papers", page) for page in paper_pages(shown)),
        *((KINDS[page.kind], subtype_sections(page, latents.get(page.id))) for page in subtypes),
    ]
    for current, page in inner:
        parts = {"one": page, "title": f"{page.name} – {title}", "current": current, "up": "../"}
        parts["written"] = page.written
        _write(made, out / "pages" / f"{page.id}.html", "page.html", parts)


def _pages(shown: Contents, subtypes: Sequence[SubtypePage]) -> list[ReportPage]:
    """Return the page of each subject; an empty one has a note on what is missing."""
    judgement, counts = shown.material.judgement, shown.counts
    sentences = {
        "ledger": (cells_in_words(counts), protocols_in_words(shown.ledger)),
        "claims": (f"{claims_in_words(counts)} {on_prediction(counts)}",),
        "judge": (sentence(judgement), basis(judgement)),
        "switches": switch_sentences(switches().values(), shown.switched),
        "own": (sentence(judgement, unpublished=True), basis(judgement, unpublished=True)),
    }
    unwritten = {
        "ledger": ledger_table(shown.ledger),
        "claims": claims_table(shown.claims, places=report_places(shown)),
    }
    for kind, name in KINDS.items():
        unwritten[name] = pages_table([page for page in subtypes if page.kind == kind], kind)
    made = []
    for name, declared in declared_pages().items():
        words = dict(declared)
        notes = words.pop("notes", [])
        empty = words.pop("empty", "")
        own = [table for table in shown.tables.get(name, ()) if table.rows]
        tables = [table for table in (unwritten.get(name), *own) if table and table.rows]
        figures = shown.figures.get(name, ())
        blocks: list[Block] = [*figures, *_under(tables, words["heading"])]
        if name == "papers":
            blocks = [*figures, *_papers(counts)]
        elif name == "figures":
            blocks = [*_by_subject(figures)]
        elif name == "data":
            blocks += source_sections(shown.material.sources)
        said = [text for text in sentences.get(name, ()) if text.strip()]
        said = said or [empty] * (not blocks)
        made.append(
            ReportPage(
                id=name,
                blocks=blocks,
                first=[*notes, *map(Statement, said)],
                written=frozenset(table.id for table in own),
                synthetic=name == "synthetic",
                **words,
            )
        )
    return made


def _under(tables: Sequence[Table], heading: str) -> list[Section]:
    """Return tables under their titles; one whose title is the page's heading goes without."""
    sections = titled(tables)
    return [replace(one, heading="") if one.heading == heading else one for one in sections]


def _papers(counts: Sequence[Count]) -> list[Section]:
    """Return a section for each paper, with a link to its page."""
    return [
        Section(
            paper.key,
            Markup('<a href="paper_{}.html">{}</a>').format(paper.key, paper.label),
            [str(paper.reference), *map(Statement, [paper.proposes, *_fared(counts, paper.key)])],
        )
        for paper in PAPERS.values()
    ]


def _fared(counts: Sequence[Count], paper: str) -> list[str]:
    cells = cells_in_words(counts, paper)
    return [f"{cells} {claims_in_words(counts, paper)}"] if cells else []


def _heading(material: Material) -> tuple[str, str, str]:
    """Return title, question and note of the first page, which depend on the runs' data."""
    if len(material.real) or not len(material.runs):
        return REAL
    if not len(material.unpublished):
        return DEMO
    return BOTH if generated_only(material.runs) else OWN


def _by_subject(figures: Sequence[Figure]) -> list[Section]:
    """Return the figures grouped by the data set at the start of their titles."""
    groups: dict[str, list[Figure]] = {}
    for figure in figures:
        subject, of_data, _ = figure.title.partition(": ")
        groups.setdefault(subject.partition(", ")[0] if of_data else _NO_SET, []).append(figure)
    return [Section("", name, group) for name, group in groups.items()]


def _first(shown: Contents) -> dict[str, Any]:
    """Return the template's values for the first page."""
    return {
        "current": "index",
        "up": "",
        "answer": answer(shown),
        "n_real": len(shown.material.real),
        "counted": titled([values_table(shown.counts), claims_by_paper(shown.counts)]),
    }


def _write(made: Environment, path: Path, template: str, parts: dict[str, Any]) -> None:
    with atomic_path(path) as partial:
        partial.write_text(made.get_template(template).render(**parts), encoding="utf-8")
