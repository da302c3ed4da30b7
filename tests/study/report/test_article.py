"""The article's numbers are those of the tables, and its blanks are marked."""

import re
import shutil

import pytest
import yaml
from checkouts import ROOT

from deepcac.errors import ConfigError, DataError
from deepcac_study.report.article import write_article

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


def test_without_typst_the_lock_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "typst", None)
    with pytest.raises(ConfigError, match=r"locks/article\.txt"):
        write_article(TEXT, tmp_path / "a.pdf", ROOT)


def test_the_article_is_set_and_a_table_that_lacks_a_row_is_named(tmp_path):
    pytest.importorskip("typst")
    write_article(TEXT, tmp_path / "a.pdf", ROOT)
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    for folder in ("paper", "docs/results"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("records"))
    summary = tmp_path / "docs/results/summary.csv"
    summary.write_text(
        summary.read_text().replace("cells,all,independent,agree", "cells,all,x,agree")
    )
    with pytest.raises(DataError, match=r"article\.typ"):
        write_article(tmp_path / "paper" / "article.typ", tmp_path / "b.pdf", tmp_path)
    assert not (tmp_path / "b.pdf").exists()
