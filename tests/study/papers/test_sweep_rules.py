import numpy as np
import pandas as pd
import pytest
from paper_checks import ask, evidence
from world_parts import passes_by_alpha

from deepcac_study.papers.claims import claims
from deepcac_study.papers.ledger import entries
from deepcac_study.papers.rules.query import decide
from deepcac_study.papers.rules.rule import rules
from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Runs
from deepcac_study.records.sweep_tables import Sweeps, load_sweeps
from deepcac_study.report.papers.training_curves import sweep_figures


def by_alpha(f1, train, test, separation, passes):
    rows = [
        {
            "alpha": alpha,
            "pass": step,
            "moves": count - 1 - step,
            "cost": 9.0 - step,
            "within": 9.0,
            "separation": s - 0.5 ** (s * step),
            "train_log_loss": a + 0.1 * (step < count - 1),
            "test_log_loss": b,
            "f1": score,
            "silhouette": 0.1,
        }
        for alpha, score, a, b, s, count in zip(
            (0.0, 0.02, 1.0), f1, train, test, separation, passes, strict=True
        )
        for step in range(count)
    ]
    return pd.DataFrame(row | {"seed": seed} for seed in (0, 1) for row in rows)


def grid_table(ics_gain, clusters_gain, k_gain):
    rows = [
        {
            "ics": ics,
            "ocs": ocs,
            "clusters": clusters,
            "imbalanced": rare,
            "method": method,
            "k": k,
            "alpha": None,
            "f1": 0.5
            + ics_gain * ics
            + clusters_gain * clusters
            + k_gain * (k >= clusters)
            + bonus,
            "auroc": 0.5 + ics_gain * ics + clusters_gain * clusters + k_gain * (k >= clusters),
        }
        for rare in (False, True)
        for ics in (0.0, 1.0, 2.0)
        for ocs in (1.0, 2.0)
        for clusters in (2, 3, 5)
        for method, ks, bonus in (("lr", (1,), 0), ("km_lr", (2, 3), 0.1), ("cac_lr", (2, 3), 0.2))
        for k in ks
    ]
    return pd.DataFrame(rows)


def decided(sweeps, protocol="sound"):
    found = Findings(Runs(()), sweeps)
    name = "verdict" if protocol == "sound" else protocol
    return {claim.id: getattr(claim, name) for claim in claims(found, entries(found))}


def verdicts(sweeps, protocol="sound"):
    found = evidence(Findings(Runs(()), sweeps), protocol)
    return {name: decide(name, found).verdict for name in rules()}


def test_claims_on_alpha():
    right = by_alpha((0.3, 0.5, 0.2), (0.5, 0.4, 0.01), (0.5, 0.4, 0.9), (1, 2, 3), (1, 5, 3))
    found = verdicts(Sweeps({"alpha": {("credit", 3): right}}))
    names = ("CAC1-12", "CAC1-20", "CAC1-21", "CAC1-22", "CAC1-23")
    assert [found[name] for name in names] == ["holds"] * 5
    assert found["CAC1-08"] == "undecided"  # two alphas have no rank correlation
    assert found["CAC2-12"] == "partly"  # overfitted, but not spread out
    assert found["CAC2-11"] == "holds"
    spread = right.assign(silhouette=-right["alpha"])
    assert verdicts(Sweeps({"alpha": {("credit", 3): spread}}))["CAC2-12"] == "holds"
    wrong = by_alpha((0.3, 0.31, 0.3), (0.5, 0.4, 0.3), (0.4, 0.5, 0.3), (3, 2, 1), (1, 3, 5))
    found = verdicts(Sweeps({"alpha": {("credit", 3): wrong}}))
    assert [found[name] for name in names] == ["fails"] * 5
    slow = by_alpha((0.3, 0.31, 0.3), (0.5, 0.4, 0.01), (0.5, 0.4, 0.9), (1, 2, 3), (1, 5, 3))
    assert verdicts(Sweeps({"alpha": {("credit", 3): slow}}))["CAC2-11"] == "partly"
    mixed = Sweeps({"alpha": {("credit", 3): wrong, ("cic", 2): right, ("adult", 2): right}})
    assert verdicts(mixed)["CAC1-12"] == "partly"


