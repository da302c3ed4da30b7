"""The theorems of the CAC papers, both sides as measured, in one table."""

from collections.abc import Sequence

from deepcac.pages.tables import Table, text_row
from deepcac_study.experiments.theorem_checks import CURVED, TheoryRecord, checks

_NOTE = (
    "Training rows of the first split, sound protocol; losses are sums over rows, but means in "
    "Theorem 1. Growth is the exponent of the operations of a first pass, counted, in n, d and k, "
    "and holds up to {limit:.2f}. In Theorem 4 logistic regression is not "
    "regularised. The value of Theorem 1 is the test loss, its bound the form with empirical "
    "complexities (DeepCAC, Lemma 1), the class all coefficients no longer than the longest "
    "fitted; a bound above ln 2 = 0.693 is met by a constant classifier. The theorem takes the "
    "clusters as given, while CAC makes them from the labels of the training rows. The AM-softmax"
    " bounds are evaluated with the class means as class vectors, with every row on its own class"
    " vector (where training leads), and with every row on the other one. As printed, the lower "
    "bound lacks a factor 1/2 before s, which shows only where s m is below 2 ln 2; the upper "
    "rests on ln(1 + e^x) < 1 + x, which is false for well-classified rows. Clusters of CAC: "
    "alpha = {alpha:g}."
)


def theory_tables(records: Sequence[TheoryRecord], name: str = "theory") -> list[Table]:
    """Return the table of all inequalities; [] without a record."""
    if not records:
        return []
    rows = [
        text_row(
            record.name,
            check.bound,
            check.part,
            *(_number(side) for side in (check.left, check.value, check.right)),
            "yes" if check.holds else "no",
        )
        for record in records
        for check in checks(record)
    ]
    return [
        Table(
            id=name,
            title="The papers' theorems, both sides",
            note=_NOTE.format(limit=1 + CURVED, alpha=records[0].record["alpha"]),
            head=("data set", "bound", "on", "left side", "value", "right side", "holds"),
            rows=rows,
            n_labels=3,
        )
    ]


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.4g}"
