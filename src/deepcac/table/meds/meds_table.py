"""A MEDS folder and the labels of a task as one table: a row a subject and prediction time."""

import math
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from deepcac.errors import ConfigError, DataError
from deepcac.files.atomic import atomic_path
from deepcac.scoring.small_cells import Count
from deepcac.table.budgeted_trials import Say
from deepcac.table.columns.description import (
    NUMBER,
    TEXT,
    ColumnField,
    Outcome,
    Resource,
    Schema,
    Use,
)
from deepcac.table.columns.description_file import as_yaml, description_path
from deepcac.table.command_line.option_pairs import given, refuse_pairs
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
from deepcac.table.output_files import StrPath, check_output
from deepcac.table.risk_tables import read_model
from deepcac.table.table_model import TableModel

PREDICTION = "prediction"  # column of row ids: subject and prediction time
LEAST_SUBJECTS, LEAST_SHARE = 20, 0.01  # that have a code before their prediction time
MOST_CODES = 100
_CODE = "code"  # before the name of a feature that a column of another role has
_BLOCK_ROWS = 4096


def write_meds_table(
    folder: StrPath,
    labels: StrPath,
    out: StrPath,
    *,
    label: str | None = None,
    like: StrPath | None = None,
    say: Say,
) -> tuple[int, str]:
    """Write a MEDS folder as a parquet table with its description.

    Returns how many rows there are, and the call that reads them.

    A row is a subject up to a prediction time (inclusive). Its columns are ``prediction`` (the id
    of the row: subject and time), ``subject_id``, the label, and the summaries of its events.

    Parameters
    ----------
    folder, labels, out : path-like
        MEDS folder and labels to read (parquet, or a folder of such), table to write.
    label : str, optional
        Column of the labels with the outcome; ``boolean_value`` if None.
    like : path-like, optional
        A model of such a table. Just the summaries that it reads are written, also of codes that
        no subject has here, and the outcome, which is that of the model, may be missing.
    say : callable
        Is called with what a user should know.

    Raises
    ------
    ConfigError
        A file that cannot be written, or a label that names the row.
    DataError
        What MEDS does not allow, no code that is frequent enough, or a model of no events.
    """
    if Path(out).suffix.lower() not in (".parquet", ".pq"):
        raise ConfigError(f"--out {out}: a table is written as parquet; name a .parquet file")
    read = (*event_files(folder), *label_files(labels), *(() if like is None else (like,)))
    check_output(out, *read)
    check_output(description_path(out), *read)
    model = None if like is None else read_model(like)
    refuse_pairs(given(label=label, like=like))
    label = model.label if isinstance(model, TableModel) else label or BOOLEAN
    if label in (PREDICTION, SUBJECT, PREDICTED_AT):
        raise ConfigError(f"column {label!r} names the row; name the column with the outcome")
    rows = read_labels(labels, label, known=model is None)
    if model is None:
        features, remark = frequent_features(folder, rows)
        say(remark)
    else:
        names = [column.name for column in model.encoder.used]
        features = named_features(names, label)
        if not features:
            raise DataError(f"{like}: reads no summary of events; name a model of a MEDS table")
    with atomic_path(out) as partial:
        _write(partial, table_blocks(folder, rows, label, features))
    if like is not None:
        return len(rows), shlex.join(["deepcac", "predict", str(like), str(out)])
    description = _description(Path(out), label)
    with atomic_path(description_path(out)) as partial:
        Path(partial).write_text(as_yaml(description), "utf-8")
    return len(rows), shlex.join(["deepcac", "compare", str(out)])


def _description(table: Path, label: str) -> Resource:
    """Return what the columns of a written table are."""
    texts = (PREDICTION, SUBJECT, label)
    fields = tuple(
        ColumnField(name=name, type=TEXT if name in texts else NUMBER)
        for name in pq.read_schema(table).names
    )
    use = Use(outcome=Outcome(field=label), id=PREDICTION, patient=SUBJECT)
    return Resource(name="meds", path=table.name, table=Schema(fields=fields), use=use)


def _write(path: Path, blocks: Iterator[pa.RecordBatch]) -> None:
    first = next(blocks)
    with pq.ParquetWriter(path, first.schema, write_page_checksum=True) as writer:
        writer.write_batch(first)
        for block in blocks:
            writer.write_batch(block)


def frequent_features(
    folder: StrPath, labels: pd.DataFrame
) -> tuple[tuple[EventFeature, ...], str]:
    """Return the summaries of the codes that many subjects have, and the rule in words.

    A code is used if 1 % of the labelled subjects, and at least 20, have it up to a prediction
    time (inclusive); of more than 100 such codes those that most subjects have.

    Raises
    ------
    DataError
        No code is frequent enough.
    """
    latest = labels.sort_values(PREDICTED_AT).drop_duplicates(SUBJECT, keep="last")
    codes = subjects_by_code(
        before_prediction(events, rows) for events, rows in shards(folder, latest)
    )
    least = max(LEAST_SUBJECTS, math.ceil(LEAST_SHARE * len(latest)))
    often = codes[codes["subjects"] >= least]
    if often.empty:
        raise DataError(f"{folder}: no code is seen in {least} labelled subjects; add subjects")
    by_subjects = often.sort_values("subjects", ascending=False, kind="stable")
    frequent = by_subjects[:MOST_CODES].sort_index()
    features = [
        feature
        for code, counts in frequent.iterrows()
        for feature in code_features(
            str(code),
            **{kind: bool(counts[kind] >= least) for kind in ("timed", "static", "numeric")},
        )
    ]
    remark = (
        f"events up to the prediction time, {len(frequent):,} of {len(codes):,} codes: those of at "
        f"least {least:,} labelled subjects, and at most the {MOST_CODES} most frequent"
    )
    return tuple(features), remark


def named_features(names: Sequence[str], label: str) -> tuple[EventFeature, ...]:
    """Return the summaries that columns of a table with a label hold; others are left out."""
    whose = {f"{_CODE} {name}": name for name in _no_features(label)}
    parsed = [EventFeature.parse(whose.get(name, name)) for name in names]
    return tuple(feature for feature in parsed if feature is not None)


def table_blocks(
    folder: StrPath, labels: pd.DataFrame, label: str, features: Sequence[EventFeature]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the table, shard by shard."""
    for events, rows in shards(folder, labels):
        for start in range(0, len(rows), _BLOCK_ROWS):
            yield _block(events, rows.iloc[start : start + _BLOCK_ROWS], label, features)


def _block(
    events: pd.DataFrame, rows: pd.DataFrame, label: str, features: Sequence[EventFeature]
) -> pa.RecordBatch:
    at = rows[PREDICTED_AT].dt.strftime("%Y-%m-%dT%H:%M:%S.%f").str.removesuffix(".000000")
    columns = {PREDICTION: rows[SUBJECT].astype(str) + " " + at, SUBJECT: rows[SUBJECT]}
    columns |= {label: rows[label]} if label in rows else {}
    made = {name: pa.array(values) for name, values in columns.items()}
    subject_events = events[events[SUBJECT].isin(rows[SUBJECT])]
    for name, values in summarise(subject_events, rows, features).items():
        # A code such as "boolean" would become the label's column.
        column = f"{_CODE} {name}" if name in _no_features(label) else name
        made[column] = pa.array(values, pa.float64(), from_pandas=True)
    return pa.RecordBatch.from_pydict(made)


def _no_features(label: str) -> set[str]:
    """Return the columns that are no features."""
    return {label, PREDICTION, SUBJECT}


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
            f"{folder} ({Count(unknown.nunique())} such subjects); take their rows out, or "
            "name another folder"
        )
