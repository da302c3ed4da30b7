"""What `deepcac compare` decides on tables, one line of JSON each, in full precision.

``python benchmarks/decided.py DRAWS RESAMPLES CSV...`` with PYTHONPATH at the version that answers.
It calls the command and stops it before the page is written, because page and card round. Where
version 2 asks something, the answer is to keep the column as it is.
"""

import json
import re
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import deepcac.table.comparing as comparing
from deepcac import __version__
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

    compare = ["compare", table, "--label", "event", "--jobs", "1", "--seed", "0",
               "--resamples", str(resamples)]  # fmt: skip
    with patch.multiple(comparing, run_budgeted=run, answer=stop):
        if not called(compare) and __version__ >= "2":
            keep_all(table)
            called(compare)
    return found


def keep_all(table: str) -> None:
    """Write a description, and answer every question of it with keep."""
    page = Path(table).with_suffix(".html")
    called(["profile", table, "--label", "event", "--out", str(page)])
    description = page.with_suffix(".yaml")
    answered = re.sub(r"answer: *\n", "answer: keep\n", description.read_text("utf-8"))
    description.write_text(answered, encoding="utf-8")


def called(words: list[str]) -> bool:
    """Call the command; return whether it came to a decision."""
    sys.argv[1:] = words
    try:
        with redirect_stdout(sys.stderr):
            main()
    except (Decided, SystemExit) as end:
        return isinstance(end, Decided)
    return False


if __name__ == "__main__":
    draws, resamples, *tables = sys.argv[1:]
    for table in tables:
        print(json.dumps(decide(table, int(draws), int(resamples))), flush=True)
