"""From scores in resamples to verdicts: one row a comparison and metric."""

import os
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

import pandas as pd

from deepcac.atomic import atomic_path
from deepcac.errors import DataError
from deepcac.experiments.record import file_digest
from deepcac.judge.mean_scores import mean_scores
from deepcac.judge.power import power_curve
from deepcac.judge.questions import QUESTIONS, Question, pairs
from deepcac.judge.resample_scores import METRICS, resample_scores
from deepcac.judge.trials import read_trials
from deepcac.scoring.equivalence import difference, over_datasets, verdict
from deepcac.scoring.statistics import holm
from deepcac.storage import read_json, write_json


def read_records(paths: Iterable[str | os.PathLike[str]]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the records of trials by data set and contender."""
    found: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for path in paths:
        record = read_trials(path)
        found[record["dataset"]][record["contender"]] = record
    return dict(found)


def verdicts(scores: pd.DataFrame, margin: float, strict: float) -> pd.DataFrame:
    """Compare the contenders of every question on every data set.

    Parameters
    ----------
    scores : DataFrame
        Of `deepcac.judge.resample_scores.resample_scores`.
    margin, strict : float
        Differences that are of no account, and a stricter choice of them.

    Returns
    -------
    DataFrame
        One row a question, metric, data set, contender and reference: the number of resamples, and
        of those in which the chosen trial has ``clustered`` the rows; both mean scores, the
        fields of `Difference`, ``p_holm`` and ``p_equivalent_holm`` (adjusted inside the question
        and metric), ``verdict`` and ``verdict_strict`` by these.

    Raises
    ------
    DataError
        Two contenders were not run on the same resamples.
    """
    by_dataset = {
        str(dataset): {str(name): own for name, own in rows.groupby("contender")}
        for dataset, rows in (scores.groupby("dataset", sort=False) if len(scores) else ())
    }
    rows = [
        row
        for question in QUESTIONS
        for metric in METRICS
        for dataset, found in by_dataset.items()
        for row in _compare(question, metric, dataset, found)
    ]
    if not rows:
        return pd.DataFrame()
    table = pd.DataFrame(rows)
    family = [table["question"], table["metric"]]
    sizes = table.groupby(family)["dataset"].transform("size")
    measured = list(zip(table["differences"], table["test_share"], sizes, strict=True))
    found, strictly = (
        [difference(d, test_share=share, margin=m, tests=n) for d, share, n in measured]
        for m in (margin, strict)
    )

    def adjusted(p: list[float]) -> pd.Series:
        return pd.Series(p).groupby(family).transform(lambda own: holm(own.to_numpy()))

    p_holm = adjusted([one.p for one in found])
    same, strictly_same = (
        adjusted([one.p_equivalent for one in each]) for each in (found, strictly)
    )
    return pd.concat(
        [table.drop(columns="differences"), pd.DataFrame([asdict(one) for one in found])], axis=1
    ).assign(
        p_holm=p_holm,
        p_equivalent_holm=same,
        verdict=list(map(verdict, found, p_holm, same)),
        verdict_strict=list(map(verdict, strictly, p_holm, strictly_same)),
    )


def _compare(
    question: Question, metric: str, dataset: str, found: dict[str, pd.DataFrame]
) -> Iterator[dict[str, Any]]:
    for name, reference in pairs(question, sorted(found)):
        column = f"{metric}_{question.choice}"
        both = found[name].set_index("seed"), found[reference].set_index("seed")
        if not both[0].index.equals(both[1].index):
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
            "differences": (ours - theirs).to_numpy(),
        }


def half_detect(rows: pd.DataFrame) -> float:
    """Return the difference that half of the comparisons would have found.

    Those in which no resample chose clusters compare a learner with itself and do not count; NaN
    where nothing else is left.
    """
    return float(rows.loc[rows["clustered"] > 0, "detectable"].median())


def summary(table: pd.DataFrame, margin: float) -> list[dict[str, Any]]:
    """Count the verdicts of each question and metric, by contender and reference over data sets.

    Returns
    -------
    list of dict
        ``question``, ``text``, ``metric``, ``n``, a count for each verdict; and ``over_datasets``:
        for each pair of contenders the number of data sets and the probabilities of
        `over_datasets`.
    """
    texts = {question.id: question.text for question in QUESTIONS}
    found = []
    for (question, metric), rows in table.groupby(["question", "metric"], sort=False):
        across = [
            {
                "contender": contender,
                "reference": reference,
                "datasets": len(pair),
                **dict(
                    zip(
                        ("worse", "same", "better"),
                        over_datasets(pair["mean"].to_numpy(), margin),
                        strict=True,
                    )
                ),
            }
            for (contender, reference), pair in rows.groupby(["contender", "reference"])
        ]
        found.append(
            {
                "question": question,
                "text": texts[str(question)],
                "metric": metric,
                "n": len(rows),
                **Counter(rows["verdict"]),
                "over_datasets": across,
            }
        )
    return found


def _without_gaps(table: pd.DataFrame) -> list[dict[Hashable, Any]]:
    rows = table.to_dict("records")
    return [{name: value for name, value in row.items() if value == value} for row in rows]


def _generated(found: Mapping[str, dict[str, Any]]) -> bool:
    return any(record["synthetic"] for record in found.values())


def write_judgement(
    csv_path: str | os.PathLike[str],
    summary_path: str | os.PathLike[str],
    trial_paths: Iterable[str | os.PathLike[str]],
    planted_paths: Iterable[str | os.PathLike[str]],
    *,
    margin: float,
    strict: float,
) -> None:
    """Write the verdicts as CSV; their digest, counts, all scores and the power curve as JSON.

    Parameters
    ----------
    csv_path, summary_path : path-like
        Files to write; numbers of the CSV have five decimals.
    trial_paths : iterable of path-like
        Records of `deepcac.judge.trials.run_trials`.
    planted_paths : iterable of path-like
        Records of `deepcac.judge.power.run_planted`.
    margin, strict : float
        See `verdicts`.
    """
    records = read_records(trial_paths)
    scores = resample_scores(records)
    table = verdicts(scores, margin, strict)
    with atomic_path(csv_path) as partial:
        partial.write_text(table.to_csv(index=False, float_format="%.5f"), encoding="utf-8")
    content = {
        "margin": margin,
        "strict_margin": strict,
        "synthetic": [name for name, found in records.items() if _generated(found)],
        "questions": summary(table, margin),
        "scores": _without_gaps(mean_scores(scores)),
        "power": power_curve([read_json(path) for path in planted_paths]),
        "verdicts": file_digest(csv_path),
    }
    write_json(summary_path, content)
