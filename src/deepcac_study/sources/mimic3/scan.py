"""The one pass over the event tables: mapped items of the candidate stays, in one unit."""

from pathlib import Path

import duckdb
import pyarrow as pa

from deepcac.errors import DataError
from deepcac_study.sources.mimic3.admissions import typed
from deepcac_study.sources.mimic3.items import CONVERSIONS, TABLES, item_map, variable_names
from deepcac_study.sources.mimic3.raw_tables import RawTable, find, quoted, reading

# One part of the stays is summarised at a time; about this many bytes of raw CSV go into one.
PART_BYTES = 1 << 28
# The name of a stay in each table: labs are drawn all over the hospital and carry no ICU stay.
# Candidates are one stay per patient, so the patient and the time say which stay it is.
_STAY_KEY = {"chartevents": "icustay_id", "labevents": "subject_id", "outputevents": "icustay_id"}
_NUMBER = {"chartevents": "valuenum", "labevents": "valuenum", "outputevents": "value"}
_ERROR = {"chartevents": "error", "outputevents": "iserror"}


def scan_events(connection: duckdb.DuckDBPyConnection, folder: Path, scratch: Path) -> int:
    """Write the candidate stays' measurements as parquet; return the number of parts.

    A part has whole stays. `scratch` gets ``{table}/part={p}/*.parquet`` with columns stay_id,
    variable (index in the item map), minute (since admission), value and plausible. Rows flagged as
    an error by the source, rows without a number and rows outside the stay are left out. Values
    outside the plausible range of their variable are kept, marked.

    A `DataError`: a table is missing or damaged; a number, an id or a time of a mapped item is
    malformed, or its unit is not one that the item map accepts.
    """
    raw = {name: find(folder, name, _columns(name)) for name in TABLES}
    parts = 1 + sum(table.csv_bytes for table in raw.values()) // PART_BYTES
    # Ranges of ids, so that the joined results are in order however many parts there are.
    connection.execute(
        "CREATE OR REPLACE TABLE candidates AS SELECT stay_id, subject_id, intime, outtime, "
        f"ntile({parts}) OVER (ORDER BY stay_id) - 1 AS part FROM stays WHERE candidate"
    )
    connection.register("item_rows", _item_table())
    connection.execute("CREATE OR REPLACE TABLE items AS SELECT * FROM item_rows")
    for name, table in raw.items():
        (scratch / name).mkdir()
        with reading(table.path):
            connection.execute(
                f"COPY ({_measurements(name, table)}) TO {quoted(str(scratch / name))} "
                "(FORMAT parquet, PARTITION_BY (part))"
            )
    return parts


def _columns(name: str) -> tuple[str, ...]:
    flag = (_ERROR[name],) if name in _ERROR else ()
    return ("row_id", _STAY_KEY[name], "itemid", "charttime", _NUMBER[name], "valueuom", *flag)


def _item_table() -> pa.Table:
    items = item_map()
    order = {name: index for index, name in enumerate(variable_names())}
    return pa.table(
        {
            "source": [item.table for item in items],
            "itemid": pa.array([item.itemid for item in items], pa.int32()),
            "variable": pa.array([order[item.variable] for item in items], pa.int16()),
            "lowest": [item.lowest for item in items],
            "highest": [item.highest for item in items],
            "accepted": [list(item.accepted_units) for item in items],
            "conversion": [item.conversion for item in items],
        }
    )


def _measurements(name: str, table: RawTable) -> str:
    """Return the query of one event table.

    The condition on the unit is never false; it keeps the check of the unit in the query.
    """
    number = _NUMBER[name]
    key = {"icustay_id": "stay_id", "subject_id": "subject_id"}[_STAY_KEY[name]]
    sound = f"AND coalesce({_ERROR[name]}, '0') NOT IN ('1', '1.0')" if name in _ERROR else ""
    convert = " ".join(
        f"WHEN '{kind}' THEN {formula.format(x='raw')}" for kind, formula in CONVERSIONS.items()
    )
    return f"""
    WITH mapped AS (
        SELECT
            {typed(_STAY_KEY[name], "INTEGER", "row_id")} AS {key},
            {typed("charttime", "TIMESTAMP", "row_id")} AS charttime,
            {typed(number, "DOUBLE", "row_id")} AS raw,
            {_checked_unit()} AS unit,
            i.* EXCLUDE (itemid, source, accepted)
        FROM {table.sql} AS e
        JOIN items AS i ON i.itemid = try_cast(e.itemid AS INTEGER) AND i.source = '{name}'
        WHERE {number} IS NOT NULL AND charttime IS NOT NULL {sound}
    )
    SELECT
        s.stay_id, s.part, variable,
        CAST(floor(epoch(charttime - intime) / 60) AS INTEGER) AS minute,
        CASE conversion {convert} END AS value,
        value BETWEEN lowest AND highest AS plausible
    FROM mapped JOIN candidates AS s USING ({key})
    WHERE charttime >= intime AND charttime < outtime AND unit IS NOT NULL
    """


def _checked_unit() -> str:
    """Return SQL for the unit in plain spelling, which raises an error if it is not accepted."""
    plain = "regexp_replace(lower(coalesce(valueuom, '')), '[^a-z0-9%/]', '', 'g')"
    return (
        f"CASE WHEN {plain} <> '' AND NOT list_contains(accepted, {plain}) THEN error("
        "'row_id ' || coalesce(row_id, '?') || ': item ' || e.itemid || ' in unknown unit ' || "
        "valueuom || '; correct the row or add the spelling to items.csv') "
        f"ELSE {plain} END"
    )


def part_sql(scratch: Path, part: int) -> str:
    """Return a table expression for the measurements of one part of the stays."""
    files = sorted(str(path) for path in scratch.glob(f"*/part={part}/*.parquet"))
    if not files:
        return (
            "(SELECT NULL::INTEGER AS stay_id, NULL::SMALLINT AS variable, NULL::INTEGER AS minute,"
            " NULL::DOUBLE AS value, NULL::BOOLEAN AS plausible WHERE false)"
        )
    return f"read_parquet([{', '.join(quoted(file) for file in files)}], hive_partitioning=false)"


def require_events(scratch: Path, folder: Path) -> None:
    """Raise a `DataError` if no measurement was found at all."""
    if not any(scratch.glob("*/part=*/*.parquet")):
        raise DataError(
            f"{folder}: no mapped measurement in any ICU stay of an adult of 24 hours or more; "
            "check that the event tables and ICUSTAYS come from one release"
        )
