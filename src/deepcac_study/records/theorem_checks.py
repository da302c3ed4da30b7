"""Records of the measured theorems of the CAC papers, and whether each bound holds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from deepcac_study.catalogue.methods import LR, label
from deepcac_study.records.stored import Stored

COST = "CAC v1 Theorem 2: the cost never rises"
LLOYD = "no theorem (CAC v2 Remark 1): by Lloyd's moves"
GROWTH = "CAC v1 Theorem 3: time grows as n d k"
LOG_LOSS = "CAC v1 Theorem 4, DeepCAC Theorem 2: log loss"
AM_SOFTMAX = "DeepCAC Theorem 3, constants put right: AM-softmax loss"
AM_SOFTMAX_PRINTED = "DeepCAC Theorem 3 as printed: AM-softmax loss"
RISK = "Theorem 1: expected log loss"

_ROUNDING = 1e-9
CURVED = 0.15  # by how much an exponent may miss: parts of a pass do not grow with k


class TheoryRecord(Stored):
    """One JSON of `deepcac_study.experiments.theory.theorems`."""

    @property
    def name(self) -> str:
        """Data set and k, for display."""
        return f"{self.record['dataset']}, k = {self.record['k']}"


@dataclass(frozen=True)
class Check:
    """One inequality on one data set; a side without a bound is None."""

    # The theorem, and what it is evaluated on.
    bound: str
    part: str
    left: float | None
    value: float  # what they enclose
    right: float | None
    slack: float  # by how much rounding, or the clock, may exceed them

    @property
    def holds(self) -> bool:
        """Whether the value lies between its bounds."""
        above = self.left is None or self.value >= self.left - self.slack
        return above and (self.right is None or self.value <= self.right + self.slack)


def checks(record: TheoryRecord) -> list[Check]:
    """Return every inequality of a record."""
    content = record.record
    return [
        *_cost_checks(content["cost"]),
        *(
            Check(GROWTH, f"exponent of {x}", None, content["growth"][x], 1.0, CURVED)
            for x in "ndk"
        ),
        *(_between(LOG_LOSS, _place(row), row, "") for row in content["log_loss"]),
        *(_between(AM_SOFTMAX, row["case"], row, "") for row in content["am_softmax"]),
        *(_between(AM_SOFTMAX_PRINTED, r["case"], r, "printed_") for r in content["am_softmax"]),
        *(
            Check(RISK, _terms(row), None, row["test"], row["total"], 0.0)
            for row in content["risk"]
        ),
    ]


def _cost_checks(rows: Sequence[dict[str, float]]) -> Iterator[Check]:
    """Yield checks of the alpha with the largest rise, relative to the cost at the start."""
    for bound, key in ((COST, "rise"), (LLOYD, "lloyd_rise")):
        worst = max(rows, key=lambda row: row[key] / abs(row["first"]))
        part = f"largest rise, {len(rows)} alphas; alpha = {worst['alpha']:g}"
        slack = _ROUNDING * abs(worst["first"])
        yield Check(
            bound, part if worst[key] else part.partition(";")[0], None, worst[key], 0.0, slack
        )


def _between(bound: str, part: str, row: dict[str, Any], prefix: str) -> Check:
    """Return the check that the loss lies between both bounds."""
    left, value, right = row[f"{prefix}lower"], row["loss"], row[f"{prefix}upper"]
    return Check(bound, part, left, value, right, _ROUNDING * max(abs(left), abs(right)))


def _place(row: dict[str, Any]) -> str:
    where = "all rows" if row["arm"] == LR else f"cluster {row['cluster']}"
    return f"{label(row['arm'])}, {where}, n = {row['rows']:,}"


def _terms(row: dict[str, Any]) -> str:
    parts = ("training", "complexity", "confidence")
    return f"{label(row['arm'])}: " + " + ".join(f"{name} {row[name]:.4g}" for name in parts)
