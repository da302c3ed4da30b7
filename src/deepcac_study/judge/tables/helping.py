"""When clusters help logistic regression: one point per table, and a rule by the trees' lead."""

import csv
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from deepcac.judging.contenders import CAC, KM
from deepcac.judging.questions import BOOSTING, HELP
from deepcac.judging.spaces import of_kind
from deepcac.scoring.margins import MARGIN
from deepcac.scoring.statistics import wilson
from deepcac.types import Array
from deepcac_study.judge.tables.over_tables import MAIN

LINE, TREES = of_kind("plain")[0], of_kind("boosting")[0]
ARMS = {"gain": f"{CAC}_{LINE}", "gain_km": f"{KM}_{LINE}"}
ADVANTAGE = "advantage"
TABLE, PLANTED = "table", "planted"


def table_points(scores: pd.DataFrame) -> pd.DataFrame:
    """Return a point per table: gains of clusters (`resample_scores`), and possible predictors.

    Columns: ``dataset``, ``kind``, ``source``; ``gain`` and ``gain_km`` of CAC and k-means for
    logistic regression, ``advantage`` of boosted trees over it; ``gain_even`` and
    ``advantage_odd`` from alternate resamples.
    """
    wide = scores.pivot(index=["dataset", "seed"], columns="contender", values=f"{MAIN}_tuned")
    wide = wide.dropna(subset=[LINE, TREES, *ARMS.values()]).reset_index("seed")
    line = wide[LINE]
    parts = {name: wide[arm] - line for name, arm in ARMS.items()}
    parts["advantage"] = wide[TREES] - line
    parts["gain_even"] = parts["gain"].where(wide["seed"] % 2 == 0)
    parts["advantage_odd"] = parts["advantage"].where(wide["seed"] % 2 == 1)
    points = pd.DataFrame(parts).groupby(level="dataset").mean().reset_index()
    points.insert(1, "kind", TABLE)
    shared = _shared_sources()
    points.insert(2, "source", [shared.get(name, name) for name in points["dataset"]])
    return points


@cache
def _shared_sources() -> dict[str, str]:
    """Return the source of each table that shares its patients with another."""
    text = (resources.files(__package__) / "shared_sources.csv").read_text("utf-8")
    return dict(csv.reader(text.splitlines()[1:]))


def planted_points(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return a point per strength and size of planted cohorts that include trees (`on_cohorts`).

    The trees' advantage is the gain of CAC minus CAC's lead over the trees, on the same cohorts.
    """
    key = ["strength", "rows", "cohort"]
    cac = comparisons[comparisons["contender"] == ARMS["gain"]]
    helped = cac[(cac["question"] == HELP.id) & (cac["reference"] == LINE)].set_index(key)
    ahead = cac[(cac["question"] == BOOSTING.id) & (cac["reference"] == TREES)].set_index(key)
    both = helped[["mean"]].join(ahead["mean"].rename("ahead"), how="inner").astype(float)
    points = both.groupby(key[:2]).mean().reset_index()
    return pd.DataFrame(
        {
            "dataset": [f"strength {s:g}, {n:g} rows" for s, n in points[key[:2]].to_numpy()],
            "kind": PLANTED,
            "gain": points["mean"],
            "advantage": points["mean"] - points["ahead"],
        }
    )


class Tried(NamedTuple):
    """Cross-validated performance of a rule on tables that were not used to choose it.

    The rule predicts a gain above `threshold`, chosen on all tables; it is infinite for "never".
    `errors` and `never_errors` count tables on which the rule, and on which "never", was wrong;
    `low` and `high` are the 95 % interval of the rule's share. `p` is exact, one-sided: the rule
    errs less often than "never". `line_error` and `mean_error` are root mean squared errors of the
    gain, by a line through the statistic and by the mean.
    """

    threshold: float
    errors: int
    never_errors: int
    low: float
    high: float
    p: float
    line_error: float
    mean_error: float


def best_threshold(x: Array, helped: npt.NDArray[np.bool_]) -> float:
    """Return the threshold with the fewest errors, on ties the middle of the widest gap.

    The gap above the largest value counts as the widest, that below the smallest as having no
    width; so the rule is "never" unless another one has fewer errors.
    """
    order = np.unique(x)
    gaps = np.concatenate([[0.0], np.diff(order), [np.inf]])
    thresholds = np.concatenate([[-np.inf], order[:-1] + np.diff(order) / 2, [np.inf]])
    errors = np.array([np.count_nonzero((x > t) != helped) for t in thresholds])
    fewest = np.flatnonzero(errors == errors.min())
    return float(thresholds[fewest[np.argmax(gaps[fewest])]])


def try_rule(x: Array, gain: Array, margin: float, group: Sequence[Any]) -> Tried:
    """Leave each group of tables out in turn, and choose threshold and line on the others.

    `x`, of shape (m,), is the statistic. A gain of `margin` or more counts as help.
    """
    helped, names = gain >= margin, np.asarray(group)
    predicted, line, mean = np.zeros(len(x), dtype=bool), np.empty(len(x)), np.empty(len(x))
    for left_out in np.unique(names):
        out = names == left_out
        predicted[out] = x[out] > best_threshold(x[~out], helped[~out])
        line[out] = np.polyval(np.polyfit(x[~out], gain[~out], 1), x[out])
        mean[out] = gain[~out].mean()
    wrong, never = predicted != helped, helped
    better, worse = np.count_nonzero(never & ~wrong), np.count_nonzero(wrong & ~never)
    p = float(stats.binom.sf(better - 1, better + worse, 0.5)) if better + worse else 1.0
    low, high = wilson(np.array([wrong.mean()]), np.array([len(x)]))
    return Tried(
        best_threshold(x, helped),
        int(wrong.sum()),
        int(never.sum()),
        float(low[0]),
        float(high[0]),
        p,
        *(float(np.sqrt(np.mean((gain - prediction) ** 2))) for prediction in (line, mean)),
    )


def candidate_rules(points: pd.DataFrame) -> pd.DataFrame:
    """Cross-validate the rule by the trees' advantage in several ways, one row each.

    `points` are those of `table_points`. Left out are single tables or whole sources; gain and
    advantage may be from different resamples; k-means may replace CAC. Columns are ``statistic``,
    ``tables``, ``helped`` and the fields of `try_rule`.
    """
    halves = points.assign(gain=points["gain_even"], advantage=points["advantage_odd"])
    ways: dict[str, tuple[pd.DataFrame, str]] = {
        "tables": (points, "dataset"),
        "sources": (points, "source"),
        "halves": (halves, "dataset"),
        "k-means": (points.assign(gain=points["gain_km"]), "dataset"),
    }
    rows = [
        {"way": way, "statistic": ADVANTAGE, **_tried(subset, group)}
        for way, (subset, group) in ways.items()
    ]
    return pd.DataFrame(rows)


def _tried(points: pd.DataFrame, group: str) -> dict[str, Any]:
    """Return counts of tables, and how the rule fares with each group left out."""
    measured = points.dropna(subset=["gain", ADVANTAGE])
    x, gain = measured[ADVANTAGE].to_numpy(), measured["gain"].to_numpy()
    outcome = try_rule(x, gain, MARGIN, measured[group].tolist())
    helped = int(np.count_nonzero(gain >= MARGIN))
    return {"tables": len(measured), "helped": helped, **outcome._asdict()}
