"""Render the five pages of the gallery on the site's home: python docs/gallery.py FOLDER.

`docs/python.md` makes the first one, ``gallery-compare.html``. The pages of the report are made
from the tables that ship; their links to other pages of the report are taken out.
"""

import csv
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import fields
from pathlib import Path

from pydantic import TypeAdapter
from sklearn.datasets import load_breast_cancer

from deepcac.pages.templating import environment
from deepcac_study.papers.entry import Entry
from deepcac_study.report.declarations import synonyms
from deepcac_study.report.papers.ledger_tables import ledger_table
from deepcac_study.report.report_page import ReportPage
from deepcac_study.report.subtypes.kept_subtypes import kept_pages
from deepcac_study.report.subtypes.subtypepages import subtype_sections

RESULTS = Path(__file__).parent / "results"
MADE_FROM = "Made from the tables that ship with the project."
SUBTYPE = "subtypes_cic_cac_lr_k3"
EMPTY = {column.name for column in fields(Entry) if "None" in str(column.type)}
LINK = re.compile(r'(<a\b[^>]*?) href="(?!#|https?:)[^"]*"')


def render_commands(folder: Path) -> None:
    """Render the pages of `deepcac profile` and `deepcac validate` on breast tumours."""
    table = load_breast_cancer(as_frame=True).frame
    table["diagnosis"] = table.pop("target").map({0: "malignant", 1: "benign"})
    columns = ["mean texture", "mean smoothness", "mean symmetry", "mean fractal dimension"]
    table = table[[*columns, "diagnosis"]]  # none of them ranks so well that `profile` asks
    with tempfile.TemporaryDirectory() as work:
        table.iloc[::2].to_csv(Path(work) / "here.csv", index=False)
        table.iloc[1::2].to_csv(Path(work) / "there.csv", index=False)
        for call in (
            "profile here.csv --label diagnosis --out gallery-profile.html",
            "fit here.csv --label diagnosis --learner lr --out model.json",
            "validate model.json there.csv --out gallery-validate.html",
        ):
            subprocess.run(["deepcac", *call.split()], cwd=work, check=True)
        for page in Path(work).glob("gallery-*.html"):
            shutil.copy(page, folder)


def render_report_pages(folder: Path) -> None:
    """Render the report's page of one run's subtypes, and DeepCAC's Table 2 of its ledger."""
    subtypes = next(page for page in kept_pages(RESULTS) if page.id == SUBTYPE)
    _render(subtype_sections(subtypes, None), "subtype", folder)
    with (RESULTS / "ledger.csv").open(encoding="utf-8", newline="") as file:
        cells = [
            {name: text or (None if name in EMPTY else "") for name, text in row.items()}
            for row in csv.DictReader(file)
            if (row["paper"], row["table"]) == ("deepcac", "2")
        ]
    table = ledger_table(TypeAdapter(list[Entry]).validate_python(cells))
    _render(ReportPage("ledger", "Ledger", [table]), "ledger", folder)


def _render(page: ReportPage, name: str, folder: Path) -> None:
    """Write a page that needs no other file: its figures are inside, and its links are out."""
    made = environment("deepcac_study.report.site")
    made.globals |= {"menu": {}, "made_from": MADE_FROM, "provenance": "", "embedded": True}
    parts = {"one": page, "title": page.heading, "current": name, "synonyms": synonyms()}
    text = made.get_template("page.html").render(**parts)
    (folder / f"gallery-{name}.html").write_text(LINK.sub(r"\1", text), encoding="utf-8")


if __name__ == "__main__":
    render_commands(Path(sys.argv[1]))
    render_report_pages(Path(sys.argv[1]))
