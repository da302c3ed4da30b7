"""The answer of the whole study in a few sentences, which every first page says alike."""

from typing import Any

import pandas as pd

from deepcac.judging.contenders import CAC, CELLS
from deepcac.judging.questions import ANY, FORCED, HELP
from deepcac.judging.resample_scores import METRICS
from deepcac.judging.spaces import of_kind
from deepcac.pages.wording import four, three
from deepcac.scoring.equivalence import BETTER, LEVEL
from deepcac_study.report.declarations import rows_of

_TREES, _LINE = of_kind("boosting")[0], of_kind("plain")[0]


def overall_answer(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row with the numbers of the answer and its ``sentence``; empty without them.

    `rows` are comparisons of `deepcac.judging.verdicts.verdicts`: of boosted trees and of logistic
    regression, with clusters that had to be used, that could be chosen, and of random partitions.
    """
    if rows.empty:
        return pd.DataFrame()
    auroc = rows[rows["metric"] == METRICS[0]]
    forced = auroc[(auroc["question"] == FORCED.id) & (auroc["reference"] == _TREES)]
    helped = _helped(auroc)
    excluded = int((forced["better"] < LEVEL).sum())
    # "Hardly" is for boosted trees that nowhere gain, and mostly cannot have gained much.
    hardly = 2 * excluded > len(forced) and not (forced["verdict"] == BETTER).any()
    if forced.empty or helped.empty or not hardly:
        return pd.DataFrame()
    numbers: dict[str, Any] = {
        "comparisons": len(forced),
        "margin": float(forced["margin"].iloc[0]),
        "excluded": excluded,
        "excluded_after_correction": int((forced["p_gain_excluded_holm"] < LEVEL).sum()),
        "helped": " ".join(helped.index),
        "gains": " ".join(four(value) for value in helped["mean"]),
        "random_gains": " ".join(four(value) for value in helped["random"]),
    }
    return pd.DataFrame(
        [{**numbers, "sentence": _sentence(numbers, helped, forced["dataset"].nunique())}]
    )


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


def _sentence(numbers: dict[str, Any], helped: pd.DataFrame, datasets: int) -> str:
    names = list(helped.index)
    shares = [f"{share:.0%}".replace("%", " %") for share in helped["random"] / helped["mean"]]
    which = {1: ", which is not clinical", 2: ", neither of them clinical"}.get(
        len(names), ", none of them clinical"
    )
    times, corrected = numbers["excluded"], numbers["excluded_after_correction"]
    clinical = {row["name"] for row in rows_of("tasks.csv") if row["clinical"]}
    gives = f"{which * (not clinical & set(names))}; random groups give {_listed(shares)}"
    ahead = (helped["trees"] > helped["score"]).all()
    return (
        f"Hardly, for tuned boosted trees: in {times} of {numbers['comparisons']} comparisons "
        f"on {datasets} data set{'s' * (datasets > 1)} ({corrected} after correction) we can "
        "exclude that clusters gain "
        f"{three(numbers['margin'])} AUROC or more. Smaller gains, and gains in small cohorts with "
        f"rare events, remain possible. Logistic regression gains on {_listed(names)}{gives} of "
        f"the gain{', and boosted trees without clusters score higher' * bool(ahead)}."
    )


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
