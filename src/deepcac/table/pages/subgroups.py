"""How well a model does in subgroups of patients, and how far it differs between them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from deepcac.errors import DataError
from deepcac.pages.sections import Block, Section
from deepcac.pages.tables import Table
from deepcac.pages.wording import p_beside
from deepcac.scoring.resampled_scores import AUROC, RATIO, SLOPE
from deepcac.scoring.small_cells import OfSome, Text, join_texts
from deepcac.scoring.statistics import holm
from deepcac.table.answer import with_interval
from deepcac.table.columns.cells import as_texts, plain
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.pages.score_tables import (
    BENEFIT,
    CHANGE,
    Place,
    place_rows,
    score_places,
)
from deepcac.table.pages.score_tables import MEASURES as WRITTEN
from deepcac.table.predictions import Predictions
from deepcac.table.reading.column_parts import column_parts
from deepcac.types import Array, Flags

APART = " (never both outcomes in one test part)"
MEASURES = (AUROC, RATIO, SLOPE, BENEFIT)
_MOST_LEVELS, _BANDS, _MOST_GROUPS = 8, 4, 50


class Gap(NamedTuple):
    """A difference with its 95 % interval; of O/E it is a ratio. `p` is adjusted by Holm 1979."""

    value: float
    low: float
    high: float
    p: float


def subgroup_section(
    table: LabelledTable, judged: Predictions, columns: Sequence[str], threshold: float
) -> list[Block]:
    """Return the section on subgroups; none where no columns make any.

    Patients are drawn again with all their predictions; the models stay as they are.

    Parameters
    ----------
    table : LabelledTable
        Whose rows are judged.
    judged : Predictions
        Of the model that is scored, first, and of one with clusters, if there is one.
    columns : sequence of str
    threshold : float
        Risk from which a patient is treated.
    """
    if not columns:
        return []
    shown, few = subgroups(table, judged, columns, threshold)
    treated = f"net true positives per 1,000, treating from {100 * threshold:.3g} % on"
    names = {AUROC: "AUROC", CHANGE: CHANGE, RATIO: "O/E", SLOPE: "slope", BENEFIT: treated}
    if len(judged.risk) == 1:
        del names[CHANGE]
    every = {
        f"{column} {name}": place for column, of in shown.items() for name, place in of.items()
    }
    blocks: list[Block] = []
    if every:
        head = ("subgroup", "rows", "events", *names.values())
        rows = place_rows(every, names)
        blocks.append(Table.of_texts("subgroups", "Subgroups", head, rows, kept=(head[0], head[3])))
    gaps = subgroup_gaps(shown)
    if gaps:
        blocks += [_GAP_NOTE.format(n=len(MEASURES) * len(gaps)), _gap_table(gaps, names)]
    if few:
        text = (
            "Fewer than ten events, or than ten patients known to be without one: {}. They are not "
            "shown."
        )
        blocks.append(Text(text, join_texts(", ", few)))
    return [Section("subgroups", "Subgroups", blocks)]


_GAP_NOTE = (
    "Differences from the largest subgroup of a column (of O/E the ratio), with 95 % intervals "
    "from drawing patients again. The p values are adjusted by Holm over all {n} differences; the "
    "intervals are not. A larger share of events by itself moves the net benefit. An undecided "
    "difference is no proof that a model is fair."
)


def subgroups(
    table: LabelledTable, judged: Predictions, columns: Sequence[str], threshold: float
) -> tuple[dict[str, dict[str, Place]], list[str]]:
    """Return the subgroups with enough events, by column and level; and the names of the others."""
    shown, few = {}, []
    for column in columns:
        shown[column], rare = score_places(judged, levels_of(table, column), threshold)
        for name, n, enough in rare:
            named = OfSome(name, n, instead="(a level of few rows)")
            few.append(Text("{} {}{}", column, named, APART * enough))
    return shown, list(dict.fromkeys(few))


def subgroup_gaps(shown: Mapping[str, Mapping[str, Place]]) -> dict[str, dict[str, Gap]]:
    """Return each subgroup minus the largest one of its column, by `MEASURES`.

    All p values are one family.
    """
    pairs, gaps = [], []
    for column, levels in shown.items():
        largest = max(levels, key=lambda name: levels[name].predictions.rows, default="")
        for name, place in levels.items():
            if name != largest:
                pairs.append(f"{column} {name} – {largest}")
                drawn = place.drawn, levels[largest].drawn
                gaps += [_gap(measure, *(side[measure] for side in drawn)) for measure in MEASURES]
    adjusted = iter(
        gap._replace(p=float(p)) for gap, p in zip(gaps, holm([gap.p for gap in gaps]), strict=True)
    )
    return {pair: {name: next(adjusted) for name in MEASURES} for pair in pairs}


def _gap(measure: str, ours: Array, theirs: Array) -> Gap:
    """Return the difference of a measure, with the normal interval of its bootstrap."""
    if measure == RATIO:
        ours, theirs = (np.log(np.maximum(side, 1e-9)) for side in (ours, theirs))
    drawn = ours - theirs
    if np.isnan(drawn[1:]).all():
        return Gap(*[np.nan] * 4)
    value, error = float(drawn[0]), float(np.nanstd(drawn[1:], ddof=1))
    half = float(norm.ppf(0.975)) * error
    p = float(2 * norm.sf(abs(value) / error)) if error > 0 else 1.0
    ends = np.array([value, value - half, value + half])
    value, low, high = (np.exp(ends) if measure == RATIO else ends).tolist()
    return Gap(value, low, high, p)


def _gap_table(gaps: Mapping[str, Mapping[str, Gap]], names: Mapping[str, str]) -> Table:
    rows = []
    for pair, measures in gaps.items():
        cells = []
        for name, gap in measures.items():
            difference = with_interval(gap, WRITTEN[name].digits, sign=name != RATIO)
            defined = not np.isnan(gap.value)
            cells.append(f"{difference}, p {p_beside(gap.p)}" if defined else "not defined")
        rows.append((pair, *cells))
    ratio = {**names, RATIO: "O/E, a ratio"}
    head = ("subgroup, minus the largest", *(ratio[name] for name in MEASURES))
    return Table.of_texts("subgroup-differences", "Differences between subgroups", head, rows)


def check_columns(table: LabelledTable, columns: Sequence[str]) -> None:
    """Raise `DataError` if subgroups cannot be made of these columns."""
    for column in columns:
        if column == table.label:
            raise DataError(f"--by {column}: is the outcome; name a column that is known before")
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


def _texts(table: LabelledTable, column: str) -> npt.NDArray[np.object_]:
    cells = as_texts(plain(table.rows[column])).to_pylist()
    return np.array(["missing" if cell in (None, "nan") else cell for cell in cells], dtype=object)


def levels_of(table: LabelledTable, column: str) -> Iterator[tuple[str, Flags]]:
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
