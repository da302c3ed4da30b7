"""Synthetic encounters in the format of the WiDS Datathon 2020, with planted subtypes.

No value comes from a real patient. Two subtypes (cardiac, septic) differ in their vital signs and
laboratory values; in one the risk of death follows lactate, in the other blood pressure.
"""

import os

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import csv

from deepcac.errors import ConfigError
from deepcac.files.atomic import atomic_path
from deepcac.types import Array
from deepcac_study.catalogue.variables import Variable, read_variables

# Mean of each subtype and spread within, for the columns that carry it; the rest is noise.
_SIGNALS: dict[str, tuple[float, float, float]] = {
    "heartrate": (84, 112, 10),
    "sysbp": (132, 104, 13),
    "mbp": (88, 70, 9),
    "temp": (36.7, 38.2, 0.4),
    "resprate": (18, 25, 3),
    "lactate": (1.6, 3.6, 0.8),
    "wbc": (9, 17, 3),
    "creatinine": (1.1, 2.0, 0.4),
    "arterial_ph": (7.40, 7.31, 0.04),
}
_COMPLETE_FLAGS = ("elective_surgery", "apache_post_operative")
# Numbers that the real file has of every encounter.
_COMPLETE = ("hospital_id", "icu_id", "readmission_status", *_COMPLETE_FLAGS)
_OTHER_FLAGS = ("arf_apache", "gcs_unable_apache", "intubated_apache", "ventilated_apache")
_SYSTEMS = ("Cardiovascular", "Sepsis")
MISSING_SHARE, UNKNOWN_PROBABILITY_SHARE = 0.15, 0.05


def simulate(path: str | os.PathLike[str], *, n: int = 800, seed: int = 0) -> None:
    """Write n synthetic encounters as training_v2.csv, the same bytes for the same seed.

    It has the 186 columns of the real one, ``NA`` where missing.
    """
    if n < 1:
        raise ConfigError(f"{n} synthetic encounters asked for; at least one is needed")
    rng = np.random.default_rng(seed)
    subtype = rng.integers(0, 2, n)
    offset = {name: rng.normal(size=n) for name in _SIGNALS}
    logit = np.where(subtype == 0, -2 - 2 * offset["sysbp"], -1.5 + 2 * offset["lactate"])
    risk = 1 / (1 + np.exp(-logit))
    table = {
        "encounter_id": np.arange(1, n + 1).astype(str),
        "patient_id": rng.permutation(n).astype(str),
        "hospital_death": (rng.random(n) < risk).astype(int).astype(str),
    }
    columns = read_variables("wids")
    for column in columns:
        if column.name in table:
            continue
        if column.kind == "category":
            drawn, system = rng.choice(column.levels, n), np.take(_SYSTEMS, subtype)
            table[column.name] = system if column.name == "apache_3j_bodysystem" else drawn
            missing = 0.03 * column.missing
        else:
            values = _number(column, subtype, offset, risk, rng)
            table[column.name] = np.round(values, 3).astype(str)
            missing = 0 if column.name in _COMPLETE else MISSING_SHARE
        table[column.name] = np.where(rng.random(n) < missing, "NA", table[column.name])
    with atomic_path(path) as partial:
        ordered = pa.table({column.name: table[column.name] for column in columns})
        csv.write_csv(ordered, partial, csv.WriteOptions(quoting_style="needed"))


def _number(
    column: Variable,
    subtype: npt.NDArray[np.int64],
    offset: dict[str, Array],
    risk: Array,
    rng: np.random.Generator,
) -> Array:
    """Draw one number column."""
    n, name = len(subtype), column.name
    window, _, rest = name.partition("_")
    measure, _, extreme = rest.rpartition("_")
    if window in ("d1", "h1") and measure in _SIGNALS:
        low, high, sd = _SIGNALS[measure]
        level = np.where(subtype == 0, low, high) + sd * offset[measure]
        # The highest of the day lies above the lowest, and the first hour between them.
        reach = (1.0 if window == "d1" else 0.4) * (1 if extreme == "max" else -1)
        return level + reach * sd * (0.5 + np.abs(rng.normal(size=n)) / 4)
    if name.startswith("apache_4a_"):
        unknown = rng.random(n) < UNKNOWN_PROBABILITY_SHARE
        noisy = np.clip(0.5 * risk + 0.05 + 0.1 * rng.normal(size=n), 0.01, 0.99)
        return np.where(unknown, -1, noisy)
    if name in ("hospital_id", "icu_id"):
        return rng.integers(1, 40, n).astype(float)
    if name == "readmission_status":
        return np.zeros(n)
    if name == "age":
        return np.clip(rng.normal(63, 15, n), 16, 89).round()
    if name in (*_COMPLETE_FLAGS, *_OTHER_FLAGS) or column.meaning == "APACHE comorbidity":
        return (rng.random(n) < 0.1).astype(float)
    return rng.normal(50, 10, n)
