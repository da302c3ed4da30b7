"""Level and coverage of what `deepcac` prints, on generated tables whose truth is known.

    python benchmarks/levels.py run NUMBER TABLES FOLDER     a part of `PARTS`, on so many tables
    python benchmarks/levels.py show FOLDER                 what has been run, as CSV

A run goes on where it stopped: each table is a line of FOLDER/PART.jsonl. What was seen is in
docs/results/levels.csv; all of it takes about 25 minutes of processor time on one thread.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from deepcac.feature_matrix import FeatureMatrix
from deepcac.judging.contenders import CAC, DISTANCES, KM, Contender
from deepcac.judging.resamples import prepared
from deepcac.judging.trials import run_resample
from deepcac.scoring.calibration import calibration_curve
from deepcac.scoring.equivalence import EQUIVALENT, difference, verdict
from deepcac.scoring.statistics import wilson
from deepcac.table.budgeted_trials import TableRun, run_budgeted
from deepcac.table.cluster_answer import NO_GAIN, answer
from deepcac.table.columns.description import Outcome, Use
from deepcac.table.inference.labelled_table import described_table, read_labelled
from deepcac.table.risk_model_choice import Ways, chosen_method

USE = Use(outcome=Outcome(field="died"))
MARGIN, NEW_ROWS = 0.01, 20_000
TRAIN, TEST = 0.5625, 0.25  # of the rows, as the judge draws them


def silent(_):
    """Tell nobody how far a fit is."""


def read(frame):
    with tempfile.TemporaryDirectory() as folder:
        frame.to_csv(Path(folder) / "t.csv", index=False)
        return read_labelled(described_table(Path(folder) / "t.csv", USE))


def six_columns(rng, n, strength):
    """Return a table in which one of six columns moves the log odds of the outcome."""
    X = rng.normal(size=(n, 6))
    y = rng.random(n) < expit(strength * X[:, 0] - 1)
    return pd.DataFrame(X, columns=list("abcdef")).assign(died=y.astype(int))


def fit_auto(seed):
    """`fit --method auto` on noise: are clusters taken?"""
    rng = np.random.default_rng([seed, 1])
    frame = pd.DataFrame(rng.normal(size=(300, 6)), columns=list("abcdef"))
    table = read(frame.assign(died=(rng.random(300) < 0.35).astype(int)))
    method = chosen_method(table, Ways(), 0, silent)
    return {"clusters taken": method["n_clusters"] > 1}


def firm_no(seed):
    """`compare` where subtypes are worth .012 to .03 AUROC: does it give a firm no?"""
    rng = np.random.default_rng([seed, 3])
    n = int(rng.choice([600, 1200]))
    while True:  # a strength whose gain, known from many rows, lies above the margin
        strength = rng.uniform(0.3, 0.9)
        X, k, y = subtypes(rng, NEW_ROWS, strength)
        alone = LogisticRegression().fit(X, y).decision_function(X)
        told = np.empty(NEW_ROWS)
        for j in (0, 1):
            told[k == j] = (
                LogisticRegression().fit(X[k == j], y[k == j]).decision_function(X[k == j])
            )
        gain = roc_auc_score(y, told) - roc_auc_score(y, alone)
        if 0.012 <= gain <= 0.03:
            break
    X, _, y = subtypes(rng, n, strength)
    table = read(pd.DataFrame(X, columns=list("abcdef")).assign(died=y))
    fighters = [Contender("lr", arm) for arm in ("", KM, CAC, DISTANCES)]
    trials = run_budgeted(table, TableRun(resamples=10, jobs=1), fighters)
    return {"firm no": answer(trials, "t", table.rarest).verdict == NO_GAIN}


def subtypes(rng, n, strength):
    """Return columns, two subtypes far apart, and an outcome with one reversed risk factor."""
    k = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 6))
    X[:, 0] += 3 * k
    y = rng.random(n) < expit(0.7 * X[:, 1] + 0.5 * X[:, 2] + strength * (2 * k - 1) * X[:, 3] - 1)
    return X, k, y.astype(np.int64)


def gains(X, k, y, rng, resamples):
    """Return, for each resample, the AUROC of two models told the subtypes minus that of one."""
    found = []
    for _ in range(resamples):
        rows = rng.permutation(len(y))
        test, train = rows[: int(TEST * len(y))], rows[int(TEST * len(y)) :]
        found.append(gain_of(X, k, y, train[: int(TRAIN * len(y))], test))
    return np.array(found)


def gain_of(X, k, y, train, test):
    alone = LogisticRegression().fit(X[train], y[train]).decision_function(X[test])
    told = np.empty(len(test))
    for j in (0, 1):
        own, to = train[k[train] == j], k[test] == j
        told[to] = LogisticRegression().fit(X[own], y[own]).decision_function(X[test][to])
    return roc_auc_score(y[test], told) - roc_auc_score(y[test], alone)


def true_gain(n, strength, tables=300):
    """Return the expected gain of models of as many training rows, on other patients."""
    found, train = [], np.arange(int(TRAIN * n))
    for seed in range(tables):
        X, k, y = subtypes(np.random.default_rng([seed, 4]), len(train) + 4000, strength)
        found.append(gain_of(X, k, y, train, np.arange(len(train), len(y))))
    return float(np.mean(found))


# Log odds at which `true_gain` is close to the margin; the rest is put right by `true_gain`.
STRENGTHS = {400: 0.51, 1000: 0.45}


def corrected(n, resamples, cache={}):  # noqa: B006  (the truth of a setting is made once)
    """The corrected test of a true difference, and equivalence where it is the margin itself."""

    def one(seed):
        if n not in cache:
            cache[n] = true_gain(n, STRENGTHS[n])
        rng = np.random.default_rng([seed, 5])
        X, k, y = subtypes(rng, n, STRENGTHS[n])
        gain = gains(X, k, y, rng, resamples)
        null = difference(gain - cache[n], test_share=TEST, margin=MARGIN)
        at = {
            side: difference(gain - cache[n] + side * MARGIN, test_share=TEST, margin=MARGIN)
            for side in (1, -1)
        }
        same = [verdict(own, 1.0, own.p_equivalent) == EQUIVALENT for own in at.values()]
        return {
            "difference found where there is none": null.p < 0.05,
            "equivalent at the upper margin": same[0],
            "equivalent at the lower margin": same[1],
            "gain of the margin excluded at the margin": at[1].better < 0.05,
        }

    return one


def tuned(n, resamples, cache={}):  # noqa: B006
    """The same of tuned logistic regression in k-means clusters, as `compare` runs it."""

    def truth():
        found = []
        for seed in range(250):
            X, _, y = subtypes(np.random.default_rng([seed, 8]), n + 4000, STRENGTHS[n])
            learnt = np.arange(n - int(TEST * n))
            found.append(tuned_gain(X, y, learnt, np.arange(n, n + 4000), seed))
        return float(np.mean(found))

    def one(seed):
        if n not in cache:
            cache[n] = truth()
        rng = np.random.default_rng([seed, 9])
        X, _, y = subtypes(rng, n, STRENGTHS[n])
        gain = []
        for j in range(resamples):
            rows = rng.permutation(n)
            test = rows[: int(TEST * n)]
            gain.append(tuned_gain(X, y, rows[len(test) :], test, j))
        shifted = np.array(gain) - cache[n]
        null, upper, lower = (
            difference(shifted + step * MARGIN, test_share=TEST, margin=MARGIN)
            for step in (0, 1, -1)
        )
        return {
            "difference found where there is none": null.p < 0.05,
            "equivalent at the upper margin": upper.p_equivalent < 0.05,
            "equivalent at the lower margin": lower.p_equivalent < 0.05,
            "gain of the margin excluded at the margin": upper.better < 0.05,
        }

    return one


def tuned_gain(X, y, learnt, test, seed):
    """Return the AUROC of tuned models in two clusters or more, minus that of tuned ones alone."""
    features = FeatureMatrix(np.arange(1, len(y) + 1), y, X, tuple("abcdef"))
    cut = int(TRAIN / (1 - TEST) * len(learnt))
    sample = prepared(features, (learnt[:cut], learnt[cut:], test), seed)
    scores = []
    for one in (Contender("lr", "km"), Contender("lr")):
        trials, _ = run_resample(sample, one, one.trials(6))
        best = max(trials["trials"], key=lambda trial: trial["validation"]["auroc"])
        scores.append(best["test"]["auroc"])
    return scores[0] - scores[1]


def band(n, share):
    """The calibration curve of right risks: shares inside the band, at all risks and the lowest."""

    def one(seed):
        rng = np.random.default_rng([seed, 6])
        odds = rng.normal(share, 1, n)
        y = (rng.random(n) < expit(odds)).astype(np.int64)
        curve = calibration_curve(y, expit(odds), np.arange(n))
        holds = (curve.low <= curve.risk) & (curve.risk <= curve.high)
        return {"share inside the band": float(holds.mean()), "at the lowest risk": bool(holds[0])}

    return one


PARTS = {
    "fit auto, 300 rows of noise": (fit_auto, "at most .05"),
    "compare, planted gain above the margin, logistic regression": (firm_no, "at most .05"),
    "corrected test, 400 rows, 10 resamples": (corrected(400, 10), ".04 to .06"),
    "corrected test, 1000 rows, 30 resamples": (corrected(1000, 30), ".04 to .06"),
    "corrected test, tuned, 400 rows, 10 resamples": (tuned(400, 10), ".04 to .06"),
    "calibration band, 300 rows": (band(300, -1), ".93 to .97"),
    "calibration band, 1000 rows, rare": (band(1000, -2.5), ".93 to .97"),
}


def run(part, tables, folder):
    path = Path(folder) / f"{list(PARTS).index(part)}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    done = len(path.read_text().splitlines()) if path.exists() else 0
    with path.open("a") as file:
        for seed in range(done, tables):
            file.write(json.dumps(PARTS[part][0](seed), default=bool) + "\n")
            file.flush()
            os.fsync(file.fileno())


def show(folder):
    print("part,measure,tables,share,low,high,wanted")
    for number, (part, (_, wanted)) in enumerate(PARTS.items()):
        path = Path(folder) / f"{number}.jsonl"
        if not path.exists():
            continue
        lines = pd.DataFrame([json.loads(line) for line in path.read_text().splitlines()])
        for measure in lines:
            values = lines[measure].astype(float)
            share, n = values.mean(), len(values)
            if values.isin([0, 1]).all():
                low, high = (float(end) for end in wilson(np.array(share), np.array(n)))
            else:
                half = stats.norm.ppf(0.975) * values.sem()
                low, high = share - half, share + half
            print(f'"{part}",{measure},{n},{share:.3f},{low:.3f},{high:.3f},{wanted}')


if __name__ == "__main__":
    if sys.argv[1] == "show":
        show(sys.argv[2])
    else:
        run(list(PARTS)[int(sys.argv[2])], int(sys.argv[3]), sys.argv[4])
