import re

import pandas as pd
import pytest
from decomposition_records import SETS, decomposed
from paper_checks import ask

from deepcac_study.papers.class_decomposition import checks, gains
from deepcac_study.papers.ledger import entries
from deepcac_study.papers.rules.rule import rules
from deepcac_study.records.decompositions import ResampledRecord
from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Runs

FAR = ("uci_vehicle", "uci_vowel")


def found(claim, records):
    """Return verdict and figures of a claim; records without machines one against rest alone."""
    rows = pd.DataFrame(gains.decomposition_rows(records))
    (rule,) = rules()[claim]
    check = getattr(checks, rule.check.rpartition(".")[2])
    return check.__wrapped__(rows, rule)


def verdict_of(claim, records):
    return found(claim, records).verdict


def p_values(records):
    return gains.p_values(pd.DataFrame(gains.decomposition_rows(records)), "nb")


def table(**planned):
    return [decomposed(name, **planned) for name in SETS]


def by_set(plans, **planned):
    return [decomposed(name, **{**planned, **plans.get(name, {})}) for name in SETS]


def test_there_are_twenty_sets_and_a_rule_for_every_claim():
    assert len(SETS) == 20
    ours = {name for name in rules() if name.startswith("CDEC")}
    assert ours == {f"CDEC-{i:02d}" for i in range(1, 19)}


def test_the_arithmetic_on_the_printed_table():
    nb, svm = ([*gains.printed_gains(base).values()] for base in ("nb", "svm"))
    assert (len(nb), len(svm)) == (20, 20)
    assert sum(nb) / 20 == pytest.approx(4.564)
    assert sum(svm) / 20 == pytest.approx(0.8935)
    assert (min(nb), sum(gain >= 0 for gain in svm)) == (0.0, 16)


@pytest.mark.parametrize(("gain", "verdict"), [(4.0, "holds"), (2.0, "partly"), (-1.0, "fails")])
def test_average_gains(gain, verdict):
    average = found("CDEC-01", table(nb=gain))
    assert average.verdict == verdict
    assert average.figures.startswith(f"{gain:+.2f} (")
    assert average.figures.endswith(" points; printed column +4.56")


def test_an_average_gain_that_the_runs_do_not_tell_from_none():
    assert verdict_of("CDEC-03", table(svm=0.5, spread=5.0)) == "undecided"
    assert found("CDEC-09", table(nb=4.0, svm=0.0, spread=50.0))[0] == "undecided"


@pytest.mark.parametrize(("better", "verdict"), [(8, "holds"), (5, "partly"), (4, "fails")])
def test_significant_gains(better, verdict):
    plans = {name: {"nb": 5.0} for name in SETS[:better]}
    plans |= {SETS[-1]: {"nb": -5.0}}  # significant, but a loss
    records = by_set(plans, nb=0.01)
    significant = found("CDEC-02", records)
    assert significant.verdict == verdict
    assert significant.figures.startswith(f"{better}: anneal")


def test_the_sound_test_is_the_stricter():
    """Gains of 5 +- 3: t = 3.73 by the plain test, 1.86 corrected for the shared rows."""
    plain = p_values(table(protocol="as_published", nb=5.0, spread=3.0))
    sound = p_values(table(nb=5.0, spread=3.0))
    assert plain["uci_vote"] == pytest.approx(0.0136, abs=2e-4)
    assert sound["uci_vote"] == 1.0  # 0.121 for one of twenty
    alone = p_values([decomposed("uci_vote", nb=5.0, spread=3.0)])
    assert alone["uci_vote"] == pytest.approx(0.1214, abs=2e-4)


def test_the_interval_of_a_table_with_unequal_numbers_of_runs():
    """Gains of g +- s in 6 and 4 runs: the errors of both means, pooled."""
    records = [decomposed(name, svm=1.0, spread=0.6) for name in SETS]
    short = records[0].record
    short["runs"] = [row for row in short["runs"] if row["run"] < 4]
    found = checks.mean_gain(pd.DataFrame(gains.decomposition_rows(records)), "svm")
    variance = 19 * 0.36 * 6 / 5 * (1 / 6 + 0.5) + 0.36 * 4 / 3 * (1 / 4 + 0.5)
    half = found.high - found.mean
    assert found.mean == pytest.approx(1.0)
    assert found.mean - found.low == pytest.approx(half)
    assert half == pytest.approx(1.985 * variance**0.5 / 20, rel=2e-3)


