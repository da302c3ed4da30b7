"""A line that bends without clusters, beside clusters and a straight line."""

import numpy as np
import pandas as pd
import pytest
from described_tables import inferred
from scipy import stats

from deepcac.judging.contenders import parse_contender
from deepcac.judging.questions import BEND, BENT
from deepcac.table.budgeted_trials import TableRun, contenders, run_budgeted
from deepcac.table.cluster_answer import answer, rows_of, splines_sentence
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.pages.risk_section import worth

FIGHTERS = ("lr", "km_lr", "spline_lr")


@pytest.fixture(scope="module")
def bending(tmp_path_factory):
    """Patients whose risk is high where blood pressure is low, and where it is high."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 3))
    died = rng.random(500) < 1 / (1 + np.exp(1.5 - 1.5 * X[:, 0] ** 2))
    path = tmp_path_factory.mktemp("bending") / "patients.csv"
    frame = pd.DataFrame(X, columns=["pressure", "age", "bmi"]).assign(died=died.astype(int))
    frame.to_csv(path, index=False)
    table = read_labelled(inferred(path))
    fighters = [parse_contender(name) for name in FIGHTERS]
    return run_budgeted(table, TableRun(resamples=5, trials=2, jobs=1), fighters)


def test_a_bent_line_is_a_rival_of_every_comparison():
    assert "spline_lr" in {one.id for one in contenders()}


def test_a_risk_that_bends_is_told_as_a_gain_of_the_bent_line(bending):
    found = answer(bending, "patients", 200)
    assert found.best == "spline_lr"
    assert "logistic regression with splines" in found.sentence
    (line,) = rows_of(found.table, BEND).to_dict("records")
    assert (line["contender"], line["reference"]) == ("spline_lr", "lr")
    assert dict(found.numbers)["Best model without clusters"] == "logistic regression with splines"
    assert "Change by logistic regression + k-means" in dict(found.numbers)
    assert "splines" in found.also[0].lower()


def test_the_difference_and_its_interval_are_those_of_the_recorded_scores(bending):
    """The mean over resamples, and the corrected interval of Nadeau and Bengio (2003)."""
    best = {}
    for name in FIGHTERS:
        record = bending.records[name]
        chosen = record.score("validation", "auroc").argmax(axis=1)
        best[name] = record.score("test", "auroc")[np.arange(5), chosen]
    d = best["spline_lr"] - best["lr"]
    (line,) = rows_of(answer(bending, "patients", 200).table, BEND).to_dict("records")
    half = stats.t.ppf(0.975, 4) * np.sqrt((1 / 5 + 1 / 3) * d.var(ddof=1))
    assert line["mean"] == pytest.approx(d.mean())
    assert line["low"] == pytest.approx(d.mean() - half, abs=1e-3)
    assert line["high"] == pytest.approx(d.mean() + half, abs=1e-3)
    assert d.mean() > 0.2


@pytest.mark.parametrize("question", [BEND, BENT])
def test_each_verdict_has_a_sentence_of_its_own_with_its_difference(question):
    contender = "km_lr" if question is BENT else "spline_lr"
    helped = {"contender": "km_lr"} if question is BENT else None
    sentences = {}
    for verdict in ("better", "worse", "equivalent", "undecided", "tied"):
        row = {"metric": "auroc", "mean": 0.02, "low": 0.01, "high": 0.03, "verdict": verdict}
        rows = [{**row, "question": question.id, "contender": contender}]
        rows.append({**row, "question": BENT.id, "contender": "cac_lr", "mean": 0.5})
        sentences[verdict] = splines_sentence(pd.DataFrame(rows), helped)
    assert len({*sentences.values()}) == 5
    for verdict, sentence in sentences.items():
        assert ("+0.020 AUROC (+0.010 to +0.030)" in sentence) == (verdict != "tied")


def test_without_splines_nothing_is_said_of_it():
    rows = [{"question": "help", "metric": "auroc", "contender": "km_lr"}]
    assert splines_sentence(pd.DataFrame(rows), None) == ""


def test_decisions_name_the_models_that_they_compare(bending):
    found = answer(bending, "patients", 200)
    said = worth(bending.predictions, found.clustered, found.best, np.array([0.1, 0.5]))
    assert (
        "logistic regression + k-means in place of logistic regression with splines changes" in said
    )
    assert "clusters change" in worth(bending.predictions, "km_lr", "lr", np.array([0.1, 0.5]))
