"""Small families of comparisons, and CAC with alpha above 0 beside the one that may be k-means."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from deepcac.judging.questions import ANY, FORCED, HELP
from deepcac.judging.trial_record import TrialRecord
from deepcac.judging.trial_scores import LOSSES, METRICS
from deepcac.scoring.margins import MARGINS
from deepcac.scoring.statistics import holm
from deepcac_study.judge.primary import SEPARATING, SEPARATING_KM, primary_comparisons
from deepcac_study.report.judge.clinical_forest import ClinicalJudgement
from deepcac_study.report.judge.judgement import overall_answer


def record(name, arm, trials, tests, seeds=8):
    """Return a record whose trials score as planned in every resample, but for a little noise."""
    rng = np.random.default_rng([*name.encode()])
    values = np.array(tests) + 0.002 * rng.standard_normal((seeds, len(tests)))
    scores = np.broadcast_to(values[..., None, None], (*values.shape, 2, len(METRICS)))
    return TrialRecord(
        name,
        arm,
        learner=name.rpartition("_")[2],
        values=trials,
        seeds=list(range(seeds)),
        sizes=[{"n_train": 560, "n_validation": 190, "n_test": 250}] * seeds,
        scores=np.where([metric in LOSSES for metric in METRICS], 1 - scores, scores),
        seconds=np.ones(values.shape),
    )


def study(n_sets=3):
    """Return a study in which alpha = 0 is chosen, and CAC with alpha above 0 does harm."""
    alphas = [{"n_clusters": 2, "alpha": 0.0}, {"n_clusters": 3, "alpha": 0.5}]
    return {
        f"set{i}": {
            "lr": record("lr", "", [{}], [0.80]),
            "km_lr": record("km_lr", "km", [{"n_clusters": 2}], [0.80]),
            "cac_lr": record("cac_lr", "cac", alphas, [0.80, 0.75]),
        }
        for i in range(n_sets)
    }


@pytest.fixture(scope="module")
def found():
    return primary_comparisons(study())


def asked(found, question, metric="auroc"):
    return found[(found["question"] == question.id) & (found["metric"] == metric)]


def test_cac_is_told_apart_from_the_kmeans_that_it_may_choose_to_be(found):
    forced = asked(found, FORCED).query("contender == 'cac_lr'")
    assert (forced["alpha_0"] == 8).all()
    assert set(forced["verdict"]) == {"equivalent"}
    for question, reference in ((SEPARATING, "lr"), (SEPARATING_KM, "km_lr")):
        apart = asked(found, question)
        assert set(apart["reference"]) == {reference}
        assert set(apart["verdict"]) == {"worse"}
        np.testing.assert_allclose(apart["mean"], -0.05, atol=0.003)


def test_all_four_metrics_are_judged_by_their_own_margins(found):
    assert set(found["metric"]) == set(MARGINS)
    rows = asked(found, FORCED, "brier").query("contender == 'km_lr'")
    assert (rows["p_excluded"] <= rows["p_excluded_4"]).all()  # a smaller gain is harder to exclude


def test_a_family_is_one_contender_over_the_data_sets(found):
    for question in (HELP, FORCED):
        for _, own in asked(found, question).groupby("contender"):
            tested = own.dropna(subset=["p"])
            np.testing.assert_allclose(tested["p_holm"], holm(tested["p"].to_numpy()))


def comparison(question, contender, reference, dataset, **values):
    usual = {"score": 0.8, "reference_score": 0.8, "mean": 0.0, "verdict": "equivalent",
             "margin": 0.01,
             "better": 0.01, "p_gain_excluded_holm": 0.2, "metric": "auroc"}  # fmt: skip
    return {"question": question.id, "contender": contender, "reference": reference,
            "dataset": dataset, **usual, **values}  # fmt: skip


def test_the_answer_speaks_of_patients_first_and_then_of_where_a_line_gains():
    rows = pd.DataFrame([
        comparison(FORCED, "km_lgbm", "lgbm", "credit", reference_score=0.9),
        comparison(HELP, "cac_lr", "lr", "credit", score=0.75, reference_score=0.7, mean=0.05,
                   verdict="better"),
        comparison(ANY, "cac_lr", "cells_lr", "credit", reference_score=0.72),
    ])  # fmt: skip
    tasks = pd.DataFrame({"dataset": ["a", "b", "old"], "cohort": ["one", "one", "old"],
                          "apart": [False, False, True], "status": "finished"})  # fmt: skip
    forced = pd.DataFrame(
        [comparison(FORCED, f"{arm}_{learner}", learner, dataset, alpha=alpha,
                    excluded_together="yes" if (learner, dataset) == ("lr", "a") else "no")
         for learner in ("lr", "lgbm") for dataset in ("a", "b", "old") for arm in ("km", "cac")
         for alpha in ("", "above 0")]
    )  # fmt: skip
    decided = pd.DataFrame({"dataset": ["a", "old"], "helps": ["false", "true"]})
    clinical = ClinicalJudgement(tasks, forced, decided, pd.DataFrame())
    (answer,) = overall_answer(rows, clinical).to_dict("records")
    names = ("tasks", "cohorts", "excluded", "comparisons", "excluded_trees", "comparisons_trees")
    numbers = [answer[name] for name in names]
    assert numbers == [2, 1, 2, 8, 0, 4]
    assert re.search(r"\b.*?\b".join(map(str, numbers)), answer["sentence"])
    assert (answer["helped"], answer["gains"]) == ("credit", "0.0500")
    more = [comparison(FORCED, f"{arm}_lr", "lr", "c", better=p, helps=False)
            for arm, p in (("km", 0.01), ("cac", 0.03), ("dist", 0.4))]  # fmt: skip
    with_more = replace(clinical, added={"cohorts": pd.DataFrame(more)})
    (longer,) = overall_answer(rows, with_more).to_dict("records")
    numbers = [longer[name] for name in ("added", "added_excluded", "added_comparisons")]
    assert numbers == [1, 1, 3]
    assert re.search(r"\b.*?\b".join(map(str, numbers)), longer["sentence"])
    gain = replace(clinical, added={"cohorts": pd.DataFrame(more).assign(helps=True)})
    assert overall_answer(rows, gain).empty
    helped = replace(clinical, decisions=decided.assign(helps="true"))
    assert overall_answer(rows, helped).empty
    assert overall_answer(rows, None).empty
    assert overall_answer(rows[:1], clinical).empty
    assert overall_answer(pd.DataFrame(), clinical).empty
