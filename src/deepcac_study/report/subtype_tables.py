"""Tables of one run's subtypes: sizes and outcomes, medians, what the predicted risk follows."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from deepcac.feature_matrix import FeatureMatrix
from deepcac.pages.tables import Cell, Table, text_row
from deepcac.scoring.small_cells import withheld, withheld_parts
from deepcac_study.catalogue.entries import DataSet
from deepcac_study.experiments.finished import Run
from deepcac_study.features.columns.ranges import read_ranges
from deepcac_study.report.calibration import unweighted_risk
from deepcac_study.report.subtype_numbers import FEWEST, Array, Ids, Variable, variables

CERTAIN = 0.995  # a median risk above this is no estimate but a separation of the classes
_ONE = 0.9995  # a risk that would be written as 100 %
_FACTORS = 6  # of each subtype's risk


@dataclass(frozen=True)
class UnseenRows:
    """The test rows of a run's first split, which it has not learned from.

    Attributes
    ----------
    cluster, label : ndarray of shape (n,), int64
    risk : ndarray of shape (n,)
        Predicted for class 1, without class weights where it is a probability.
    found : list of Variable
    k : int
        Clusters asked for.
    places : ndarray of shape (n,), int64
        Of the rows in the feature file.
    """

    cluster: Ids
    label: Ids
    risk: Array
    found: list[Variable]
    k: int
    places: Ids = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def gives_probabilities(self) -> bool:
        """Whether the risks are shares, and no decision values."""
        return bool(len(self.risk)) and 0 <= self.risk.min() <= self.risk.max() <= 1

    @property
    def medians(self) -> list[float | None]:
        """The median risk of each subtype; None for too few rows or without probabilities."""
        parts = [self.risk[self.cluster == j] for j in range(self.k)]
        told = self.gives_probabilities
        return [float(np.median(p)) if told and len(p) >= FEWEST else None for p in parts]


def page_id(run: Run) -> str:
    """Return the name of a run's page."""
    return f"subtypes_{run.dataset}_{run.method}_k{run.k}"


def unseen_rows(run: Run, features: FeatureMatrix, entry: DataSet) -> UnseenRows | None:
    """Return a run's test rows; None without scores, or if it was made from other features."""
    table = run.scores(["row_id", "seed", "cluster", "label", "p_1"])
    if table is None:
        return None
    first = table["seed"].to_numpy() == run.splits[0]["seed"]
    ids, cluster, label, risk = (
        table[name].to_numpy()[first] for name in ("row_id", "cluster", "label", "p_1")
    )
    order = np.argsort(features.row_id)
    places = order[np.searchsorted(features.row_id, ids, sorter=order).clip(max=len(order) - 1)]
    if not np.array_equal(features.row_id[places], ids):
        return None
    ranges = read_ranges(entry.ranges) if entry.ranges else {}
    two = int(run.record.get("n_classes", 2)) == 2
    if two and len(risk) and 0 <= risk.min() <= risk.max() <= 1:
        risk = unweighted_risk(run, run.splits[0], risk)
    return UnseenRows(cluster, label, risk, variables(features, places, ranges), run.k, places)


def names(rows: UnseenRows) -> list[str]:
    """Return the subtypes' names."""
    return [f"subtype {j + 1}" for j in range(rows.k)]


def who_table(run: Run, rows: UnseenRows, entry: DataSet, *, hidden: bool) -> Table:
    """Return sizes and outcomes; small counts of restricted data are left out."""
    sizes: list[int | None] = [int((rows.cluster == j).sum()) for j in range(rows.k)]
    events: list[int | None] = [
        int(((rows.cluster == j) & (rows.label == 1)).sum()) for j in range(rows.k)
    ]
    if hidden:
        sizes = withheld_parts(sizes)
        pairs = zip(events, sizes, strict=True)
        events = withheld_parts([withheld(e or 0, n) if n else None for e, n in pairs])
    outcome = entry.positive or "of class 2"
    body = []
    for name, size, event, risk in zip(names(rows), sizes, events, rows.medians, strict=True):
        body.append(
            text_row(
                name,
                "fewer than 10, withheld" if size is None else f"{size:,}",
                "withheld" if event is None else f"{event:,}",
                f"{100 * event / size:.1f} %" if size and event is not None else "",
                _percent(risk),
            )
        )
    return Table(
        id=f"{page_id(run)}_who",
        title="Who they are",
        note="Test rows of the first split: the run has not learned from them.",
        head=("subtype", "rows", outcome, f"{outcome}, share", "median predicted risk"),
        rows=body,
    )


def _percent(risk: float | None) -> str:
    """Return a risk in per cent; no risk is written as certain."""
    if risk is None:
        return ""
    return (
        "> 99.9 %" if risk > CERTAIN else "< 0.1 %" if risk < 1 - CERTAIN else f"{100 * risk:.1f} %"
    )


def medians_table(run: Run, rows: UnseenRows, ordered: Sequence[Variable]) -> Table:
    """Return the medians of every variable, in the order given."""
    body = []
    for variable in ordered:
        everyone = np.ones(len(rows.cluster), dtype=bool)
        values = [variable.middle(everyone)]
        values += [variable.middle(rows.cluster == j) for j in range(rows.k)]
        body.append(
            text_row(
                variable.name,
                variable.unit,
                *(_value(value, share=variable.yes_or_no) for value in values),
            )
        )
    return Table(
        id=f"{page_id(run)}_medians",
        title="Median values",
        note="Of measured values; a share in % where a variable is yes or no. Empty: fewer than "
        "10 measured values. Those that differ most stand first.",
        head=("variable", "unit", "all", *names(rows)),
        rows=body,
        mixed=True,
    )


def _value(value: float, *, share: bool) -> str:
    if share:
        return "" if np.isnan(value) else f"{value:.1f}"
    return "" if np.isnan(value) else f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def factors_table(run: Run, rows: UnseenRows) -> Table:
    """Return what the predicted risk follows inside each subtype."""
    columns = []
    for j in range(rows.k):
        own = rows.cluster == j
        follows = [(v.follows(rows.risk, own), v.name) for v in rows.found]
        strong = sorted((pair for pair in follows if pair[0] == pair[0]), key=lambda p: -abs(p[0]))
        columns.append([f"{name} ({r:+.2f})" for r, name in strong[:_FACTORS]])
    body = [
        [Cell(str(place + 1)), *(Cell(c[place] if place < len(c) else "") for c in columns)]
        for place in range(_FACTORS)
    ]
    return Table(
        id=f"{page_id(run)}_factors",
        title="What the predicted risk follows inside each subtype",
        note="Rank correlation of a variable with the risk that the run predicts: + the risk rises "
        "with it. A correlation, not a cause.",
        head=("", *names(rows)),
        rows=body,
    )
