"""`deepcac power`: planted outcomes of known worth, and the page."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from described_tables import inferred
from sklearn.metrics import roc_auc_score

from deepcac.errors import ConfigError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.judging.planted_outcomes import (
    held_out_risk,
    plant,
    planting_ground,
    with_true_subtype,
)
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.detection_power import (
    FOUND,
    detection_curve,
    largest_unseen,
    power_answer,
    power_table,
    smallest_seen,
)
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.sample_sizes import (
    candidate_parameters,
    needed_patients,
    study_rows,
    study_size,
)


def patients(n=300, seed=0):
    """Synthetic patients of two kinds; the outcome knows nothing of the kind."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, :2] += 4 * (np.arange(n) % 2)[:, None]
    died = rng.random(n) < 1 / (1 + np.exp(1 - X[:, 2]))
    frame = pd.DataFrame(X, columns=["crp", "urea", "age", "sodium"])
    frame.loc[:20, "sodium"] = np.nan
    return frame.assign(ward=rng.choice(["a", "b", "c"], n), died=died.astype(int))


@pytest.fixture(scope="module")
def ground():
    frame = patients(2000)
    X = frame[["crp", "urea", "age", "sodium"]].to_numpy()
    label = frame["died"].to_numpy()
    return planting_ground(FeatureMatrix(np.arange(len(X)), label, X, ("a", "b", "c", "d")))


def test_the_subtypes_are_the_two_kinds(ground):
    kind = np.arange(2000) % 2
    assert max((ground.subtype == kind).mean(), (ground.subtype != kind).mean()) > 0.99


def test_every_cohort_has_as_many_events_as_a_comparison_needs():
    frame = patients(90)
    label = (np.arange(90) % 11 == 0).astype(np.int64)  # nine events
    X = frame[["crp", "urea", "age", "sodium"]].to_numpy()
    few = planting_ground(FeatureMatrix(np.arange(90), label, X, ("a", "b", "c", "d")))
    events = [plant(few, 0.8, seed)[0].label.sum() for seed in range(40)]
    assert min(events) == 8
    assert max(events) > 9


def test_no_patient_is_predicted_by_a_model_of_other_rows_of_the_same():
    """The columns know only who a patient is, and the label nothing of the columns."""
    rng = np.random.default_rng(0)
    patient = np.tile(np.arange(60), 5)
    X, label = rng.normal(size=(60, 50))[patient], rng.permutation(np.arange(60) % 2)[patient]
    features = FeatureMatrix(np.arange(300), label, X, tuple(map(str, range(50))))
    assert held_out_risk(features)[1] > 0.9
    assert held_out_risk(features, unit=patient)[1] < 0.7
    # What is learnt of no patient is shrunk until all have one risk.
    blind, leaking = (planting_ground(features, unit=unit) for unit in (patient, None))
    assert blind.risk.std() < 0.5 * leaking.risk.std()


def test_planted_outcomes_are_as_frequent_and_gain_more_with_more_strength(ground):
    share = ground.features.label.mean()
    found = [plant(ground, strength, 3) for strength in (0.0, 0.5, 1.0, 2.0)]
    for matrix, _ in found:
        assert abs(matrix.label.mean() - share) < 0.04
    gains = [gain for _, gain in found]
    assert gains[0] == 0.0
    assert gains == sorted(gains)
    assert gains[-1] > 0.05


def test_the_planted_gain_is_what_ample_draws_of_the_outcome_show(ground):
    """The gain is told from true risks; fitted to many drawn outcomes it is the same."""
    from sklearn.linear_model import LogisticRegression

    matrix, gain = plant(ground, 1.5, 5)
    knowing = with_true_subtype(
        FeatureMatrix(
            matrix.row_id,
            matrix.label,
            ground.scaled,
            tuple(map(str, range(ground.scaled.shape[1]))),
        ),
        ground.subtype,
    )
    blind, full = (
        roc_auc_score(matrix.label, LogisticRegression().fit(X, matrix.label).decision_function(X))
        for X in (ground.scaled, knowing.X)
    )
    assert abs((full - blind) - gain) < 0.02


