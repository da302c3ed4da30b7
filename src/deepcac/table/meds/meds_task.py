"""A MEDS folder and the labels of a task, as a table that the command reads."""

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import pyarrow as pa

from deepcac.errors import ConfigError, DataError
from deepcac.scoring.small_cells import format_count
from deepcac.table.meds.event_summary import (
    EventFeature,
    before_prediction,
    code_features,
    subjects_by_code,
    summarise,
)
from deepcac.table.meds.meds_files import (
    BOOLEAN,
    PREDICTED_AT,
    SUBJECT,
    event_files,
    label_files,
    read_events,
    read_labels,
)
from deepcac.table.output_files import StrPath
from deepcac.table.reading.roles import Roles
from deepcac.table.reading.table_files import RowSource

PREDICTION = "prediction"  # column of row ids: subject and prediction time
LEAST_SUBJECTS, LEAST_SHARE = 20, 0.01  # that have a code before their prediction time
MOST_CODES = 100
_CODE = "code"  # before the name of a feature that a column of another role has
_BLOCK_ROWS = 4096


@dataclass(frozen=True)
class MedsTask(RowSource):
    """One row a subject and prediction time, made from the events up to that time.

    Attributes
    ----------
    folder, labels : str
        The MEDS folder, and the file of labels.
    label : str
        Empty where none is read.
    features : tuple of EventFeature
    remarks : tuple of str
    fitted_label : str
        Of the model whose features they are.
    """

    folder: str
    labels: str
    label: str
    features: tuple[EventFeature, ...]
    remarks: tuple[str, ...] = ()
    fitted_label: str = ""

    def __fspath__(self) -> str:
        return self.folder

    def __str__(self) -> str:
        return self.folder

    @property
    def arguments(self) -> tuple[str, ...]:  # type: ignore[override]
        """The folder, and the option that names the labels."""
        return (self.folder, "--labels", self.labels)

    @property
    def roles(self) -> dict[str, str]:  # type: ignore[override]
        """The columns that say which row it is."""
        return {PREDICTION: "the id", SUBJECT: "the group"}

    def files(self) -> list[str]:
        """Return the shards and the labels."""
        files = (*event_files(self.folder), *label_files(self.labels))
        return [os.fspath(file) for file in files]

    def with_features(self, names: Sequence[str], label: str = "") -> "MedsTask":
        """Return the task with the features that a model of a label was fitted on."""
        task = replace(self, remarks=(), fitted_label=label)
        reserved = {f"{_CODE} {name}": name for name in task._reserved}
        parsed = [EventFeature.parse(reserved.get(name, name)) for name in names]
        return replace(task, features=tuple(feature for feature in parsed if feature is not None))

    def blocks(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, shard by shard."""
        labels = read_labels(self.labels, self.label)
        for events, rows in shards(self.folder, labels):
            for start in range(0, len(rows), _BLOCK_ROWS):
                yield self._block(events, rows.iloc[start : start + _BLOCK_ROWS])

    def _block(self, events: pd.DataFrame, rows: pd.DataFrame) -> pa.RecordBatch:
        at = rows[PREDICTED_AT].dt.strftime("%Y-%m-%dT%H:%M:%S.%f").str.removesuffix(".000000")
        columns = {PREDICTION: rows[SUBJECT].astype(str) + " " + at, SUBJECT: rows[SUBJECT]}
        columns |= {self.label: rows[self.label]} if self.label in rows else {}
        subject_events = events[events[SUBJECT].isin(rows[SUBJECT])]
        made = {name: pa.array(values) for name, values in columns.items()}
        summaries = summarise(subject_events, rows, self.features)
        for name, values in summaries.items():
            # A code such as "boolean" would become the label's column.
            column = f"{_CODE} {name}" if name in self._reserved else name
            made[column] = pa.array(values, pa.float64(), from_pandas=True)
        return pa.RecordBatch.from_pydict(made)

    @property
    def _reserved(self) -> set[str]:
        """Return the columns that are no features."""
        return {self.label, self.fitted_label, PREDICTION, SUBJECT}


def shards(folder: StrPath, labels: pd.DataFrame) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Yield the events of each shard with the labels of its subjects.

    The index of `labels` is the place of each row in its file.

    Raises
    ------
    DataError
        A subject stands in two shards, or a labelled one in none.
    """
    seen: set[int] = set()
    for file in event_files(folder):
        events = read_events(file)
        subjects = set(events[SUBJECT].unique().tolist())
        if twice := seen & subjects:
            raise DataError(
                f"{file}: subject {min(twice)} stands in another file too; MEDS has each in one"
            )
        seen |= subjects
        rows = labels[labels[SUBJECT].isin(subjects)]
        if len(rows):
            yield events, rows
    unknown = labels.loc[~labels[SUBJECT].isin(seen), SUBJECT].sort_index()
    if len(unknown):
        raise DataError(
            f"labels, data row {unknown.index[0] + 1}: subject {unknown.iloc[0]} has no event in "
            f"{folder} ({format_count(unknown.nunique())} such subjects); take their rows out, or "
            "name "
            "another folder"
        )


def open_task(folder: StrPath, labels: StrPath, label: str = BOOLEAN) -> MedsTask:
    """Read labels and codes of a MEDS folder, and choose what the rows are made of.

    A code becomes columns if 1 % of the labelled subjects, and at least 20, have it up to a
    prediction time (inclusive); of more than 100 such codes those that most subjects have.

    Raises
    ------
    DataError
        What MEDS does not allow, or no code that is frequent enough.
    """
    event_files(folder)
    labelled = read_labels(labels, label)
    latest = labelled.sort_values(PREDICTED_AT).drop_duplicates(SUBJECT, keep="last")
    codes = subjects_by_code(
        before_prediction(events, rows) for events, rows in shards(folder, latest)
    )
    least = max(LEAST_SUBJECTS, math.ceil(LEAST_SHARE * len(latest)))
    often = codes[codes["subjects"] >= least]
    if often.empty:
        raise DataError(f"{folder}: no code is seen in {least} labelled subjects; add subjects")
    frequent = often.sort_values("subjects", ascending=False, kind="stable")[
        :MOST_CODES
    ].sort_index()
    features = [
        feature
        for code, counts in frequent.iterrows()
        for feature in code_features(
            str(code),
            **{kind: bool(counts[kind] >= least) for kind in ("timed", "static", "numeric")},
        )
    ]
    return MedsTask(
        os.fspath(folder),
        os.fspath(labels),
        label,
        tuple(features),
        (_code_remark(len(codes), frequent, least),),
    )


def _code_remark(codes: int, frequent: pd.DataFrame, least: int) -> str:
    return (
        f"MEDS: events up to the prediction time, {len(frequent):,} of {codes:,} codes; a code is "
        f"used if {least:,} labelled subjects have it, and at most the {MOST_CODES} most frequent "
        "are."
    )


def table_source(path: StrPath, labels: StrPath | None, roles: Roles) -> tuple[StrPath, Roles]:
    """Return what a command reads and what its columns are: a file, or a MEDS folder with labels.

    Raises
    ------
    ConfigError
        A folder without labels, labels without a folder, or no label column.
    """
    source, label = described_source(path, labels, roles.label or None)
    if label is None:
        raise ConfigError("no label; name the column with the outcome by --label")
    if not isinstance(source, MedsTask):
        return source, roles
    if roles.id or roles.group:
        raise ConfigError("--id and --group are for tables; rows of MEDS go by subject and time")
    return source, replace(roles, label=label, id=PREDICTION, group=SUBJECT)


def described_source(
    path: StrPath, labels: StrPath | None, label: str | None
) -> tuple[StrPath, str | None]:
    """Return what a command reads, and its label column if one is known."""
    if not _is_meds(path, labels):
        return path, label
    task = open_task(path, str(labels), label or BOOLEAN)
    return task, task.label


def new_source(path: StrPath, labels: StrPath | None) -> StrPath:
    """Return what risks are predicted of; a fitted model says which features it has."""
    if not _is_meds(path, labels):
        return path
    return MedsTask(os.fspath(path), str(labels), "", ())


def _is_meds(path: StrPath, labels: StrPath | None) -> bool:
    if Path(path).is_dir() != (labels is not None):
        raise ConfigError(
            f"{path}: is a folder; of a MEDS folder name --labels task.parquet"
            if labels is None
            else f"{path}: is no folder; --labels is for a MEDS folder"
        )
    return labels is not None
