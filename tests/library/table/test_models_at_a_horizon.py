"""`fit`, `audit` and `power` with --time: weights for censoring, competing events."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from described_tables import inferred, use_of

from deepcac.judging.planted_outcomes import plant, planted_follow_up, planting_ground
from deepcac.persistence.model_files import load
from deepcac.scoring.censored import FollowUp, observed_risk
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.found_subtypes import outcome_rates
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.optimism import _drawn, _scored
from deepcac.table.risk_model_choice import method_lines
from deepcac.table.risk_tables import fit_table

HORIZON = 2.0


def cohort(n, seed, censored=True):
    """Synthetic patients with the event at rate .2 exp(age), another one at rate .1, and loss."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["age", "urea"])
    event = rng.exponential(1 / (0.2 * np.exp(frame.age)))
    other = rng.exponential(10, n)
    end = rng.exponential(4, n) if censored else np.full(n, 9.0)
    first = np.minimum(np.minimum(event, other), end)
    status = np.select([first == event, first == other], [1, 2], 0)
    return frame.assign(years=first, status=status)


def fitted(tmp_path, frame, **roles):
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    asked = use_of("status", time="years", horizon=HORIZON, **roles)
    return fit_table(
        inferred(path, asked),
        tmp_path / "m.json",
        TableRun(lambda line: None, rows=20_000, jobs=1),
        method="plain",
    )


def test_a_model_with_competing_events_predicts_the_cumulative_incidence(tmp_path):
    model = fitted(tmp_path, cohort(6000, 0), competing=["2"])
    new = cohort(40_000, 1, censored=False)
    risk = model.predict_proba(new)[:, 1]
    rate = 0.2 * np.exp(new.age.to_numpy())
    true = rate / (rate + 0.1) * (1 - np.exp(-(rate + 0.1) * HORIZON))
    assert risk.mean() == pytest.approx(true.mean(), abs=0.01)
    assert np.abs(risk - true).mean() < 0.02
    assert model.method["horizon"] == HORIZON
    assert any("cumulative incidence" in line for line in method_lines(model.method))
    assert model.method["held_out"]["observed_by_expected"] == pytest.approx(1, abs=0.05)


def test_without_naming_them_competing_events_are_censoring(tmp_path):
    frame = cohort(6000, 0)
    model = fitted(tmp_path, frame.assign(status=(frame.status == 1).astype(int)))
    new = cohort(40_000, 1, censored=False)
    true = 1 - np.exp(-0.2 * np.exp(new.age.to_numpy()) * HORIZON)
    assert model.predict_proba(new)[:, 1].mean() == pytest.approx(true.mean(), abs=0.012)
    assert any("without other events" in line for line in method_lines(model.method))


def test_where_nobody_is_lost_a_model_is_that_of_the_plain_label(tmp_path):
    frame = cohort(400, 2, censored=False)
    by = (frame.status == 1) & (frame.years <= HORIZON)
    timed = fitted(tmp_path, frame, competing=["2"])
    plain_path = tmp_path / "plain.csv"
    frame.drop(columns="years").assign(status=by.astype(int)).to_csv(plain_path, index=False)
    plain = fit_table(
        inferred(plain_path, "status"),
        tmp_path / "p.json",
        TableRun(lambda line: None, rows=20_000, jobs=1),
        method="plain",
    )
    np.testing.assert_allclose(timed.parts[0].coef, plain.parts[0].coef, atol=1e-5)
    assert timed.method["held_out"] == pytest.approx(plain.method["held_out"], abs=2e-4)


def test_a_model_at_a_horizon_is_read_back_and_a_broken_horizon_is_not(tmp_path):
    model = fitted(tmp_path, cohort(400, 3), competing=["2"])
    again = load(tmp_path / "m.json")
    assert again.method["horizon"] == HORIZON
    assert again.method["competing"] is True
    assert json.loads((tmp_path / "m.json").read_text())["method"]["horizon"] == HORIZON
    assert again.classes == model.classes


def test_draws_of_patients_keep_their_follow_up(tmp_path):
    cohort(300, 4).to_csv(tmp_path / "t.csv", index=False)
    table = read_labelled(
        inferred(tmp_path / "t.csv", "status", time="years", horizon=HORIZON, competing=["2"])
    )
    drawn = _drawn(table, np.random.default_rng(0))
    assert drawn.features.label.tolist() == drawn.follow.outcome.tolist()
    risk = np.full(300, 0.3) + 1e-4 * np.arange(300)
    plain = replace(table, follow=None)
    assert not np.allclose(_scored(table, risk), _scored(plain, risk))


def test_a_group_has_its_risk_at_the_horizon():
    frame = cohort(400, 6)
    follow = FollowUp(frame.years.to_numpy(), frame.status.to_numpy() == 1, HORIZON)
    code = (frame.age > 0).to_numpy().astype(np.int64)
    features = SimpleNamespace(label=follow.outcome, n_classes=2)
    table = SimpleNamespace(features=features, follow=follow, group=None)
    for j, (_, event) in enumerate(outcome_rates(table, code)):
        assert event.risk == pytest.approx(observed_risk(follow.take(code == j)))


@pytest.mark.parametrize("competing", [True, False])
def test_planted_patients_have_the_real_risk_and_are_lost_as_the_real_ones(tmp_path, competing):
    frame = cohort(4000, 7)
    if not competing:
        frame = frame.assign(status=(frame.status == 1).astype(int))
    frame.to_csv(tmp_path / "t.csv", index=False)
    roles = use_of("status", time="years", horizon=HORIZON, competing=["2"] if competing else ())
    table = read_labelled(inferred(tmp_path / "t.csv", roles))
    ground = planting_ground(table.features, 0, table.follow)
    share = observed_risk(table.follow)[0]
    assert ground.share == pytest.approx(share)
    matrix, _ = plant(ground, 0.5, 0)
    follow = planted_follow_up(table.follow, matrix.label, 0)
    assert observed_risk(follow)[0] == pytest.approx(share, abs=0.025)
    assert follow.outcome_known.mean() == pytest.approx(table.follow.outcome_known.mean(), abs=0.03)
    assert (follow.outcome <= matrix.label).all()