def test_separation_that_rises_with_alpha_but_at_no_increasing_rate_is_partly():
    """Six alphas: S a thousandfold by rank, with one dip; the first pass's gain has two."""
    alphas, ends = (0.0, 0.02, 0.2, 0.5, 1.0, 2.0), (1.0, 4.0, 9.0, 8.9, 500.0, 1000.0)
    rows = [
        {
            "alpha": a,
            "seed": seed,
            "iteration": i,
            "separation": s,
            "cost": 1.0,
            "f1": 0.5,
            "train_log_loss": 0.5,
            "test_log_loss": 0.5,
            "silhouette": 0.1,
        }
        for seed in (0, 1)
        for a, end, first in zip(alphas, ends, (1, 3, 2, 5, 4, 6), strict=True)
        for i, s in enumerate((0.0, first, end))
    ]
    table = pd.DataFrame(rows)
    assert verdicts(Sweeps({"alpha": {("credit", 3): table}}))["CAC1-12"] == "partly"


def silhouettes(lower, n=8, seeds=(0, 1)):
    return pd.DataFrame(
        {
            "alpha": float(a),
            "seed": seed,
            "iteration": i,
            "silhouette": s,
            "train_log_loss": 0.5 - i,
        }
        for seed in seeds
        for a in range(1, n + 1)
        for i, s in enumerate((0.5, 0.4 if a <= lower else 0.6))
    )


@pytest.mark.parametrize(
    ("lower", "verdict"), [(8, "holds"), (6, "holds"), (5, "partly"), (4, "fails")]
)
def test_each_alpha_counts_for_the_silhouette(lower, verdict):
    found = Sweeps({"alpha": {("credit", 3): silhouettes(lower)}})
    assert ask("DCAC-16", Findings(Runs(()), found)).verdict == verdict


def test_alphas_at_which_nothing_moves_say_nothing_of_the_speed_or_the_silhouette():
    """Two passes at small alphas are no fast convergence: hardly a row moves there."""
    still = [
        {"alpha": a, "pass": i, "seed": seed, "train_log_loss": 0.5, "silhouette": 0.5, "f1": 0.5,
         "separation": 1.0, "test_log_loss": 0.5, "cost": 1.0}
        for seed in (0, 1) for a in (0.01, 0.02) for i in range(2)
    ]  # fmt: skip
    moving = [
        {**still[0], "alpha": a, "pass": i, "seed": seed, "train_log_loss": 0.5 / (i + 1),
         "silhouette": 0.5 - 0.1 * i}
        for seed in (0, 1) for a, count in ((0.1, 9), (1.0, 6), (2.0, 3)) for i in range(count)
    ]  # fmt: skip
    found = verdicts(Sweeps({"alpha": {("credit", 3): pd.DataFrame(still + moving)}}))
    assert (found["CAC1-08"], found["DCAC-27"], found["DCAC-16"]) == ("holds",) * 3
    nothing = verdicts(Sweeps({"alpha": {("credit", 3): pd.DataFrame(still)}}))
    assert (nothing["CAC1-08"], nothing["DCAC-16"]) == ("undecided",) * 2


@pytest.mark.parametrize(
    ("passes", "verdict"),
    [
        ((9, 8, 7, 6, 5, 4), "holds"),
        ((7, 4, 9, 5, 8, 6), "undecided"),
        ((4, 5, 6, 7, 8, 9), "fails"),
    ],
)
def test_a_rank_correlation_that_may_be_chance_leaves_the_speed_open(passes, verdict):
    swept = Sweeps({"alpha": {("credit", 3): passes_by_alpha(*passes)}})
    for name in ("CAC1-08", "DCAC-27"):
        assert ask(name, Findings(Runs(()), swept)).verdict == verdict


