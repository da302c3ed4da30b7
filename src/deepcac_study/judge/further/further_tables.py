"""Records of transfer, scorecards and richer labels as tables: a row a comparison."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from deepcac.files.storage import read_json
from deepcac.judging.contenders import CAC, CELLS, HASH, KM
from deepcac.scoring.equivalence import BETTER
from deepcac_study.judge.further import crossed, richer_labels, scorecards
from deepcac_study.judge.further.further_files import PLANTED
from deepcac_study.judge.further.further_verdicts import REAL, decided, resampled
from deepcac_study.judge.further.richer_labels import ALONE, RICH, SHUFFLED, SOFT, STACKED
from deepcac_study.judge.further.scorecards import CARDS, ONE
from deepcac_study.records.stored import check_place
from deepcac_study.records.written_scores import as_scored

Key = tuple[Any, ...]
Rows = Iterator[dict[str, Any]]
# Question, contender, whom it may choose from, reference, and whom that may choose from.
Pairs = Iterator[tuple[str, str, Sequence[Key], str, Sequence[Key]]]
_Paths = Iterable[str | os.PathLike[str]]


def transfer_table(paths: _Paths) -> pd.DataFrame:
    """Return what `deepcac_study.judge.further.transfer` compared, by move, learner and labels.

    Not decided yet (`decided`): that needs all rows together.
    """
    return pd.DataFrame(row for path in sorted(map(Path, paths)) for row in _moved(path))


def _moved(path: Path) -> Rows:
    record = as_scored(read_json(path))
    cohort = record.get("family", REAL)
    if "shift" in record:
        cohort = f"{PLANTED}{record['shift']:g}"
        check_place(path, record, f"{cohort}.json")
    for learner, entries in record["learners"].items():
        for entry in entries:
            # Of a way that few draws have, the mean score is of other draws than that of the rest.
            most = max(comparison["draws"] for comparison in entry["comparisons"])
            for comparison in entry["comparisons"]:
                shown = entry["scores"] if comparison["draws"] == most else {}
                about = {"cohort": cohort, "move": path.stem, "learner": learner}
                about |= {"labels": entry["labels"]}
                yield from _recalibrated(about, entry | {"scores": shown}, comparison)


def _recalibrated(about: dict[str, Any], entry: dict[str, Any], comparison: dict[str, Any]) -> Rows:
    ours, theirs = comparison["contender"], comparison["reference"]
    for metric in crossed.METRICS:
        if (comparison["question"], metric) == ("recalibration", "auroc"):
            continue  # a shift and a slope leave the order of the risks as it is
        mean, by_rows, by_draws = comparison[metric]
        yield {
            **{"question": comparison["question"], "metric": metric, **about},
            **{"contender": ours, "reference": theirs},
            **{"draws": comparison["draws"], "clustered": entry["clustered"].get(ours, np.nan)},
            "score": entry["scores"].get(ours, {}).get(metric, np.nan),
            "reference_score": entry["scores"].get(theirs, {}).get(metric, np.nan),
            **{"mean": mean, "error": float(np.hypot(by_rows, by_draws))},
            "freedom": comparison["draws"] - 1,
        }


def scorecard_table(paths: _Paths) -> pd.DataFrame:
    """Return what `deepcac_study.judge.further.scorecards` compared, by data set and items.

    Of planted cohorts a row is the mean over ``cohorts``, and has no error; ``found`` counts those
    in which a test of its own finds the contender better.
    """
    rows: list[dict[str, Any]] = []
    for path in sorted(map(Path, paths)):
        record = as_scored(read_json(path))
        if "strength" in record:
            check_place(path, record, f"{PLANTED}{record['strength']:g}.json")
            rows += _cohorts(path.stem, record["cohorts"])
        else:
            check_place(path, record, "scorecards/{dataset}.json")
            rows += _carded(record["resamples"], {"cohort": REAL, "dataset": path.stem})
    return pd.DataFrame(rows)


def _cohorts(name: str, cohorts: Sequence[Sequence[dict[str, Any]]]) -> list[dict[Any, Any]]:
    # A family a row: each has a test of its own.
    rows = [
        row
        for resamples in cohorts
        for row in _carded(resamples, {"cohort": name, "dataset": name})
    ]
    comparisons = decided(pd.DataFrame(rows).assign(cohort=lambda table: table.index))
    key = ["question", "metric", "dataset", "items", "contender", "reference"]
    means = {name: (name, "mean") for name in ("score", "reference_score", "mean")}
    counted = {"found": ("better", "sum"), "cohorts": ("better", "size")}
    comparisons = comparisons.assign(better=comparisons["verdict"] == BETTER)
    summary = comparisons.groupby(key, sort=False, as_index=False).agg(**means, **counted)
    return summary.assign(cohort=name, error=np.nan, freedom=np.nan).to_dict("records")


def _carded(resamples: Sequence[dict[str, Any]], about: dict[str, Any]) -> Rows:
    cards = [
        {(row["size"], row["arm"], row["k"]): row for row in sample["cards"]}
        for sample in resamples
    ]
    for size in dict.fromkeys(size for size, *_ in cards[0]):
        placed = {**about, "items": size}
        yield from _compared(resamples, cards, _card_pairs(size), scorecards.METRICS, placed)


def _card_pairs(size: int) -> Pairs:
    single = [(size, ONE, 1)]
    for question, arms in (("help", (KM, CAC)), ("negative_control", (HASH,))):
        for arm in arms:
            yield question, arm, [*single, *((size, arm, k) for k in CARDS)], ONE, single
    for arm in (KM, CAC):
        for k in CARDS:
            ours = f"{arm}_{k}", [(size, arm, k)]
            yield "forced", *ours, ONE, single
            for control in (CELLS, HASH):
                yield "any_partition", *ours, f"{control}_{k}", [(size, control, k)]


def richer_table(paths: _Paths) -> pd.DataFrame:
    """Return what `deepcac_study.judge.further.richer_labels` compared, by data set and learner."""
    rows: list[dict[str, Any]] = []
    for path in sorted(map(Path, paths)):
        record = as_scored(read_json(path))
        check_place(path, record, "richer_labels/{dataset}_{learner}.json")
        resamples = record["resamples"]
        by_arm = [{(row["arm"],): row for row in sample["contenders"]} for sample in resamples]
        about = {"cohort": REAL, "dataset": record["dataset"], "learner": record["learner"]}
        rows += _compared(resamples, by_arm, _label_pairs(), richer_labels.METRICS, about)
    return pd.DataFrame(rows)


def _label_pairs() -> Pairs:
    alone, stacked = (ALONE, [(ALONE,)]), (STACKED, [(STACKED,)])
    for arm in (RICH, SOFT, KM):
        yield "help", arm, [(ALONE,), (arm,)], *alone
        yield "forced", arm, [(arm,)], *alone
        if arm != KM:
            yield "rival", arm, [(arm,)], *stacked
    for arm in (RICH, SOFT, STACKED):
        yield "any_labels", arm, [(arm,)], SHUFFLED + arm, [(SHUFFLED + arm,)]
    yield "any_labels", RICH, [(RICH,)], CELLS, [(CELLS,)]
    yield "auxiliary", *stacked, *alone


def _compared(
    resamples: Sequence[dict[str, Any]],
    entries: Sequence[Mapping[Key, dict[str, Any]]],
    pairs: Pairs,
    metrics: Iterable[str],
    about: dict[str, Any],
) -> Rows:
    """Compare what validation rows choose, resample by resample."""
    for question, contender, ours, reference, theirs in pairs:
        for metric in metrics:
            both = [_chosen(entries, keys, metric) for keys in (ours, theirs)]
            named = {"question": question, "metric": metric, **about}
            named |= {"contender": contender, "reference": reference}
            yield named | resampled(resamples, *both)


def _chosen(
    entries: Sequence[Mapping[Key, dict[str, Any]]], keys: Sequence[Key], metric: str
) -> list[float]:
    """Return the test score of the best by the validation rows, of each resample."""
    return [
        float(max((entry[key][metric] for key in keys), key=lambda v: v[0])[1]) for entry in entries
    ]