def test_nothing_varies_and_nothing_is_decided():
    alone = [decomposed(name, nb=4.5, spread=0.0) for name in SETS]
    verdict, figures, *_ = found("CDEC-01", alone)
    assert verdict == "undecided"
    assert figures.startswith("+4.50 (no interval: nothing varies)")


def against_rest(svm, rest, protocol="sound", spread=0.1):
    """Return records with machines of both kinds."""
    records = [decomposed(name, protocol, svm=svm, spread=spread) for name in SETS]
    others = [decomposed(name, protocol, svm=rest, spread=spread) for name in SETS]
    for one, other in zip(records, others, strict=True):
        for arm in ("alone", "separate", "greedy"):
            one.record["runs"] += [row | {"base": "svm_rest"} for row in other.rows("svm", arm)]
    return records


@pytest.mark.parametrize(
    ("svm", "rest", "sound", "published"),
    [
        (0.9, 0.9, "holds", "holds"),
        (0.9, -3.0, "undecided", "fails"),
        (-3.0, 4.0, "cannot hold", "partly"),
        (-3.0, 0.9, "undecided", "holds"),
    ],
)
def test_machines_one_against_one_and_one_against_rest(svm, rest, sound, published):
    verdicts = {}
    for protocol in ("sound", "as_published"):
        records = against_rest(svm, rest, protocol)
        findings = Findings(Runs(()), decompositions=records)
        verdicts[protocol] = ask("CDEC-03", findings, protocol).verdict
    assert verdicts == {"sound": sound, "as_published": published}


def test_linear_gains_on_vehicle_and_vowel_alone():
    two = {name: {"svm": 8.0} for name in FAR}
    assert found("CDEC-04", by_set(two, svm=0.3))[0] == "holds"
    assert found("CDEC-04", by_set(two, svm=3.0))[0] == "partly"
    assert found("CDEC-04", table(svm=0.3, spread=1.0))[0] == "partly"
    losses = {name: {"svm": -8.0} for name in FAR}
    assert found("CDEC-04", by_set(losses, svm=3.0))[0] == "fails"


def test_drops():
    mild = by_set({"uci_colic": {"svm": -0.2}}, spread=0.5)
    assert found("CDEC-05", mild)[0] == "holds"
    assert found("CDEC-05", mild)[1].startswith("1 drops, significant: none; within 2 points true")
    noisy = by_set({"uci_colic": {"svm": -0.2}}, svm=9.0, spread=5.0)  # a test finds nothing there
    assert found("CDEC-05", noisy)[0] == "undecided"
    grave = {"uci_colic": {"svm": -8.0}}
    assert found("CDEC-05", by_set(grave))[0] == "fails"
    small = {name: {"svm": -0.5, "spread": 0.5} for name in SETS[:2]}
    assert found("CDEC-05", by_set(grave | small))[0] == "partly"
    open_one = {"uci_vote": {"svm": -1.0, "spread": 5.0}, SETS[0]: small[SETS[0]]}
    assert found("CDEC-05", by_set(grave | open_one))[0] == "cannot hold"
    assert found("CDEC-05", table())[0] == "fails"


@pytest.mark.parametrize(
    ("nb", "svm", "verdict"), [(4.0, 0.5, "holds"), (4.0, 2.0, "partly"), (1.0, 2.0, "fails")]
)
def test_bayes_gains_more(nb, svm, verdict):
    assert found("CDEC-09", table(nb=nb, svm=svm))[0] == verdict


