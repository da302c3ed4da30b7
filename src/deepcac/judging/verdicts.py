"""From scores in resamples to verdicts: one row a comparison and metric."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from deepcac.errors import DataError
from deepcac.judging.draws import SHARE
from deepcac.judging.questions import BAG, BEND, BENT, CLINICAL, QUESTIONS, Question, pairs
from deepcac.judging.resample_scores import METRICS
from deepcac.judging.trial_scores import advantage
from deepcac.scoring.equivalence import (
    NEVER,
    TIED,
    Difference,
    difference,
    over_datasets,
    verdict,
)
from deepcac.scoring.statistics import holm
from deepcac.types import Array, Flags

_VALIDATION_BY_TEST = 1 - SHARE  # rows, of `resamples`
_OF_TWO_MODELS = (BAG.id, BENT.id, BEND.id)  # also where no clusters are chosen
_VERDICTS = ["verdict", "verdict_strict", "verdict_wide"]


def verdicts(
    scores: pd.DataFrame,
    margin: float,
    strict: float,
    questions: Sequence[Question] = QUESTIONS,
    paired: Callable[[Question, list[str]], Iterator[tuple[str, str]]] = pairs,
    metrics: Sequence[str] = METRICS,
) -> pd.DataFrame:
    """Compare the contenders of every question on every data set.

    Scores are those of `deepcac.judging.resample_scores.resample_scores`; differences up to
    `margin` are negligible, by each of the metrics, and `strict` is a stricter choice. `paired` is
    as `questions.pairs`.

    A row a question, metric, data set, contender and reference: the number of resamples, and of
    those in which the chosen trial has ``clustered`` the rows; both mean scores, the fields of
    `Difference`, ``p_holm``, ``p_equivalent_holm`` and ``p_gain_excluded_holm`` (adjusted inside
    the question and metric), ``verdict`` and ``verdict_strict`` by these; ``verdict_wide``, as if
    only training rows, and no validation rows, were learnt from; and ``margin`` and
    ``strict_margin``, by which it is decided. Where both sides have the same
    score in every resample, the verdict is `NEVER`, or `TIED` if clusters were chosen or never
    offered; there is no interval, and the row belongs to no family.

    Contenders that were not run on the same resamples are a `DataError`.
    """
    by_dataset: dict[str, dict[str, pd.DataFrame]] = {}
    groups = scores.groupby(["dataset", "contender"], sort=False) if len(scores) else ()
    for (dataset, name), rows_of_one in groups:
        by_dataset.setdefault(str(dataset), {})[str(name)] = rows_of_one
    rows = [
        row
        for question in questions
        for metric in metrics
        for dataset, by_contender in by_dataset.items()
        for row in _compare(
            question, metric, dataset, by_contender, paired(question, sorted(by_contender))
        )
    ]
    if not rows:
        return pd.DataFrame()
    table = pd.DataFrame(rows)
    differences = table.pop("differences")
    compared = differences.map(np.any)
    decided = _decided(table[compared], differences[compared], margin, strict)
    words = decided.reindex(table.index)[_VERDICTS].astype(object)
    table["mean"] = differences.map(np.mean)
    two_models = (table["clustered"] > 0) | table["question"].isin(_OF_TWO_MODELS)
    untested = pd.Series(np.where(two_models, TIED, NEVER), table.index)
    words = words.apply(lambda column: column.fillna(untested))
    table = table.join(decided.drop(columns=["mean", *words])).join(words)
    return table.assign(margin=margin, strict_margin=strict)


def _decided(
    table: pd.DataFrame, differences: pd.Series, margin: float, strict: float
) -> pd.DataFrame:
    """Measure the differences of comparisons, and decide each inside its family."""
    families = [
        np.flatnonzero(rows) for rows in _families(table[["question", "metric"]].to_numpy())
    ]
    sizes = [0] * len(table)
    for rows in families:
        for place in rows.tolist():
            sizes[place] = len(rows)
    shares = table["test_share"]
    estimates, strictly, widely = (
        [
            difference(d, test_share=share, margin=m, tests=n)
            for d, share, n in zip(differences, test_shares, sizes, strict=True)
        ]
        for m, test_shares in ((margin, shares), (strict, shares), (margin, shares.map(_wide)))
    )

    def adjusted(p: list[float]) -> Array:
        values, result = np.array(p), np.empty(len(p))
        for rows in families:
            result[rows] = holm(values[rows])
        return result

    p_holm, p_wide = (
        adjusted([estimate.p for estimate in results]) for results in (estimates, widely)
    )
    same, strictly_same, widely_same = (
        adjusted([estimate.p_equivalent for estimate in results])
        for results in (estimates, strictly, widely)
    )
    columns = [field.name for field in fields(Difference)]
    return pd.DataFrame(map(asdict, estimates), columns=columns, index=table.index).assign(
        p_holm=p_holm,
        p_equivalent_holm=same,
        p_gain_excluded_holm=adjusted([estimate.better for estimate in estimates]),
        verdict=list(map(verdict, estimates, p_holm, same)),
        verdict_strict=list(map(verdict, strictly, p_holm, strictly_same)),
        verdict_wide=list(map(verdict, widely, p_wide, widely_same)),
    )


def _families(keys: npt.NDArray[Any]) -> Iterator[Flags]:
    """Yield which rows are of each family, a question and metric."""
    for key in dict.fromkeys(map(tuple, keys)):
        yield (keys == key).all(axis=1)


def _wide(share: float) -> float:
    """Return the share of the test rows where validation rows do not count as learnt from."""
    return share / (1 - share * _VALIDATION_BY_TEST)


def _compare(
    question: Question,
    metric: str,
    dataset: str,
    by_contender: dict[str, pd.DataFrame],
    compared: Iterator[tuple[str, str]],
) -> Iterator[dict[str, Any]]:
    for name, reference in compared:
        column = f"{metric}_{question.choice}"
        both = by_contender[name], by_contender[reference]
        if both[0]["seed"].tolist() != both[1]["seed"].tolist():
            raise DataError(
                f"{name} and {reference} on {dataset}: not on the same resamples; delete their "
                "records and run the judge again"
            )
        ours, theirs = both[0][column], both[1][f"{metric}_{question.reference_choice}"]
        yield {
            "question": question.id,
            "metric": metric,
            "dataset": dataset,
            "contender": name,
            "reference": reference,
            "resamples": len(ours),
            "test_share": both[0]["test_share"].iloc[0],
            "clustered": int((both[0][f"{column}_k"] > 1).sum()),
            "score": ours.mean(),
            "reference_score": theirs.mean(),
            "differences": advantage(metric, ours.to_numpy())
            - advantage(metric, theirs.to_numpy()),
        }


def half_detect(rows: pd.DataFrame) -> float:
    """Return the difference that half of the comparisons would have found, NaN without any."""
    return float(rows["detectable"].median())


def summary(table: pd.DataFrame, margin: float) -> list[dict[str, Any]]:
    """Count the verdicts of each question and metric.

    A row has ``question``, ``text``, ``metric``, ``n``, a count for each verdict; and
    ``over_datasets``: for each pair of contenders the number of data sets and the probabilities of
    `over_datasets`.
    """
    texts = {question.id: question.text for question in (*QUESTIONS, *CLINICAL)}
    return [
        {
            "question": question,
            "text": texts[str(question)],
            "metric": metric,
            "n": len(rows),
            **Counter(rows["verdict"]),
            "over_datasets": list(_across(rows[rows["verdict"] != NEVER], margin)),
        }
        for (question, metric), rows in table.groupby(["question", "metric"], sort=False)
    ]


def _across(rows: pd.DataFrame, margin: float) -> Iterator[dict[str, Any]]:
    for (contender, reference), pair in rows.groupby(["contender", "reference"]):
        shares = over_datasets(pair["mean"].to_numpy(), margin)
        yield {
            **{"contender": contender, "reference": reference, "datasets": len(pair)},
            **dict(zip(("worse", "same", "better"), shares, strict=True)),
        }
