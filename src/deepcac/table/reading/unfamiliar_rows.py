"""Whether the rows of a new table are like those that a model was fitted on."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.stats import binom

from deepcac.errors import DataError
from deepcac.preprocess import TableScaler
from deepcac.scoring.column_quantiles import QUARTILES, TENTHS, safe_quantiles
from deepcac.scoring.small_cells import FEW, Count, Text
from deepcac.table.columns.cells import plain
from deepcac.table.reading.odd_numbers import codes_among, codes_beyond, plainly
from deepcac.table.reading.table_encoder import (
    ABSENT,
    MOST_VALUES,
    NUMBER,
    OTHER,
    EncodedColumn,
    TableEncoder,
    level_texts,
)
from deepcac.types import Array, Flags

FAR = 8.0  # standard deviations from the training mean, beyond which a number is out of range
MOST, SOME = 0.5, 0.05  # of the rows of a column, beyond the share in fit: refused, told
CHANCE = 0.001  # of so many strange rows, were they like those of fit
_UNSEEN = "unseen levels"
_RARE = "rare or unseen levels"
_MOVED = 0.3  # beyond the usual share above nine tenths of the rows of fit, from which it is told
_FACTOR, _SPREAD_OUT = 1.5, 0.7  # between two units; share of rows beyond both ends
_FEWEST_TO_NARROW = 40
_FEWEST_TO_COUNT = 4  # rows from which it is counted how many are beyond
_OTHER_UNIT = 5.0  # times as far as the outer tenths, or the middle
_NO_VALUE = "no value"
_OTHER_VALUES = "values that none has in fit"
_MOST_OTHER, _FEWEST_OF_VALUES = 0.25, 10
_MOST_NAMED = 10  # levels
_REPEATED = "ids that stand in an earlier row"  # one is worth telling


@dataclass
class Places:
    """Where the numbers of a column stand among the quantiles of another."""

    quantiles: tuple[float, ...]  # at `column_quantiles.TENTHS` or `QUARTILES`
    below: int = 0  # numbers below the first of them
    above: int = 0  # numbers above the last
    between: int = 0  # numbers between the quartiles
    total: int = 0
    middle: float = np.nan  # of the first ones

    def add(self, values: Array) -> None:
        """Count numbers (n,), none of them NaN."""
        low, first, _, third, high = self._marks
        self.below += int((values < low - 0.005 * abs(low)).sum())  # they are rounded
        self.above += int((values > high + 0.005 * abs(high)).sum())
        self.between += int(((values >= first) & (values <= third)).sum())
        self.total += len(values)
        if np.isnan(self.middle) and len(values):
            self.middle = float(np.median(values))

    @property
    def _marks(self) -> tuple[float, ...]:
        """The lowest, the three quartiles and the highest of the quantiles."""
        middle = len(self.quantiles) // 2
        return self.quantiles[0], *self.quantiles[middle - 1 : middle + 2], self.quantiles[-1]

    @property
    def half(self) -> float:
        """The middle of the others."""
        return self._marks[2]

    @property
    def tenths(self) -> tuple[float, float]:
        """About the outer tenths of the others."""
        low, high = self.quantiles[0], self.quantiles[-1]
        if len(self.quantiles) == len(TENTHS):
            return low, high
        return low - (high - low) / 2, high + (high - low) / 2

    def moved(self, where: str = "in fit") -> tuple[float, str]:
        """Return by how much more numbers are beyond than usual, and what is said of it."""
        n, (low, first, half, third, high) = self.total, self._marks
        if 0 < n < _FEWEST_TO_COUNT and self._of_another_unit():
            return 0.0, (
                f"the values are about {self.middle:.4g}, {where} about {half:g} (another unit?)"
            )
        tail = (TENTHS if len(self.quantiles) == len(TENTHS) else QUARTILES)[0]
        once, twice = f"as {100 * tail:.0f} % {where}", f"as {200 * tail:.0f} % {where}"
        ways = (
            (self.above, tail, f"above {high:g}, {once}"),
            (self.below, tail, f"below {low:g}, {once}"),
            (self.below + self.above, 2 * tail, f"below {low:g} or above {high:g}, {twice}"),
        )
        for count, usual, text in ways:
            beyond = count / max(n, 1) - usual
            if beyond > _MOVED and binom.sf(count - 1, n, usual) < CHANCE:
                return min(beyond, beyond if self._rescaled() else MOST), (
                    f"{100 * count / n:.0f} % of the values are {text} (middle "
                    f"{self.middle:.4g}, {where} {half:g}; another unit?)"
                )
        if first < half < third and self.between == n >= _FEWEST_TO_NARROW:
            return 0.0, (
                f"all values are from {first:g} to {third:g}, as half of those {where} (another "
                "unit?)"
            )
        return 0.0, ""

    def _of_another_unit(self) -> bool:
        """Return whether the middle is far from the others, of numbers that are never negative."""
        low, high = self.tenths
        beyond = self.middle < low / _OTHER_UNIT or self.middle > high * _OTHER_UNIT
        return self.quantiles[0] >= 0 and high > 0 and beyond

    def _rescaled(self) -> bool:
        """Return whether the middle is so far off that patients differ less than units do."""
        half, spread = self.half, self.quantiles[-1] - self.quantiles[0]
        if self.quantiles[0] >= 0 and min(self.middle, half) > 0:
            return max(self.middle, half) / min(self.middle, half) >= _FACTOR
        outside = self.below + self.above > _SPREAD_OUT * self.total
        return outside or abs(self.middle - half) > spread


def outcome_moved(what: str, values: Array, others: Array, where: str) -> list[str]:
    """Return a warning if most times or label numbers lie beyond the others; refuse another unit.

    Follow-up differs from place to place, but hardly by a factor of five.
    """
    places = Places(safe_quantiles(others))
    places.add(values)
    beyond, text = places.moved(where)
    small, large = sorted((places.middle, places.half))
    if beyond > MOST and 0 < _OTHER_UNIT * small <= large:
        raise DataError(f"{what}: {text}; use one unit")
    return [f"{what}: {text}"] * bool(text and beyond > MOST)


def with_quantiles(encoder: TableEncoder, X: Array) -> TableEncoder:
    """Return an encoder with quantiles of each number, of features (n, d) that are in memory.

    Those of a small table are in no model, as they would tell of its patients.
    """
    columns = []
    for column in encoder.columns:
        if column.kind == NUMBER and not (column.quantiles or column.values):
            seen = X[:, encoder.places[column.name]]
            seen = seen[~np.isnan(seen)]
            if len(np.unique(seen)) > MOST_VALUES:
                column = replace(column, quantiles=safe_quantiles(seen))
        columns.append(column)
    return replace(encoder, columns=tuple(columns))


@dataclass
class Unfamiliar:
    """Counts, column by column, of what a model has not seen, or not so often."""

    encoder: TableEncoder
    far: Array  # (2, d) Lowest and highest value of each feature that is in range
    # (column, what is strange) to its share in the rows of `fit`; 0 where it is not here
    usual: dict[tuple[str, str], float]
    rows: int = 0
    # (column, what is strange) to the number of such rows
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    ids: set[Any] = field(default_factory=set)  # all that were seen
    # Column of numbers to where they stand among those of fit
    places: "dict[str, Places]" = field(default_factory=dict)
    # Column to the rows of each level that was not learnt
    levels: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    # (column, number) to its rows, of numbers that may stand for no value: far from most of fit, or
    # none of its few values
    codes: Counter[tuple[str, float]] = field(default_factory=Counter)

    @classmethod
    def of(cls, encoder: TableEncoder, scaler: TableScaler | None) -> "Unfamiliar":
        """Return empty counts; without the scaler of the rows of fit only levels are known."""
        names = encoder.names
        far = np.tile([[-np.inf], [np.inf]], (1, len(names)))
        if scaler is None:
            return cls(encoder, far, {(name, _NO_VALUE): 1.0 for name in names})
        mean, spread = np.zeros((2, len(scaler.kept_)))
        mean[scaler.kept_], spread[scaler.kept_] = scaler.mean_, scaler.scale_
        measured = np.flatnonzero(scaler.kept_[: len(names)])
        far[:, measured] = mean[measured] + FAR * np.array([[-1.0], [1.0]]) * spread[measured]
        empty = zip(scaler.flagged_, mean[len(names) :], strict=True)
        usual = {(names[j], _NO_VALUE): share for j, share in empty}
        for column in encoder.used:
            for level, what in ((OTHER, _RARE), (ABSENT, _NO_VALUE)):
                if level in column.levels:
                    usual[column.name, what] = mean[encoder.places[f"{column.name}={level}"]]
        return cls(encoder, far, usual)

    def add(self, X: Array, rows: pa.Table) -> None:
        """Count rows, and the features (n, d) that were made of them."""
        self.rows += len(X)
        places = self.encoder.places
        for column in self.encoder.used:
            if column.kind == NUMBER:
                place = places[column.name]
                values, (low, high) = X[:, place], self.far[:, place]
                self._count(column.name, _NO_VALUE, np.isnan(values))
                self._count(column.name, "out of range", (values < low) | (values > high))
                self._count_places(column, values)
            else:
                self._count_levels(column, level_texts(plain(rows[column.name]), column))

    def _count_levels(self, column: EncodedColumn, values: npt.NDArray[np.object_]) -> None:
        """Count rows of a category without a value, and those with a level that is not learnt.

        A text that is none of the levels may be one of the rare ones of fit, whose names no model
        has.
        """
        blank = values == ABSENT
        unlearnt = ~blank & ~np.isin(values, column.levels)
        self._count(column.name, _NO_VALUE, blank)
        if OTHER in column.levels:
            self._count(column.name, _RARE, unlearnt | (values == OTHER))
        elif unlearnt.any():
            self._count(column.name, _UNSEEN, unlearnt)
            self.levels[column.name].update(values[unlearnt].tolist())

    def _count_places(self, column: EncodedColumn, values: Array) -> None:
        """Count where numbers stand among the quantiles, or values, of fit."""
        seen = values[~np.isnan(values)]
        if column.values:
            self.counts[column.name, _OTHER_VALUES] += int((~np.isin(seen, column.values)).sum())
            codes = codes_among(seen, column.values)
        elif column.quantiles:
            places = self.places.setdefault(column.name, Places(column.quantiles))
            places.add(seen)
            codes = codes_beyond(seen, *places.tenths)
        else:
            codes = []
        for code in codes:
            self.codes[column.name, code] += int((seen == code).sum())

    def add_ids(self, name: str, ids: list[Any]) -> None:
        """Count ids that stand already."""
        before = len(self.ids)
        self.ids.update(ids)
        self.counts[name, _REPEATED] += before + len(ids) - len(self.ids)

    def tell(self, *, accept: bool | None = None) -> list[str]:
        """Return what a user should know of the columns, a line each.

        Without `accept` most rows of a column that are unlike those of `fit` are a `DataError`; it
        is None where nobody can ask to go on.
        """
        remarks, refused = [], []
        for (name, what), count in self.counts.items():
            usual = self.usual.get((name, what), 0.0)
            beyond = count / max(self.rows, 1) - usual
            if not count or binom.sf(count - 1, self.rows, usual) > CHANCE:
                continue
            in_fit = f" ({100 * usual:.0f} % in fit)" if usual else ""
            text: str = Text("column {!r}: {} in {}{}", name, what, self._shown(count), in_fit)
            # Of a handful of patients one empty cell is most rows, and no sign of another coding.
            fewest = {_OTHER_VALUES: _FEWEST_OF_VALUES, _NO_VALUE: FEW}
            few = self.rows < fewest.get(what, 0)
            if beyond > (_MOST_OTHER if what == _OTHER_VALUES else MOST) and not few:
                refused.append(text)
            unlearnt = self._unlearnt(name, what, count, named=accept is not None)
            if unlearnt or what == _REPEATED or beyond > SOME:
                remarks.append(unlearnt or text)
        strange = {name for name, _ in self.counts if f"column {name!r}: out of" in str(refused)}
        for name, places in self.places.items():
            beyond, text = places.moved()
            if text and name not in strange:
                remarks.append(f"column {name!r}: {text}")
                refused += remarks[-1:] * (beyond > MOST)
        remarks += [
            Text(
                "column {!r}: {} occurs in {} rows, {} of fit; if it means no value, list it under "
                "missingValues in the description of this table",
                *(name, plainly(code), Count(count)),
                "far from most" if name in self.places else "and in none",
            )
            for (name, code), count in self.codes.items()
            if count > 1 or name not in self.places
        ]
        way = "leave the columns out in the description"
        if accept is not None:
            way = "--accept-unseen (in Python: accept_unseen=True)"
        if refused and not accept:
            raise DataError(
                f"{'; '.join(refused)}: these rows are unlike those of fit; use its coding, units "
                f"and ids, or {way}"
            )
        return remarks

    def _unlearnt(self, name: str, what: str, count: int, *, named: bool) -> str:
        """Describe which levels, or blanks, of a category were not learnt, and what they count as.

        Levels of few rows are counted unless they are to be `named`.
        """
        with_levels = {column.name: column for column in self.encoder.used if column.levels}
        column = with_levels.get(name)
        if column is None:
            return ""
        if what == _NO_VALUE and ABSENT not in column.levels:
            return Text(
                "column {!r} is empty in {} rows, and was in none when the model was fitted; such "
                "a cell counts as {}",
                *(name, Count(count), _instead(column)),
            )
        if what != _UNSEEN:
            return ""
        levels = self.levels[name]
        shown = sorted(map(repr, levels))[:_MOST_NAMED]
        if not named:
            common = sorted(level for level, n in levels.items() if n >= FEW)
            rare = len(levels) - len(common)
            shown = [*common[:_MOST_NAMED], *[f"{rare} rare level{'s' * (rare > 1)}"] * bool(rare)]
        return Text(
            "column {!r}: not seen when the model was fitted: {} ({} rows); such a cell counts "
            "as {}",
            *(name, ", ".join(shown), Count(count), _instead(column)),
        )

    def _shown(self, count: int) -> str:
        if self.rows >= FEW:
            return Text("{} of {} rows", Count(count), Count(self.rows))
        return "all rows" if count == self.rows else "some of its few rows"

    def _count(self, name: str, what: str, strange: Flags) -> None:
        self.counts[name, what] += int(strange.sum())


def _instead(column: EncodedColumn) -> str:
    """Return what a category's levels that were not learnt count as."""
    if OTHER in column.levels:
        return "a rare level"
    return "missing" if len(column.levels) == 2 else f"none of {', '.join(column.levels)}"
