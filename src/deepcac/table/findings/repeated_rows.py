"""What the rows of a table are: visits of a patient, copies of other rows."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from deepcac.scoring.small_cells import Count, Text
from deepcac.table.columns.cell_texts import NAMES_A_PATIENT, NAMES_A_ROW
from deepcac.table.columns.description import KEEP, PATIENT
from deepcac.table.findings.examination import ExaminedTable, Finding
from deepcac.types import Array, Flags, Ids

_FEWEST_ROWS, _FEWEST_PATIENTS = 30, 10
_ALIKE = 0.98  # of the rows of a patient, in a column that does not change
_MOST_PER_PATIENT = 0.2  # of all rows: a more frequent value is a level
_FEWEST_VALUES = 8  # of a column that tells whether rows are of one patient
_COPIES, _COPIES_OF_LITTLE, _FEWEST_COPIES = 0.01, 0.1, 5  # least share, least number
_NEAR_COPIES = 0.05  # least share
_MANY_VALUES = 20
_MOST_COLUMNS = 300  # in which rows are looked for that differ in one only
_BY_CHANCE = 0.05  # of the copies, were columns independent


def find_patient(table: ExaminedTable) -> Iterator[Finding]:
    """Find the column of patients with several rows that has the name of one."""
    finding = _repeated_patients(table)
    if finding is not None and NAMES_A_PATIENT.fullmatch(finding.fields[0]):
        yield finding._replace(answers=(), certain=PATIENT)


def find_repeated_rows(table: ExaminedTable) -> Iterator[Finding]:
    """Find patients with several rows, and copies of rows.

    Such rows stand on both sides of every split. Copies are looked for among the features and the
    outcome; rows that are nearly alike only where no column names their patient.
    """
    patients = _repeated_patients(table)
    if patients is not None:
        yield patients
    if table.outcome is None:
        return
    text = copied_rows(table.X, table.outcome.codes, table.outcome.classes)
    if not text and patients is None and table.description.use.patient is None:
        text = nearly_copied(table.encoder.names, table.X, table.outcome.codes)
    if text:
        yield Finding(text, answers=(KEEP,))


def _repeated_patients(table: ExaminedTable) -> Finding | None:
    """Return the column whose values look like patients with several rows.

    It has the name of one, or in the rows of each of its values the outcome and another column of
    many values never change.
    """
    if table.description.use.patient is not None or table.patients is not None:
        return None
    n = len(table.number)
    names = {*table.predictors, *table.description.use.leave_out}
    every = {name: table.keys(name) for name in table.rows.column_names if name in names}
    keys = {name: key for name, key in every.items() if key is not None}
    ordered = sorted(keys, key=lambda name: NAMES_A_PATIENT.fullmatch(name) is None)
    for name in ordered:
        key = keys[name]
        counts = np.bincount(key[key >= 0])
        repeated = int(counts[counts > 1].sum())
        # One patient in both parts of a split is one too many; other columns need more of a sign.
        surely = NAMES_A_PATIENT.fullmatch(name) is not None
        fewest = 2 if surely else max(_FEWEST_ROWS, n / 10)
        if len(counts) < _FEWEST_PATIENTS or repeated < fewest:
            continue
        by_name = surely or NAMES_A_ROW.fullmatch(name) is not None
        if counts.max() > max(_MOST_PER_PATIENT * n, 2):
            continue
        if by_name or (
            table.codes is not None and _has_patient_values(name, keys, table.codes, counts)
        ):
            text = Text(
                "Column {!r}: {} values in {} rows. If they are patients, their rows stand on both "
                "sides of every split, and every score is too good.",
                *(name, Count(len(counts)), Count(n)),
            )
            return Finding(text, (name,), (PATIENT, KEEP))
    return None


def _has_patient_values(name: str, keys: Mapping[str, Ids], codes: Ids, counts: Ids) -> bool:
    """Return whether a column groups rows that share the label and another column."""
    values = keys[name]
    if len(counts) > len(values) / 1.5:
        return False
    # Rows that follow each other among those of one value.
    order = np.argsort(values, kind="stable")
    order = order[values[order] >= 0]
    after, before = order[1:], order[:-1]
    pairs = values[after] == values[before]
    after, before = after[pairs], before[pairs]
    if len(after) < _FEWEST_ROWS or not _surely_alike(codes, after, before):
        return False
    others = [key for other, key in keys.items() if other != name and key.max() >= _FEWEST_VALUES]
    # A column that says as much as this one is another name of it, and no sign.
    finer = (key for key in others if _surely_alike(key, after, before))
    return any(key.max() + 1 < len(counts) for key in finer)


def _surely_alike(key: Ids, after: Ids, before: Ids) -> bool:
    """Return whether paired rows agree in a column far more often than chance."""
    unequal = float(np.mean(key[after] != key[before]))
    chance = 1 - float(np.square(np.bincount(key[key >= 0]) / len(key)).sum())
    return unequal <= min(1 - _ALIKE, chance / 5)


def nearly_copied(names: Sequence[str], X: Array, codes: Ids) -> str:
    """Return a warning if many rows are equal to others in all features but one, and in label."""
    if X.shape[1] > _MOST_COLUMNS:
        return ""
    draw = np.random.default_rng(0)
    marks = np.empty(X.shape, dtype=np.uint64, order="F")
    distinct, alike = np.empty(X.shape[1], dtype=np.int64), np.empty(X.shape[1])
    for j, column in enumerate(X.T):
        _, number, counts = np.unique(column, return_inverse=True, return_counts=True)
        distinct[j], alike[j] = len(counts), np.square(counts / len(X)).sum()
        marks[:, j] = draw.integers(2**63, size=distinct[j], dtype=np.uint64)[number]
    rich = np.flatnonzero(distinct >= _MANY_VALUES)
    telling = np.flatnonzero(np.isfinite(X[:, rich]).sum(axis=1) >= 3)
    rows, best, other = marks[telling].sum(axis=1, dtype=np.uint64), np.empty((0, 2), np.int64), 0
    for j in rich.tolist() if len(telling) >= _FEWEST_ROWS else ():
        rest = rows - marks[telling, j]
        order = np.argsort(rest)
        pairs = np.flatnonzero(rest[order][1:] == rest[order][:-1])
        if len(pairs) > len(best):
            best, other = telling[np.column_stack([order[pairs + 1], order[pairs]])], j
    if len(best) < max(_FEWEST_ROWS, _NEAR_COPIES * len(X)) or not _surely_alike(codes, *best.T):
        return ""
    if len(X) ** 2 / 2 * np.prod(np.delete(alike, other)) > _BY_CHANCE * len(best):
        return ""
    text = (
        "{} of {} rows are equal to another row in every column but {!r}, and nearly all have its "
        "label too. If they are visits of a patient, name the patient; if they are copies with "
        "noise, take them out: they stand on both sides of every split, and every score is too "
        "good."
    )
    return Text(text, Count(len(best)), Count(len(X)), names[other])


def telling_rows(X: Array) -> Flags:
    """Return which rows have two numbers of many values: others are equal by chance."""
    distinct = np.array([len(np.unique(column)) for column in X.T])
    return np.asarray(np.isfinite(X[:, distinct >= _MANY_VALUES]).sum(axis=1) >= 2)


def copied_rows(X: Array, codes: Ids, classes: tuple[str, ...]) -> str:
    """Return a warning if rows are duplicated more often than chance, else an empty string.

    Only rows with two numbers of many values are looked at: others are equal by chance.
    """
    distinct = np.array([len(np.unique(column)) for column in X.T])
    rich = X[:, (distinct >= _MANY_VALUES)]
    telling = telling_rows(X)
    least = _COPIES if rich.shape[1] > 2 else _COPIES_OF_LITTLE
    n = int(telling.sum())
    if n < _FEWEST_ROWS:
        return ""
    # Columns that differ in every row are ids; they hide copies.
    matrix = np.column_stack([X[telling][:, distinct < len(X)], codes[telling]])
    row = np.dtype((np.void, matrix.itemsize * matrix.shape[1]))
    bytes_of_rows = np.ascontiguousarray(matrix).view(row).ravel()
    _, which, counts = np.unique(bytes_of_rows, return_inverse=True, return_counts=True)
    copies = n - len(counts)
    if copies < max(_FEWEST_COPIES, least * n):
        return ""
    pairs = float((counts * (counts - 1) / 2).sum())
    shares = [np.unique(column, return_counts=True)[1] / n for column in matrix.T]
    chance = n * (n - 1) / 2 * float(np.prod([np.square(share).sum() for share in shares]))
    if chance > _BY_CHANCE * pairs:
        return ""
    inside = np.bincount(codes[telling][counts[which] > 1], minlength=len(classes))
    text = (
        "{} of {} rows are equal to another row in every column, most of them of class {!r}. If "
        "they are copies (oversampling, a double export), take them out: copies stand on both "
        "sides of every split, and every score is too good."
    )
    return Text(text, Count(copies), Count(len(X)), classes[int(inside.argmax())])
