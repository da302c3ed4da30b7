"""The article's numbers are those of the tables, and its blanks are marked."""

import re
import shutil

import pytest
import yaml
from checkouts import ROOT

TEXT = ROOT / "paper" / "article.typ"


def test_no_number_of_a_result_is_typed_into_the_text():
    prose = TEXT.read_text(encoding="utf-8").partition("= Introduction")[2]
    prose = prose.partition("[References]")[0]
    prose = re.sub(r"#(let|figure|text|set)\b.*?\n\n|\[[\d-]+\]", "", prose, flags=re.DOTALL)
    typed = set(re.findall(r"(?<![\w#.])\d[\d.,]*\d|(?<![\w#.])\d(?![\w.])", prose))
    assert typed <= {"0.02", "3,000", "10,000", "3000", "10000", "2"}


def test_what_only_a_person_can_fill_in_is_marked():
    about = yaml.safe_load((ROOT / "paper" / "metadata.yaml").read_text(encoding="utf-8"))
    (author,) = about["authors"]
    assert author["name"] == "The DeepCAC-repro authors"
    for blank in (author["orcid"], about["affiliations"][0]["name"], about["review"]):
        assert "to be filled in" in blank
    assert "no attempt is on record" in about["contact_with_the_original_authors"]


def test_the_article_is_set_and_a_table_that_lacks_a_row_is_named(tmp_path):
    typst = pytest.importorskip("typst")
    assert typst.compile(str(TEXT), root=str(ROOT)).startswith(b"%PDF")
    for folder in ("paper", "docs/results"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("records"))
    summary = tmp_path / "docs/results/summary.csv"
    summary.write_text(
        summary.read_text().replace("cells,all,independent,agree", "cells,all,x,agree")
    )
    with pytest.raises(typst.TypstError):
        typst.compile(str(tmp_path / "paper" / "article.typ"), root=str(tmp_path))
