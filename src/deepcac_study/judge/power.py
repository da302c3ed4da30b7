"""Power of the study: cohorts with planted effects of growing size, analysed like the real ones."""

import logging
import os
import time
from collections.abc import Sequence

import numpy as np
from sklearn.metrics import roc_auc_score

from deepcac.files.storage import write_json
from deepcac.judging.contenders import parse_contender
from deepcac.judging.planted_outcomes import TOLD, planted_comparisons, with_true_subtype
from deepcac.judging.questions import BOOSTING, HELP, NEGATIVE
from deepcac.judging.trials import Effort, judge_rows
from deepcac_study.records.record import machine
from deepcac_study.simulate.planted import planted

log = logging.getLogger(__name__)

ASKED = (HELP, NEGATIVE, BOOSTING)
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
    """Run the study on `cohorts` planted cohorts of one strength and write all comparisons.

    Keys of the JSON: ``strength``, ``rows``, ``gain`` (of AUROC from knowing the subtype, given
    ample rows) and ``comparisons`` (cohort, question, contender, reference, mean difference, p,
    uncorrected verdict). Each learner without clusters is also run with the true subtypes as
    clusters (`TOLD`), the upper limit of any clustering.
    """
    begin = time.perf_counter()
    gain, comparisons = oracle_gain(strength, cohorts), []
    for seed in range(cohorts):
        matrix, subtype = planted(strength, rows, seed)
        records = {name: judge_rows(matrix, parse_contender(name), effort) for name in contenders}
        knowing = with_true_subtype(matrix, subtype)
        learners = [
            contender for contender in map(parse_contender, contenders) if not contender.arm
        ]
        records |= {
            TOLD + contender.id: judge_rows(knowing, contender, effort) for contender in learners
        }
        comparisons += [
            {"cohort": seed, **comparison}
            for comparison in planted_comparisons(records, ASKED, margin)
        ]
        log.info("strength %g: cohort %d of %d", strength, seed + 1, cohorts)
    content = {
        "synthetic": True,
        "strength": strength,
        "rows": rows,
        "gain": round(gain, 5),
        "comparisons": comparisons,
    }
    seconds = {"total": time.perf_counter() - begin}
    write_json(path, {**content, "machine": machine(seconds, 1, "cpu")})


def oracle_gain(strength: float, seed: int, rows: int = MANY) -> float:
    """Return the gain in AUROC of a risk model from knowing the subtypes, with ample rows.

    Both models are logistic regressions, tested on as many other rows; one has separate weights in
    each subtype.
    """
    from sklearn.linear_model import LogisticRegression

    matrix, subtype = planted(strength, 2 * rows, seed)
    X, y = matrix.X, matrix.label
    learnt = np.arange(len(y)) < rows
    blind = LogisticRegression().fit(X[learnt], y[learnt]).decision_function(X)
    informed = np.empty(len(y))
    for cluster_id in np.unique(subtype):
        members = subtype == cluster_id
        fitted = LogisticRegression().fit(X[learnt & members], y[learnt & members])
        informed[members] = fitted.decision_function(X[members])
    fresh = ~learnt
    return float(roc_auc_score(y[fresh], informed[fresh]) - roc_auc_score(y[fresh], blind[fresh]))
