"""The report's pages: a small first page, a page a subject and a page a paper."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment

from deepcac.files.atomic import atomic_path
from deepcac.pages.figures import Figure
from deepcac.pages.templating import environment
from deepcac_study.catalogue.protocol import switches
from deepcac_study.papers.summary import cells_in_words, claims_in_words, on_prediction
from deepcac_study.report.declarations import synonyms
from deepcac_study.report.judge.judgement import basis, sentence
from deepcac_study.report.papers.ledger_tables import claims_table, ledger_table
from deepcac_study.report.site.contents import HOME, Contents
from deepcac_study.report.site.counted import claims_by_paper, protocols_in_words, values_table
from deepcac_study.report.site.firstpage import answer, provenance
from deepcac_study.report.site.material import Material, generated_only
from deepcac_study.report.site.paperpages import PaperPage, paper_pages, places, switch_sentences
from deepcac_study.report.subtypes.subtype_figures import of_pages
from deepcac_study.report.subtypes.subtypepages import SubtypePage, pages_table

# A heading of a list of contents, and its entries: text and anchor.
Group = tuple[str, list[tuple[str, str]]]
# The title, and what the first page says of the report.
REAL = (
    "Real study: clustering-aware classification, reproduced",
    "Do clusters of patients help to predict their risk? Three papers claim this; two others "
    "provide the methods. Here every number and claim that they published is next to our own runs. "
    "Then we ask the question again, with models that are tuned equally.",
)
OWN = (
    "Own data: clustering-aware classification",
    "Runs on data that no paper has. They say nothing about the papers.",
)
BOTH = (
    "DEMO on real and generated data: clustering-aware classification",
    "Do clusters of patients help to predict their risk? Here the whole workflow asks small real "
    "tables that no paper has, with few resamples, and generated cohorts. That shows that "
    "everything runs, and says nothing about the papers.",
)
DEMO = (
    "DEMO with generated data: clustering-aware classification",
    "Do clusters of patients help to predict their risk? Here the whole workflow asks small "
    "generated cohorts. That shows that everything runs, and says nothing about the papers.",
)
PAGES = {
    "papers": "Papers",
    "ledger": "Ledger",
    "claims": "Claims",
    "judge": "Our study",
    "clustering": "Comparisons",
    "switches": "Switches",
    "subtypes": "Subtypes",
    "learning": "Supervised k-means",
    "decomposition": "Class decomposition",
    "theory": "Theory",
    "figures": "Figures",
    "runs": "Runs",
    "data": "Data",
    "own": "Own data",
    "synthetic": "Generated data",
}
# What is always there: what the papers print and claim, whether it was run or not.
_ALWAYS = ("papers", "ledger", "claims")
SUBJECTS = {
    "Papers": _ALWAYS,
    "Our study": ("judge",),
    "Comparisons": ("clustering", "switches"),
    "Subtypes": ("subtypes",),
    "Methods": ("learning", "decomposition", "theory"),
    "Figures": ("figures",),
    "Runs and data": ("runs", "data"),
    "Other data": ("own", "synthetic"),
}


def write_site(shown: Contents, subtypes: Sequence[SubtypePage], out: Path) -> None:
    """Write ``out/index.html`` and ``out/pages/*.html``."""
    made = environment("deepcac_study.report.site")
    made_from = shown.material.made_from
    menu = _menu(shown, Counter(page.kind for page in subtypes))
    title, what = _heading(shown.material)
    made.globals |= {
        "menu": menu,
        "synonyms": synonyms(),
        "what": what,
        "made_from": made_from,
        "provenance": "" if made_from else provenance(shown.material.runs.items),
    }
    pages = paper_pages(shown)
    _write(made, out / "index.html", "index.html", {**_first(shown), "title": title})
    inner = _inner(shown, pages, subtypes)
    listed = {name for pages_of_subject in menu.values() for name, _ in pages_of_subject}
    for name, heading in PAGES.items():
        if name in SUBJECTS["Other data"] and name not in listed:
            continue  # nothing was run, and no page leads there
        parts = {**inner, "title": f"{heading} – {title}", "current": name, "up": "../"}
        _write(made, out / "pages" / f"{name}.html", "page.html", parts)
    for page in pages:
        page_title = f"{page.paper.label} – {title}"
        parts = {"one": page, "title": page_title, "current": "papers", "up": "../"}
        _write(made, out / "pages" / f"paper_{page.paper.key}.html", "paper.html", parts)
    latents = of_pages(shown.all_figures)
    for subtype in subtypes:
        page_title = f"{subtype.title}, {subtype.dataset} – {title}"
        current = subtype.kind if subtype.kind in PAGES else "subtypes"
        parts = {"one": subtype, "title": page_title, "current": current, "up": "../"}
        parts["latents"] = latents.get(subtype.id)
        _write(made, out / "pages" / f"{subtype.id}.html", "subtype.html", parts)


def _heading(material: Material) -> tuple[str, str]:
    """Return the title and what the first page says of the report, by the data of its runs."""
    if len(material.real) or not len(material.runs):
        return REAL
    if not len(material.unpublished):
        return DEMO
    return BOTH if generated_only(material.runs) else OWN


def _menu(shown: Contents, subtypes: Mapping[str, int]) -> dict[str, list[tuple[str, str]]]:
    """Return the pages of each subject that have content, as pairs of id and name.

    `subtypes` is the number of pages of subtypes by kind: ``real``, ``own``, ``synthetic``.
    """
    kinds = {"subtypes": "real", "own": "own", "synthetic": "synthetic"}

    def filled(page: str) -> bool:
        parts = [page, *(part for part, home in HOME.items() if home == page)]
        rows = any(table.rows for part in parts for table in shown.tables.get(part, ()))
        figures = any(shown.figures.get(part) for part in parts)
        return bool(page in _ALWAYS or rows or figures or subtypes.get(kinds.get(page, ""), 0))

    every = {
        subject: [(page, PAGES[page]) for page in pages if filled(page)]
        for subject, pages in SUBJECTS.items()
    }
    return {subject: pages for subject, pages in every.items() if pages}


def _inner(
    shown: Contents, pages: list[PaperPage], subtypes: Sequence[SubtypePage]
) -> dict[str, Any]:
    """Return what the pages of the subjects show."""
    return {
        "on_page": lambda *parts: _on_page(shown, parts),
        "figure_index": _by_subject(shown.figures.get("figures", ())),
        "tables": shown.tables,
        "figures": shown.figures,
        "sources": shown.material.sources,
        "papers": pages,
        "judged_sentences": (sentence(shown.material.judged), basis(shown.material.judged)),
        "ledger_table": ledger_table(shown.ledger),
        "cells_in_words": cells_in_words(shown.counts),
        "protocols_in_words": protocols_in_words(shown.ledger),
        "claims_in_words": claims_in_words(shown.counts),
        "on_prediction": on_prediction(shown.counts),
        "claims_table": claims_table(shown.claims, places=places(shown)),
        "switch_effects": switch_sentences(switches().values(), shown.switched),
        "own_sentences": tuple(
            function(shown.material.judged, unpublished=True) for function in (sentence, basis)
        ),
        **{
            f"{kind}_subtypes": pages_table([p for p in subtypes if p.kind == kind], kind)
            for kind in ("real", "own", "synthetic")
        },
    }


def _on_page(shown: Contents, parts: Sequence[str]) -> list[Group]:
    """Return the figures and tables of parts of a page, for its list of contents."""
    figures = [(f.title, f"figure-{f.id}") for part in parts for f in shown.figures.get(part, ())]
    tables = [
        (table.title, f"table-{table.id}")
        for part in parts
        for table in shown.tables[part]
        if table.rows
    ]
    return [("Figures", figures), ("Tables", tables)]


def _by_subject(figures: Sequence[Figure]) -> list[Group]:
    """Return the figures by the data set that their titles name first."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for figure in figures:
        subject, of_data, rest = figure.title.partition(": ")
        dataset, _, setting = subject.partition(", ")
        name = f"{rest}, {setting}" if setting else rest
        entry = (name if of_data else figure.title, f"figure-{figure.id}")
        groups.setdefault(dataset if of_data else "Several data sets, or none", []).append(entry)
    return list(groups.items())


def _first(shown: Contents) -> dict[str, Any]:
    """Return what the first page shows."""
    return {
        "current": "index",
        "up": "",
        "answer": answer(shown),
        "n_real": len(shown.material.real),
        "counted": [values_table(shown.counts), claims_by_paper(shown.counts)],
    }


def _write(made: Environment, path: Path, template: str, parts: dict[str, Any]) -> None:
    with atomic_path(path) as partial:
        partial.write_text(made.get_template(template).render(**parts), encoding="utf-8")
