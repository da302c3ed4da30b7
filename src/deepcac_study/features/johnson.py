"""The features of Johnson et al. 2012 for PhysioNet Challenge 2012.

114 features per stay: descriptors at admission, the first, last, lowest, highest and median of
eleven signs, the first and last of 24 laboratory and other values, ventilation and urine output.
CAC v2 (5.1) and DeepCAC (section 8) use the published table of these features, with its faults
(switch C9); `docs/data.md` compares the two cell by cell.
"""

import csv
from dataclasses import dataclass
from importlib import resources

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deepcac.errors import DataError
from deepcac.types import Array
from deepcac_study.catalogue.protocol import SOUND, Protocol
from deepcac_study.features.columns.hourly import AGGREGATES, aggregate
from deepcac_study.features.columns.johnson_cleaning import ADMISSION, MEASURED, Rule, clean
from deepcac_study.sources.physionet2012_events import PARAMETERS

FIVE = (
    *("DiasABP", "GCS", "Glucose", "HR", "MAP", "NIDiasABP", "NIMAP", "NISysABP", "RespRate"),
    *("SaO2", "Temp"),
)
TWO = (
    *("ALP", "ALT", "AST", "Albumin", "BUN", "Bilirubin", "Cholesterol", "Creatinine", "FiO2"),
    *("HCO3", "HCT", "K", "Lactate", "Mg", "Na", "PaCO2", "PaO2", "Platelets", "SysABP"),
    *("TroponinI", "TroponinT", "WBC", "Weight", "pH"),
)
AT_ADMISSION = ("Age", "Gender", "Height", "Weight")
UNITS = {"CCU": 1, "CSRU": 2, "SICU": 4}  # codes of ICUType; 3, the medical unit, is the reference
LAST_8_HOURS = 40 * 60

Columns = dict[str, Array]


@dataclass(frozen=True)
class Series:
    """All measurements of one variable, shape (m,), records contiguous, in time order.

    `row` is the record's position among the outcomes, `minute` counts since admission; `value` is
    in the unit of `parameter_table`, NaN where a cleaning rule removed it.
    """

    row: npt.NDArray[np.intp]
    minute: npt.NDArray[np.int16]
    value: Array

    def where(self, taken: npt.NDArray[np.bool_]) -> "Series":
        """Return the measurements selected by a mask (m,)."""
        return Series(self.row[taken], self.minute[taken], self.value[taken])


@dataclass(frozen=True)
class Repair:
    """A cleaning rule and the number of values that it changed."""

    rule: Rule
    count: int


