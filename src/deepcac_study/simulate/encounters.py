"""Synthetic hospital stays in the raw format of UCI 296, without data of patients.

Three planted subtypes differ in age, diagnoses, specialty and treatment. The same signals (days in
hospital, admission through the emergency room, number of medications) raise the risk of
readmission in one subtype and lower it in another, so that one linear rule for all is worse than
one per subtype.
"""

import os
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import yaml

from deepcac.errors import ConfigError
from deepcac.types import Ints
from deepcac_study.simulate.packing import write_archive
from deepcac_study.sources.uci_diabetes import MEMBER, medications, variables

FOLDER = "dataset_diabetes"
TRUTH = "SYNTHETIC_SUBTYPES.csv"
FIRST_ENCOUNTER, FIRST_PATIENT = 900_000_001, 900_000_001  # no real id is as large

Texts = npt.NDArray[np.str_]
Subtypes = Ints
Columns = dict[str, npt.NDArray[np.generic]]

LOG_ODDS = -0.5
FURTHER_VISITS = 0.3
RARE_MEDICATION = 0.02


@cache
def subtypes() -> dict[str, dict[str, Any]]:
    """Return the planted subtypes of the table next to this module."""
    folder = resources.files("deepcac_study.simulate")
    return yaml.safe_load((folder / "encounter_subtypes.yaml").read_text(encoding="utf-8"))


def simulate(path: str | os.PathLike[str], *, n: int = 2000, seed: int = 0) -> None:
    """Write a synthetic ``dataset_diabetes.zip`` of n patients.

    It holds ``diabetic_data.csv`` in the format of UCI 296 and the planted subtype of each
    encounter. About a third of the patients have further ones.
    """
    if n < 1:
        raise ConfigError(f"{n} synthetic patients asked for; at least one is needed")
    rng = np.random.default_rng(seed)
    of_patient = rng.choice(len(subtypes()), n, p=_typical("share"))
    # Visit by visit: as in the real file, a patient's first row is the first encounter.
    visits = 1 + rng.poisson(FURTHER_VISITS, n)
    patient = np.concatenate([np.flatnonzero(visits > visit) for visit in range(visits.max())])
    table = _encounters(patient, of_patient[patient], rng)
    truth = pd.DataFrame(
        {
            "encounter_id": table["encounter_id"],
            "synthetic_subtype": np.array(list(subtypes()))[of_patient[patient]],
        }
    )
    frames = {f"{FOLDER}/{MEMBER}": table, f"{FOLDER}/{TRUTH}": truth}
    texts = (frame.to_csv(index=False, lineterminator="\r\n") for frame in frames.values())
    write_archive(path, zip(frames, texts, strict=True))


def _encounters(
    patient: npt.NDArray[np.int64], subtype: Subtypes, rng: np.random.Generator
) -> pd.DataFrame:
    columns: Columns = {
        "encounter_id": FIRST_ENCOUNTER + 6 * np.arange(len(patient)),
        "patient_nbr": FIRST_PATIENT + 9 * patient,
    }
    columns |= _demography(subtype, rng)
    columns |= _stay(subtype, rng)
    columns |= _treatment(subtype, rng)
    columns["readmitted"] = _readmitted(columns, subtype, rng)
    return pd.DataFrame({name: columns[name] for name in variables()})


def _demography(subtype: Subtypes, rng: np.random.Generator) -> Columns:
    n = len(subtype)
    races = ("Caucasian", "AfricanAmerican", "Hispanic", "Asian", "Other", "?")
    return {
        "race": rng.choice(races, n, p=(0.74, 0.19, 0.02, 0.01, 0.02, 0.02)),
        "gender": rng.choice(("Female", "Male"), n),
        "age": np.array(variables()["age"].levels)[_drawn(subtype, "age", rng)],
        "weight": rng.choice(("?", "[75-100)", "[50-75)"), n, p=(0.97, 0.02, 0.01)),
        "payer_code": rng.choice(("?", "MC", "HM", "SP", "BC"), n, p=(0.4, 0.35, 0.1, 0.1, 0.05)),
    }


