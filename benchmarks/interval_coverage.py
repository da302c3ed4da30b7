"""How often the printed intervals hold the true value: docs/results/coverage.csv.

    python benchmarks/interval_coverage.py run TABLES FOLDER      (resumable; a line a table)
    python benchmarks/interval_coverage.py show FOLDER

Each scenario draws cohorts from a model that is known, so that the true value is known from its
formula or from 200,000 further patients. Intervals of single scores hold the risks fixed; those of
`fit` are of its own held-out risks, and are to hold the score of the saved model on new patients.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

from deepcac.scoring.resampled_scores import (
    AUROC,
    ICI,
    RATIO,
    SLOPE,
    Patients,
    benefit,
    estimate,
    index_interval,
    patient_draws,
    risk_scores,
    score_intervals,
)
from deepcac.scoring.statistics import wilson
from deepcac.table.columns.description import Outcome, Use
from deepcac.table.inference.labelled_table import described_table, read_labelled
from deepcac.table.risk_model import fit_risk_model
from deepcac.table.risk_model_choice import Ways, chosen_method

MANY, THRESHOLD = 200_000, 0.2
USE = Use(outcome=Outcome(field="died"))


def cohort(rng, n, level, spread, wrong):
    """Return outcomes and risks of n patients; `wrong` stretches the log odds of the risks."""
    odds = rng.normal(level, spread, n)
    return (rng.random(n) < expit(odds)).astype(np.int64), expit(level + wrong * (odds - level))


def fixed(n, level, spread, wrong=1.0):
    """Every score of given risks, and a net benefit."""
    y, risk = cohort(np.random.default_rng(99), MANY, level, spread, wrong)
    many = Patients(y, risk)
    true = {name: values[0] for name, values in risk_scores(many, np.ones((MANY, 1))).items()}
    odds = np.random.default_rng(98).normal(level, spread, MANY)
    true[ICI] = np.abs(expit(odds) - expit(level + wrong * (odds - level))).mean()
    true["net benefit"] = benefit(many, np.ones((MANY, 0), np.uint8), THRESHOLD)[0]

    def one(seed):
        whom = Patients(*cohort(np.random.default_rng([seed, 1]), n, level, spread, wrong))
        if len(np.unique(whom.y)) < 2 or min(np.bincount(whom.y)) < 10:
            return None  # too few to be scored: no command prints anything
        draws = patient_draws(np.arange(n))
        found = score_intervals(whom, draws)
        if wrong != 1:
            found[ICI] = index_interval(whom, draws[:, :200])
        drawn = benefit(whom, draws, THRESHOLD)
        found["net benefit"] = estimate("", drawn[0], drawn[1:])
        return {name: bool(of.low <= true[name] <= of.high) for name, of in found.items()}

    return one


def fitted(n, strength, level=-1.0):
    """The held-out AUROC, slope and O/E of `fit`, against the saved model on new patients."""

    def one(seed):
        rng = np.random.default_rng([seed, 2])
        X = rng.normal(size=(n + 20_000, 6))
        y = (rng.random(len(X)) < expit(strength * X[:, 0] + level)).astype(int)
        whole = pd.DataFrame(X, columns=list("abcdef")).assign(died=y)
        with tempfile.TemporaryDirectory() as folder:
            whole[:n].to_csv(Path(folder) / "t.csv", index=False)
            table = read_labelled(described_table(Path(folder) / "t.csv", USE))
        method = chosen_method(table, Ways("plain", "lr"), 0, lambda line: None)
        risk = fit_risk_model(table, method, 0).predict_proba(whole[n:])[:, 1]
        new = Patients(y[n:], risk)
        true = {name: of[0] for name, of in risk_scores(new, np.ones((20_000, 1))).items()}
        held = method["held_out"]
        names = {SLOPE: "calibration_slope_", RATIO: "observed_by_expected_", AUROC: ""}
        return {
            name: bool(held[f"{key}low"] <= true[name] <= held[f"{key}high"])
            for name, key in names.items()
        } | {f"width of {AUROC}": held["high"] - held["low"]}

    return one


PARTS = {
    "risks, 400 rows, 30 % events": fixed(400, -1.0, 1.0),
    "risks, 400 rows, too extreme": fixed(400, -1.0, 1.0, 1.6),
    "risks, 1000 rows, 5 % events": fixed(1000, -3.3, 1.0),
    "risks, 400 rows, weak signal": fixed(400, -1.0, 0.3),
    "risks, 200 rows, strong signal": fixed(200, 0.0, 2.5),
    "fit, 400 rows, strong signal": fitted(400, 1.0),
    "fit, 400 rows, weak signal": fitted(400, 0.3),
    "fit, 1000 rows, 5 % events": fitted(1000, 1.0, -3.4),
}


def run(tables, folder):
    Path(folder).mkdir(parents=True, exist_ok=True)
    for goal in range(100, tables + 1, 100):  # a run that is stopped has some of every scenario
        for number, one in enumerate(PARTS.values()):
            path = Path(folder) / f"{number}.jsonl"
            done = len(path.read_text().splitlines()) if path.exists() else 0
            with path.open("a") as file:
                for seed in range(done, goal):
                    file.write(json.dumps(one(seed)) + "\n")
                    file.flush()


def show(folder):
    print("scenario,interval,tables,coverage,low,high")
    for number, part in enumerate(PARTS):
        path = Path(folder) / f"{number}.jsonl"
        if not path.exists():
            continue
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        found = pd.DataFrame([line for line in lines if line is not None])
        for name in found:
            values, n = found[name].astype(float), len(found)
            if name.startswith("width"):
                print(f'"{part}",{name},{n},{values.mean():.3f},,')
                continue
            low, high = wilson(np.array([values.mean()]), np.array([n]))
            print(f'"{part}",{name},{n},{values.mean():.3f},{low[0]:.3f},{high[0]:.3f}')


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run(int(sys.argv[2]), sys.argv[3])
    else:
        show(sys.argv[2])
