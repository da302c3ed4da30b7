"""Every interval and verdict of the snapshot follows from its row; prose has no number of its own."""

import csv
import re
from pathlib import Path

import pandas as pd
import pytest
from checkouts import PAGES

from deepcac.scoring.equivalence import BETTER, EQUIVALENT, LEVEL, NEVER, UNDECIDED, WORSE

PROJECT = Path(__file__).parents[3]
RESULTS = PROJECT / "docs" / "results"
SPAN = re.compile(r"([+-]?\d*\.?\d+(?:e-?\d+)?) to ([+-]?\d*\.?\d+(?:e-?\d+)?)")
VALUE_AND_SPAN = re.compile(r"([+-]?\d*\.?\d+) \(([+-]?\d*\.?\d+) to ([+-]?\d*\.?\d+)\)")


def table(name):
    return pd.read_csv(RESULTS / f"{name}.csv")


@pytest.mark.parametrize(
    ("name", "empty"),
    [
        ("judge_verdicts", "verdict"),
        ("judge_table_verdicts", "verdict"),
        ("judge_division_pairs", "p"),
        ("judge_blends", None),
    ],
)
def test_a_difference_lies_inside_an_interval_with_a_width(name, empty):
    rows = table(name)
    nothing = rows["low"].isna()
    assert (rows["high"].isna() == nothing).all()
    assert (rows.loc[nothing, "mean"] == 0).all()  # a model with itself
    if empty == "verdict":
        assert (nothing == (rows["verdict"] == NEVER)).all()
    elif empty:
        assert (nothing == rows[empty].isna()).all()
    told = rows[~nothing]
    assert (told["low"] < told["high"]).all()
    assert ((told["low"] <= told["mean"]) & (told["mean"] <= told["high"])).all()


def test_the_intervals_of_divisions_have_a_width():
    rows = table("judge_divisions")
    for metric in ("auroc", "auprc", "min_se_pp"):
        low, value, high = (rows[name] for name in (f"{metric}_low", metric, f"{metric}_high"))
        assert ((low < high) & (low <= value) & (value <= high)).all(), metric


@pytest.mark.parametrize(
    "name", ["clustering_f1", "clustering_auroc", "clustering_auprc", "switches"]
)
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
    for row in rows[rows["verdict"] != NEVER].to_dict("records"):
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
        assert row["reading"] == (better if shown else "no difference shown"), row


def test_the_cells_of_the_ledger_agree_where_they_are_within_their_bound():
    rows = table("ledger").dropna(subset=["difference", "bound"])
    assert len(rows) > 900
    within = rows["difference"].abs() <= rows["bound"] + 1e-9
    assert (within == (rows["verdict"] == "agree")).all()


# Where the numbers of a page's prose stand, beside the tables that are shown on pages.
TABLES = {
    "README.md": ("judge_verdicts", "judge_scores"),
    "findings.md": (
        "ledger",
        "judge_verdicts",
        "judge_scores",
        "judge_divisions",
        "factorial",
        "runs",
    ),
    "cac.md": (
        "runs",
        "ledger",
        "claims",
        "k_choice",
        "clustering_f1",
        "clustering_auroc",
        "switches",
    ),
    "deep-methods.md": (
        "runs",
        "ledger",
        "claims",
        "switches",
        "clustering_auroc",
        "clustering_auprc",
    ),
    "theory.md": ("claims", "ledger"),
    "judge.md": ("judge_verdicts", "judge_scores"),
    "judge-tables.md": ("judge_tables", "judge_table_verdicts", "judge_over_tables", "judge_rules"),
    "deepcac-clusters.md": ("factorial", "judge_verdicts", "judge_scores"),
    "published-divisions.md": ("judge_divisions", "judge_division_pairs"),
    "subtypes.md": ("judge_verdicts", "judge_scores", "subtype_arms"),
    "case-study.md": ("ledger", "claims"),
    "class-decomposition.md": ("ledger", "claims"),
    "supervised-kmeans.md": ("ledger", "claims"),
    "sepsis.md": ("runs",),
    "johnson.md": ("ledger",),
}
# Versions, units, addresses, published scores of others, and what is measured by a page's own command.
EXCEPTIONS = {
    "README.md": {"3.11"},
    "install.md": {"3.11", "3.13", "0.44"},
    "data.md": {"10.1038", "518.82"},
    "mimic3.md": {"518.82", "1.12"},
    "judge-plan.md": {".002", ".005", ".010", ".05", ".95", ".995"},
    "johnson.md": {".338", "0.3937", "2.89"},
    "published-divisions.md": {".5353", ".3125"},
    "power.md": {"0.118"},
    "reliability.md": {"3.67"},
    "scale.md": {"22.05"},
    "tutorial.md": {".994"},
}
MARKED = re.compile(r"<!-- from the snapshot.*?<!-- end -->", re.DOTALL)
ASIDE = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)|^ *\|.*?$", re.DOTALL | re.MULTILINE)
DECIMAL = re.compile(r"(?<![\w.,])[+−-]?\d*\.(\d{2,4})(?![\w])(?!\.\d)")


def _known(text):
    """Yield every decimal number of a text, with as many digits as it has and with fewer."""
    for whole in re.findall(r"\d*\.\d+", text):
        digits = len(whole.partition(".")[2])
        for fewer in range(2, min(digits, 4) + 1):
            yield f"{float(whole):.{fewer}f}"


@pytest.fixture(scope="module")
def shown():
    return {
        n
        for page in PAGES
        for part in MARKED.findall(page.read_text("utf-8"))
        for n in _known(part)
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_number_of_prose_stands_in_a_table(page, shown):
    known = set(shown)
    for name in TABLES.get(page.name, ()):
        known |= set(_known((RESULTS / f"{name}.csv").read_text("utf-8")))
    prose = ASIDE.sub(" ", MARKED.sub("", page.read_text("utf-8")))
    missing = [
        found[0]
        for found in DECIMAL.finditer(prose)
        if f"{abs(float(found[0].replace('−', '-'))):.{len(found[1])}f}" not in known
        and found[0].lstrip("+−-") not in EXCEPTIONS.get(page.name, ())
    ]
    assert missing == []


def test_the_search_finds_a_number_that_stands_nowhere(shown):
    assert "0.864" in {*shown, *_known((RESULTS / "judge_scores.csv").read_text("utf-8"))}
    assert DECIMAL.search("is .98765 long") is None
    assert DECIMAL.search("an AUROC of .9876,")[0] == ".9876"


def test_the_tables_of_the_snapshot_are_plain():
    for path in RESULTS.glob("*.csv"):
        with path.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.reader(stream, strict=True))
        assert len({len(row) for row in rows}) == 1, path.name
