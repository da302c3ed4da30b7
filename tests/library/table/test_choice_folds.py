"""The choice of a risk model: nested folds, a lead that must be shown, pooled calibration."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from described_tables import inferred, use_of

from deepcac.errors import DataError
from deepcac.scoring.calibration import calibration, calibration_slope
from deepcac.scoring.resampled_scores import (
    INTERCEPT,
    RATIO,
    SLOPE,
    Patients,
    patient_draws,
    score_intervals,
)
from deepcac.table import choice_folds
from deepcac.table.choice_folds import Candidate, Scores, score_on_folds, split
from deepcac.table.elsewhere.folds import Fold
from deepcac.table.found_subtypes import fewest_clusters
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.risk_model import fit_risk_model
from deepcac.table.risk_model_choice import (
    Ways,
    candidates,
    choice,
    chosen_method,
    held_out,
    nested_answers,
)

USE = use_of("died")


def table_of(tmp_path, frame):
    frame.to_csv(tmp_path / "t.csv", index=False)
    return read_labelled(inferred(tmp_path / "t.csv", USE))


def signal(seed, n, strength):
    g = np.random.default_rng(seed)
    X = g.normal(size=(n, 6))
    y = g.random(n) < 1 / (1 + np.exp(1 - strength * X[:, 0]))
    return pd.DataFrame(X, columns=list("abcdef")).assign(died=y.astype(int))


def test_a_choice_has_seen_no_row_of_the_fold_that_it_is_judged_on(tmp_path, monkeypatch):
    """Other labels in a fold change what models score there, and nothing that chooses for it."""
    table = table_of(tmp_path, signal(0, 150, 1.0))
    parts = split(table, 0)
    monkeypatch.setattr(choice_folds, "split", lambda *a: parts)
    tried = candidates(Ways(), table)[::9]
    label = table.features.label.copy()
    label[parts[2]] = 1 - label[parts[2]]
    changed = replace(table, features=replace(table.features, label=label))
    before, after = (score_on_folds(one, tried, 0) for one in (table, changed))
    for kind in (0, 1):
        assert np.array_equal(before.inside[2][kind], after.inside[2][kind])
        assert not np.array_equal(before.inside[0][kind], after.inside[0][kind])
        assert not np.array_equal(before.every[kind][2], after.every[kind][2])
    assert np.array_equal(before.risk[:, parts[2]], after.risk[:, parts[2]])


def test_the_simplest_model_within_a_standard_error_of_the_best_is_taken():
    """One SD of a lead over five folds has an error of sqrt(1/5 + 1/4) = 0.671 SD."""
    spread = 0.01 * np.array([-2, -1, 0, 1, 2]) / np.sqrt(2.5)
    tried = [
        Candidate("km", {"n_clusters": 2}), Candidate("", {}, "lgbm"),
        Candidate("", {}, "spline_lr"), Candidate("", {}),
    ]  # fmt: skip

    def taken(*leads):
        auroc = np.column_stack([0.7 + 0.01 * lead + spread * (lead > 0) for lead in leads])
        found = tried[choice(Scores(auroc, np.zeros((5, 4))), tried)]
        return found.learner if found.k == 1 else "clusters"

    assert taken(0.66, 0, 0, 0) == "lr"
    assert taken(0.68, 0, 0, 0) == "clusters"
    assert taken(0, 0.68, 0.68, 0) == "spline_lr"
    assert taken(0, 0.68, 0, 0) == "lgbm"
    assert taken(0.68, 0.68, 0, 0) == "lgbm"


def test_of_the_trials_of_a_model_the_log_loss_chooses():
    tried = [Candidate("", {"C": C}) for C in (1.0, 2.0, 3.0)]
    auroc, log_likelihood = np.full((5, 3), [0.7, 0.9, 0.8]), np.full((5, 3), [-0.6, -0.5, -0.4])
    assert choice(Scores(auroc, log_likelihood), tried) == 2


def test_no_patient_with_the_most_frequent_class_only_is_no_rare_class(tmp_path):
    table = table_of(tmp_path, signal(0, 160, 1.0))
    label = np.tile([0, 1, 0, 2], 40)  # two rows per patient, one of them of the first class
    features = replace(table.features, label=label)
    assert len(split(replace(table, features=features, group=np.arange(160) // 2), 0)) == 5
    fold = Fold("a", features, np.arange(120), np.arange(120, 160), np.arange(160) // 2)
    assert fold.learnable


def test_calibration_is_of_all_risks_together_by_models_that_the_same_rule_chose(tmp_path):
    table = table_of(tmp_path, signal(1, 200, 1.0))
    tried = candidates(Ways(), table)[::3]
    scores = score_on_folds(table, tried, 0)
    auroc, predictions = nested_answers(table, tried, scores)
    told = held_out(auroc, 40, 1 / 4, predictions)
    risk = np.empty(200)
    for j in range(5):
        own = scores.fold == j
        risk[own] = scores.risk[choice(scores.inside[j], tried), own, 1]
    wanted = calibration(table.features.label, risk)
    assert told["calibration_slope"] == pytest.approx(wanted.slope, abs=1e-4)
    assert told["calibration_intercept"] == pytest.approx(wanted.intercept, abs=1e-4)
    assert told["parts"] == 5
    whom = Patients(table.features.label, risk)
    intervals = score_intervals(whom, patient_draws(np.arange(200)))
    for name, interval in (
        ("calibration_intercept", intervals[INTERCEPT]),
        ("calibration_slope", intervals[SLOPE]),
        ("observed_by_expected", intervals[RATIO]),
    ):
        ends = told[f"{name}_low"], told[f"{name}_high"]
        assert ends == pytest.approx((interval.low, interval.high), rel=0.2, abs=0.05), name


def test_the_printed_slope_is_near_that_on_new_rows(tmp_path):
    """400 patients, and 20,000 new ones: five averaged slopes said -6 to 54 on such tables."""
    whole = signal(2, 20_400, 1.0)
    table = table_of(tmp_path, whole[:400])
    method = chosen_method(table, Ways("plain", "lr"), 0, lambda line: None)
    model, new = fit_risk_model(table, method, 0), whole[400:]
    true = calibration_slope(new.died.to_numpy(), model.predict_proba(new)[:, 1])
    assert method["held_out"]["calibration_slope"] == pytest.approx(true, abs=0.3)


def test_clusters_are_taken_where_a_lead_is_shown_in_pairs():
    """The spread between folds says nothing of a lead; that of the differences does."""
    folds = np.array([0.55, 0.75, 0.60, 0.80, 0.65])[:, None]
    noise = np.array([0.03, -0.02, 0.02, -0.01, 0.03])[:, None]
    steady = np.array([0.03, 0.035, 0.025, 0.03, 0.032])[:, None]
    assert fewest_clusters(np.hstack([folds, folds + noise]), [1, 2], 0.25) == 0
    assert fewest_clusters(np.hstack([folds, folds + steady]), [1, 2], 0.25) == 1
    assert fewest_clusters(np.hstack([folds, folds + steady, folds + steady]), [1, 3, 2], 0.25) == 2


@pytest.mark.usefixtures("few_trials")
def test_noise_brings_no_clusters(tmp_path):
    g = np.random.default_rng(3)
    frame = pd.DataFrame(g.normal(size=(300, 6)), columns=list("abcdef"))
    table = table_of(tmp_path, frame.assign(died=(g.random(300) < 0.35).astype(int)))
    assert chosen_method(table, Ways(learner="lr"), 0, lambda line: None)["n_clusters"] == 1


def test_rows_of_a_patient_share_a_fold(tmp_path):
    frame = signal(3, 120, 1.0).assign(patient=np.arange(120) // 3)
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read_labelled(inferred(tmp_path / "t.csv", patient="patient"))
    parts = split(table, 0)
    assert sorted(np.concatenate(parts)) == list(range(120))
    assert all(len(part) % 3 == 0 for part in parts)


def test_too_few_patients_with_events_are_one_line(tmp_path):
    frame = signal(3, 120, 1.0).assign(patient=np.arange(120) // 12, died=0)
    frame.loc[:35, "died"] = 1
    frame.to_csv(tmp_path / "t.csv", index=False)
    said = r"fewer than 4 patients \(column 'patient'\) have a row of class '1'"
    with pytest.raises(DataError, match=said):
        read_labelled(inferred(tmp_path / "t.csv", patient="patient"))


@pytest.mark.long
def test_processes_say_the_same_as_one_after_another(tmp_path, monkeypatch):
    monkeypatch.setattr(choice_folds, "_WORTH_PROCESSES", 0.0)
    table = table_of(tmp_path, signal(4, 150, 1.0))
    tried = candidates(Ways(learner="lr"), table)[::6]
    serial, parallel = (score_on_folds(table, tried, 0, jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(serial.risk, parallel.risk)
    assert np.array_equal(serial.every, parallel.every)
    assert np.array_equal(serial.inside, parallel.inside)
