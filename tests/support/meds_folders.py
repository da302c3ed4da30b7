"""A small MEDS folder of synthetic subjects, and its labels, as schema 0.4.1 has them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

EVENTS = pa.schema(
    [
        pa.field("subject_id", pa.int64(), nullable=False),
        pa.field("time", pa.timestamp("us")),
        pa.field("code", pa.string(), nullable=False),
        pa.field("numeric_value", pa.float32()),
    ]
)
LABELS = pa.schema(
    [
        pa.field("subject_id", pa.int64(), nullable=False),
        pa.field("prediction_time", pa.timestamp("us"), nullable=False),
        pa.field("boolean_value", pa.bool_(), nullable=False),
    ]
)
START = pd.Timestamp("2020-01-01")
HOUR = pd.Timedelta(hours=1)


def subject_events(subject, rng):
    """Return the events of a subject as (subject, time, code, number), and whether it died."""
    sick = rng.normal()
    events = [
        (subject, None, f"GENDER//{'FM'[subject % 2]}", None),
        (subject, None, "HEIGHT", 170.0 + subject % 7),
        (subject, START - pd.Timedelta(days=7000 + 10 * subject), "MEDS_BIRTH", None),
    ]
    for hour in sorted(rng.choice(48, int(rng.integers(3, 12)), replace=False).tolist()):
        events.append((subject, START + hour * HOUR, "HR", 80 + 10 * sick + rng.normal(0, 5)))
    for hour in range(int(rng.integers(0, 4))):
        events.append((subject, START + 7 * hour * HOUR, "LACTATE", 2 + sick + rng.normal()))
    if subject < 5:
        events.append((subject, START, "RARE", None))
    return events, bool(rng.random() < 1 / (1 + np.exp(-2 * sick)))


def write_meds(folder, n=120, seed=0, files=2):
    """Write ``data/train/*.parquet`` and ``task.parquet``; return the path of the labels."""
    rng = np.random.default_rng(seed)
    subjects = {subject: subject_events(subject, rng) for subject in range(n)}
    (folder / "data" / "train").mkdir(parents=True)
    for j in range(files):
        rows = [event for s, (events, _) in subjects.items() if s % files == j for event in events]
        write_rows(folder / "data" / "train" / f"{j}.parquet", EVENTS, rows)
    labels = [(s, START + 24 * HOUR, died) for s, (_, died) in subjects.items()]
    write_rows(folder / "task.parquet", LABELS, labels)
    return folder / "task.parquet"


def write_rows(path, schema, rows):
    """Write tuples as a parquet file of a schema."""
    columns = [
        pa.array(column, field.type)
        for column, field in zip(zip(*rows, strict=True), schema, strict=True)
    ]
    pq.write_table(pa.table(columns, schema=schema), path)
