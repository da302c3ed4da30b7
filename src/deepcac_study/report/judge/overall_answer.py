"""The answer of the whole study in a few sentences, which every first page says alike."""

from typing import Any

import pandas as pd

from deepcac.judging.contenders import CAC, CELLS
from deepcac.judging.questions import ANY, FORCED, HELP
from deepcac.judging.resample_scores import METRICS
from deepcac.judging.spaces import of_kind
from deepcac.pages.wording import four, three
from deepcac.scoring.equivalence import BETTER
from deepcac_study.judge.clinical_tasks import FINISHED
from deepcac_study.report.judge.clinical_forest import ClinicalJudgement

_TREES, _LINE = of_kind("boosting")[0], of_kind("plain")[0]


def overall_answer(rows: pd.DataFrame, clinical: ClinicalJudgement | None) -> pd.DataFrame:
    """Return one row with the numbers of the answer and its ``sentence``; empty without them.

    The clinical tasks come first; clusters help on none of them, or there is no such answer.
    `rows` are comparisons of `deepcac.judging.verdicts.verdicts` on the nine data sets: of logistic
    regression with clusters that could be chosen, and of random partitions.
    """
    if clinical is None or rows.empty:
        return pd.DataFrame()
    tasks = clinical.tasks[~clinical.tasks["apart"].astype(bool)]
    tasks = tasks[tasks["status"] == FINISHED]
    forced = forced_gains(clinical.verdicts, tasks)
    helped = _helped(rows[rows["metric"] == METRICS[0]])
    helps = clinical.decisions["dataset"].isin(tasks["dataset"]) & (
        clinical.decisions["helps"] == "true"
    )
    if forced.empty or helped.empty or helps.any():
        return pd.DataFrame()
    trees = forced["reference"] == _TREES
    excluded = forced["excluded_together"] == "yes"
    numbers: dict[str, Any] = {
        "tasks": len(tasks),
        "cohorts": tasks["cohort"].nunique(),
        "margin": float(forced["margin"].iloc[0]),
        "comparisons": len(forced),
        "excluded": int(excluded.sum()),
        "comparisons_trees": int(trees.sum()),
        "excluded_trees": int((excluded & trees).sum()),
        "helped": " ".join(helped.index),
        "gains": " ".join(four(value) for value in helped["mean"]),
        "random_gains": " ".join(four(value) for value in helped["random"]),
    }
    return pd.DataFrame([{**numbers, "sentence": _sentence(numbers)}])


def forced_gains(verdicts: pd.DataFrame, tasks: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons of clusters that had to be used with the learner, on some tasks."""
    asked = (verdicts["question"] == FORCED.id) & (verdicts["metric"] == METRICS[0])
    return verdicts[asked & (verdicts["alpha"] == "") & verdicts["dataset"].isin(tasks["dataset"])]


def _helped(auroc: pd.DataFrame) -> pd.DataFrame:
    """Return the data sets on which CAC's clusters are better for logistic regression.

    By data set: the gain, that of a random partition, the score with clusters, and the score of
    boosted trees without.
    """
    pair = (auroc["contender"] == f"{CAC}_{_LINE}") & (auroc["reference"] == _LINE)
    line = auroc[pair & (auroc["question"] == HELP.id)].set_index("dataset")
    cells = auroc[(auroc["question"] == ANY.id) & (auroc["reference"] == f"{CELLS}_{_LINE}")]
    random = cells.groupby("dataset")["reference_score"].first()
    trees = auroc[auroc["reference"] == _TREES].groupby("dataset")["reference_score"].first()
    line = line.assign(random=random - line["reference_score"], trees=trees)
    return line[line["verdict"] == BETTER].dropna(subset=["random", "trees"])


def _sentence(numbers: dict[str, Any]) -> str:
    """Return the answer; its first sentence has at most 25 words."""
    return (
        f"We found no benefit: on none of {numbers['tasks']} clinical tasks ({numbers['cohorts']} "
        "independent cohorts) did clusters beat the same model without them, random groups and "
        f"splines. We could rule out a gain of {three(numbers['margin'])} AUROC or more in "
        f"{numbers['excluded']} of {numbers['comparisons']} comparisons after correction "
        f"({numbers['excluded_trees']} of {numbers['comparisons_trees']} with boosted trees); "
        "elsewhere it remains possible."
    )
