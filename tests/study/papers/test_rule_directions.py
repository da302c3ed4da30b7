"""Every rule of the five papers is seen to hold, to fail and to be undecided, or says why not."""

from dataclasses import replace

import pytest
from clustering_records import facts_of_print
from paper_checks import ask, evidence
from world_parts import case_study
from worlds import main_worlds, special_worlds

from deepcac_study.catalogue.facts import facts
from deepcac_study.papers.ledger import entries
from deepcac_study.papers.rules.query import decide
from deepcac_study.papers.supervised_kmeans import clustering_losses as losses
from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Runs

DIRECTIONS = ("holds", "fails", "undecided")
OPEN = {"cannot hold": "undecided"}  # what is open may be so only below "holds"

# Worlds beside the three main ones that a claim is asked in.
SPECIAL = {
    "printed gains": "CAC1-02 CAC1-24 CAC1-34",
    "noisy gains": "CAC1-24",
    "gains of k-means": "CAC1-25",
    "noisy gains of k-means": "CAC1-25",
    "winners": "CAC2-19 CAC2-20 DCAC-10 DCAC-11",
    "alphas of v2": "CAC2-21",
    "equal alphas": "CAC1-36 DCAC-46",
    "large alphas": "DCAC-46",
    "some alphas": "CAC2-21 DCAC-46 DCAC-47",
    "separation helps": "CAC1-38",
    "separation harms": "CAC1-38",
    "vacuous bounds": "CAC2-02",
    "fewer passes": "CAC1-08 DCAC-27",
    "more passes": "CAC1-08 DCAC-27",
    "no linear drop": "CDEC-05 CDEC-06",
    "merged back": "CDEC-07",
    "by clusters": "CDEC-15 CDEC-17",
    "against clusters": "CDEC-15 CDEC-17",
    "learning wins": "SKM-01",
    "clusters as printed": "CDEC-08",
    "losses of nothing": "SKM-01 SKM-02 SKM-05 SKM-10 SKM-11 SKM-21",
    "dips": "SKM-17 SKM-18 SKM-19",
    "no conclusive win": "SKM-05",
    "Iterative always": "SKM-21",
    "one leads": "SKM-07",
    "none leads": "SKM-07",
}

# Why a claim cannot take a direction: the claims, the directions and the reason.
IMPOSSIBLE = [
    (
        "CAC1-06 CAC1-14 DCAC-26 DCAC-30 DCAC-36 DCAC-38",
        "undecided",
        "both sides of a theorem are computed, not estimated",
    ),
    ("CAC1-09 CAC1-10 CAC1-11 CAC1-13 DCAC-18", "undecided", "each fit is true or false"),
    ("CAC1-17 CAC2-08 DCAC-32", "undecided", "a ratio of two ranges over the whole grid"),
    ("CAC1-36", "undecided", "the alphas that were tuned are what the claim is about"),
    (
        "CAC1-07 CAC2-06 DCAC-28",
        "fails",
        "one rise shows that there is no guarantee; none shows nothing",
    ),
    ("CAC1-04", "holds", "complexities are not measured"),
    ("CAC2-05", "holds undecided", "operations are counted, and T is not measured"),
    ("CAC2-18", "holds", "of the twelve rivals three were not run"),
    ("DCAC-46", "holds fails", "in print 18 of 27 alphas lie in the range, which is a part of it"),
    (
        "DCAC-44",
        "holds fails undecided",
        "about features that the sound runs do not have; see the test on runs as published",
    ),
    (
        "CAC2-17 DCAC-15 DCAC-25",
        "holds fails undecided",
        "about how a program ended that is not ours",
    ),
    ("CAC2-03 CDEC-12 SKM-29", "fails undecided", "theory: nothing is measured"),
    ("CDEC-14", "holds undecided", "theory: the Bell number exceeds 2^n"),
    ("SKM-04 SKM-08 SKM-30", "fails undecided", "arithmetic on print, which is as claimed"),
    ("SKM-03 SKM-09", "holds fails undecided", "arithmetic on print, which is partly as claimed"),
    (
        "CDEC-02 CDEC-04",
        "undecided",
        "what a test finds in these runs is what the claim is about",
    ),
    (
        "CDEC-08 CDEC-11 CDEC-13 CDEC-16",
        "undecided",
        "a mean or rank over the twenty data sets of the claim",
    ),
    (
        "SKM-06",
        "undecided",
        "a mean over the clusterings of the claim",
    ),
    (
        "SKM-12 SKM-13 SKM-14 SKM-15 SKM-16 SKM-20 SKM-31",
        "undecided",
        "times of the claim's own settings; too many stopped trainings are not run",
    ),
    (
        "SKM-22 SKM-23 SKM-24 SKM-25 SKM-26 SKM-27 SKM-28",
        "undecided",
        "small sets on which everything is computed",
    ),
]


def names():
    return [row["id"] for row in facts("claims")]


def ask_all(found, wanted):
    seen = evidence(found, ledger=entries(found) if found.runs else ())
    return {name: decide(name, seen) for name in wanted}


@pytest.fixture(scope="module")
def verdicts():
    """Return the verdicts of each claim in every world that it is asked in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(losses, "facts", facts_of_print)
        return in_every_world()


def in_every_world():
    found = {name: set() for name in names()}
    for world in main_worlds().values():
        for name, decision in ask_all(world, names()).items():
            found[name].add(OPEN.get(decision.verdict, decision.verdict))
            assert decision.reason, name
    worlds = special_worlds()
    for world, wanted in SPECIAL.items():
        for name, decision in ask_all(worlds[world], wanted.split()).items():
            found[name].add(OPEN.get(decision.verdict, decision.verdict))
    return found


@pytest.mark.parametrize(("sign", "verdict"), [(1, "holds"), (-1, "fails"), (0, "undecided")])
def test_what_the_features_as_published_decide(sign, verdict):
    study = case_study(sign)
    published = replace(study, record={**study.record, "protocol": "as_published"})
    found = Findings(Runs(()), studies=[study, published])
    assert ask("DCAC-44", found, "as_published").verdict == verdict
    assert ask("DCAC-44", found).verdict == "not decidable"


def impossible(name):
    return {d for ids, ds, _ in IMPOSSIBLE if name in ids.split() for d in ds.split()}


def test_there_are_all_claims():
    assert len(names()) == 156
    listed = {name for ids, _, _ in IMPOSSIBLE for name in ids.split()}
    assert listed <= set(names())


@pytest.mark.long
def test_every_rule_turns_every_way_or_says_why_not(verdicts):
    lacking = {
        name: sorted(set(DIRECTIONS) - found - impossible(name))
        for name, found in verdicts.items()
        if not set(DIRECTIONS) - impossible(name) <= found
    }
    assert lacking == {}


@pytest.mark.long
def test_no_reason_hides_a_direction_that_is_seen(verdicts):
    seen = {name: found & impossible(name) for name, found in verdicts.items()}
    assert {name: both for name, both in seen.items() if both} == {}
