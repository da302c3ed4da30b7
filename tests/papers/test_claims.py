import pytest
from paper_checks import decide, verdicts
from report_runs import HISTORY, write_run

from deepcac.papers.pass_rules import falls


@pytest.mark.parametrize(
    ("curve", "expected"), [([3.0, 2.0, 2.0], True), ([3.0, 2.0, 2.1], False), ([3.0], None)]
)
def test_falling_curves(curve, expected):
    assert falls(curve) is expected


def test_claims_follow_the_runs(tmp_path):
    results = tmp_path / "results"
    paths = []
    for name in ("titanic", "magic", "credit", "adult", "diabetes", "sepsis_signature", "cic"):
        paths += [
            write_run(results, name, "dmnn", 2, strength=1.0, scores=False),
            write_run(results, name, "cac_dmnn", 2, strength=1.6, scores=False),
        ]
    paths.append(write_run(results, "diabetes", "ec3", 1, status="timeout"))
    found = verdicts(paths, tmp_path)
    assert found["CAC2-14"] == ("holds", "not run")
    assert found["CAC2-17"] == ("holds", "not run")
    assert found["CAC1-01"] == ("not run", "not run")
    assert len(found) == 151
    worse = [
        write_run(results, name, "cac_dmnn", 2, strength=0.4, scores=False)
        for name in ("titanic", "magic", "credit", "adult")
    ]
    assert set(worse) < set(paths)
    assert verdicts(paths, tmp_path)["CAC2-14"][0] == "fails"


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
    assert verdicts(paths, tmp_path)["CAC2-13"] == ("not run", "holds")
    paths += write("as_published_cv5", {"lr": 1.0, "km_lr": 1.3, "cac_lr": 0.4})
    assert verdicts(paths, tmp_path)["CAC2-13"] == ("not run", "fails")
    paths += write("as_published_v2", {"cac_lr": 1.3})  # as good as KM+LR: beats or equals
    assert verdicts(paths, tmp_path)["CAC2-13"] == ("not run", "holds")
    assert verdicts(paths, tmp_path)["CAC2-16"][1] != "holds"


def test_a_claim_to_be_best_needs_every_rival_and_beats_one_without_a_result(tmp_path):
    results = tmp_path / "results"
    names = ("titanic", "magic", "credit", "adult", "diabetes", "sepsis_signature", "cic")
    ours = [
        write_run(results, name, method, 2, strength=1.0, scores=False)
        for name in names
        for method in ("cac_lr", "cac_dmnn")
    ]
    assert verdicts(ours, tmp_path)["CAC2-15"][0] == "not run"
    rivals = [
        write_run(
            results, name, "ec3", 1, strength=0.3, scores=False,
            status="timeout" if name == "diabetes" else "ok",
        )
        for name in names
    ]  # fmt: skip
    assert verdicts([*ours, *rivals[:-1]], tmp_path)["CAC2-15"][0] == "not run"
    assert verdicts([*ours, *rivals], tmp_path)["CAC2-15"][0] == "holds"


def test_ties_are_no_wins(tmp_path):
    results = tmp_path / "results"
    names = ("titanic", "magic", "credit", "adult", "diabetes", "sepsis_signature", "cic")
    paths = [
        write_run(results, name, method, 2, scores=False)
        for name in names
        for method in ("dmnn", "cac_dmnn")
    ]
    assert verdicts(paths, tmp_path)["CAC2-14"][0] == "fails"


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
    assert "18 wins, 0 ties, 0 losses of 18" in found["DCAC-02"].figures
    assert "WiDS Datathon 2020 access" in found["DCAC-02"].figures
    assert found["DCAC-03"].verdict == "holds"
