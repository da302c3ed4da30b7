from dataclasses import replace

import pytest

from deepcac_study.papers.evidence import Evidence
from deepcac_study.papers.ledger import entries
from deepcac_study.papers.rules.asked import asked
from deepcac_study.papers.rules.rule_table import agrees, alpha_at_most, alpha_differs, of_table
from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Runs

SOUND = Evidence(Runs(()), "sound")


@pytest.fixture(scope="module")
def table():
    return of_table(entries(Findings(Runs(()))), "cac_v2", "4")


def answered(table, verdicts, alphas):
    """Return the first entries with our alphas and verdicts."""
    known = zip(table, verdicts, alphas, strict=False)
    return [replace(e, sound=alpha, sound_verdict=v, run=e.dataset) for e, v, alpha in known]


def test_a_table_is_that_of_one_paper(table):
    assert len(table) == 7
    assert {(e.paper, e.table) for e in table} == {("cac_v2", "4")}


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
    decision = agrees(answered(table, verdicts, [0.1] * 4))(SOUND)
    assert decision.verdict == expected


@pytest.mark.parametrize(
    ("alphas", "expected"),
    [([0.1, 2.0], "holds"), ([0.1, 1.0, 3.0], "partly"), ([3.0, 0.1], "fails")],
)
def test_tuned_alphas_are_at_most(table, alphas, expected):
    own = [replace(entry, printed="1") for entry in answered(table, ["agree"] * 4, alphas)]
    decision = alpha_at_most(2.0, own, asked("DCAC-46"))(SOUND)
    assert decision.verdict == ("partly" if expected == "fails" else expected)
    assert f"of {len(alphas)} tuned alphas: at most 2" in decision.reason


def test_without_a_tuned_alpha_nothing_is_decided(table):
    assert alpha_at_most(2.0, table, asked("DCAC-46"))(SOUND).verdict == "not run"
    assert alpha_differs(table)(SOUND).verdict == "not run"


def test_printed_alphas_count_beside_our_own(table):
    """Nine of the 27 alphas that DeepCAC prints are above 2: not what is typical."""
    own = answered(table, ["agree"] * 4, [1.0] * 4)
    own = [replace(e, printed=p) for e, p in zip(own, ("1", "2.5", "3", "2.5"), strict=True)]
    decision = alpha_at_most(2.0, own, asked("DCAC-46"))(SOUND)
    assert decision.verdict == "partly"
    assert "true for 1 of 4 printed alphas" in decision.reason


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
    assert alpha_differs(entries)(SOUND).verdict == verdict
