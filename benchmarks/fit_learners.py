"""What `deepcac fit` gains by choosing among its learners, over logistic regression alone.

    python benchmarks/fit_learners.py data/features OUT.csv TASK...    # features of a clone

Both choices are judged on the same five folds, which neither has seen (`nested_answers`). What was
seen is in docs/results/fit_learners.csv; all of it takes half an hour of processor time.
"""

import argparse
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from deepcac.feature_matrix import read_features
from deepcac.scoring.statistics import corrected_t_test
from deepcac.table.choice_folds import score_on_folds
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.reading.table_encoder import NUMBER, EncodedColumn, TableEncoder
from deepcac.table.risk_model_choice import LINEAR, Ways, candidates, choice, nested_answers


class Judged(NamedTuple):
    """AUROC of each fold, the id of the learner that is chosen, its clusters, and seconds."""

    auroc: np.ndarray
    learner: str
    clusters: int
    seconds: float


def task_table(path: Path) -> LabelledTable:
    """Return the features of a task as a table of numbers."""
    features = read_features(path)
    encoder = TableEncoder(tuple(EncodedColumn(name, NUMBER) for name in features.names))
    unread: Any = None
    return LabelledTable(
        path.stem, pa.table({}), features, ("0", "1"), encoder, None, len(features.label), unread
    )


def judged(table: LabelledTable, ways: Ways) -> Judged:
    """Choose a model as `fit` does, and score such choices on folds."""
    begin = time.process_time()
    tried = candidates(ways, table)
    scores = score_on_folds(table, tried, 0)
    answers, _ = nested_answers(table, tried, scores)
    taken = tried[choice(scores.every, tried)]
    auroc = np.array([answer.auroc for answer in answers])
    return Judged(auroc, taken.learner, taken.k, time.process_time() - begin)


def row(path: Path) -> dict[str, Any]:
    """Return what both choices say of a task."""
    table = task_table(path)
    before, after = judged(table, Ways(learner=LINEAR)), judged(table, Ways())
    n = len(after.auroc)
    gap = corrected_t_test(after.auroc - before.auroc, n_train=n - 1, n_test=1)
    return {
        "task": path.stem,
        "rows": len(table.features.label),
        "events": table.rarest,
        "chosen": after.learner,
        "clusters": after.clusters,
        "auroc_lr": before.auroc.mean(),
        "auroc_auto": after.auroc.mean(),
        "difference": gap.mean,
        "low": gap.low,
        "high": gap.high,
        "seconds_lr": before.seconds,
        "seconds_auto": after.seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("features", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("tasks", nargs="+")
    given = parser.parse_args()
    judged(task_table(given.features / f"{given.tasks[0]}.parquet"), Ways())
    rows = []
    for task in given.tasks:  # what was compiled above costs nothing here
        rows.append(row(given.features / f"{task}.parquet"))
        print(rows[-1], flush=True)
        digits = dict.fromkeys(("auroc_lr", "auroc_auto", "difference", "low", "high"), 4)
        table = pd.DataFrame(rows).round(digits | {"seconds_lr": 0, "seconds_auto": 0})
        table.to_csv(given.out, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