def test_told_rows_have_each_column_in_the_second_subtype_alone(ground):
    knowing = with_true_subtype(ground.features, ground.subtype)
    assert knowing.X.shape[1] == 2 * ground.features.X.shape[1] + 1
    assert not knowing.X[ground.subtype == 0, 5:].any()


def test_what_is_seen_and_what_is_not_follow_from_counts_by_hand():
    """0, 1, 6 and 10 of 10 found: Wilson's upper ends are .28, .40, .83 and 1."""
    rows = [
        {"way": FOUND, "strength": s, "gain": g, "cohort": c, "mean": g, "detected": c < k}
        for s, g, k in ((0, 0.0, 0), (1, 0.02, 1), (2, 0.04, 6), (3, 0.06, 10))
        for c in range(10)
    ]
    curve = detection_curve(pd.DataFrame(rows))
    assert curve["detected"].tolist() == [0.0, 0.1, 0.6, 1.0]
    assert curve["high"].round(2).tolist() == [0.28, 0.40, 0.83, 1.0]
    assert largest_unseen(curve) == pytest.approx(0.02)
    assert smallest_seen(curve) == pytest.approx(0.06)
    assert smallest_seen(curve[curve["strength"] < 3]) is None
    assert largest_unseen(curve[curve["strength"] > 1]) == 0.0


@pytest.mark.parametrize(
    ("events", "said"),
    [
        (12, "at least 20 rows"),
        (30, "0.040 AUROC, could easily be"),
    ],
)
def test_what_no_cohort_shows_is_said_first(events, said):
    rows = [
        {"way": FOUND, "strength": s, "gain": s / 50, "cohort": c, "mean": 0, "detected": False}
        for s in (0, 1, 2)
        for c in range(20)
    ]
    label = np.repeat([0, 1], [300 - events, events])
    table = SimpleNamespace(features=SimpleNamespace(label=label), group=None, rarest=events)
    answer = power_answer(table, pd.DataFrame(rows))
    assert said in " ".join((answer.sentence, *answer.details))
    assert len(answer.sentence.split()) <= 25


@pytest.mark.parametrize(("rows_each", "said"), [(1, "has enough"), (10, "has too few")])
def test_rows_of_a_patient_are_no_further_patients(tmp_path, rows_each, said):
    frame = patients(2000)[["crp", "died"]].assign(stay=np.arange(2000) // rows_each)
    frame.to_csv(tmp_path / "t.csv", index=False)
    need = needed_patients(read_labelled(inferred(tmp_path / "t.csv", patient="stay")))
    assert 200 < need.size.needed < 2000
    assert f"this table {said}." in need.sentence


@pytest.mark.parametrize(
    ("threshold", "cell"), [(None, "no threshold"), (0.1, "301"), (0.9, "nobody is treated")]
)
def test_a_study_of_nobody_who_is_treated_does_not_need_0_patients(threshold, cell):
    risk = np.random.default_rng(0).uniform(0.02, 0.4, 500)
    assert study_rows(study_size(risk, 0.7, threshold), threshold)[-1][1] == cell


def test_the_page_says_it_first_and_the_command_returns_it(tmp_path, monkeypatch):
    monkeypatch.setattr("deepcac.table.detection_power.STRENGTHS", (0.0, 2.0))
    monkeypatch.setattr("deepcac.table.budgeted_trials.RESAMPLES_SMALL", 4)
    patients().to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "power.html"
    answer = power_table(
        inferred(tmp_path / "t.csv"),
        out,
        TableRun(lambda _: None, command="<b>", budget=0.01, jobs=1),
    )
    page = out.read_text()
    assert answer.startswith("With these 300 patients and ")
    assert page.index("With these 300 patients") < page.index("<figure") < page.index("<table")
    assert "&lt;b&gt;" in page
    assert "Riley" in page
    table = read_labelled(inferred(tmp_path / "t.csv"))
    assert candidate_parameters(table) == 3 + 2 + 2


def test_three_classes_are_refused_in_one_line(tmp_path):
    frame = patients().assign(grade=np.arange(300) % 3).drop(columns="died")
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(ConfigError, match="two classes"):
        power_table(
            inferred(tmp_path / "t.csv", "grade"), tmp_path / "p.html", TableRun(print, command="")
        )
    assert not (tmp_path / "p.html").exists()