def test_alphas_on_which_the_splits_disagree_can_only_rule_out_that_all_are_lower():
    both = pd.concat([silhouettes(8, seeds=(0,)), silhouettes(5, seeds=(1,))])
    worse = pd.concat([silhouettes(5, seeds=(0,)), silhouettes(3, seeds=(1,))])
    for table, verdict in ((both, "undecided"), (worse, "cannot hold")):
        swept = Sweeps({"alpha": {("credit", 3): table}})
        assert ask("DCAC-16", Findings(Runs(()), swept)).verdict == verdict


def test_the_lowest_loss_is_open_where_another_alpha_is_as_low():
    """0.4525 at the lowest and 0.4528 at the claimed alpha are the same to three digits."""
    usual = (0.3, 0.5, 0.2), (0.5, 0.4, 0.01)
    for loss, verdict in ((0.4528, "undecided"), (0.4545, "fails")):
        table = by_alpha(*usual, (0.4525, loss, 0.9), (1, 2, 3), (1, 5, 3))
        assert verdicts(Sweeps({"alpha": {("credit", 3): table}}))["CAC1-20"] == verdict


def test_one_split_leaves_a_claim_on_alpha_open():
    right = by_alpha((0.3, 0.5, 0.2), (0.5, 0.4, 0.01), (0.5, 0.4, 0.9), (1, 2, 3), (1, 5, 3))
    names = ("CAC1-08", "CAC1-12", "CAC1-20", "CAC1-21", "CAC1-22", "CAC1-23")
    one = right[right["seed"] == 0]
    for table in (one, one.drop(columns="seed")):
        found = verdicts(Sweeps({"alpha": {("credit", 3): table}}))
        assert [found[name] for name in names] == ["undecided"] * 6


def test_claims_on_the_grid():
    names = ("CAC1-16", "CAC1-17", "CAC1-18", "CAC1-19", "DCAC-01", "DCAC-31", "CAC2-07")
    found = verdicts(Sweeps(grid=grid_table(0.1, -0.01, 0.1)))
    assert [found[name] for name in names] == ["holds"] * 7
    found = verdicts(Sweeps(grid=grid_table(-0.1, 0.01, -0.1)))
    expected = ["fails", "holds", "fails", "fails", "holds", "fails", "fails"]
    assert [found[name] for name in names] == expected


def test_more_clusters_alone_are_not_enough_clusters():
    table = grid_table(0.1, -0.01, 0.0)
    table["f1"] += 0.1 * table["k"]  # higher with every k, whatever K is
    table["f1"] += np.random.default_rng(0).normal(0, 0.01, len(table))
    assert verdicts(Sweeps(grid=table))["CAC1-19"] == "undecided"


def weights(alpha, beta):
    values = (0.0, 1.0, 5.0, 20.0, 100.0)
    return pd.DataFrame(
        {"parameter": name, "value": value, "seed": seed, "auroc": s, "auprc": s, "silhouette": 0.1}
        for seed in (0, 1)
        for name, scores in (("alpha", alpha), ("beta", beta))
        for value, s in zip(values, scores, strict=True)
    )


def test_claims_on_loss_weights():
    right = weights((0.7, 0.6, 0.72, 0.72, 0.72), (0.70, 0.71, 0.71, 0.715, 0.71))
    wrong = weights((0.7, 0.72, 0.6, 0.7, 0.5), (0.70, 0.5, 0.6, 0.69, 0.71))
    near = weights((0.7, 0.6, 0.72, 0.72, 0.72), (0.70, 0.725, 0.71, 0.715, 0.71))
    assert verdicts(Sweeps({"weights": {("cic_los", 3): near}}))["DCAC-20"] == "undecided"
    names = ("DCAC-19", "DCAC-20", "DCAC-21")
    assert [verdicts(Sweeps({"weights": {("cic_los", 3): right}}))[n] for n in names] == [
        "holds"
    ] * 3
    assert [verdicts(Sweeps({"weights": {("cic_los", 3): wrong}}))[n] for n in names] == [
        "fails"
    ] * 3


