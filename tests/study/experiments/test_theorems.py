"""The theorems on a data set: what is measured, what is shown, what is claimed."""

import json

import numpy as np
import pytest
from paper_checks import ask

from deepcac.cac import cluster
from deepcac.errors import ConfigError
from deepcac.files.storage import write_json
from deepcac.task import Task
from deepcac_study.catalogue.protocol import SOUND
from deepcac_study.experiments.prepare import Setting
from deepcac_study.experiments.theory import theorems as evaluated
from deepcac_study.experiments.theory.bounds import lloyd_costs
from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Runs
from deepcac_study.records.stored import load_stored
from deepcac_study.records.theorem_checks import Check, TheoryRecord, checks
from deepcac_study.report.papers.ledger_tables import theory_tables
from deepcac_study.report.site.page import build

ASKED = Setting("adult", 2, SOUND, "cac")


def make_task(n_classes=2):
    rng = np.random.default_rng(5)
    y = rng.integers(0, n_classes, 240)
    X = rng.normal(size=(240, 3)) + np.outer(y, [1.0, 0.5, 0.0])
    X[:, 2] += 4 * rng.integers(0, 2, 240)
    return Task(
        X_train=X[:180],
        y_train=y[:180],
        X_validation=X[:0],
        y_validation=y[:0],
        X_test=X[180:],
        y_test=y[180:],
        n_classes=n_classes,
        k=2,
        seed=0,
    )


@pytest.fixture(scope="module")
def small_clock():
    """Keep the timed part short; its numbers are not looked at."""
    patch = pytest.MonkeyPatch()
    times = evaluated.growth
    patch.setattr(
        evaluated,
        "growth",
        lambda X, y, k, work: times(X, y, k, work, sizes=(50, 100), ks=(2, 3), rows=60),
    )
    yield
    patch.undo()


@pytest.fixture(scope="module")
def written(tmp_path_factory, small_clock):
    folder = tmp_path_factory.mktemp("theory")
    path = folder / "results/theory/adult_k2.json"
    write_json(path, evaluated.theory([make_task()], ASKED))
    return path


@pytest.fixture
def record(written):
    return TheoryRecord("results/theory/adult_k2.json", json.loads(written.read_text()))


def plain_lloyd(X, y, labels, alpha, k):
    """Return the labels after one pass, row by row (CAC v2, Remark 1)."""
    moved = []
    for x in X:
        distances = []
        for j in range(k):
            rows, classes = X[labels == j], y[labels == j]
            apart = 0.0
            if len(np.unique(classes)) == 2:
                apart = ((rows[classes == 1].mean(0) - rows[classes == 0].mean(0)) ** 2).sum()
            distances.append(((x - rows.mean(0)) ** 2).sum() - alpha * apart)
        moved.append(int(np.argmin(distances)))
    return np.array(moved)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 5.0])
def test_lloyd_costs_are_those_of_a_plain_pass(alpha):
    task = make_task()
    X, y = task.X_train, task.y_train
    labels = np.arange(len(y)) % 2
    found = lloyd_costs(X, y, labels, alpha, k=2, passes=2)
    after = plain_lloyd(X, y, labels, alpha, 2)
    for step, own in enumerate((labels, after)):
        direct = cluster(X, y, own, alpha, max_iter=0, n_clusters=2).cost[0]
        assert found[step] == pytest.approx(direct)


def test_lloyd_without_alpha_is_k_means_and_never_rises():
    task = make_task()
    start = np.arange(len(task.y_train)) % 3
    found = lloyd_costs(task.X_train, task.y_train, start, 0.0, k=3, passes=50)
    assert len(found) < 50
    assert (np.diff(found) <= 1e-9 * found[0]).all()


def test_every_theorem_is_evaluated_and_its_proof_holds(record):
    found = checks(record)
    by_bound = {}
    for check in found:
        by_bound.setdefault(check.bound, []).append(check.holds)
    assert all(by_bound["CAC v1 Theorem 2: the cost never rises"])
    assert by_bound["CAC v1 Theorem 4, DeepCAC Theorem 2: log loss"] == [True] * 5
    assert by_bound["DeepCAC Theorem 3, constants put right: AM-softmax loss"] == [True] * 3
    assert by_bound["DeepCAC Theorem 3 as printed: AM-softmax loss"][1:] == [False, False]
    assert by_bound["Theorem 1: expected log loss"] == [True] * 3
    own = record.record["am_softmax"][1]
    assert own["printed_upper"] == pytest.approx(180 * (1 + 12) - 60 * 180)


def test_the_risk_is_of_the_same_rows_and_one_class(record):
    task = make_task()
    X = np.column_stack([task.X_test, np.ones(60)])
    beta = evaluated._coefficients(np.column_stack([task.X_train, np.ones(180)]), task.y_train, 1.0)
    signed = np.where(task.y_test == 1, 1, -1) * (X @ beta)
    plain, *others = record.record["risk"]
    assert plain["test"] == pytest.approx(np.log1p(np.exp(-signed)).mean())
    assert plain["norm"] >= np.linalg.norm(beta)
    assert {row["norm"] for row in others} == {plain["norm"]}
    assert all(row["confidence"] > plain["confidence"] for row in others)


def test_all_but_the_clock_is_the_same_twice(record, small_clock, monkeypatch):
    monkeypatch.setattr(evaluated, "seconds", lambda X, y, labels, k: float(len(X)) ** 3)
    again = evaluated.theory_checks(make_task())
    for key in ("cost", "growth", "log_loss", "am_softmax", "risk"):
        assert again[key] == record.record[key]
    made = record.record["machine"]
    assert set(made["growth"]) == {"n", "d", "k"}
    assert {"git_commit", "processor", "versions"} <= set(made)