def test_seldom_lower():
    nine = {name: {"nb": -1.5} for name in SETS[:9]}
    ten = {name: {"nb": -1.5} for name in SETS[:10]}
    assert found("CDEC-10", by_set(nine))[0] == "holds"
    assert found("CDEC-10", by_set(ten))[0] == "partly"
    assert found("CDEC-10", by_set(ten, svm=-1.5))[0] == "fails"
    # A mean above 0 is no more certain than one below it.
    assert found("CDEC-10", table(nb=0.5, svm=0.5, spread=5.0))[0] == "undecided"
    assert found("CDEC-10", table(nb=-0.5, svm=-0.5, spread=5.0))[0] == "undecided"
    assert found("CDEC-10", by_set(ten, svm=0.5, spread=5.0))[0] == "undecided"


def test_drops_after_validation_gains():
    drop = {"uci_colic": {"svm": -1.0}, "uci_vote": {"svm": -1.0, "validation": 0.0}}
    assert found("CDEC-06", by_set(drop))[0] == "fails"  # one of two
    del drop["uci_vote"]
    assert found("CDEC-06", by_set(drop))[0] == "holds"
    assert found("CDEC-06", table())[0] == "undecided"


def test_merged_back():
    idle = {"nb": 0.0, "svm": 0.0, "spread": 0.0, "validation": 0.0}
    assert found("CDEC-07", table(**idle, whole=True))[0] == "holds"
    restored = found("CDEC-07", table(**idle, whole=True, reverted=True))
    assert restored[0] == "partly"
    assert restored[1].startswith("240 of 240 runs")
    assert found("CDEC-07", table(**idle))[0] == "fails"
    assert found("CDEC-07", table(validation=0.0, whole=True))[0] == "fails"  # another accuracy
    assert found("CDEC-07", table())[0] == "undecided"
    # Classes of one cluster have nothing to merge.
    assert found("CDEC-07", table(**idle, clusters=(1, 1)))[0] == "undecided"


@pytest.mark.parametrize(
    ("clusters", "verdict"),
    [((4, 4, 4, 3, 3), "holds"), ((4, 3), "partly"), ((4, 5), "partly"), ((5, 5), "fails")],
)
def test_clusters_of_a_class(clusters, verdict):
    assert found("CDEC-08", table(clusters=clusters))[0] == verdict


def test_merging_some():
    assert found("CDEC-13", table(separate=-1.0))[0] == "holds"
    assert found("CDEC-13", table(separate=2.0))[0] == "partly"
    assert found("CDEC-13", table(separate=9.0))[0] == "fails"


def test_the_shortcut_and_the_classes():
    def plans(factor):
        return {
            name: {"clusters": (2,) * (2 + i), "fits": (10, int(10 * factor(2 + i)))}
            for i, name in enumerate(SETS)
        }

    assert found("CDEC-15", by_set(plans(lambda c: c)))[0] == "holds"
    assert found("CDEC-15", by_set(plans(lambda c: 30 - c)))[0] == "partly"
    assert found("CDEC-15", by_set(plans(lambda c: 22 - c)))[0] == "fails"


def test_many_classes_without_machines_one_against_rest_are_left_out_of_that_reading():
    records = against_rest(0.9, 0.9, "as_published")
    records[0] = decomposed(SETS[0], "as_published", svm=60.0, clusters=(2, 2, 2))
    rows = pd.DataFrame(gains.decomposition_rows(records[:1]))
    assert set(gains.against_rest(rows)["base"]) == {"nb"}
    decision = ask("CDEC-03", Findings(Runs(()), decompositions=records), "as_published")
    assert decision.verdict == "holds"
    assert f"; {SETS[0].removeprefix('uci_')} lacks these machines;" in decision.reason


def test_the_time_of_machines_one_against_rest_is_their_own():
    (record, *_) = against_rest(0.9, 0.9)
    times = record.record["machine"]["seconds"]
    times |= {"svm_greedy": 2.0, "svm_rest_greedy": 7.0}
    rows = pd.DataFrame(gains.decomposition_rows([record]))
    for part, seconds in ((gains.against_rest(rows), 7.0), (rows, 2.0)):
        assert set(part.loc[part["base"] == "svm", "search_seconds"]) == {seconds}


def test_time_of_the_search():
    assert found("CDEC-16", table(seconds=(1.0, 5.0)))[0] == "holds"
    long = by_set({"uci_letter": {"seconds": (5.0, 500.0)}})
    assert found("CDEC-16", long)[0] == "partly"
    assert found("CDEC-16", table())[0] == "fails"


