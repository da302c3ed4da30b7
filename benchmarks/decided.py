"""What `deepcac compare` decides on tables, one line of JSON each, in full precision.

``python benchmarks/decided.py DRAWS RESAMPLES CSV...`` with PYTHONPATH at the version that answers.
It calls the command and stops it before the page is written, because page and card round.
"""

import json
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import deepcac.table.comparing as comparing
from deepcac.command import main

RUN, ANSWER = comparing.run_budgeted, comparing.answer


class Decided(BaseException):
    """Leaves the command with its answer; no handler of the command catches it."""


def decide(table: str, draws: int, resamples: int) -> dict[str, Any]:
    """Return what the command says about a table whose label is the column ``event``."""
    found: dict[str, Any] = {"table": Path(table).stem}

    def run(read: Any, effort: Any, *more: Any) -> Any:
        columns = [sha256(np.round(x, 9).tobytes()).hexdigest() for x in read.features.X.T]
        found.update(n=len(read.features.label), events=int(read.features.label.sum()),
                     columns=columns, names=read.features.names)  # fmt: skip
        return RUN(read, replace(effort, trials=draws), *more)

    def stop(*args: Any) -> Any:
        answer = ANSWER(*args)
        rows = answer.table[answer.table["metric"] == "auroc"]
        fields = ["question", "contender", "reference", "score", "reference_score", "mean", "low",
                  "high", "verdict"]  # fmt: skip
        found.update(verdict=answer.verdict, best=answer.best, clustered=answer.clustered)
        found.update(sentence=str(answer.sentence), rows=rows[fields].to_dict("records"))
        raise Decided

    comparing.run_budgeted, comparing.answer = run, stop
    sys.argv[1:] = ["compare", table, "--label", "event", "--jobs", "1", "--seed", "0",
                    "--resamples", str(resamples)]  # fmt: skip
    try:
        main()
    except Decided:
        pass
    except SystemExit as refused:
        found["refused"] = str(refused)
    return found


if __name__ == "__main__":
    draws, resamples, *tables = sys.argv[1:]
    for table in tables:
        print(json.dumps(decide(table, int(draws), int(resamples))), flush=True)
