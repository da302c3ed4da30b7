"""Calibration curves are drawn without class weights, as the scores of the records are taken."""

import numpy as np
import pytest

from deepcac.scoring.bootstrap import SplitScores
from deepcac_study.records.runs import Run
from deepcac_study.report.runs.curves import calibration_figure, unweighted_risk


def run_of(method, weight, sizes=((70, 10), (20, 0))):
    split = {"seed": 0, "hyperparameters": {"class_weight": weight}}
    record = {"method": method, "dataset": "cic", "k": 2, "splits": [split]}
    split["clusters"] = {"sizes_train": [list(row) for row in sizes]}
    return Run("p", None, record)


@pytest.mark.parametrize(
    ("method", "weight", "moved"),
    [
        ("cac_lr", "balanced", True),
        ("cac_lr", "balanced_in_clusters", False),
        ("km_lr", None, False),
        ("km_lda", "balanced", False),  # takes no weights, so that there are none to take out
        ("deepcac", "balanced", False),
    ],
)
def test_only_weights_that_were_used_are_taken_out(method, weight, moved):
    run = run_of(method, weight)
    risk = unweighted_risk(run, run.splits[0], np.array([0.0, 0.5, 0.9, 1.0]))
    # Odds of 1 and 9, times the odds of the classes, 1 to 9.
    wanted = [0.0, 0.1, 0.5, 1.0] if moved else [0.0, 0.5, 0.9, 1.0]
    assert risk == pytest.approx(wanted)


def test_a_balanced_model_lies_on_the_diagonal():
    rng = np.random.default_rng(0)
    risk = rng.uniform(0.01, 0.2, 40_000)
    label = (rng.random(len(risk)) < risk).astype(np.int64)
    odds = risk / (1 - risk) * 9  # as if both classes were as frequent
    scores = SplitScores(np.arange(len(risk)), label, label, odds / (1 + odds))
    figure = calibration_figure("cic", [(run_of("cac_lr", "balanced"), [scores])], "figures")
    plain = calibration_figure("cic", [(run_of("cac_lr", None), [scores])], "figures")
    near, far = (float(one.seen.rpartition(" ")[2]) for one in (figure, plain))
    assert near < 0.01
    assert far > 0.2
