"""Every interval and verdict of docs/results follows from its row; prose has no number of its own."""

import csv
import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pandas as pd
import pytest
from checkouts import PAGES

from deepcac.scoring.equivalence import BETTER, EQUIVALENT, LEVEL, NOT_TESTED, UNDECIDED, WORSE
from deepcac.scoring.statistics import holm
from deepcac_study.papers.claims import Claim
from deepcac_study.papers.entry import Entry
from deepcac_study.papers.ledger import write_rows
from deepcac_study.papers.summary import Count, summary

PROJECT = Path(__file__).parents[3]
RESULTS = PROJECT / "docs" / "results"
STUDIES = PROJECT / "docs" / "archive" / "studies.md"
TABLES_KEPT = sorted(path.stem for path in RESULTS.glob("*.csv"))
SPAN = re.compile(r"([+-]?\d*\.?\d+(?:e-?\d+)?) to ([+-]?\d*\.?\d+(?:e-?\d+)?)")
VALUE_AND_SPAN = re.compile(r"([+-]?\d*\.?\d+) \(([+-]?\d*\.?\d+) to ([+-]?\d*\.?\d+)\)")


def table(name):
    return pd.read_csv(RESULTS / f"{name}.csv")


def rows_of(kind, name):
    """Return the rows of a committed table with the types that a class declares."""
    types = {column.name: column.type for column in fields(kind)}

    def typed(column, text):
        kinds = get_args(types[column]) or (types[column],)
        return text if str in kinds else kinds[0](text) if text else None

    with (RESULTS / f"{name}.csv").open(newline="") as file:
        return [
            kind(**{column: typed(column, text) for column, text in row.items()})
            for row in csv.DictReader(file)
        ]


def ends(rows):
    """Yield the columns of the low end of an interval, of its high end and of what lies between."""
    for low in rows.columns[rows.columns.str.endswith("low")]:
        stem = low.removesuffix("low")
        value = stem.removesuffix("_") if stem else "observed" if "observed" in rows else "mean"
        yield low, f"{stem}high", value if value in rows else None


@pytest.mark.parametrize("name", TABLES_KEPT)
def test_an_interval_has_a_width_and_holds_its_value(name):
    rows = table(name)
    for low, high, value in ends(rows):
        told = rows[rows[low].notna()]
        assert len(told), low
        assert (rows[high].notna() == rows[low].notna()).all(), low
        # A table has five decimals, and two models that are nearly one differ by less.
        assert ((told[low] < told[high]) | (told[[low, high]] == 0).all(axis=1)).all(), low
        if value:
            assert (told[low] <= told[value]).all(), low
            assert (told[value] <= told[high]).all(), low


def test_most_tables_with_intervals_are_seen():
    seen = {name for name in TABLES_KEPT if list(ends(table(name)))}
    assert seen >= {"bootstraps", "calibration", "judge_divisions", "judge_verdicts"}
    assert len(seen) > 6


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("judge_verdicts", "verdict"),
        ("judge_table_verdicts", "verdict"),
        ("judge_transfer", "verdict"),
        ("judge_richer_labels", "verdict"),
        ("judge_division_pairs", "p"),
    ],
)
def test_only_what_is_not_tested_has_no_interval(name, column):
    rows = table(name)
    nothing = rows["low"].isna()
    assert (rows.loc[nothing, "mean"] == 0).all()
    assert (
        nothing == (rows[column].isna() if column == "p" else rows[column].isin(NOT_TESTED))
    ).all()


def test_the_null_rates_have_an_interval_with_a_width():
    rows = table("summary")
    wide = rows.pivot(index=["part", "paper", "group"], columns="quantity", values="value")
    assert (wide["null_low"].isna() == wide["null_high"].isna()).all()
    told = wide.dropna(subset=["null_low"])
    assert len(told) > 5
    assert (told["null_low"] < told["null_rate"]).all()
    assert (told["null_rate"] < told["null_high"]).all()


@pytest.mark.parametrize("name", ["clustering_f1", "clustering_auroc", "clustering_auprc"])
def test_a_written_interval_has_a_width_and_holds_its_difference(name):
    rows = table(name)
    told = rows[rows["95 % interval"].notna()]
    assert len(told) > 300
    for difference, text, p in zip(
        told["difference"], told["95 % interval"], told["p"], strict=True
    ):
        low, high = map(float, SPAN.fullmatch(text).groups())
        # Four decimals: what varies by less is written as 0 to 0, and its p is not 1.
        assert low < high or (low == high == difference == 0 and p != "1.000"), text
        assert low - 1e-4 <= difference <= high + 1e-4, text
    for text in rows.get("bootstrap 95 %", pd.Series(dtype=str)).dropna():
        low, high = map(float, SPAN.fullmatch(text).groups())
        assert low < high or low == high == 0, text


