"""The primary comparisons of the judge: gains from clusters, in small families, by four metrics.

A family is one way to use clusters with one learner, over the data sets. They complement the
families of `deepcac.judging.questions`, which combine all ways and learners.
"""

from collections.abc import Iterator, Mapping

import pandas as pd

from deepcac.judging.choice import CLUSTERED, choose, open_to
from deepcac.judging.contenders import CAC, DISTANCES, KM
from deepcac.judging.questions import FORCED, HELP, SEPARATED, Question
from deepcac.judging.resample_scores import resample_scores
from deepcac.judging.trial_record import TrialRecord
from deepcac.judging.verdicts import verdicts
from deepcac.scoring.margins import MARGINS

Records = Mapping[str, Mapping[str, TrialRecord]]

# CAC with a weight of its separation above 0, where it is k-means no more.
SEPARATING = Question(
    "alpha_above_0", "Does CAC help, with alpha above 0 and two clusters or more?", CLUSTERED
)
SEPARATING_KM = Question(
    "alpha_above_0_km", "Is CAC with alpha above 0 better than k-means?", CLUSTERED, CLUSTERED
)
PARTS = (1, 2, 4)  # the margins are those of `MARGINS`, and these parts of them
_ARMS = (KM, CAC, DISTANCES)
_KEPT = ["mean", "low", "high", "p", "p_holm", "p_equivalent_holm"]


def primary_comparisons(records: Records) -> pd.DataFrame:
    """Compare every way to use clusters with the learner alone, each in a separate family.

    Records are by data set and contender. The result has a row per question, metric, data set and
    pair: columns of `deepcac.judging.verdicts.verdicts`; those of `_family`; and ``alpha_0``, the
    number of resamples in which the chosen alpha of CAC is 0 (its clusters are those of k-means).
    """
    metrics = tuple(MARGINS)
    scores = resample_scores(records, metrics)
    apart = resample_scores(above_zero(records), metrics)
    if scores.empty:
        return pd.DataFrame()
    asked = [
        *((HELP, scores, arm, "") for arm in _ARMS),
        *((FORCED, scores, arm, "") for arm in _ARMS),
        (SEPARATED, scores, CAC, KM),
        (SEPARATING, apart, CAC, ""),
        (SEPARATING_KM, apart, CAC, KM),
    ]
    present = list(dict.fromkeys(scores["contender"]))
    learners = [name for name in present if f"{CAC}_{name}" in present]
    rows = [
        _family(
            question,
            score_table,
            metric,
            (f"{arm}_{learner}", "_".join(filter(None, (other, learner)))),
        )
        for question, score_table, arm, other in asked
        for learner in learners
        for metric in metrics
    ]
    table = pd.concat(rows, ignore_index=True)
    zeros = dict(_zeros(records))
    keys = zip(
        table["question"], table["dataset"], table["contender"], table["metric"], strict=True
    )
    counts = [zeros.get(key[1:]) if key[0] == FORCED.id else None for key in keys]
    return table.assign(alpha_0=pd.array(counts, dtype="Int64"))


def _family(
    question: Question, scores: pd.DataFrame, metric: str, pair: tuple[str, str]
) -> pd.DataFrame:
    """Decide one family by each of its margins; return a row per data set.

    ``verdict``, and the p that a gain of the margin is excluded, ``p_excluded`` and
    ``p_excluded_holm``, are for the margin. Where two clusters or more had to be used, columns with
    the suffixes ``_2`` and ``_4`` are for a half and a quarter of it.
    """
    pair_scores = scores[scores["contender"].isin(pair)]
    pair_scores = pair_scores[
        pair_scores.groupby("dataset")["contender"].transform("nunique") == len(pair)
    ]
    parts = PARTS if question == FORCED else PARTS[:1]
    margins = [MARGINS[metric] / part for part in parts]
    by_margin = [
        verdicts(pair_scores, margin, margin, [question], lambda *_: iter([pair]), (metric,))
        for margin in margins
    ]
    first = by_margin[0]
    if first.empty:
        return first
    about = ["question", "metric", "dataset", "contender", "reference", "resamples", "clustered"]
    family = first[[*about, "score", "reference_score", *_KEPT]].copy()
    for part, table in zip(parts, by_margin, strict=True):
        end = f"_{part}" if part > 1 else ""
        family[f"p_excluded{end}"] = table["better"]
        family[f"p_excluded_holm{end}"] = table["p_gain_excluded_holm"]
        family[f"verdict{end}"] = table["verdict"]
    return family


def above_zero(records: Records) -> dict[str, dict[str, TrialRecord]]:
    """Return the records, with only those trials of CAC whose alpha is above 0."""
    return {
        dataset: {
            name: _weighted(record) if record.arm == CAC else record
            for name, record in by_contender.items()
        }
        for dataset, by_contender in records.items()
    }


def _weighted(record: TrialRecord) -> TrialRecord:
    """Return the trials whose alpha is positive."""
    return record.select(
        [t for t, values in enumerate(record.values) if values.get("alpha", 0.0) > 0]
    )


def _zeros(records: Records) -> Iterator[tuple[tuple[str, str, str], int]]:
    """Yield (data set, contender, metric) and the number of resamples with an alpha of 0.

    Alpha is that of the best trial of CAC with two clusters or more.
    """
    for dataset, by_contender in records.items():
        for name, record in by_contender.items():
            if record.arm != CAC:
                continue
            candidates = open_to(by_contender, name)
            for metric in MARGINS:
                trials = choose(candidates, CLUSTERED, metric).trials
                weights = [candidates.values[t].get("alpha") for t in trials]
                yield (dataset, name, metric), weights.count(0.0)
