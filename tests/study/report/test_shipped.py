"""The report of the real study, from what ships alone."""

import html
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from deepcac.errors import DataError
from deepcac.files.storage import read_json
from deepcac.pages.wording import minus
from deepcac_study.catalogue.registry import load_registry
from deepcac_study.jobs.layout import Layout
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.claims import claims
from deepcac_study.papers.deepcac.length_of_stay import printed_clusters
from deepcac_study.papers.entry import Entry
from deepcac_study.papers.ledger import entries, write_rows
from deepcac_study.records import record_archive
from deepcac_study.records.reader import read
from deepcac_study.report.record_tables import about, write_tables
from deepcac_study.report.site.shipped import report_shipped, shipped_records
from deepcac_study.report.subtypes.shipped_subtypes import shipped_pages

ROOT = Path(__file__).parents[3]
KEPT = ROOT / "docs" / "results"
# Of single rows, of benchmarks and repeated runs, of finished studies: no record that ships has it.
MEASURED = {
    "card_items",
    "checks",
    "coverage",
    *("bootstraps", "calibration", "curves", "by_place", "known_then", "expertnet_printed"),
    *(
        "faults",
        "fit_learners",
        "forged_records",
        "gpu",
        "installation",
        "levels",
        "rotterdam_gbsg",
        "whole_run",
    ),
    *("repeats", "repeats_again", "repeats_other_cpu", "repeats_within", "spotcheck"),
    *("cpu_repeats", "tolerances", "shared_patients", "by_size"),
    *("added_cohorts", "added_cohorts_pooled", "added_on_splines", "added_on_splines_pooled"),
    *("criteria", "factorial", "factorial_splits", "judge_blends", "judge_division_pairs"),
    *("judge_divisions", "judge_richer_labels", "judge_scorecards", "judge_transfer"),
    *("subtype_arms", "subtype_stability", "table_shape"),
    *("verdicts_before_after", "verdicts_reversed"),
}


pytestmark = pytest.mark.long  # a report of every record that ships


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
    sentence = pd.read_csv(KEPT / "headline.csv")["sentence"].item()
    for shown in (page, ROOT / "README.md", ROOT / "docs" / "index.md"):
        for part in minus(sentence).split(". "):
            assert part in minus(shown.read_text(encoding="utf-8")), shown.name


def shown_table(path: Path, table: str) -> pd.DataFrame:
    """Return a table of a page as text."""
    text = path.read_text(encoding="utf-8")
    body = re.search(rf'<table id="table-{table}".*?</table>', text, re.S).group()
    rows = [
        [html.unescape(re.sub(r"<[^>]+>", "", cell)).strip() for cell in cells]
        for row in re.findall(r"<tr>(.*?)</tr>", body, re.S)
        if (cells := re.findall(r"<t[dh][ >].*?</t[dh]>", row, re.S))
    ]
    return pd.DataFrame(rows[1:], columns=rows[0])


def numbers_by_paper(page, table):
    found = shown_table(page, table).set_index("paper").replace(",", "", regex=True).astype(int)
    found.index = [name.partition(" (")[0] for name in found.index]
    return found


def test_printed_values_are_counted_alike_on_every_page(page):
    found = numbers_by_paper(page, "counted_values")
    *papers, every = found.index
    assert (found.loc[papers].sum() == found.loc[every]).all()
    standings = list(found.columns[:-2])
    assert (found[standings].sum(axis=1) == found["all independent"]).all()
    ledger = shown_table(page.parent / "pages" / "ledger.html", "ledger")
    ledger["verdict"] = ledger["verdict"].str.split().str[1:].str.join(" ")  # without its mark
    own = ledger[ledger["counted as"] == "independent"]
    counted = pd.crosstab(own["paper"], own["verdict"])
    assert sorted(counted) == sorted(standings)
    pd.testing.assert_frame_equal(
        counted[standings], found.loc[sorted(papers), standings], check_names=False
    )
    for paper in PAPERS.values():
        row = found.loc[paper.label]
        said = (
            f"Open data can decide {row[['agree', 'differ', 'not run']].sum():,} of its "
            f"{row['all independent']:,} independent printed values: {row['agree']:,} agree"
        )
        for name in (f"paper_{paper.key}", "papers"):
            assert said in (page.parent / "pages" / f"{name}.html").read_text(encoding="utf-8")


def test_claims_are_counted_alike_on_every_page(page):
    found = numbers_by_paper(page, "counted_claims")
    *papers, every = found.index
    assert (found.loc[papers].sum() == found.loc[every]).all()
    listed = shown_table(page.parent / "pages" / "claims.html", "claims")
    listed["verdict"] = listed["verdict"].str.split().str[1:].str.join(" ")
    verdicts = ["holds", "partly", "fails", "cannot hold"]
    counted = pd.crosstab(listed["paper"], listed["verdict"])
    for paper in papers:
        assert list(counted.loc[paper, verdicts]) == list(found.loc[paper, verdicts])
        assert counted.loc[paper].sum() == found.loc[paper, "all"]