@pytest.mark.parametrize("column", ["reason", "as_published_reason"])
def test_the_intervals_of_claims_have_a_width(column):
    texts = table("claims")[column].dropna()
    spans = [(row, *map(float, found)) for row in texts for found in VALUE_AND_SPAN.findall(row)]
    assert spans
    for text, mean, low, high in spans:
        assert low < high, text
        assert low <= mean <= high, text
    assert not texts.str.contains(r"\bnan\b", case=False).any()


@pytest.mark.parametrize(
    ("verdict", "p_equivalent"), [("verdict", "p_equivalent_holm"), ("verdict_strict", None)]
)
def test_the_verdicts_of_the_judge_are_those_of_their_numbers(verdict, p_equivalent):
    rows = table("judge_verdicts")
    for row in rows[~rows["verdict"].isin(NOT_TESTED)].to_dict("records"):
        found = row[verdict]
        if row["p_holm"] < LEVEL - 1e-5:
            assert found == (BETTER if row["mean"] > 0 else WORSE), row
        elif row["p_holm"] > LEVEL + 1e-5:
            assert found in (EQUIVALENT, UNDECIDED), row
            if p_equivalent and abs(row[p_equivalent] - LEVEL) > 1e-5:
                assert (found == EQUIVALENT) == (row[p_equivalent] < LEVEL), row


def _p(text):
    return 0.0 if str(text).startswith("<") else float(text)


@pytest.mark.parametrize("name", ["clustering_f1", "clustering_auroc", "clustering_auprc"])
def test_the_readings_of_comparisons_are_those_of_their_p(name):
    for row in table(name).dropna(subset=["p (Holm)"]).to_dict("records"):
        shown = _p(row["p (Holm)"]) < LEVEL
        better = "better" if row["difference"] > 0 else "worse"
        assert row["reading"] == (better if shown else "no evidence of a difference"), row


def test_the_cells_of_the_ledger_agree_where_they_are_within_their_bound():
    rows = table("ledger").dropna(subset=["difference", "bound"])
    assert len(rows) > 900
    within = rows["difference"].abs() <= rows["bound"] + 1e-9
    assert (within == (rows["verdict"] == "agree")).all()


@pytest.mark.parametrize("name", ["repeats", "spotcheck"])
def test_a_record_is_the_same_where_no_score_differs(name):
    rows = table(name)
    assert ((rows["difference"] == 0) == rows["verdict"].str.startswith("the same")).all()


def test_the_counts_are_those_of_ledger_and_claims(tmp_path):
    ledger, claims = rows_of(Entry, "ledger"), rows_of(Claim, "claims")
    write_rows(tmp_path / "ledger.csv", Entry, ledger)
    write_rows(tmp_path / "summary.csv", Count, summary(ledger, claims))
    assert (tmp_path / "ledger.csv").read_text() == (RESULTS / "ledger.csv").read_text()
    assert (tmp_path / "summary.csv").read_text() == (RESULTS / "summary.csv").read_text()


# Where the numbers of a page's prose stand, beside the tables that are shown on pages.
TABLES = {
    "README.md": ("judge_verdicts", "judge_scores", "headline"),
    "judge.md": (
        *("judge_verdicts", "judge_scores", "judge_primary", "judge_planted", "judge_risks"),
        *("judge_table_verdicts", "judge_over_tables", "judge_divisions", "judge_division_pairs"),
        *("subtype_arms", "subtype_stability", "clinical_pooled", "known_then", "by_place"),
        *("expertnet_printed", "headline"),
    ),
    "studies.md": (
        *("judge_transfer", "judge_scorecards", "judge_richer_labels", "judge_blends"),
        *("judge_divisions", "judge_division_pairs", "subtype_arms", "subtype_stability"),
        *("factorial", "table_shape"),
    ),
    "claims.md": ("ledger", "claims", "runs", "summary", "separation"),
    "data.md": ("runs", "ledger"),
    "more-questions.md": ("rotterdam_gbsg",),
    "saved-models.md": ("fit_learners", "rotterdam_gbsg"),
    "reliability.md": ("repeats", "repeats_other_cpu", "gpu", "switch_starts"),
}
# Versions, units, addresses, limits and levels, published scores of others, differences of two numbers
# of a table, and what is measured by a page's own command.
EXCEPTIONS = {
    "README.md": {"3.11", "3.13"},
    "claims.md": {"0.02", "0.005", "0.01"},
    "judge.md": {"0.5353"},  # printed by others
    "install.md": {"3.11", "3.12", "3.13", "0.04"},
    # Measured on the raw files, by tests on real data.
    "data.md": {"10.1038", "518.82", "0.85", "0.338", "0.392", "0.276"},
    "more-questions.md": {"0.95", "0.05", "0.118"},
    "saved-models.md": {"1.017"},  # printed by others
    "command.md": {"0.01", "0.0001", "0.05", "0.03", "0.5"},
    "reliability.md": {"3.67", "0.06"},
    "your-table.md": {"0.994", "0.95", "0.01"},
}
MARKED = re.compile(r"<!-- made of docs/results.*?<!-- end -->", re.DOTALL)
ASIDE = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)|^ *\|.*?$", re.DOTALL | re.MULTILINE)
DECIMAL = re.compile(r"(?<![\w.,])[+−-]?\d*\.(\d{2,4})(?![\w])(?!\.\d)")


