"""The report of the real study, from what ships alone."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from deepcac.errors import DataError
from deepcac_study.papers.claims import Claim, claims
from deepcac_study.papers.evidence import NOT_RUN
from deepcac_study.papers.ledger import Entry, read_rows
from deepcac_study.records import record_archive
from deepcac_study.records.reader import RUNS, by_kind, read
from deepcac_study.records.runs import load
from deepcac_study.report.site.shipped import report_shipped

ROOT = Path(__file__).parents[3]
KEPT = ROOT / "docs" / "results"


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    return report_shipped(tmp_path_factory.mktemp("study"))


def test_the_first_page_shows_the_answer_and_what_it_was_made_from(page):
    text = page.read_text(encoding="utf-8")
    rows = record_archive.manifest(KEPT / "records")
    assert f"Made from the {len(rows):,} records that ship" in text
    for row in rows:
        assert row.commit[:7] in text
        assert row.processor in text
    counts = pd.read_csv(KEPT / "summary.csv").query("part == 'cells' and paper == 'all'")
    agree = counts.query("group == 'independent' and quantity == 'agree'")["value"].item()
    assert f"{int(agree)} agree" in text


def test_no_page_says_that_what_does_not_ship_was_never_run(page):
    pages = sorted((page.parent / "pages").glob("*.html"))
    assert len(pages) > 15
    assert all("its records do not ship" in one.read_text(encoding="utf-8") for one in pages)


def test_ledger_and_claims_are_the_kept_ones(page):
    for name, but in (("ledger", ["run"]), ("claims", [])):
        ours = pd.read_csv(page.parent / f"{name}.csv", dtype=str).drop(columns=but)
        assert ours.equals(pd.read_csv(KEPT / f"{name}.csv", dtype=str).drop(columns=but))


@pytest.mark.parametrize("metric", ["f1", "auroc", "auprc"])
def test_the_kept_comparisons_are_those_of_the_shipped_records(page, metric):
    """But for bootstraps, for which the scores of single rows are needed."""
    name = f"clustering_{metric}.csv"
    kept, made = (pd.read_csv(folder / name) for folder in (KEPT, page.parent / "tables"))
    without = [column for column in kept.columns if not column.startswith("bootstrap")]
    pd.testing.assert_frame_equal(kept[without], made[without])


def test_a_kept_claim_is_what_its_rule_says_of_the_shipped_records(page):
    """Where all runs that decided a claim ship; most others have no runs here, and wait."""
    root = page.parents[2]
    laid = {str(root / "results" / row.path) for row in record_archive.manifest(KEPT / "records")}
    found = read(laid, root, unscored=laid)
    decided = claims(found, read_rows(KEPT / "ledger.csv", Entry))
    compared = 0
    for kept, made in zip(read_rows(KEPT / "claims.csv", Claim), decided, strict=True):
        for verdict, reason in (("verdict", "reason"), ("as_published", "as_published_reason")):
            if getattr(made, verdict) == NOT_RUN:
                continue
            compared += 1
            assert getattr(kept, verdict) == getattr(made, verdict), kept.id
            if kept.runs == made.runs:
                assert getattr(kept, reason) == getattr(made, reason), kept.id
    assert compared > 130


def test_no_link_is_dead(page):
    links = 0
    for path in page.parent.rglob("*.html"):
        for link in re.findall(r'(?:href|src)="([^"#]+)', path.read_text(encoding="utf-8")):
            if not link.startswith(("http", "data:", "mailto:")):
                links += 1
                assert (path.parent / link).exists(), (path.name, link)
    assert links > 500


def test_the_kept_ledger_says_what_the_records_say(tmp_path):
    """A cell that a shipped record decides has that record's number."""
    record_archive.lay(KEPT / "records", tmp_path / "results")
    runs = by_kind(sorted(tmp_path.rglob("*_k*.json")))[RUNS]
    found = {run.path: run for run in load(runs, tmp_path, unscored={str(run) for run in runs})}
    ledger = pd.read_csv(KEPT / "ledger.csv", dtype=str).query("kind == 'score'")
    compared = 0
    for _, cell in ledger[ledger["run"].isin(found)].iterrows():
        run = found[cell["run"]]
        mean, _ = run.score(run.reported(cell["item"], cell["paper"])) or (None, None)
        told = cell["as_published"] if run.protocol.startswith("as_published") else cell["sound"]
        if mean is not None and told == told:
            compared += 1
            assert float(told) == pytest.approx(mean, abs=6e-5) or float(told) == pytest.approx(
                100 * mean, abs=6e-3
            ), (cell["run"], cell["item"])
    assert compared > 100


def test_an_edited_record_is_refused(tmp_path):
    project = tmp_path / "project"
    shutil.copytree(ROOT / "config", project / "config")
    shutil.copytree(KEPT, project / "docs" / "results")
    manifest = project / "docs" / "results" / "records" / "manifest.csv"
    manifest.write_text(manifest.read_text().replace(",cpu,", ",gpu,", 1))
    with pytest.raises(DataError, match="not as in manifest"):
        report_shipped(tmp_path / "study", project)