def test_a_part_of_what_loss_weights_do_is_partly():
    """Scores that never fall but stay from 5 on; alpha helps and beta does not."""
    half = weights((0.6, 0.6, 0.62, 0.62, 0.62), (0.7, 0.7, 0.7, 0.69, 0.7))
    found = verdicts(Sweeps({"weights": {("cic_los", 3): half}}))
    assert [found["DCAC-19"], found["DCAC-21"]] == ["partly", "partly"]


def separation(none, am_softmax, distance, status="ok"):
    rows = [("none", 0.0, none)]
    rows += [("am_softmax", a, s) for a, s in zip((5.0, 20.0), am_softmax, strict=True)]
    rows += [("centroid_distance", a, s) for a, s in zip((5.0, 20.0), distance, strict=True)]
    return pd.DataFrame(
        {"seed": seed, "term": term, "alpha": alpha, "limit": 2.0, "start_batch_scaling": 1.0, "length": 1.0, "auprc": 0.5,
         "status": status if term == "centroid_distance" else "ok",
         "share": share, "direction_share": share, "test_share": share}
        for seed in (0, 1) for term, alpha, share in rows
    )  # fmt: skip


def test_the_claim_on_separation_terms():
    def verdict(table):
        return verdicts(Sweeps({"separation": {("cic", 3): table}}))["DCAC-39"]

    low, high = (0.011, 0.012), (0.011, 0.02)  # twice the share without counts
    assert verdict(separation(0.01, high, low)) == "holds"
    assert verdict(separation(0.01, low, high)) == "fails"
    assert verdict(separation(0.01, high, high)) == "partly"
    assert verdict(separation(0.01, high, high, status="diverged")) == "holds"
    one = separation(0.01, high, low).query("seed == 0")
    assert verdict(one) == "undecided"
    assert verdicts(Sweeps())["DCAC-39"] == "not run"


def test_generated_cohorts_and_missing_sweeps_decide_nothing():
    table = by_alpha((0.3, 0.5, 0.2), (0.5, 0.4, 0.01), (0.5, 0.4, 0.9), (1, 2, 3), (1, 5, 3))
    demo = Sweeps({"alpha": {("demo_credit", 3): table}})
    grid = Sweeps(grid=grid_table(1, 1, 1))
    for found, verdict in ((decided(demo), "toy"), (decided(grid, "as_published"), "not run")):
        assert found["CAC1-12"] == verdict
        assert found["CAC1-16"] == "not run"
    assert {figure.section for figure in sweep_figures(demo)} == {"synthetic"}


def test_sweeps_are_read_by_their_names(tmp_path):
    table = by_alpha((0.3, 0.5, 0.2), (0.5, 0.4, 0.01), (0.5, 0.4, 0.9), (1, 2, 3), (1, 5, 3))
    table.to_parquet(tmp_path / "alpha_cic_los_k2.parquet")
    weights([0.5] * 5, [0.5] * 5).to_parquet(tmp_path / "weights_cic_k3.parquet")
    separation(0.1, (0.2, 0.3), (0.2, 0.3)).to_parquet(tmp_path / "separation_cic_k3.parquet")
    grid_table(1, 1, 1).to_parquet(tmp_path / "grid.parquet")
    sweeps = load_sweeps(tmp_path.glob("*.parquet"))
    assert (list(sweeps.of("alpha")), list(sweeps.of("weights"))) == (
        [("cic_los", 2)],
        [("cic", 3)],
    )
    assert [figure.id for figure in sweep_figures(sweeps)] == [
        "alpha_passes_cic_los_k2",
        "alpha_final_cic_los_k2",
        "synthetic_grid_balanced",
        "synthetic_grid_rare",
        "weights_cic_k3",
        "separation_cic_k3",
    ]