def parameter_table() -> list[dict[str, str]]:
    """Return name, unit and plausible range of each parameter, with the range's source.

    The ranges are for documentation and plots; only the cleaning rules remove values.
    ``mimic3-benchmarks`` is the valid range of Harutyunyan et al., Scientific Data 2019
    (``resources/variable_ranges.csv``); ``challenge`` is the description of the challenge.
    """
    text = (resources.files("deepcac_study.features") / "johnson_variables.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def series(events: pa.Table, record_id: npt.NDArray[np.int64]) -> dict[str, Series]:
    """Split tidy events by variable of `PARAMETERS`; `record_id` are those of the outcomes, sorted.

    Events without a parameter name are left out; a record with events and no outcome is a
    `DataError`.
    """
    stay = events["record_id"].to_numpy()
    start = np.flatnonzero(np.diff(stay, prepend=-1))  # records are contiguous
    place = np.minimum(np.searchsorted(record_id, stay[start]), len(record_id) - 1)
    if (stranger := record_id[place] != stay[start]).any():
        raise DataError(f"record {stay[start][stranger.argmax()]} has events and no outcome")
    row = np.repeat(place, np.diff(start, append=len(stay)))
    parameter = events["parameter"].unify_dictionaries().combine_chunks()
    code = parameter.indices.fill_null(-1).to_numpy().astype(np.int8)
    order = np.argsort(code, kind="stable")  # one-byte keys: a counting sort
    ends = np.searchsorted(code, np.arange(len(parameter.dictionary) + 1), sorter=order)
    minute, value = events["minute"].to_numpy(), events["value"].to_numpy()
    nothing = Series(row[:0], minute[:0], value[:0])
    by_variable = dict.fromkeys(PARAMETERS, nothing)
    for j, name in enumerate(parameter.dictionary.to_pylist()):
        taken = order[ends[j] : ends[j + 1]]
        by_variable[name] = Series(row[taken], minute[taken], value[taken])
    return by_variable


def _admission(by_variable: dict[str, Series], n: int) -> Columns:
    """Return the descriptors at 00:00, the last of repeated ones."""
    columns = {}
    for name in (*AT_ADMISSION, "ICUType"):
        first = by_variable[name].where(by_variable[name].minute == 0)
        columns[name] = np.full(n, np.nan)
        columns[name][first.row] = first.value
    return columns


def _summaries(by_variable: dict[str, Series], n: int) -> Columns:
    """Return the summaries of signs and laboratory values, in the published order."""
    table = {
        name: summarise(by_variable[name].row, by_variable[name].value, n) for name in (*FIVE, *TWO)
    }
    columns = {f"{v}_{s}": table[v][:, j] for j, s in enumerate(AGGREGATES) for v in FIVE}
    return columns | {f"{v}_{s}": table[v][:, j] for j, s in enumerate(AGGREGATES[:2]) for v in TWO}


def _total(of: Series, n: int) -> Array:
    """Return the sum of each record's values; NaN for a record without one."""
    count = np.bincount(of.row, minlength=n)
    return np.where(count > 0, np.bincount(of.row, weights=of.value, minlength=n), np.nan)


def _ventilation(by_variable: dict[str, Series], n: int) -> Columns:
    """Return start and span of the ventilator records, and whether they reach the last 8 hours."""
    records = by_variable["MechVent"]
    minutes = summarise(records.row, records.minute.astype(np.float64), n)
    start, end = minutes[:, 0], minutes[:, 1]
    late = np.where(np.isnan(end), np.nan, end >= LAST_8_HOURS)
    return {"MechVentStartTime": start, "MechVentDuration": end - start, "MechVentLast8Hour": late}


def _repairs(name: str, rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules if rule.variable == name)


def cleaned_series(
    events: pa.Table, record_id: npt.NDArray[np.int64], protocol: Protocol = SOUND
) -> tuple[Columns, dict[str, Series], list[Repair]]:
    """Split tidy events by variable, and clean them as for `johnson_features`.

    Returns the descriptors at 00:00, including ``ICUType``, as columns (n,); the measurements,
    without the weight at 00:00; and the counts of each cleaning rule.
    """
    by_variable = series(events, record_id)
    admission = _admission(by_variable, len(record_id))
    by_variable["Weight"] = by_variable["Weight"].where(by_variable["Weight"].minute > 0)
    repairs: list[Repair] = []
    for name in AT_ADMISSION:
        rules = _repairs(name, ADMISSION)
        admission[name], counts = clean(
            admission[name], rules, by_raw_value=name == "Height" and "C9" in protocol
        )
        repairs += map(Repair, rules, counts)
    for name in (*FIVE, *TWO):
        rules = _repairs(name, MEASURED)
        value, counts = clean(by_variable[name].value, rules)
        by_variable[name] = Series(by_variable[name].row, by_variable[name].minute, value)
        repairs += map(Repair, rules, counts)
    return admission, by_variable, repairs


def johnson_features(
    events: pa.Table, record_id: npt.NDArray[np.int64], protocol: Protocol = SOUND
) -> tuple[Columns, list[Repair]]:
    """Compute the 114 features in the published order, and the counts of each cleaning rule.

    Features are of shape (n,), one value per record of the outcomes, in ascending order; NaN is
    missing. With switch C9 ``UrineOutputSum`` counts ventilator records, and the repairs of height
    accumulate, as in the published table; without, it is the sum of urine, in mL.
    """
    n = len(record_id)
    admission, by_variable, repairs = cleaned_series(events, record_id, protocol)
    kind = admission.pop("ICUType")
    columns = admission | {unit: (kind == code).astype(float) for unit, code in UNITS.items()}
    columns |= _summaries(by_variable, n) | _ventilation(by_variable, n)
    columns["UrineOutputSum"] = _total(by_variable["MechVent" if "C9" in protocol else "Urine"], n)
    return columns, repairs


def summarise(
    row: npt.NDArray[np.intp], value: npt.NDArray[np.float64], n: int
) -> npt.NDArray[np.float64]:
    """Summarise one variable for each of n records, missing values left out: `AGGREGATES`, (n, 5).

    `row`, of shape (m,), is the record of each measurement; records are contiguous, in time order.
    A record without a measurement is NaN.
    """
    result = np.full((n, len(AGGREGATES)), np.nan)
    begin = np.flatnonzero(np.diff(row, prepend=-1))
    if len(begin):
        result[row[begin]] = aggregate(value, begin, np.append(begin[1:], len(row)))
    return result
