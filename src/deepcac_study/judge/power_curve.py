"""Power curve: the share of planted cohorts in which clusters are found, by strength and size."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from deepcac.errors import DataError
from deepcac.scoring.equivalence import BETTER, LEVEL

STUDY = 57  # comparisons that the study asks of a learner with clusters and without
_COHORTS = ["strength", "rows"]
_PAIR = ["question", "contender", "reference"]
_ROW = [*_COHORTS, *_PAIR, "cohort", "mean", "p", "verdict"]
_COLUMNS = ["strength", "oracle_gain", *_PAIR, "cohorts", "mean", "detected", "rows"]


def power_curve(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the share of cohorts in which each contender was found better.

    Results are as in `on_cohorts`. ``detected`` is by an uncorrected test, ``detected_holm`` by
    the study's rule: the first step of Holm's procedure among `STUDY` comparisons.
    """
    if not results:
        return []
    comparisons, place = on_cohorts(results), [*_COHORTS, *_PAIR]
    comparisons["detected"] = comparisons["verdict"] == BETTER
    comparisons["detected_holm"] = comparisons["detected"] & (comparisons["p"] < LEVEL / STUDY)
    shares = comparisons.groupby(place)[["mean", "detected", "detected_holm"]].mean()
    shares.insert(0, "cohorts", comparisons.groupby(place).size())
    table = shares.reset_index().merge(_worth(results), on=_COHORTS)
    rows: list[Any] = table[[*_COLUMNS, "detected_holm"]].to_dict("records")
    return rows


def on_cohorts(results: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return a row per comparison on a planted cohort.

    Results are contents of files that `deepcac_study.judge.power.run_planted` wrote. Files of one
    strength and size have the same cohorts, but may have different numbers of them. A comparison in
    several files counts once; a disagreement between them is a `DataError`.
    """
    tables = [
        pd.DataFrame(result["comparisons"]).assign(**{name: result[name] for name in _COHORTS})
        for result in results
    ]
    comparisons = pd.concat([pd.DataFrame(columns=_ROW), *tables]).drop_duplicates()
    twice = comparisons[comparisons.duplicated([*_COHORTS, *_PAIR, "cohort"])]
    if len(twice):
        first = twice.iloc[0]
        raise DataError(
            f"planted strength {first['strength']:g}: two files disagree on {first['contender']}; "
            "delete results/judge/planted and run the judge again"
        )
    return comparisons


def _worth(results: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return the gain from knowing the subtypes by strength and size, from the largest file."""
    largest = sorted(
        results, key=lambda result: len({row["cohort"] for row in result["comparisons"]})
    )
    worth = {(result["strength"], result["rows"]): result["gain"] for result in largest}
    return pd.DataFrame([(*place, gain) for place, gain in worth.items()]).set_axis(
        [*_COHORTS, "oracle_gain"], axis=1
    )
