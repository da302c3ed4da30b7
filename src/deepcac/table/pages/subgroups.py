"""How well models do in subgroups of patients: sex, bands of age."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.metrics import roc_auc_score

from deepcac.errors import DataError
from deepcac.scoring.net_benefit import net_benefit_gain
from deepcac.scoring.resampled_scores import (
    RATIO,
    SLOPE,
    Estimate,
    Patients,
    patient_draws,
    score_intervals,
)
from deepcac.scoring.small_cells import FEW
from deepcac.scoring.statistics import corrected_t_test
from deepcac.table.columns.cells import plain
from deepcac.table.held_out_risks import HeldOut
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.reading.column_parts import column_parts

FEWEST_EVENTS = 10  # events and non-events of a subgroup that is shown
APART = " (never both outcomes in one test part)"
WITHOUT, ADDED = " of the model without clusters", " that clusters add"
_MOST_LEVELS, _BANDS, _MOST_GROUPS = 8, 4, 50


class Subgroup(NamedTuple):
    """One subgroup, with the best model and the same with clusters.

    Attributes
    ----------
    column, name : str
    rows, events : int
        Different rows of the table that were tested.
    auroc, low, high : float
        Of the model without clusters: mean over resamples, 95 % interval.
    change, change_low, change_high : float
        AUROC with clusters minus without.
    ratio, slope : Estimate
        Calibration of the model without clusters, over all resamples.
    benefit : (float, float, float)
        Net true positives in 1,000 patients that clusters add at the threshold, with interval.
    """

    column: str
    name: str
    rows: int
    events: int
    auroc: float
    low: float
    high: float
    change: float
    change_low: float
    change_high: float
    ratio: Estimate
    slope: Estimate
    benefit: tuple[float, float, float]


def subgroups(
    table: LabelledTable,
    held_out: HeldOut,
    columns: Sequence[str],
    models: tuple[str, str],
    threshold: float,
) -> tuple[list[Subgroup], list[str]]:
    """Score two models in the subgroups that columns make.

    Parameters
    ----------
    columns : sequence of str
        Of the table. One of numbers with more than eight values is cut at its quartiles.
    models : (str, str)
        Contenders: without clusters, with them.
    threshold : float
        Risk from which a patient is treated.

    Returns
    -------
    list of Subgroup, list of str
        Those with ten events or more and both outcomes in a test part, and the names of the others.
    """
    at = np.searchsorted(table.features.row_id, held_out.row)
    y = table.features.label
    shown, few = [], []
    for column in columns:
        for name, inside in levels_of(table, column):
            counts = np.bincount(y[np.unique(at[inside[at]])], minlength=2)
            enough = bool(counts.min() >= FEWEST_EVENTS)
            scores = _scored(held_out, inside[at], models, threshold) if enough else None
            if scores is None:
                shown_as = name if inside.sum() >= FEW else "(a level of few rows)"
                few.append(f"{column} {shown_as}{APART * enough}")
                continue
            shown.append(Subgroup(column, name, int(counts.sum()), int(counts[1]), *scores))
    return shown, list(dict.fromkeys(few))


def net_true_positives(threshold: float, whose: str) -> str:
    """Return the head of a column of net benefits; `whose` is `WITHOUT`, `ADDED` or empty."""
    return f"net true positives per 1,000{whose}, treating from {100 * threshold:.3g} % on"


def check_columns(table: LabelledTable, columns: Sequence[str]) -> None:
    """Raise `DataError` if subgroups cannot be made of these columns."""
    for column in columns:
        if column not in table.rows.column_names:
            listed = ", ".join(table.rows.column_names[:20])
            quoted = [name for name in table.rows.column_names if "," in name and column in name]
            way = "; a name with a comma stands in quotation marks, such as "
            way += f"""--by '"{quoted[0]}"'""" if quoted else ""
            raise DataError(
                f"--by {column}: there is no such column; known: {listed}{way if quoted else ''}"
            )
        levels = len({*_texts(table, column)})
        if column not in table.encoder.names and levels > _MOST_GROUPS:
            raise DataError(f"--by {column}: has {levels:,} values; name a column of fewer groups")
    if columns and table.features.n_classes != 2:
        raise DataError(
            "--by needs an outcome of two classes; join classes in the table, or divide a "
            "number in the description"
        )


def _texts(table: LabelledTable, column: str) -> npt.NDArray[np.object_]:
    cells = plain(table.rows[column]).to_pylist()
    texts = ["missing" if cell is None or cell != cell else _text(cell) for cell in cells]
    return np.array(texts, dtype=object)


def _text(cell: Any) -> str:
    """Return a cell as text; a whole number without a decimal point."""
    return f"{cell:.0f}" if isinstance(cell, float) and cell.is_integer() else str(cell)


def levels_of(table: LabelledTable, column: str) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    """Yield each level of a column, and which rows of the table have it."""
    texts = _texts(table, column)
    places = table.encoder.places
    if column not in places or len(set(texts)) <= _MOST_LEVELS:
        for text in sorted(set(texts)):
            yield text, texts == text
        return
    # The cuts of `profile`: by others, two pages would tell who stands at a cut.
    used = next(entry for entry in table.encoder.used if entry.name == column)
    parts = column_parts(used, table.features.X, places, _BANDS)
    for j, name in enumerate(parts.names):
        yield name, parts.number == j


def _scored(
    held_out: HeldOut,
    inside: npt.NDArray[np.bool_],
    models: tuple[str, str],
    threshold: float,
) -> tuple[Any, ...] | None:
    """Return the scores of a subgroup, in the order of `Subgroup`; None if no test part has any."""
    y, plain, clustered = held_out.y[inside], *(held_out.risk[name][inside] for name in models)
    resample = held_out.resample[inside]
    pairs = [
        (roc_auc_score(y[rows], plain[rows]), roc_auc_score(y[rows], clustered[rows]))
        for rows in (resample == j for j in np.unique(resample))
        if 0 < y[rows].sum() < rows.sum()
    ]
    if not pairs:
        return None
    without, with_ = np.array(pairs).T
    sizes = {"n_train": 3.0, "n_test": 1.0}  # 75 % and 25 % of the rows
    score, change = (corrected_t_test(values, **sizes) for values in (without, with_ - without))
    patient = held_out.patient[inside]
    fit = score_intervals(Patients(y, plain), patient_draws(patient))
    gain = net_benefit_gain(y, clustered, plain, np.array([threshold]), patient)
    benefit = tuple(1000 * float(value) for value in gain[:, 0])
    return (
        *(score.mean, score.low, score.high),
        *(change.mean, change.low, change.high),
        *(fit[RATIO], fit[SLOPE], benefit),
    )
