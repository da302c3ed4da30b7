"""Synthetic ICU stays as MIMIC-III v1.4 tables, with planted subtypes of different risk.

No value comes from a real patient. Three subtypes differ in their mean vital signs and laboratory
values; within each the risk of ARDS follows another variable, so that one linear rule for all
stays is worse than one per subtype.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from deepcac.errors import ConfigError
from deepcac.files.atomic import atomic_path
from deepcac.types import Array, Ids
from deepcac_study.simulate.packing import typical

EVENT_TABLES = ("CHARTEVENTS", "LABEVENTS", "OUTPUTEVENTS")
TRUTH = "SUBTYPES"
# Shares of the subtypes, and the intercept and slope of their risk.
SHARES = (0.4, 0.35, 0.25)
INTERCEPTS = (-1.2, -2.0, -0.8)
SLOPES = {"Lactate": (2.5, 0.0, 0.0), "RespRate": (0.0, 2.5, 0.0), "WBC": (0.0, 0.0, -2.5)}
MAX_HOURS = 72
EARLY_SHARE, CODE_ONLY_SHARE, SHORT_SHARE = 0.06, 0.3, 0.08
SKIPPED_SHARE = 0.1


@dataclass(frozen=True)
class _Signal:
    """One charted item: ids in the two charting systems, unit, spread, and mean by subtype."""

    table: str
    carevue: int
    metavision: int
    unit: str
    every: int
    sd: float
    means: tuple[float, float, float]


def _signals() -> dict[str, _Signal]:
    signals = {}
    for row in typical("mimic3_signals"):
        first, second, third = map(float, row["means"].split())
        ids = int(row["carevue"]), int(row["metavision"])
        every, sd = int(row["every"]), float(row["sd"])
        signals[row["name"]] = _Signal(
            row["table"], *ids, row["unit"], every, sd, (first, second, third)
        )
    return signals


_FIO2 = _Signal("CHARTEVENTS", 190, 223835, "", 6, 0, (0, 0, 0))
_PEEP = _Signal("CHARTEVENTS", 506, 220339, "cmH2O", 6, 0, (0, 0, 0))
_PAO2 = _Signal("CHARTEVENTS", 779, 220224, "mmHg", 6, 0, (0, 0, 0))


@dataclass(frozen=True)
class _Stays:
    """Ground truth of the stays: arrays of shape (n,), and the level of each signal."""

    subject: Ids
    subtype: Ids
    carevue: npt.NDArray[np.bool_]
    intime: npt.NDArray[np.datetime64]
    hours: Ids
    onset: Ids
    code: npt.NDArray[np.bool_]
    level: dict[str, Array]

    @property
    def stay(self) -> Ids:
        return self.subject + 190_000

    @property
    def admission(self) -> Ids:
        return self.subject + 90_000


def simulate(folder: str | os.PathLike[str], *, n: int = 400, seed: int = 0) -> None:
    """Write n synthetic ICU stays as seven MIMIC-III tables, the same bytes for the same seed.

    The header is upper-case, as in the full release. The planted subtypes are in SUBTYPES.csv,
    which no reader of MIMIC-III uses. A patient has one stay, of about 600 CHARTEVENTS rows.
    """
    if n < 1:
        raise ConfigError(f"{n} synthetic stays asked for; at least one is needed")
    rng = np.random.default_rng(seed)
    stays = _draw_stays(n, rng)
    written = _patient_tables(stays, rng) | _event_tables(stays, rng)
    tables = {name: _complete(table, name) for name, table in written.items()}
    tables[TRUTH] = pa.table({"ICUSTAY_ID": stays.stay, "SYNTHETIC_SUBTYPE": stays.subtype})
    for name, table in tables.items():
        with atomic_path(Path(folder) / f"{name}.csv") as partial:
            csv.write_csv(table, partial)


def _draw_stays(n: int, rng: np.random.Generator) -> _Stays:
    """Draw stays, with subtype, onset of failure (-1 for none) and signal levels."""
    subtype = rng.choice(len(SHARES), n, p=SHARES)
    offset = {name: rng.normal(size=n) for name in _signals()}
    slope = sum(np.take(by, subtype) * offset[name] for name, by in SLOPES.items())
    ill = rng.random(n) < 1 / (1 + np.exp(-(np.take(INTERCEPTS, subtype) + slope)))
    code_only = ill & (rng.random(n) < CODE_ONLY_SHARE)
    onset = np.where(ill & ~code_only, rng.integers(26, 46, n), -1)
    onset = np.where(rng.random(n) < EARLY_SHARE, rng.integers(2, 20, n), onset)
    hours = np.where(rng.random(n) < SHORT_SHARE, rng.integers(6, 23, n), rng.integers(50, 72, n))
    start = np.datetime64("2150-01-01T00:00:00") + rng.integers(0, 30 * 365 * 86_400, n)
    return _Stays(
        subject=10_001 + np.arange(n),
        subtype=subtype,
        carevue=rng.random(n) < 0.5,
        intime=start,
        hours=hours,
        onset=onset,
        code=code_only | ((onset > 0) & (rng.random(n) < 0.7)),
        level={
            name: np.take(signal.means, subtype) + signal.sd * offset[name]
            for name, signal in _signals().items()
        },
    )


def _patient_tables(stays: _Stays, rng: np.random.Generator) -> dict[str, pa.Table]:
    """Return PATIENTS, ADMISSIONS, ICUSTAYS and DIAGNOSES_ICD, a row per stay."""
    n = len(stays.subject)
    born = stays.intime - (rng.integers(20, 89, n) * 365 * 86_400).astype("timedelta64[s]")
    unit = np.array(["MICU", "CCU", "SICU"])[stays.subtype]
    left = stays.intime + (stays.hours * 3600).astype("timedelta64[s]")
    patients = {
        "SUBJECT_ID": stays.subject,
        "GENDER": np.where(rng.random(n) < 0.55, "M", "F"),
        "DOB": _times(born),
    }
    both = {"SUBJECT_ID": stays.subject, "HADM_ID": stays.admission}
    admissions = {
        **both,
        "ADMITTIME": _times(stays.intime),
        "DISCHTIME": _times(left),
        "ADMISSION_TYPE": np.where(stays.subtype == 2, "ELECTIVE", "EMERGENCY"),
    }
    icustays = {
        **both,
        "ICUSTAY_ID": stays.stay,
        "DBSOURCE": np.where(stays.carevue, "carevue", "metavision"),
        "FIRST_CAREUNIT": unit,
        "LAST_CAREUNIT": unit,
        "INTIME": _times(stays.intime),
        "OUTTIME": _times(left),
        "LOS": np.round(stays.hours / 24, 4),
    }
    diagnoses = {
        **both,
        "SEQ_NUM": np.ones(n, dtype=np.int64),
        "ICD9_CODE": np.where(stays.code, "51882", "4019"),
    }
    names = ("PATIENTS", "ADMISSIONS", "ICUSTAYS", "DIAGNOSES_ICD")
    tables = map(pa.table, (patients, admissions, icustays, diagnoses))
    return dict(zip(names, tables, strict=True))


def _event_tables(stays: _Stays, rng: np.random.Generator) -> dict[str, pa.Table]:
    """Draw the rows of each event table: signals on their schedule, ventilation."""
    pieces: dict[str, list[pa.Table]] = {name: [] for name in EVENT_TABLES}
    for name, signal in _signals().items():
        index, hour = _schedule(stays, signal.every, rng)
        noise = rng.normal(scale=signal.sd / 3, size=len(index))
        highest = 100 if signal.unit == "%" else np.inf
        value = np.clip(stays.level[name][index] + noise, 0.1, highest).round(1)
        pieces[signal.table].append(_rows(stays, signal, index, hour, value, rng))
    pieces["CHARTEVENTS"] += _ventilation(stays, rng)
    return {name: pa.concat_tables(tables) for name, tables in pieces.items()}


def _ventilation(stays: _Stays, rng: np.random.Generator) -> list[pa.Table]:
    """Chart FiO2, PEEP and arterial gases of all stays; PaO2/FiO2 falls to 150 at the onset."""
    index, hour = _schedule(stays, _PAO2.every, rng)
    # FiO2 and PEEP come a few minutes before the gas of the same round.
    ill = (stays.onset[index] >= 0) & (hour >= stays.onset[index])
    oxygen = np.where(ill, 0.6, 0.3)
    percent = np.where(stays.carevue[index], oxygen, 100 * oxygen)
    gas = np.where(ill, rng.normal(90, 5, len(index)), rng.normal(125, 5, len(index)))
    values: tuple[tuple[_Signal, Array], ...] = (
        (_FIO2, percent),
        (_PEEP, np.where(ill, 8.0, 5.0)),
        (_PAO2, np.clip(gas, np.where(ill, 60, 100), None)),
    )
    return [
        _rows(stays, signal, index, hour, value.round(2), rng, minute=10 * order)
        for order, (signal, value) in enumerate(values)
    ]


def _schedule(stays: _Stays, every: int, rng: np.random.Generator) -> tuple[Ids, Ids]:
    """Return stay index and hour of measurements at regular intervals, with random gaps."""
    grid = np.arange(0, MAX_HOURS, every)
    index, place = np.nonzero(grid[None, :] < stays.hours[:, None])
    measured = rng.random(len(index)) >= SKIPPED_SHARE
    return index[measured], grid[place[measured]]


def _rows(
    stays: _Stays,
    signal: _Signal,
    index: Ids,
    hour: Ids,
    value: Array,
    rng: np.random.Generator,
    *,
    minute: int | None = None,
) -> pa.Table:
    """Return the rows of one item, with the columns of every kind of event table."""
    within = rng.integers(0, 60, len(index)) if minute is None else minute
    seconds = (hour * 3600 + within * 60).astype("timedelta64[s]")
    return pa.table(
        {
            "SUBJECT_ID": stays.subject[index],
            "HADM_ID": stays.admission[index],
            "ICUSTAY_ID": stays.stay[index],
            "ITEMID": np.where(stays.carevue[index], signal.carevue, signal.metavision),
            "CHARTTIME": _times(stays.intime[index] + seconds),
            "VALUE": pc.cast(pa.array(value), pa.string()),
            "VALUENUM": pa.array(value),
            "VALUEUOM": pa.array(np.full(len(index), signal.unit)),
        }
    )


def columns() -> dict[str, list[str]]:
    """Return the tables and columns of the release, in file order."""
    return {row["table"]: row["columns"].split() for row in typical("mimic3_columns")}


def _complete(table: pa.Table, name: str) -> pa.Table:
    """Return all columns of the release, in order; those that are not generated are null."""
    filled = {column: table[column] for column in table.column_names}
    filled["ROW_ID"] = pa.array(np.arange(1, table.num_rows + 1))
    blank = pa.nulls(table.num_rows, pa.string())
    return pa.table({column: filled.get(column, blank) for column in columns()[name]})


def _times(moments: npt.NDArray[np.datetime64]) -> pa.Array:
    """Format times as MIMIC-III does, 2150-01-31 08:30:00."""
    return pc.strftime(pa.array(moments.astype("datetime64[s]")), format="%Y-%m-%d %H:%M:%S")
