"""ICU stays with demographics and discharge diagnoses."""

from pathlib import Path

import duckdb

from deepcac.errors import DataError
from deepcac_study.sources.mimic3.raw_tables import RawTable, find, reading

ADULT = 18
DAY_HOURS = 24
# Dates of birth of patients over 89 are shifted by about 300 years; 91.4 is their median age.
OLDEST, SHIFTED_AGE = 91.4, 150
# Adult respiratory distress syndrome is 518.5x (after trauma or surgery) and 518.82 in ICD-9-CM.
ARDS_CODES = "^518(5|82)"

_COLUMNS = {
    "icustays": ("icustay_id", "subject_id", "hadm_id", "first_careunit", "intime", "outtime"),
    "patients": ("subject_id", "gender", "dob"),
    "admissions": ("hadm_id", "subject_id", "admission_type"),
    "diagnoses_icd": ("hadm_id", "icd9_code"),
}
_KEYS = {"icustays": "icustay_id", "patients": "subject_id", "admissions": "hadm_id"}


def typed(column: str, kind: str, key: str) -> str:
    """Return SQL that casts a text column, and raises an error with the row if that fails.

    The kind is "INTEGER", "TIMESTAMP" or "DOUBLE" (finite); the column `key` names the row in the
    error.
    """
    cast = f"try_cast({column} AS {kind})"
    bad = f"{cast} IS NULL" + (f" OR NOT isfinite({cast})" if kind != "INTEGER" else "")
    return (
        f"CASE WHEN {column} IS NOT NULL AND ({bad}) THEN error('{key} ' || coalesce({key}, '?') "
        f"|| ': {column} is not a {kind.lower()}; correct or remove the row') ELSE {cast} END"
    )


def load_stays(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Create the table `stays`: one row per ICU stay, with a flag `candidate`.

    Candidates, whose events are read, are the first ICU stay of each patient of at least 18 years,
    of 24 hours or more. A `DataError`: a table is missing or damaged, an id is repeated, a date is
    malformed, or a stay has no patient or admission.
    """
    raw = {name: find(folder, name, columns) for name, columns in _COLUMNS.items()}
    for name, key in _KEYS.items():
        with reading(raw[name].path):
            connection.execute(
                f"CREATE OR REPLACE TABLE raw_{name} AS {_typed_table(name, raw[name])}"
            )
        _refuse_duplicates(connection, raw[name], f"raw_{name}", key)
    with reading(raw["diagnoses_icd"].path):
        connection.execute(
            "CREATE OR REPLACE TABLE ards_codes AS SELECT DISTINCT "
            f"{typed('hadm_id', 'INTEGER', 'hadm_id')} AS hadm_id FROM {raw['diagnoses_icd'].sql} "
            f"WHERE hadm_id IS NOT NULL AND regexp_matches(trim(icd9_code), '{ARDS_CODES}')"
        )
    _refuse_orphans(connection, raw["icustays"].path)
    connection.execute(_STAYS)
    if connection.execute("SELECT count(*) FROM stays").fetchall()[0][0] == 0:
        raise DataError(f"{raw['icustays'].path}: holds no ICU stay")


def _typed_table(name: str, raw: RawTable) -> str:
    """Return the SQL that selects a table's columns with their types."""
    key = _KEYS[name]
    kinds = {"subject_id": "INTEGER", "hadm_id": "INTEGER", "icustay_id": "INTEGER"}
    kinds |= dict.fromkeys(("intime", "outtime", "dob"), "TIMESTAMP")
    columns = [
        f"{typed(column, kinds[column], key) if column in kinds else column} AS {column}"
        for column in _COLUMNS[name]
    ]
    return f"SELECT {', '.join(columns)} FROM {raw.sql}"


def _refuse_duplicates(
    connection: duckdb.DuckDBPyConnection, raw: RawTable, table: str, key: str
) -> None:
    """Raise DataError if the key of a row is missing or occurs twice."""
    twice = connection.execute(
        f"SELECT {key} FROM {table} GROUP BY {key} HAVING count(*) > 1 OR {key} IS NULL "
        f"ORDER BY {key} LIMIT 1"
    ).fetchall()
    if twice:
        fault = "a row has no" if twice[0][0] is None else f"{twice[0][0]} occurs twice as"
        raise DataError(f"{raw.path}: {fault} {key}; every row needs its own")


def _refuse_orphans(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Raise DataError for a stay without a patient or an admission."""
    for other, key in (("patients", "subject_id"), ("admissions", "hadm_id")):
        orphan = connection.execute(
            f"SELECT icustay_id FROM raw_icustays ANTI JOIN raw_{other} USING ({key}) "
            "ORDER BY icustay_id LIMIT 1"
        ).fetchall()
        if orphan:
            raise DataError(
                f"{path}: icustay_id {orphan[0][0]} has no row in {other.upper()} with its {key}; "
                "the tables must come from one release"
            )


_STAYS = f"""
CREATE OR REPLACE TABLE stays AS
WITH joined AS (
    SELECT
        icustay_id AS stay_id, subject_id, hadm_id, intime, outtime,
        epoch(outtime - intime) / 3600 AS hours,
        date_diff('day', dob, intime) / 365.2425 AS years,
        CASE upper(gender) WHEN 'M' THEN 1 WHEN 'F' THEN 0 END AS male,
        upper(first_careunit) AS care_unit,
        upper(admission_type) = 'ELECTIVE' AS elective,
        hadm_id IN (SELECT hadm_id FROM ards_codes) AS ards_code,
        row_number() OVER (PARTITION BY subject_id ORDER BY intime, icustay_id) = 1 AS first_stay
    FROM raw_icustays
    JOIN raw_patients USING (subject_id)
    JOIN (SELECT hadm_id, admission_type FROM raw_admissions) USING (hadm_id)
)
SELECT
    * EXCLUDE (years),
    CASE WHEN years > {SHIFTED_AGE} THEN {OLDEST} ELSE years END AS age,
    coalesce(first_stay AND hours >= {DAY_HOURS} AND years >= {ADULT}, false) AS candidate
FROM joined
"""
