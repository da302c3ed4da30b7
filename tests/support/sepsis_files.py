"""Raw files of PhysioNet 2019 written by hand, for the tests of its reader and its features."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

HEADER = (
    "HR|O2Sat|Temp|SBP|MAP|DBP|Resp|EtCO2|BaseExcess|HCO3|FiO2|pH|PaCO2|SaO2|AST|BUN|Alkalinephos|"
    "Calcium|Chloride|Creatinine|Bilirubin_direct|Glucose|Lactate|Magnesium|Phosphate|Potassium|"
    "Bilirubin_total|TroponinI|Hct|Hgb|PTT|WBC|Fibrinogen|Platelets|Age|Gender|Unit1|Unit2|"
    "HospAdmTime|ICULOS|SepsisLabel"
)
NAMES = HEADER.split("|")


def stay(
    hours: int, *, label_from: int | None = None, **columns: Sequence[float] | float
) -> np.ndarray:
    """Return the rows of one stay, NaN but for the given columns, age, gender, hours and label."""
    rows = np.full((hours, len(NAMES)), np.nan)
    for name, values in {"Age": 60, "Gender": 1, "HospAdmTime": -2.5, **columns}.items():
        rows[:, NAMES.index(name)] = values
    rows[:, NAMES.index("ICULOS")] = np.arange(1, hours + 1)
    rows[:, NAMES.index("SepsisLabel")] = (
        0 if label_from is None else np.arange(hours) >= label_from
    )
    return rows


def text(rows: np.ndarray) -> str:
    """Write rows as one raw file."""
    lines = ["|".join("NaN" if np.isnan(v) else f"{v:.12g}" for v in row) for row in rows]
    return "\n".join([HEADER, *lines]) + "\n"


def archive(path: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write a zip of raw files, by member name."""
    with zipfile.ZipFile(path, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
    return path


def tidy(folder: Path, stays: Mapping[int, np.ndarray]) -> Path:
    """Write stays by patient id to an archive each hospital, and extract them."""
    from deepcac_study.sources.physionet2019 import extract

    parts: dict[str, dict[str, str]] = {"A": {}, "B": {}}
    for patient, rows in stays.items():
        part = "A" if patient < 100_000 else "B"
        parts[part][f"training_set{part}/p{patient:06d}.psv"] = text(rows)
    archives = {
        part: archive(folder / f"training_set{part}.archive", files)
        for part, files in parts.items()
        if files
    }
    extract(archives, folder / "hourly.parquet")
    return folder / "hourly.parquet"
