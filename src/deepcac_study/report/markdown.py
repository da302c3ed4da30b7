"""Numbers and tables as the documentation writes them."""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from deepcac.judging.resample_scores import METRICS
from deepcac.scoring.equivalence import BETTER, EQUIVALENT, NEVER, UNDECIDED, WORSE
from deepcac_study.report import snapshot

SHOWN = {BETTER: "**{}**", WORSE: "{} worse", EQUIVALENT: "{}", UNDECIDED: "*{}*", NEVER: "–"}

NOT_RUN = "Not run yet.\n"

Tables = dict[str, pd.DataFrame]


def three(value: float, style: str = "{}", *, signed: bool = False) -> str:
    """Write a number with three decimals, in a style such as ``**{}**``."""
    return style.format(_bare(f"{value:+.3f}" if signed else f"{value:.3f}"))


def four(value: float, style: str = "{}", *, signed: bool = False) -> str:
    """Write a number with four decimals."""
    return style.format(_bare(f"{value:+.4f}" if signed else f"{value:.4f}"))


def _bare(text: str) -> str:
    """Leave out the zero before the point, and a sign before nothing."""
    return re.sub(r"^([-+]?)0\.", r"\1.", re.sub(r"^[-+](0\.0+)$", r"\1", text))


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], n_labels: int = 1) -> str:
    """Return a table whose first `n_labels` columns are text; one without rows waits for a run."""
    found = list(rows)
    if not found:
        return NOT_RUN
    rule = ["---"] * n_labels + ["---:"] * (len(head) - n_labels)
    lines = (f"| {' | '.join(cells)} |" for cells in (head, rule, *found))
    return "\n".join(lines) + "\n"


def judged(tables: Tables) -> pd.DataFrame:
    """Return the comparisons by AUROC."""
    table = tables[snapshot.VERDICTS]
    return table[table["metric"] == METRICS[0]]


def gain(
    found: Mapping[Hashable, Any] | None, verdict: str = "verdict", *, chosen: bool = False
) -> str:
    """Write a difference in the style of its verdict; and how many resamples chose clusters."""
    if found is None:
        return ""
    mean = four(found["mean"], SHOWN[str(found[verdict])], signed=True)
    return f"{mean}, {found['clustered']} of {found['resamples']}" if chosen else mean


def interval(found: Mapping[Hashable, Any]) -> str:
    """Write the 95 % interval of a difference."""
    return f"({four(found['low'], signed=True)} to {four(found['high'], signed=True)})"