def _stay(subtype: Subtypes, rng: np.random.Generator) -> Columns:
    n = len(subtype)
    days = np.array(_typical("days"))[subtype]
    ends = (1, 3, 6, 18, 2, 11, 13)
    return {
        "admission_type_id": rng.choice((1, 2, 3, 6), n, p=(0.55, 0.2, 0.2, 0.05)),
        "discharge_disposition_id": rng.choice(
            ends, n, p=(0.63, 0.13, 0.12, 0.05, 0.04, 0.02, 0.01)
        ),
        "admission_source_id": rng.choice((7, 1, 17, 4), n, p=(0.5, 0.38, 0.08, 0.04)),
        "time_in_hospital": np.clip(rng.poisson(days), 1, 14),
        "medical_specialty": _drawn(subtype, "specialties", rng),
        "num_lab_procedures": np.clip(rng.normal(43, 18, n).round(), 1, 120).astype(np.int64),
        "num_procedures": np.minimum(rng.poisson(1.3, n), 6),
        "num_medications": 1 + rng.poisson(15, n),
        "number_outpatient": rng.poisson(0.3, n),
        "number_emergency": rng.poisson(0.15, n),
        "number_inpatient": rng.poisson(0.4, n),
        "diag_1": _drawn(subtype, "diagnoses", rng),
        "diag_2": rng.choice(("276", "428", "250", "427", "401", "E878", "?"), n),
        "diag_3": rng.choice(("250", "401", "276", "428", "V45", "?"), n),
        "number_diagnoses": rng.integers(3, 10, n),
    }


def _treatment(subtype: Subtypes, rng: np.random.Generator) -> Columns:
    n = len(subtype)
    columns: Columns = {
        "max_glu_serum": rng.choice(
            ("None", "Norm", ">200", ">300"), n, p=(0.95, 0.02, 0.015, 0.015)
        ),
        "A1Cresult": _weighted(subtype, ("None", "Norm", ">7", ">8"), "a1c", rng),
    }
    doses = ("No", "Steady", "Up", "Down")
    for name in medications():
        given = rng.random(n) < (0.2 if name == "metformin" else RARE_MEDICATION)
        columns[name] = np.where(given, rng.choice(doses[1:], n, p=(0.9, 0.05, 0.05)), "No")
    columns["insulin"] = _weighted(subtype, doses, "insulin", rng)
    taken = np.column_stack([columns[name] for name in medications()])
    columns["change"] = np.where(np.isin(taken, ("Up", "Down")).any(axis=1), "Ch", "No")
    columns["diabetesMed"] = np.where((taken != "No").any(axis=1), "Yes", "No")
    return columns


def _readmitted(columns: Columns, subtype: Subtypes, rng: np.random.Generator) -> Texts:
    """Draw "<30", ">30" or "NO"; each subtype weighs the three signals its way."""
    days, emergency = columns["time_in_hospital"], columns["admission_source_id"] == 7
    signals = np.column_stack([days, emergency, columns["num_medications"]]).astype(np.float64)
    spread = signals.std(axis=0)
    z = (signals - signals.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    effects = np.array(_typical("effects"))[subtype]
    risk = 1 / (1 + np.exp(-(LOG_ODDS + (z * effects).sum(axis=1))))
    soon = rng.random(len(subtype)) < 0.25
    again = rng.random(len(subtype)) < risk
    return np.where(again, np.where(soon, "<30", ">30"), "NO")


def _typical(name: str) -> list[Any]:
    """Return the entry `name` of each subtype."""
    return [kind[name] for kind in subtypes().values()]


def _drawn(subtype: Subtypes, name: str, rng: np.random.Generator) -> npt.NDArray[np.generic]:
    """Draw one of the subtype's values for each row, with equal probabilities."""
    values = [rng.choice(np.array(options), len(subtype)) for options in _typical(name)]
    return np.choose(subtype, values)


def _weighted(
    subtype: Subtypes, values: Sequence[str], name: str, rng: np.random.Generator
) -> npt.NDArray[np.generic]:
    """Draw one of the values for each row, with the subtype's probabilities."""
    return np.choose(subtype, [rng.choice(values, len(subtype), p=p) for p in _typical(name)])
