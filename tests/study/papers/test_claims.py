import re

import pandas as pd
import pytest
from paper_checks import decide, verdicts
from report_runs import HISTORY, write_run

from deepcac_study.papers.rules.fits import converges, falls
from deepcac_study.papers.rules.rule import ClaimRule


@pytest.mark.parametrize(
    ("curve", "expected"), [([3.0, 2.0, 2.0], True), ([3.0, 2.0, 2.1], False), ([3.0], True)]
)
def test_falling_curves(curve, expected):
    assert falls(pd.Series(curve)) is expected


@pytest.mark.parametrize(
    ("cost", "moves", "expected"),
    [
        ([3.0, 2.0, 1.0, 1.0], [5.0, 1.0, 0.0], True),
        ([3.0, 2.0, 1.0], [5.0, 1.0], None),  # stopped
        ([3.0, 2.0, 2.0, 2.0], [5.0, 1.0, 0.0], False),  # a move that gained nothing
        ([3.0, 2.0, 2.1, 2.1], [5.0, 1.0, 0.0], False),
    ],
)
def test_strict_fall_until_nothing_moves(cost, moves, expected):
    passes = pd.DataFrame({"cost": pd.Series(cost), "moves": pd.Series(moves)}).assign(
        step=range(max(len(cost), len(moves)))
    )
    assert converges(passes, ClaimRule("CAC1-05"))[0] is expected


def test_claims_on_stand_ins_are_toys(tmp_path):
    results = tmp_path / "results"

    def write(name):
        return [
            write_run(results, f"demo_{name}", method, 3, strength=s, scores=False, synthetic=True)
            for method, s in (("grasp", 1.0), ("deepcac", 1.0))
        ]

    toys = [path for name in ("cic",) for path in write(name)]
    toys += [
        write_run(results, "demo_cic", method, k, scores=False, synthetic=True)
        for method in ("grasp", "deepcac")
        for k in (2, 4)
    ]
    found = decide(toys, tmp_path)["DCAC-06"]
    assert (found.verdict, found.as_published) == ("toy", "not run")
    assert re.search("stand-ins .*'holds': equivalent in 3 of 3", found.reason)
    real = [
        write_run(results, "cic", method, k, strength=s, scores=False)
        for method, s in (("grasp", 1.0), ("deepcac", 0.2))
        for k in (2, 3, 4)
    ]
    assert decide([*toys, *real], tmp_path)["DCAC-06"].verdict == "fails"


def test_own_data_never_decide_a_claim(tmp_path):
    run = write_run(tmp_path / "results", "own_ward", "cac_lr", 2)
    assert verdicts([run], tmp_path)["CAC1-05"] == ("not run", "not run")


def test_claims_of_the_second_paper_look_at_its_own_runs_first(tmp_path):
    results = tmp_path / "results"
    names = ("titanic", "magic", "credit", "adult", "diabetes", "sepsis_signature", "cic")

    def write(protocol, strengths):
        ks = {"lr": 1, "km_lr": 2, "cac_lr": 2}
        return [
            write_run(
                results, name, method, ks[method], strength=s, protocol=protocol, scores=False
            )
            for name in names
            for method, s in strengths.items()
        ]

    paths = write("as_published", {"lr": 1.0, "km_lr": 1.3, "cac_lr": 1.6})
    paths += write("as_published_cv5", {"lr": 1.0, "km_lr": 1.3, "cac_lr": 1.6})
    assert verdicts(paths, tmp_path)["CAC2-13"] == ("not run", "not run")
    paths += write("as_published_v2", {"cac_lr": 0.4})
    assert verdicts(paths, tmp_path)["CAC2-13"] == ("not run", "fails")
    paths += write("as_published_v2", {"cac_lr": 1.3})[-7:]  # as good as KM+LR: very similar
    assert set(paths[-7:]) == set(paths[-14:-7])
    found = decide(paths, tmp_path)["CAC2-13"]
    assert (found.verdict, found.as_published) == ("not run", "holds")
    assert "titanic, where 418 of 1309 outcomes" in found.as_published_reason


def test_a_claim_to_be_best_needs_every_rival_and_beats_one_without_a_result(tmp_path):
    results = tmp_path / "results"
    names = ("titanic", "magic", "credit", "adult", "diabetes", "sepsis_signature", "cic")
    ours = [
        write_run(results, name, method, 2, strength=2.5, scores=False)
        for name in names
        for method in ("cac_lr", "cac_dmnn")
    ]
    assert verdicts(ours, tmp_path)["CAC2-15"][0] == "not run"
    rivals = [
        write_run(
            results, name, "ec3", 1, strength=0.1, scores=False,
            status="timeout" if name == "diabetes" else "ok",
        )
        for name in names
    ]  # fmt: skip
    assert verdicts([*ours, *rivals[:-1]], tmp_path)["CAC2-15"][0] == "not run"
    assert verdicts([*ours, *rivals], tmp_path)["CAC2-15"][0] == "holds"


def test_a_rising_cost_breaks_the_claim(tmp_path, monkeypatch):
    results = tmp_path / "results"
    assert verdicts([write_run(results, "cic", "cac_lr", 2)], tmp_path)["CAC1-05"][0] == "holds"
    monkeypatch.setitem(HISTORY, "cost", [100.0, 80.0, 81.0])
    assert verdicts([write_run(results, "cic", "cac_lr", 2)], tmp_path)["CAC1-05"][0] == "fails"


def test_a_claim_over_restricted_data_is_decided_on_the_open_part(tmp_path):
    results = tmp_path / "results"
    paths = [
        write_run(results, name, f"{arm}_{base}", 2, strength=s, scores=False)
        for name in ("diabetes", "cic")
        for base in ("lr", "svm", "lda", "perceptron", "rf", "knn", "sgd", "ridge", "xgb")
        for arm, s in (("km", 1.0), ("cac", 1.5))
    ]
    found = decide(paths, tmp_path)
    assert found["DCAC-02"].verdict == "holds"
    assert "higher in 18 of 18" in found["DCAC-02"].reason
    assert "WiDS Datathon 2020 access" in found["DCAC-02"].reason
    assert found["DCAC-03"].verdict == "holds"