def test_gain_and_clusters():
    def verdict(nb, svm):
        plans = {
            name: {"clusters": (1 + i, 2), "nb": nb * i, "svm": svm * i}
            for i, name in enumerate(SETS)
        }
        return found("CDEC-17", by_set(plans))[0]

    assert verdict(1.0, 1.0) == "holds"
    assert verdict(-1.0, 1.0) == verdict(1.0, -1.0) == "partly"
    assert verdict(-1.0, -1.0) == "fails"


def test_theory_needs_no_record():
    nothing = Findings(Runs(()))
    assert ask("CDEC-12", nothing).verdict == "holds"
    bounded = ask("CDEC-14", nothing)
    assert bounded.verdict == "fails"
    assert "52 of n = 5 exceeds 2^5 = 32" in bounded.reason
    assert ask("CDEC-11", nothing).verdict == "not run"


def resampled(bias, variance, name="uci_vote"):
    parts = {
        base: {
            "alone": {"bias": 0.2, "variance": 0.1},
            "greedy": {"bias": 0.2 + bias / 100, "variance": 0.1 + variance / 100},
        }
        for base in ("nb", "svm")
    }
    record = {"dataset": name, "synthetic": False, "parts": parts}
    return ResampledRecord(f"results/bias_variance/{name}.json", record)


@pytest.mark.parametrize(
    ("bias", "variance", "verdict"),
    [(-5.0, 2.0, "holds"), (-5.0, 6.0, "fails"), (1.0, -2.0, "fails")],
)
def test_bias_and_variance(bias, variance, verdict):
    measured = [resampled(bias, variance), resampled(bias, variance, "uci_colic")]
    findings = Findings(Runs(()), resampled=measured)
    found = ask("CDEC-11", findings)
    assert found.verdict == verdict
    assert f"naive Bayes: bias {bias:+.2f} points" in found.reason
    assert len(found.runs) == 2
    assert ask("CDEC-11", findings, "as_published").verdict == "not run"


def test_protocols_are_decided_apart_and_few_sets_decide_nothing():
    records = [*table(nb=4.5)[:14], *table(nb=-4.5, protocol="as_published")[:15]]
    findings = Findings(Runs(()), decompositions=records)
    sound, published = (ask("CDEC-01", findings, p) for p in ("sound", "as_published"))
    assert sound.verdict == "holds"  # on print, where the average is 4.56
    assert "+4.56 points" in sound.reason
    assert "14 of 20 data sets" in sound.reason
    assert published.verdict == "fails"
    assert re.search("15 of 20 data sets; .*: holds$", published.reason)
    assert len(published.runs) == 15


def test_print_decides_the_claims_on_the_table_until_there_are_runs():
    names = [f"CDEC-{i:02d}" for i in (1, 2, 3, 4, 5, 9, 10)]
    decisions = {name: ask(name, Findings(Runs(()))) for name in names}
    assert {decision.verdict for decision in decisions.values()} == {"holds"}
    assert ": 9: anneal" in decisions["CDEC-02"].reason
    assert "naive Bayes true for 20 of 20, linear true for 16 of 20" in decisions["CDEC-10"].reason


def test_ledger():
    records = [
        decomposed("uci_vote", nb=6.5, spread=0.5),
        decomposed("uci_vote", "as_published", nb=3.0, spread=0.0),
    ]
    rows = entries(Findings(Runs(()), decompositions=records))
    found = {e.method: e for e in rows if (e.paper, e.dataset) == ("classdecomp", "Vote")}
    gain = found["NB+decomposition"]
    assert (gain.printed, gain.sound, gain.as_published) == ("6.02", 6.5, 3)
    assert (gain.verdict, gain.sound_verdict, gain.sound_sd) == ("differ", "agree", 0.5477)
    assert found["NB"].sound == 80
    assert found["linear SVM+decomposition"].verdict == "agree"
    other = [e.verdict for e in rows if e.paper == "classdecomp" and e.dataset != "Vote"]
    assert set(other) == {"not run"}
