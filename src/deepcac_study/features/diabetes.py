"""Features of the UCI diabetes encounters: the nine columns of the papers, and all usable ones.

Both data sets have the same rows: the first row of each patient in the file, unless the stay ended
in death or hospice. `row_id` is the row number in the file, so that rows ordered by id are in file
order, which the published hold-out depends on; the tidy table holds `encounter_id`, too.
"""

import os
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from deepcac.errors import ConfigError, DataError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.files.storage import read_table
from deepcac.types import Ints
from deepcac_study.catalogue.protocol import SOUND, Protocol
from deepcac_study.cohort import Flow, steps
from deepcac_study.features.columns.encoding import indicators
from deepcac_study.sources.uci_diabetes import medications, variables

Codes = Ints

# Died in hospital, or discharged to hospice: nobody of these can be readmitted.
DIED_OR_HOSPICE = (11, 13, 14, 19, 20, 21)
# Ids of IDs_mapping.csv in the archive.
ADMISSION_TYPES = tuple(range(1, 9))
DISCHARGES = tuple(id_ for id_ in range(1, 31) if id_ not in DIED_OR_HOSPICE)
ADMISSION_SOURCES = tuple(id_ for id_ in range(1, 27) if id_ != 16)

# Published codes of the nine columns, by name; the order is the order of their one-hot columns.
RACE = {"Caucasian": 0, "AfricanAmerican": 1, "other": 3, "missing": 4}
GENDER = {"Male": 0, "Female": 1, "Unknown": 2}
AGE = {"under 30": 0, "30 to 59": 1, "60 and over": 2}
SPECIALTY = {
    "Cardiology": 0,
    "Family/GeneralPractice": 1,
    "InternalMedicine": 2,
    "Surgery": 3,
    "missing": 4,
    "other": 5,
}
DIAGNOSIS = {
    "circulatory": 0,
    "diabetes": 1,
    "respiratory": 2,
    "digestive": 3,
    "injury": 4,
    "musculoskeletal": 5,
    "genitourinary": 6,
    "neoplasms": 7,
    "other": 8,
}
HBA1C = {"none": 0, "normal": 1, "high, medication kept": 2, "high, medication changed": 3}

# First and last ICD-9 category of each group (Strack et al. 2014, Table 2).
ICD9 = {
    "circulatory": ((390, 459), (785, 785)),
    "diabetes": ((250, 250),),
    "respiratory": ((460, 519), (786, 786)),
    "digestive": ((520, 579), (787, 787)),
    "injury": ((800, 999),),
    "musculoskeletal": ((710, 739),),
    "genitourinary": ((580, 629), (788, 788)),
    "neoplasms": ((140, 239),),
}

COUNTS = (
    *("time_in_hospital", "num_lab_procedures", "num_procedures", "num_medications"),
    *("number_outpatient", "number_emergency", "number_inpatient", "number_diagnoses"),
)
# Specialties of more than 0.8 % of all encounters; the 61 rarer ones are "other".
FULL_SPECIALTIES = (
    *("InternalMedicine", "Emergency/Trauma", "Family/GeneralPractice", "Cardiology"),
    *("Surgery-General", "Nephrology", "Orthopedics", "Orthopedics-Reconstructive"),
    *("Radiologist", "Pulmonology", "Psychiatry"),
)
PAYERS = (
    *("MC", "HM", "SP", "BC", "MD", "CP", "UN", "CM", "OG"),
    *("PO", "DM", "CH", "WC", "OT", "MP", "SI", "FR"),
)
NEVER_GIVEN = frozenset({"examide", "citoglipton"})


def diabetes(
    columns: str, tidy: str | os.PathLike[str], protocol: Protocol = SOUND
) -> tuple[FeatureMatrix, Flow]:
    """Build the "nine" or "all" columns of the tidy encounters, and the cohort flow.

    With switch U2 the nine columns are integer codes.
    """
    rows, flow = cohort(read_table(tidy).to_pandas())
    match columns:
        case "nine":
            return nine_columns(rows, protocol), flow
        case "all":
            return all_columns(rows), flow
    raise ConfigError(f"no set of columns {columns!r}; there are nine and all")


def cohort(encounters: pd.DataFrame) -> tuple[pd.DataFrame, Flow]:
    """Select the papers' rows, in file order (DeepCAC; rebuilt from the published files)."""
    first = encounters[~encounters["patient_nbr"].duplicated()]
    alive = first[~first["discharge_disposition_id"].isin(DIED_OR_HOSPICE)]
    if alive.empty:
        raise DataError("diabetes: no encounter is left after the exclusions; check the raw file")
    flow = steps(
        {
            "encounters in the file": len(encounters),
            "first row of each patient": len(first),
            "not ended in death or hospice": len(alive),
        }
    )
    return alive, flow


def nine_columns(rows: pd.DataFrame, protocol: Protocol = SOUND) -> FeatureMatrix:
    """Return the nine columns of the papers, as codes (switch U2) or one-hot.

    With U2 there are 9 columns; without, 79: days in hospital, and one per possible value of each
    of the eight categories. Label 1 is a readmission at any time.
    """
    kinds = variables()
    days = np.asarray(rows["time_in_hospital"], np.int64)
    coded: dict[str, tuple[Codes, Mapping[str, int] | None]] = {
        "race": (_race(rows["race"]), RACE),
        "gender": (
            np.asarray(rows["gender"].map(_codes(kinds["gender"].levels)), np.int64),
            GENDER,
        ),
        "age": (np.digitize(np.asarray(rows["age"].map(_codes(kinds["age"].levels))), [3, 6]), AGE),
        "discharge_disposition_id": _ids(rows, "discharge_disposition_id", DISCHARGES),
        "admission_source_id": _ids(rows, "admission_source_id", ADMISSION_SOURCES),
        "time_in_hospital": (days, None),
        "medical_specialty": (_specialty(rows["medical_specialty"]), SPECIALTY),
        "diag_1": (icd9_group(rows["diag_1"]), DIAGNOSIS),
        "A1Cresult": (_hba1c(rows), HBA1C),
    }
    if "U2" in protocol:
        return _matrix(rows, {name: codes for name, (codes, _) in coded.items()})
    columns: dict[str, npt.NDArray[np.generic]] = {}
    for name, (codes, values) in coded.items():
        columns.update({name: codes} if values is None else indicators(name, codes, values))
    return _matrix(rows, columns)


