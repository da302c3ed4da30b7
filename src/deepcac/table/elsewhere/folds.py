"""Test patients of one place, and training patients of all others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice, permutations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from sklearn.model_selection import train_test_split

from deepcac.errors import ConfigError, DataError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.files.output_files import StrPath
from deepcac.judging.draws import SHARE, units
from deepcac.judging.resamples import Resample, at_most, prepared
from deepcac.scoring.censored import FollowUp, joined
from deepcac.scoring.column_quantiles import safe_quantiles
from deepcac.scoring.small_cells import FEW, Count, Text
from deepcac.table.columns.cells import plain, refuse_missing, row_names, same_names
from deepcac.table.inference.labelled_table import FEWEST_OF_A_CLASS, LabelledTable
from deepcac.table.reading.outcomes import alike_spellings
from deepcac.table.reading.table_encoder import (
    CATEGORY,
    MOST_VALUES,
    feature_names,
)
from deepcac.table.reading.unfamiliar_rows import MOST, Places, outcome_moved
from deepcac.table.second_table import FEWEST_TO_TEST, TableReader, refuse_same_rows
from deepcac.types import Ids

MOST_SITES = 30  # the largest are tested; the others are used for training only
_REFUSED = 0.8  # of the rows of a site, beyond the usual share, that have a number of another size
_FEWEST_DRAWN = 4  # patients (or rows) of a stratum, for training and tuning


@dataclass(frozen=True)
class Fold:
    """One place that is left out.

    Attributes
    ----------
    name : str
    features : FeatureMatrix
        Of all places.
    fit, test : ndarray of int
        Positions of the training rows, and of the test rows.
    unit : ndarray of shape (n,) or None
        The patient of each row.
    follow : FollowUp or None
        Of all rows, if the label is an event up to a horizon.
    places : tuple of (str, ndarray of int)
        Name of each test place, and positions of its rows in `test`.
    """

    name: str
    features: FeatureMatrix
    fit: npt.NDArray[np.intp]
    test: npt.NDArray[np.intp]
    unit: npt.NDArray[Any] | None = None
    follow: FollowUp | None = None
    places: tuple[tuple[str, npt.NDArray[np.intp]], ...] = ()

    @property
    def learnable(self) -> bool:
        """Whether the training rows suffice: eight of every class, four patients with each."""
        label = self.features.label[self.fit]
        if np.bincount(label, minlength=self.features.n_classes).min() < FEWEST_OF_A_CLASS:
            return False
        drawn, _ = units(label, None if self.unit is None else self.unit[self.fit])
        return int(np.unique(drawn, return_counts=True)[1].min()) >= _FEWEST_DRAWN

    def sample(self, seed: int, most: int) -> Resample:
        """Return three quarters of the training rows (at most `most`), a quarter to tune, the test.

        The draw is stratified, and rows of one patient stay together.
        """
        label = self.features.label
        drawn, place = units(label[self.fit], None if self.unit is None else self.unit[self.fit])
        _, tuned = train_test_split(
            np.arange(len(drawn)), test_size=SHARE, random_state=seed, stratify=drawn
        )
        held = np.isin(np.arange(len(drawn)), tuned)[place]
        train = at_most(most, self.fit[~held], label, seed)
        parts = (train, self.fit[held], self.test)
        return prepared(self.features, parts, seed, self.unit, self.follow)


def left_out(
    name: str,
    features: FeatureMatrix,
    test: npt.NDArray[np.bool_],
    unit: Ids | None,
    follow: FollowUp | None = None,
) -> Fold:
    """Return a fold that tests on some rows and trains on rows of other patients."""
    excluded = test if unit is None else np.isin(unit, unit[test])
    fit, tested = np.flatnonzero(~excluded), np.flatnonzero(test)
    places = ((name, np.arange(len(tested))),)
    return Fold(name, features, fit, tested, unit, follow, places)


def external_rows(
    table: LabelledTable,
    paths: Sequence[StrPath],
    *,
    rows: int,
    seed: int,
) -> tuple[Fold, LabelledTable]:
    """Return the fold that trains on a first table and tests on further ones, and these as one.

    Their remarks are on columns, levels, ids and rows that differ from the first table, or that
    should. Columns have the use that they have in the first table; `rows`, `seed` and refusals
    are those of `TableReader.labelled`.
    """
    reader = TableReader.of_table(table)
    stems = [Path(path).stem for path in paths]
    names = [
        stem if stems.count(stem) == 1 else str(path)
        for stem, path in zip(stems, paths, strict=True)
    ]
    use = table.description.use.changed(site=None)
    others = [
        reader.labelled(path, use, rows=rows, seed=seed, name=name)
        for path, name in zip(paths, names, strict=True)
    ]
    for first, other in permutations(others, 2):
        refuse_same_rows(first, other)  # one place would count twice
    fold = _external_fold(table, others)
    if not fold.learnable:
        raise DataError(
            f"of {table.name} too few rows of a class are left for training without the patients "
            "of the other tables; name patients of another place"
        )
    remarks = [line for other in others for line in other.remarks]
    if dropped := len(table.features.label) - len(fold.fit):
        text = "{} rows of patients in both tables are not used for training."
        remarks.append(Text(text, Count(dropped).capitalize()))
    return fold, _test_rows(table, fold, others, remarks)


def _external_fold(table: LabelledTable, others: list[LabelledTable]) -> Fold:
    """Return the fold that trains on the first table and tests on each of the others."""
    tables, n = [table, *others], len(table.features.label)
    # A row without a label has a number, too.
    ends = np.cumsum([max(table.total, table.features.row_id.max()) for table in tables])
    ids = [table.features.row_id + first for table, first in zip(tables, [0, *ends], strict=False)]
    features = FeatureMatrix(
        np.concatenate(ids),
        np.concatenate([table.features.label for table in tables]),
        np.vstack([table.features.X for table in tables]),
        table.features.names,
    )
    unit = None
    if (patient := table.description.use.patient) is not None:
        cells = [same_names(plain(table.rows[patient])).to_pandas() for table in tables]
        unit = pd.factorize(pd.concat(cells))[0].astype(np.int64)
    follow = joined([table.follow for table in tables if table.follow is not None])
    test = np.arange(len(features.label)) >= n
    ends = np.cumsum([len(table.rows) for table in others])
    rows = np.split(np.arange(test.sum()), ends[:-1])
    places = tuple(zip([table.name for table in others], rows, strict=True))
    return replace(left_out(others[0].name, features, test, unit, follow), places=places)


def _test_rows(
    table: LabelledTable, fold: Fold, others: list[LabelledTable], remarks: list[str]
) -> LabelledTable:
    """Return the test rows, in the columns that all tables have."""
    features = fold.features
    return replace(
        table,
        name=", ".join(other.name for other in others),
        rows=_same_columns([other.rows for other in others]),
        features=FeatureMatrix(
            features.row_id[fold.test],
            features.label[fold.test],
            features.X[fold.test],
            features.names,
        ),
        group=None if fold.unit is None else fold.unit[fold.test],
        follow=None if fold.follow is None else fold.follow.take(fold.test),
        remarks=tuple(remarks),
    )


def _same_columns(tables: list[pa.Table]) -> pa.Table:
    """Return the rows of all tables in their common columns, as text where types differ.

    Columns that cannot become text (lists, records) are left out.
    """
    first, *rest = tables
    columns = {}
    for name in first.column_names:
        if all(name in other.column_names for other in rest):
            parts = [plain(rows[name]) for rows in tables]
            alike = len({part.type for part in parts}) == 1
            try:
                texts = [part if alike else part.cast(pa.string()) for part in parts]
            except pa.ArrowException:
                continue
            columns[name] = pa.chunked_array([chunk for part in texts for chunk in part.chunks])
    return pa.table(columns)


def site_folds(table: LabelledTable) -> tuple[list[Fold], list[str]]:
    """Return a fold for each site that can be tested, and remarks on all sites.

    It is a `DataError` if a row has no site, if there is one site only, if none can be tested, or
    if a number has another unit at a site.
    """
    column = table.description.use.site
    if column is None:
        raise ConfigError(
            "no column names the site; give it by --site, or as the site of the description"
        )
    site, names = _sites(table, column)
    y, n_classes = table.features.label, table.features.n_classes
    counts = np.zeros((len(names), n_classes), dtype=np.int64)
    labelled = np.ones(len(y), np.bool_) if table.follow is None else table.follow.outcome_known
    np.add.at(counts, (site[labelled], y[labelled]), 1)
    enough = np.flatnonzero(counts.min(axis=1) >= FEWEST_TO_TEST).tolist()
    if not enough:
        raise DataError(
            f"column {column!r}: none of {len(names):,} sites has {FEWEST_TO_TEST} rows of every "
            "class; name another column, or join small sites"
        )
    largest_first = sorted(enough, key=lambda s: -counts[s].sum())
    candidates = (
        (s, left_out(names[s], table.features, site == s, table.group, table.follow))
        for s in largest_first
    )
    by_site = dict(islice(((s, fold) for s, fold in candidates if fold.learnable), MOST_SITES))
    if not by_site:
        raise DataError(
            f"column {column!r}: without the patients of a site too few rows of a class are left "
            "for training; name another column, or join sites"
        )
    folds = list(by_site.values())
    moved = _shift_warnings(table, folds)
    return folds, moved + _training_only_sites(names, counts, list(by_site)) + _shared(folds, table)


def _shift_warnings(table: LabelledTable, folds: list[Fold]) -> list[str]:
    """Return warnings on features whose distribution at a site is shifted; raise if most is.

    A number that does not vary at a site is a property of the site.
    """
    names, X, lines = table.features.names, table.features.X, []
    for place, name in enumerate(names):
        for fold in folds:
            values, others = X[fold.test, place], X[fold.fit, place]
            values, others = values[~np.isnan(values)], others[~np.isnan(others)]
            if len(np.unique(others)) <= MOST_VALUES or len(np.unique(values)) <= MOST_VALUES:
                continue
            places = Places(safe_quantiles(others))
            places.add(values)
            beyond, text = places.moved("elsewhere")
            if beyond > _REFUSED:
                raise DataError(
                    f"column {name!r}, site {fold.name!r}: {text}; use one unit, or leave it out"
                )
            if beyond > MOST:
                lines.append(f"Warning: column {name!r}, site {fold.name!r}: {text}.")
    if table.follow is not None:
        time = table.follow.time
        for fold in folds:
            what = f"follow-up time, site {fold.name!r}"
            moved = outcome_moved(what, time[fold.test], time[fold.fit], "elsewhere")
            lines += [f"Warning: {line}." for line in moved]
    return lines + _other_levels(table, folds)


def _other_levels(table: LabelledTable, folds: list[Fold]) -> list[str]:
    """Return warnings on columns with levels that only one site has, in most of its rows."""
    lines, X = [], table.features.X
    at = table.encoder.places
    for column in (entry for entry in table.encoder.used if entry.kind == CATEGORY):
        places = [at[name] for name in feature_names(column)]
        for fold in folds if len(places) > 2 else ():
            here, there = X[fold.test][:, places], X[fold.fit][:, places]
            new = (there.sum(axis=0) == 0) & (here.sum(axis=0) >= FEW)
            share = float(here[:, new].sum()) / len(fold.test)
            if new.sum() > 1 and share > MOST:
                lines.append(
                    f"Warning: column {column.name!r}, site {fold.name!r}: {100 * share:.0f} % of "
                    "the rows have levels that no other site has; another coding?"
                )
    return lines


def _sites(table: LabelledTable, column: str) -> tuple[Ids, list[str]]:
    cells = row_names(table.rows[column], column, "a site")
    why = "no site; fill it in, or remove the row"
    refuse_missing(cells, column, why, table.features.row_id)
    values = np.asarray(cells.to_pandas().astype(str).to_numpy(), dtype=str)
    levels, site = np.unique(values, return_inverse=True)
    names: list[str] = levels.tolist()
    for alike in alike_spellings(names):
        raise DataError(
            f"column {column!r}: {', '.join(map(repr, alike))} would be different sites; "
            "spell them alike"
        )
    if len(names) < 2:
        raise DataError(
            f"column {column!r} holds {names[0]!r} in every row; two sites are needed: name "
            "another column, or a second table by --external"
        )
    return site.astype(np.int64), names


def _training_only_sites(names: list[str], counts: Ids, tested: list[int]) -> list[str]:
    """Return a remark on sites used for training only; small sites are counted, not named."""
    others = [s for s in range(len(names)) if s not in tested]
    named = [names[s] for s in others if counts[s].sum() >= FEW]
    if not others:
        return []
    listed = ", ".join(named[:10]) + (", …" if len(named) > 10 else "")
    small = len(others) - len(named)
    parts = [listed] * bool(named) + [f"{small} of fewer than {FEW} rows"] * bool(small)
    return [
        f"{len(others)} of {len(names)} sites are used for training only: "
        f"{'; '.join(parts)}. A site is tested if it has {FEWEST_TO_TEST} rows of every class and "
        f"{FEWEST_OF_A_CLASS} are left elsewhere; at most {MOST_SITES} sites are tested."
    ]


def _shared(folds: list[Fold], table: LabelledTable) -> list[str]:
    left = [len(table.features.label) - len(fold.fit) - len(fold.test) for fold in folds]
    if not any(left):
        return []
    n = max(left)
    size = f"fewer than {FEW}" if n < FEW else f"up to {n:,}"
    return [
        "Patients with rows in several sites: when one of the sites is tested, their rows in the "
        f"others are not used for training ({size} rows)."
    ]
