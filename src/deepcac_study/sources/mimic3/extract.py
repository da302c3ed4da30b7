"""From raw MIMIC-III tables to the tidy tables of one data folder."""

import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.errors import DataError
from deepcac.files.storage import write_table
from deepcac_study.sources.mimic3 import aggregates
from deepcac_study.sources.mimic3.admissions import load_stays
from deepcac_study.sources.mimic3.items import item_map, variable_names
from deepcac_study.sources.mimic3.raw_tables import database, unpack
from deepcac_study.sources.mimic3.scan import part_sql, require_events, scan_events

_log = logging.getLogger(__name__)


def extract(
    raw: str | os.PathLike[str],
    tidy: str | os.PathLike[str],
    *,
    scratch: str | os.PathLike[str] | None = None,
    threads: int = 1,
) -> None:
    """Write stays, hourly, first_day, whole_stay and quality of MIMIC-III as parquet in `tidy`.

    `raw` is the folder of the tables (CSV, csv.gz or parquet, any case), or an archive of the demo.
    Memory stays bounded: each event table is read once, and whole stays are summarised part by
    part. `scratch`, by default a temporary folder, holds intermediate data: some 10 GB for the full
    set. A raw table that is missing, damaged or malformed is a `DataError` that names file and row.
    """
    with tempfile.TemporaryDirectory(dir=scratch, prefix="mimic3-") as name:
        work = Path(name)
        with _folder(Path(raw), work) as folder, database(work, threads=threads) as connection:
            load_stays(connection, folder)
            parts = scan_events(connection, folder, work)
            require_events(work, Path(raw))
            tables = _summarise(connection, work, parts)
    for table, content in tables.items():
        write_table(Path(tidy) / f"{table}.parquet", content)
    _log.info("%d ICU stays, %d measured", tables["stays"].num_rows, _measured(tables))


def _measured(tables: dict[str, pa.Table]) -> int:
    return len(pc.unique(tables["first_day"]["stay_id"]))


@contextmanager
def _folder(raw: Path, work: Path) -> Iterator[Path]:
    """Yield the folder of the tables; an archive is unpacked for the duration of the block."""
    if raw.is_dir():
        yield raw
        return
    if not raw.exists():
        raise DataError(f"{raw}: no such folder or archive of MIMIC-III tables")
    with tempfile.TemporaryDirectory(dir=work) as name:
        yield unpack(raw, Path(name))


def _summarise(
    connection: duckdb.DuckDBPyConnection, work: Path, parts: int
) -> dict[str, pa.Table]:
    """Aggregate part by part; return tables by name, with stays and quality."""
    pieces: dict[str, list[pa.Table]] = {
        name: [] for name in ("hourly", "first_day", "whole_stay", "onsets", "counts")
    }
    for part in range(parts):
        counts = aggregates.load_part(connection, part_sql(work, part))
        pieces["counts"].append(counts)
        pieces["onsets"].append(aggregates.onsets(connection))
        pieces["hourly"].append(aggregates.hourly(connection))
        pieces["first_day"].append(aggregates.summary(connection, whole_stay=False))
        pieces["whole_stay"].append(aggregates.summary(connection, whole_stay=True))
    joined = {name: pa.concat_tables(tables) for name, tables in pieces.items()}
    named = {name: _with_names(joined[name]) for name in ("hourly", "first_day", "whole_stay")}
    return named | {
        "stays": _stays_with_onset(connection, joined["onsets"]),
        "quality": _quality(joined["counts"]),
    }


def _with_names(table: pa.Table) -> pa.Table:
    """Replace the index of each variable by its name, as a dictionary column."""
    indices = pc.cast(table["variable"], pa.int16()).combine_chunks()
    names = pa.DictionaryArray.from_arrays(indices, pa.array(variable_names()))
    return table.set_column(table.column_names.index("variable"), "variable", names)


def _stays_with_onset(connection: duckdb.DuckDBPyConnection, onsets: pa.Table) -> pa.Table:
    connection.register("found_onsets", onsets)
    return connection.sql(
        "SELECT stay_id, subject_id, hours, age, male, care_unit, elective, first_stay, candidate, "
        "ards_code, onset_minute FROM stays LEFT JOIN found_onsets USING (stay_id) ORDER BY stay_id"
    ).to_arrow_table()


def _quality(counts: pa.Table) -> pa.Table:
    """Sum the counts of the parts to one row per variable, with unit and plausible range."""
    values = dict.fromkeys(range(len(variable_names())), (0, 0))
    for row in counts.to_pylist():
        seen = values[row["variable"]]
        values[row["variable"]] = (seen[0] + row["n_values"], seen[1] + row["n_implausible"])
    items = {item.variable: item for item in item_map()}
    return pa.table(
        {
            "variable": list(variable_names()),
            "unit": [items[name].unit for name in variable_names()],
            "lowest": [items[name].lowest for name in variable_names()],
            "highest": [items[name].highest for name in variable_names()],
            "n_values": [values[index][0] for index in range(len(values))],
            "n_implausible": [values[index][1] for index in range(len(values))],
        }
    )