def _known(text):
    """Yield every decimal number of a text, with as many digits as it has and with fewer."""
    for whole in re.findall(r"\d*\.\d+", text):
        digits = len(whole.partition(".")[2])
        for fewer in range(2, min(digits, 4) + 1):
            yield f"{float(whole):.{fewer}f}"


def test_every_first_page_says_the_same_answer():
    """README and the home page; the report is asked in its own test."""
    (row,) = table("headline").to_dict("records")
    for page in (PROJECT / name for name in ("README.md", "docs/index.md")):
        assert row["sentence"] in page.read_text("utf-8")
    tasks = table("clinical_tasks").query("not apart")
    assert (row["tasks"], row["cohorts"]) == (len(tasks), tasks["cohort"].nunique())
    rows = table("clinical_verdicts").query("question == 'forced' and metric == 'auroc'")
    forced = rows[rows["alpha"].isna() & rows["dataset"].isin(tasks["dataset"])]
    excluded = holm(forced["better"]) < 0.05
    assert (row["comparisons"], row["excluded"]) == (len(forced), excluded.sum())
    assert row["excluded_trees"] == excluded[forced["reference"] == "lgbm"].sum()
    assert f"{row['excluded']} of {row['comparisons']} comparisons" in row["sentence"]


def test_deepcacs_cells_are_means_over_the_classes_in_both_protocols():
    """Printed 0.746 for DeepCAC on CIC: ours is 0.73 so, and 0.50 by the positive class alone."""
    runs = table("runs").set_index(["protocol", "dataset", "method", "k"])
    cells = table("ledger").query("paper == 'deepcac' and table == '2' and item == 'auprc'")
    own = cells[(cells["dataset"] == "CIC") & (cells["method"] == "DeepCAC")]
    assert len(own) == 3
    for row in own.to_dict("records"):
        for protocol in ("sound", "as_published"):
            score = runs.loc[(protocol, "cic", "deepcac", int(row["k"])), "auprc_macro"]
            assert row[protocol] == pytest.approx(score, abs=1e-4)
        positive = runs.loc[("sound", "cic", "deepcac", int(row["k"])), "auprc"]
        assert f"of the positive class {positive:.3f} (sound)" in row["note"]
        assert row["sound_verdict"] == "agree"


@pytest.mark.parametrize("page", [*PAGES, STUDIES], ids=lambda page: page.name)
def test_every_number_of_prose_stands_in_a_table(page):
    """Of the page's own, or of those that are named for it above; a row is asked for elsewhere."""
    text = page.read_text("utf-8")
    known = {number for part in MARKED.findall(text) for number in _known(part)}
    for name in TABLES.get(page.name, ()):
        known |= set(_known((RESULTS / f"{name}.csv").read_text("utf-8")))
    prose = ASIDE.sub(" ", MARKED.sub("", text))
    missing = [
        found[0]
        for found in DECIMAL.finditer(prose)
        if f"{abs(float(found[0].replace('−', '-'))):.{len(found[1])}f}" not in known
        and found[0].lstrip("+−-") not in EXCEPTIONS.get(page.name, ())
    ]
    assert missing == []


def test_the_search_finds_a_number_that_stands_nowhere():
    assert "0.864" in set(_known((RESULTS / "judge_scores.csv").read_text("utf-8")))
    assert DECIMAL.search("is 0.98765 long") is None
    assert DECIMAL.search("an AUROC of 0.9876,")[0] == "0.9876"


def test_the_committed_tables_are_plain():
    for path in RESULTS.glob("*.csv"):
        with path.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.reader(stream, strict=True))
        assert len({len(row) for row in rows}) == 1, path.name
        cells = {cell.strip().lower() for row in rows for cell in row}
        assert not cells & {"nan", "inf", "-inf", "infinity"}, path.name