def test_operations_of_a_pass_counted_by_hand():
    """Two classes, two clusters, d = 3: row 2 moves from cluster 1 to 0, all others stay."""
    X = np.array([[0.0, 0, 0], [0.1, 0, 0], [0.05, 0, 0], [9, 9, 9], [9.1, 9, 9], [9, 9.1, 9]])
    y, labels = np.array([0, 1, 0, 0, 1, 0]), np.array([0, 0, 1, 1, 1, 1])
    # Rows 0, 1 and 4 are the last of their class. Row 2 (class 0): weights of both clusters anew,
    # 2 + 2 x 2 products (from cluster 0 with one such row nobody leaves), k to look, 2 + 2 x 2 to
    # move. Row 3: both clusters changed, and both have two rows of class 0. Row 5 looks only.
    products = (2 + 4 + 2 + 6) + (4 + 4 + 2) + 2
    assert evaluated.operations(X, y, labels, 2) == 2 * 3 * products
    assert labels.tolist() == [0, 0, 1, 1, 1, 1]


def test_one_class_clusters_and_more_classes(small_clock, tmp_path):
    beta = evaluated._coefficients(np.ones((9, 1)), np.ones(9, dtype=int), 1.0)
    assert beta == pytest.approx([np.log(10)])
    assert evaluated._lemma(np.ones((9, 0)), np.ones(9), beta[:-1])["same_sign"] is None
    with pytest.raises(ConfigError, match="adult has 3 classes"):
        evaluated.theory([make_task(n_classes=3)], ASKED)


@pytest.mark.parametrize(
    ("left", "value", "right", "holds"),
    [
        (None, 1.1, 1.0, True),
        (None, 1.2, 1.0, False),
        (0.5, 0.3, 1.0, False),
        (0.5, 0.6, None, True),
    ],
)
def test_a_check_holds_between_its_sides(left, value, right, holds):
    assert Check("b", "p", left, value, right, 0.15).holds is holds


def verdict(record, claim, protocol="sound"):
    return ask(claim, Findings(Runs(()), theory=[record]), protocol)


def test_claims_follow_the_record(record):
    assert verdict(record, "CAC1-14").verdict == "holds"
    assert verdict(record, "DCAC-38").verdict == "partly"
    assert verdict(record, "CAC1-14", "as_published").verdict == "not run"
    assert verdict(record, "CAC1-14").runs == ("results/theory/adult_k2.json",)
    for row in record.record["log_loss"]:
        row["loss"] = row["upper"] + 1.0
    assert verdict(record, "CAC1-14").verdict == "fails"
    assert verdict(record, "DCAC-36").reason == "true for 0 of 5 fitted models"


def test_growth_risk_and_lloyd_claims(record):
    record.record["growth"] = {"n": 1.02, "d": 0.6, "k": 0.5}
    assert verdict(record, "CAC1-06").verdict == "holds"
    record.record["growth"]["n"] = 1.9
    assert verdict(record, "DCAC-30").verdict == "partly"
    for row in record.record["cost"]:
        row["lloyd_rise"] = 0.0
    assert verdict(record, "CAC2-06").verdict == "undecided"
    record.record["cost"][3]["lloyd_rise"] = 1.0
    assert verdict(record, "CAC2-06").verdict == "holds"
    assert verdict(record, "CAC1-03").verdict == "undecided"  # every bound is above ln 2
    record.record["risk"][0]["total"] = 0.69
    assert verdict(record, "CAC1-03").verdict == "holds"
    for row in record.record["risk"]:
        row["test"] = row["total"] + 1
    assert verdict(record, "DCAC-35").verdict == "fails"


def test_lemma_and_gap_claims(record):
    rows = record.record["log_loss"]
    for row in rows:
        row |= {"same_sign": 0.5, "projection": 1.0, "rows": 10, "loss": 5.0, "lower": 0.0}
        row |= {"radius": 1.0, "upper": 10.0}
    assert verdict(record, "CAC1-15").verdict == "undecided"
    rows[1]["same_sign"] = 1.0
    assert verdict(record, "CAC1-15").verdict == "holds"
    rows[1]["projection"] = -1.0
    assert verdict(record, "CAC1-15").verdict == "fails"
    assert verdict(record, "DCAC-37").verdict == "undecided"  # none is tighter
    rows[0] |= {"radius": 2.0, "upper": 20.0}
    assert verdict(record, "DCAC-37").verdict == "holds"
    for row in rows[1:]:
        row["upper"] = 30.0
    assert verdict(record, "DCAC-37").verdict == "fails"


@pytest.mark.usefixtures("undrawn")
def test_the_page_shows_theory_and_keeps_generated_data_apart(written, tmp_path):
    synthetic = json.loads(written.read_text()) | {"dataset": "demo_cic", "synthetic": True}
    demo = tmp_path / "results/theory/demo_cic_k2.json"
    demo.parent.mkdir(parents=True)
    write_json(demo, synthetic)
    out = tmp_path / "results/report"
    build([demo], "config/registry", out)
    page = (out / "pages" / "theory.html").read_text()
    assert "not been evaluated" in page
    assert (out / "tables/synthetic_theory.md").exists()
    claim = next(
        line for line in (out / "claims.csv").read_text().splitlines() if "CAC1-14" in line
    )
    assert ",toy," in claim
    build([demo, written], "config/registry", out)
    lines = (out / "tables/theory.csv").read_text().splitlines()
    assert len(lines) == 1 + len(checks(load_stored(TheoryRecord, [written], tmp_path)[0]))
    assert lines[1].startswith('"adult, k = 2"')
    assert theory_tables([]) == []
