"""How many comparisons a claim asks for is read from its words."""

import re

import pytest

from deepcac_study.catalogue.facts import facts
from deepcac_study.papers.rules.rule import rules, share_of

COUNTING = re.compile(
    r"\b(all|every|each|always|consistent(ly)?|most|several|multiple|typically|\d+ of \d+)\b", re.I
)
# Claims whose words count something else: classifiers that are combined, parts of a list.
ELSEWHERE = {
    "CAC1-31": "numbers by data set are named",
    "CAC1-33": "numbers by data set are named",
    "CAC1-35": "several classifiers, one a cluster",
    "CAC1-36": "the classifiers of one data set",
    "DCAC-04": "several classifiers, one a cluster",
    "CAC1-15": "a condition on the coefficients",
    "DCAC-42": "features that clusters share",
    "DCAC-44": "the words of degree",
    "CDEC-07": "the clusters of a class",
    "CDEC-13": "the clusters of a class",
    "CDEC-04": "almost",
    "SKM-21": "neither of two is",
    "SKM-25": "points in one cluster",
    "DCAC-19": "a curve",
}


@pytest.mark.parametrize(
    ("words", "comparisons", "share"),
    [
        ("", 8, 0.75),
        ("all", 8, 1.0),
        ("5 of 7", 21, 5 / 7),
        ("several", 9, 2 / 9),
        ("most", 20, 11 / 20),
        ("most", 7, 4 / 7),
        ("typically", 27, 0.9),
    ],
)
def test_words_ask_for_a_share(words, comparisons, share):
    assert share_of(words, comparisons) == pytest.approx(share)


def test_the_words_stand_in_the_claim():
    for row in facts("claims"):
        assert row["asks"].lower() in row["claim"].lower(), row["id"]
        assert 0 < rules()[row["id"]][0].share(6) <= 1


def test_no_claim_counts_without_asking():
    counting = {r["id"] for r in facts("claims") if COUNTING.search(r["claim"]) and not r["asks"]}
    assert counting <= set(ELSEWHERE)


def test_claims_that_say_the_same_ask_for_the_same():
    rows = {row["id"]: row for row in facts("claims")}
    for row in rows.values():
        if row["same_as"]:
            assert share_of(row["asks"], 12) == share_of(rows[row["same_as"]]["asks"], 12)