def test_no_page_says_that_what_does_not_ship_was_never_run(page):
    pages = sorted((page.parent / "pages").glob("*.html"))
    assert len(pages) > 15
    assert all("do not ship" in one.read_text(encoding="utf-8") for one in pages)


@pytest.mark.parametrize("name", ["ledger", "claims", "summary"])
def test_every_printed_cell_and_claim_is_decided_as_in_the_kept_tables(page, name):
    """From the records and sweeps that ship alone."""
    made = (page.parent / f"{name}.csv").read_text(encoding="utf-8")
    assert made == (KEPT / f"{name}.csv").read_text(encoding="utf-8")


def test_what_stands_beside_decides_no_printed_cell_and_no_claim(page):
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    runs = Layout(load_registry(ROOT / "config" / "registry"), config).runs_beside()
    sweeps = [f"results/sweeps/{name}.csv" for name in config["sweeps_beside"]]
    shipped = {f"results/{row.path}" for row in record_archive.manifest(KEPT / "records")}
    root = page.parents[2]
    assert all((root / path).exists() for path in (*runs, *sweeps))
    kept = KEPT / "measured"
    measured = {
        f"results/{x.relative_to(kept)}" for x in kept.rglob("*.*") if x.suffix != ".parquet"
    }
    paths = [root / path for path in sorted((shipped | measured) - {*runs, *sweeps})]
    references, unscored = printed_clusters(), {str(root / path) for path in shipped}
    findings = read(paths, root, references=references, unscored=unscored)
    ledger = entries(findings)
    write_rows(root / "ledger.csv", Entry, ledger)
    assert (root / "ledger.csv").read_bytes() == (KEPT / "ledger.csv").read_bytes()
    decided = {claim.id: (claim.verdict, claim.as_published) for claim in claims(findings, ledger)}
    kept = pd.read_csv(KEPT / "claims.csv", keep_default_na=False).set_index("id")
    assert decided == {id_: (row["verdict"], row["as_published"]) for id_, row in kept.iterrows()}


def test_what_is_committed_follows_from_the_shipped_records_or_was_measured(page):
    tables = write_tables(page.parents[1])
    made = {path.name for path in tables.iterdir()}
    kept = {path.name for kind in ("csv", "svg") for path in KEPT.glob(f"*.{kind}")}
    assert kept - made == {f"{name}.csv" for name in MEASURED}
    for name in sorted(made & kept):
        assert (tables / name).read_bytes() == (KEPT / name).read_bytes(), name
    for name in ("bootstraps.csv",):  # the intervals that ship are all that the report has
        assert (page.parent / "tables" / name).read_bytes() == (KEPT / name).read_bytes()
    points = pd.read_csv(tables / "judge_helping.csv").set_index("dataset")
    means = pd.read_csv(tables / "judge_tables.csv").set_index(["dataset", "contender"])
    auroc = means["auroc_tuned"]
    for name in ("uci_colic", "uci_vowel"):
        ahead = auroc[name, "lgbm"] - auroc[name, "lr"]
        assert points.loc[name, "advantage"] == pytest.approx(ahead, abs=2e-5)
    stored = read_json(KEPT / "about.json")
    del stored["digest"]
    assert stored == about(shipped_records(page.parents[1]))


@pytest.mark.parametrize("one", shipped_pages(KEPT), ids=lambda one: one.id)
def test_a_difference_belongs_to_the_subtype_that_it_names(page, one):
    """Also where an earlier subtype has no value."""
    shown = pd.read_csv(page.parent / "figures" / f"{one.id}_profile.csv", index_col="variable")
    assert list(shown.columns) == [f"subtype {place}" for place in range(1, one.k + 1)]
    pd.testing.assert_frame_equal(shown, one.profile, check_names=False, rtol=0, atol=1e-3)


def test_no_link_is_dead(page):
    links = 0
    for path in page.parent.rglob("*.html"):
        for link in re.findall(r'(?:href|src)="([^"#]+)', path.read_text(encoding="utf-8")):
            if not link.startswith(("http", "data:", "mailto:")):
                links += 1
                assert (path.parent / link).exists(), (path.name, link)
    assert links > 500


def test_an_edited_record_is_refused(tmp_path):
    project = tmp_path / "project"
    shutil.copytree(ROOT / "config", project / "config")
    shutil.copytree(KEPT, project / "docs" / "results")
    manifest = project / "docs" / "results" / "records" / "manifest.csv"
    manifest.write_text(manifest.read_text().replace(",cpu,", ",gpu,", 1))
    with pytest.raises(DataError, match="manifest"):
        report_shipped(tmp_path / "study", project)
