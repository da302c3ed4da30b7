"""What the study can see: planted cohorts of growing effect, judged like the real ones."""

import logging
import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from deepcac.errors import DataError
from deepcac.files.storage import write_json
from deepcac.judging.contenders import parse_contender
from deepcac.judging.planted_outcomes import TOLD, planted_comparisons, told
from deepcac.judging.questions import BOOSTING, HELP, NEGATIVE
from deepcac.judging.trials import Effort, judge_rows
from deepcac.scoring.equivalence import BETTER, LEVEL
from deepcac_study.records.record import machine
from deepcac_study.simulate.planted import planted

log = logging.getLogger(__name__)

ASKED = (HELP, NEGATIVE, BOOSTING)
STUDY = 57  # comparisons that the study asks of a learner with clusters and without
MANY = 50_000  # rows to learn the true gain from


def run_planted(
    path: str | os.PathLike[str],
    *,
    strength: float,
    cohorts: int,
    rows: int,
    contenders: Sequence[str],
    effort: Effort,
    margin: float,
) -> None:
    """Judge `cohorts` planted cohorts of one strength and write how each comparison ended.

    Keys of the JSON: ``strength``, ``rows``, ``gain`` (AUROC that knowing the subtype adds, given
    ample rows) and ``comparisons`` (cohort, question, contender, reference, mean difference, p,
    verdict at a test of its own). Beside the contenders each learner without clusters is told the
    true subtypes (`told`): what a perfect clustering would give it.
    """
    begin = time.perf_counter()
    gain, found = oracle_gain(strength, cohorts), []
    for seed in range(cohorts):
        matrix, subtype = planted(strength, rows, seed)
        records = {
            name: judge_rows(matrix, parse_contender(name), effort)[0] for name in contenders
        }
        knowing = told(matrix, subtype)
        learners = [one for one in map(parse_contender, contenders) if not one.arm]
        records |= {TOLD + one.id: judge_rows(knowing, one, effort)[0] for one in learners}
        found += [{"cohort": seed, **one} for one in planted_comparisons(records, ASKED, margin)]
        log.info("strength %g: cohort %d of %d", strength, seed + 1, cohorts)
    content = {
        "synthetic": True,
        "strength": strength,
        "rows": rows,
        "gain": round(gain, 5),
        "comparisons": found,
    }
    seconds = {"total": time.perf_counter() - begin}
    write_json(path, {**content, "machine": machine(seconds, 1, "cpu")})


def oracle_gain(strength: float, seed: int, rows: int = MANY) -> float:
    """Return the AUROC of a risk model told the subtypes, less that of the best one blind to them.

    Both are logistic regressions on ample rows, scored on as many others; the first has its own
    weights in each subtype.
    """
    from sklearn.linear_model import LogisticRegression

    matrix, subtype = planted(strength, 2 * rows, seed)
    X, y = matrix.X, matrix.label
    learnt = np.arange(len(y)) < rows
    blind = LogisticRegression().fit(X[learnt], y[learnt]).decision_function(X)
    told = np.empty(len(y))
    for one in np.unique(subtype):
        own = subtype == one
        fitted = LogisticRegression().fit(X[learnt & own], y[learnt & own])
        told[own] = fitted.decision_function(X[own])
    fresh = ~learnt
    return float(roc_auc_score(y[fresh], told[fresh]) - roc_auc_score(y[fresh], blind[fresh]))


def power_curve(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the share of cohorts in which each contender was found better, by strength.

    Results are contents of `run_planted`'s files. A comparison that several hold is of the same
    cohorts and counts once; if they disagree on it, it is a `DataError`. ``detected`` is by a test
    of its own, ``detected_holm`` by the study's rule: the first step of Holm's procedure among
    `STUDY` comparisons.
    """
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for result in sorted(results, key=lambda one: one["strength"]):
        compared, rows_each = pd.DataFrame(result["comparisons"]), result["rows"]
        for pair, group in compared.groupby(["question", "contender", "reference"]):
            row = {
                "strength": result["strength"],
                "oracle_gain": result["gain"],
                **dict(zip(("question", "contender", "reference"), pair, strict=True)),
                "cohorts": len(group),
                "mean": float(group["mean"].mean()),
                "detected": float((group["verdict"] == BETTER).mean()),
                "rows": rows_each,
                "detected_holm": float(
                    ((group["verdict"] == BETTER) & (group["p"] < LEVEL / STUDY)).mean()
                ),
            }
            if rows.setdefault((result["strength"], rows_each, *pair), row) != row:
                raise DataError(
                    f"planted strength {result['strength']:g}: two files disagree on {pair[1]}; "
                    "delete results/judge/planted and run the judge again"
                )
    return list(rows.values())
