from dataclasses import replace

import pandas as pd
import pytest
from paper_checks import evidence

from deepcac_study.papers.ledger import entries
from deepcac_study.papers.rules.query import decide
from deepcac_study.papers.rules.rule import ClaimRule
from deepcac_study.papers.rules.tuned_alphas import at_most, differ, printed_at_most
from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Runs

NOTHING = Findings(Runs(()))
AT_MOST = ClaimRule("DCAC-46", threshold="2", asks="typically")


@pytest.fixture(scope="module")
def table():
    return [e for e in entries(NOTHING) if (e.paper, e.table) == ("cac_v2", "4")]


def decision(claim, ledger):
    return decide(claim, evidence(NOTHING, ledger=ledger))


def answered(table, verdicts, alphas):
    """Return the first entries with our alphas and verdicts."""
    known = zip(table, verdicts, alphas, strict=False)
    return [replace(e, sound=alpha, sound_verdict=v, run=e.dataset) for e, v, alpha in known]


def as_deepcac(table, **changed):
    """Return entries as those of the table of DeepCAC that claims are about."""
    return [replace(e, paper="deepcac", table="4", **changed) for e in table]


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["agree"] * 4, "holds"),
        (["agree"] * 3 + ["differ"], "partly"),
        (["agree", "differ", "differ", "differ"], "fails"),
        (["agree", "agree", "agree", "not run"], "undecided"),
        (["agree", "differ", "differ", "not run"], "fails"),
        (["agree", "agree", "data not rebuildable"], "holds"),
        (["not run"] * 4, "not run"),
    ],
)
def test_our_numbers_agree_with_the_printed_cells(table, verdicts, expected):
    assert decision("CAC2-21", answered(table, verdicts, [0.1] * 4)).verdict == expected


@pytest.mark.parametrize(
    ("alphas", "expected"),
    [([0.1, 2.0], "holds"), ([0.1, 1.0, 3.0], "partly"), ([3.0, 0.1], "fails")],
)
def test_tuned_alphas_are_at_most(table, alphas, expected):
    rows = pd.DataFrame(answered(table, ["agree"] * 4, alphas))
    found = at_most(rows, AT_MOST)
    assert found.verdict == expected
    assert f"of {len(alphas)} tuned alphas: at most 2" in found.figures


def test_without_a_tuned_alpha_nothing_is_decided(table):
    assert at_most(pd.DataFrame(table), AT_MOST).verdict == "not run"
    assert differ(pd.DataFrame(table), AT_MOST).verdict == "not run"


def test_printed_alphas_count_beside_our_own(table):
    """Nine of the 27 alphas that DeepCAC prints are above 2: not what is typical."""
    own = as_deepcac(answered(table, ["agree"] * 4, [1.0] * 4))
    own = [replace(e, printed=p) for e, p in zip(own, ("1", "2.5", "3", "2.5"), strict=True)]
    found = printed_at_most(pd.DataFrame(own), AT_MOST)
    assert found.verdict == "fails"
    assert "true for 1 of 4 printed alphas" in found.figures
    assert "true for 4 of 4 tuned alphas" in decision("DCAC-46", own).reason


@pytest.mark.parametrize(
    ("other", "verdict"),
    [([10.0] * 7, "holds"), ([0.1] * 7, "fails"), ([0.1] * 6 + [10.0], "undecided")],
)
def test_alphas_differ_between_data_sets_by_signed_ranks(table, other, verdict):
    """Seven classifiers: all ten or more times as large, all the same, or a single one apart."""
    entries = [
        replace(table[0], dataset=name, method=f"x{i}", sound=alpha * (1 + i / 9))
        for name, alphas in (("a", [0.1] * 7), ("b", other)) for i, alpha in enumerate(alphas)
    ]  # fmt: skip
    assert differ(pd.DataFrame(entries), AT_MOST).verdict == verdict
