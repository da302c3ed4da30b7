"""Differences between runs are paired by the splits that both have."""

from pathlib import Path

import pytest
from paper_checks import ask

from deepcac_study.papers.claim_verdicts import above, equivalent, not_below
from deepcac_study.papers.evidence import Arm, Evidence
from deepcac_study.papers.names import printed_datasets
from deepcac_study.papers.rules.compared_scores import base_classifiers
from deepcac_study.papers.tabulate import tabulate
from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Run, Runs


def made(method, scores, dataset="cic", metric="f1", k=2):
    """Return a run with a score by the seed of each split."""
    splits = [
        {"seed": seed, "n_train": 70, "n_test": 30, "metrics": {metric: score}}
        for seed, score in scores.items()
    ]
    record = {
        "dataset": dataset, "method": method, "k": k, "protocol": "sound", "status": "ok",
        "synthetic": False, "n_classes": 2, "splits": splits,
    }  # fmt: skip
    return Run(f"results/{dataset}/{method}_k{k}.json", record, Path())


def evidence_of(*runs, protocol="sound"):
    return Evidence(tabulate(Findings(Runs(runs))), protocol)


def contrast(first, second):
    evidence = evidence_of(made("cac_lr", first), made("km_lr", second))
    return evidence.contrast(
        *(Arm("cic", name, 2, "f1", "deepcac") for name in ("cac_lr", "km_lr"))
    )


def test_three_splits_against_five_are_a_test_on_the_three_in_common():
    five = {0: 0.70, 1: 0.60, 2: 0.65, 3: 0.9, 4: 0.9}
    found = contrast({2: 0.66, 1: 0.59, 0: 0.74}, five)
    assert found.mean == pytest.approx((0.04 - 0.01 + 0.01) / 3)
    assert found.low < 0 < found.high
    assert above(found) is None
    clear = contrast({0: 0.80, 1: 0.71, 2: 0.75}, five)
    assert above(clear) is True


def test_runs_without_a_common_split_are_open():
    found = contrast({0: 0.9, 1: 0.9}, {2: 0.1, 3: 0.1, 4: 0.1})
    assert found.mean == pytest.approx(0.8)
    assert [ask(found) for ask in (above, equivalent, not_below)] == [None] * 3


def test_runs_of_two_protocols_share_no_split():
    """Seed 0 of five random splits and fold 0 of five are other rows."""
    random_splits = made("fnn", dict.fromkeys(range(5), 0.9))
    folds = made("lr", dict.fromkeys(range(5), 0.1))
    arms = [Arm("cic", name, 1, "f1", "cac_v2") for name in ("fnn", "lr")]
    evidence = evidence_of(protocol="as_published")
    protocols = [evidence._protocol(arm) for arm in arms]
    assert protocols[0] != protocols[1]
    runs = [
        Run(
            f"results/{protocol}/cic/{run.method}_k1.json",
            {**run.record, "k": 1, "protocol": protocol},
            Path(),
        )
        for run, protocol in zip((random_splits, folds), protocols, strict=True)
    ]
    found = evidence_of(*runs, protocol="as_published").contrast(*arms)
    assert found.mean == pytest.approx(0.8)
    assert above(found) is None


def test_the_seeds_of_tables_with_other_rows_are_no_pairs():
    """Seed 0 of 30,380 stays and seed 0 of 30,540 share nothing but the number."""
    scores = {seed: 0.9 + seed / 1000 for seed in range(5)}
    one, same, other = (made(name, scores, k=2) for name in ("lr", "km_lr", "cac_lr"))
    for n, split in enumerate(same.splits):  # learns from the validation rows, too
        same.record["splits"][n] = {**split, "n_train": 50, "n_validation": 20}
    for n, split in enumerate(other.splits):
        other.record["splits"][n] = {**split, "n_test": 31}
    evidence = evidence_of(one, same, other)
    first, second, third = (
        Arm("cic", run.method, 2, "f1", "deepcac") for run in (one, same, other)
    )
    assert equivalent(evidence.contrast(first, second)) is True
    found = evidence.contrast(first, third)
    assert [ask(found) for ask in (above, equivalent, not_below)] == [None] * 3


def test_a_single_common_split_is_taken_as_it_is():
    found = contrast({0: 0.5}, {0: 0.4, 1: 0.9})
    assert (found.low, found.high) == (pytest.approx(0.1), pytest.approx(0.1))


def silhouettes(kmeans, cac):
    """Return runs of every base classifier of DeepCAC's Table 5 on the open data sets."""
    return Runs(
        tuple(
            made(f"{arm}_{base}", dict(enumerate(values)), dataset, "silhouette")
            for dataset in printed_datasets("deepcac_table5_f1")[:2]
            for i, base in enumerate(base_classifiers("deepcac_table5_f1"))
            for arm, values in (("km", kmeans), ("cac", cac(i)))
        )
    )


@pytest.mark.parametrize(
    ("cac", "verdict", "others"),
    [
        (lambda i: [0.1 + i / 99] * 4 + [0.09], "holds", "18 of 18"),
        (lambda i: [0.4 + i / 99] * 4 + [0.39], "fails", "0 of 18"),
        (lambda i: [0.3, 0.3, 0.3001, 0.3, 0.3], "undecided", "k-means in 18 of 18"),
        (lambda i: [0.1, 0.2, 0.15, 0.12, 0.2] if i == 0 else [0.3] * 5, "holds", "2 of 2 other"),
    ],
)
def test_clusters_that_are_those_of_kmeans_say_nothing_of_cacs(cac, verdict, others):
    runs = silhouettes([0.3] * 5, cac)
    decision = ask("DCAC-17", Findings(runs))
    assert decision.verdict == verdict
    assert others in decision.reason
