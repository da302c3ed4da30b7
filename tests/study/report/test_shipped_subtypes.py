"""Pages of subtypes that ship: open data only, no cell of few patients, the same page again."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from deepcac_study.catalogue.registry import load_registry
from deepcac_study.report.data.restricted_counts import SMALL
from deepcac_study.report.subtypes.shipped_subtypes import FOLDER, shipped_pages

ROOT = Path(__file__).parents[3]
KEPT = ROOT / "docs" / "results"
PAGES = {page.id: page for page in shipped_pages(KEPT)}


def test_real_patients_of_three_sources_ship():
    assert {page.dataset for page in PAGES.values()} >= {"cic", "diabetes", "sepsis"}
    assert {page.kind for page in PAGES.values()} == {"real"}
    assert {path.stem for path in (KEPT / FOLDER).glob("*.json")} == set(PAGES)


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_page_is_of_open_data_and_shows_no_few_patients(page):
    registry = load_registry(ROOT / "config" / "registry")
    assert not registry.source(registry.dataset(page.dataset).source).closed
    for row in page.who.rows:
        for cell in row[1:3]:
            counted = re.fullmatch(r"[\d,]+", cell.text)
            assert counted is None or int(cell.text.replace(",", "")) >= SMALL
    assert page.figure is not None
    assert page.k == len(page.who.rows)
    assert page.profile.shape[1] == page.k
    assert replace(page) == page