def all_columns(rows: pd.DataFrame) -> FeatureMatrix:
    """Return every usable column of the cohort's encounters, without data of later ones.

    Counts stay counts and age is the middle of its decade. Categories are one-hot from fixed lists;
    diagnoses are ICD-9 groups. A medication has two columns: given or not, and its dose lowered
    (-1), kept or raised (1). Left out: both ids, ``weight`` (missing in 96 % of the cohort), and
    two medications that nobody was given. Label 1 is a readmission at any time.
    """
    columns: dict[str, npt.NDArray[np.generic]] = {name: rows[name].to_numpy() for name in COUNTS}
    columns["age"] = rows["age"].map(_codes(variables()["age"].levels)).to_numpy() * 10 + 5
    for name in ("race", "gender", "max_glu_serum", "A1Cresult"):
        columns.update(_levels(rows[name], variables()[name].levels))
    columns.update(_levels(rows["medical_specialty"], (*FULL_SPECIALTIES, "other")))
    columns.update(_levels(rows["payer_code"], (*PAYERS, "other")))
    for name, ids in (
        ("admission_type_id", ADMISSION_TYPES),
        ("discharge_disposition_id", DISCHARGES),
        ("admission_source_id", ADMISSION_SOURCES),
    ):
        columns.update(indicators(name, *_ids(rows, name, ids)))
    for name in ("diag_1", "diag_2", "diag_3"):
        columns.update(indicators(name, icd9_group(rows[name]), DIAGNOSIS))
        columns[f"{name}=missing"] = rows[name].isna().to_numpy()
    for name in medications():
        if name not in NEVER_GIVEN:
            columns[name] = (rows[name] != "No").to_numpy()
            dose = rows[name].map({"Down": -1, "Up": 1}).fillna(0)
            columns[f"{name} dose"] = dose.to_numpy()
    columns["change"] = (rows["change"] == "Ch").to_numpy()
    columns["diabetesMed"] = (rows["diabetesMed"] == "Yes").to_numpy()
    return _matrix(rows, columns)


def icd9_group(code: pd.Series) -> Codes:
    """Return the `DIAGNOSIS` id of each ICD-9 code; V, E and missing codes are "other"."""
    category = np.floor(pd.to_numeric(code, errors="coerce").to_numpy(np.float64))
    group = np.full(len(code), DIAGNOSIS["other"], np.int64)
    for name, ranges in ICD9.items():
        for first, last in ranges:
            group[(category >= first) & (category <= last)] = DIAGNOSIS[name]
    return group


def _race(race: pd.Series) -> Codes:
    code = race.map({name: RACE.get(name, RACE["other"]) for name in variables()["race"].levels})
    return np.asarray(code.fillna(RACE["missing"]), np.int64)


def _specialty(specialty: pd.Series) -> Codes:
    code = specialty.map(SPECIALTY).fillna(SPECIALTY["other"])
    code = code.mask(
        specialty.str.startswith("Surg").fillna(False).astype(bool), SPECIALTY["Surgery"]
    )
    return np.asarray(code.mask(specialty.isna(), SPECIALTY["missing"]), np.int64)


def _hba1c(rows: pd.DataFrame) -> Codes:
    """Return 0 none, 1 normal, 2 high, 3 high with a change of medication."""
    code = np.asarray(rows["A1Cresult"].map({"None": 0, "Norm": 1, ">7": 2, ">8": 2}), np.int64)
    return np.where((code == 2) & np.asarray(rows["change"] == "Ch"), 3, code)


def _ids(rows: pd.DataFrame, name: str, ids: Sequence[int]) -> tuple[Codes, Mapping[str, int]]:
    """Return the ids as codes and their levels; DataError for an id not mapped."""
    unknown = rows.loc[~rows[name].isin(ids), ["encounter_id", name]]
    if len(unknown):
        encounter, id_ = unknown.iloc[0]
        raise DataError(
            f"encounter {encounter}: {name} {id_} is not in IDs_mapping.csv of the archive"
        )
    return np.asarray(rows[name], np.int64), {str(id_): id_ for id_ in ids}


def _codes(values: Sequence[str]) -> dict[str, int]:
    return {value: code for code, value in enumerate(values)}


def _levels(column: pd.Series, levels: Sequence[str]) -> dict[str, npt.NDArray[np.float64]]:
    """One-hot encode text; unlisted values become "other", null "missing"."""
    name = str(column.name)
    grouped = column.where(column.isin(levels) | column.isna(), "other").to_numpy(object)
    return indicators(name, grouped, levels, missing=variables()[name].missing)


def _matrix(rows: pd.DataFrame, columns: Mapping[str, npt.NDArray[np.generic]]) -> FeatureMatrix:
    return FeatureMatrix(
        row_id=np.asarray(rows["row"], np.int64),
        label=np.asarray(rows["readmitted"] != "NO", np.int64),
        X=np.column_stack([np.asarray(column, np.float64) for column in columns.values()]),
        names=tuple(columns),
    )
