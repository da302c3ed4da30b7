"""Synthetic ICU stays in the raw format of PhysioNet Challenge 2012, without data of patients.

Three planted subtypes differ in many variables, and the same three signals (heart rate, temperature
and glucose) raise the risk of death in one subtype and lower it in another. Over all stays their
effects cancel, so a linear model needs the subtypes. Missing values, the code -1 and the errors
that the cleaning rules correct are planted as well.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from deepcac.errors import ConfigError
from deepcac.files.atomic import atomic_path
from deepcac_study.simulate.packing import typical, write_archive
from deepcac_study.sources.physionet2012 import OUTCOMES_HEADER
from deepcac_study.sources.physionet2012_events import HEADER, HOURS

SETS = ("a", "b", "c")
SUBTYPES = ("cardiac", "septic", "neuro")
FIRST_RECORD = 900_001  # no record of the challenge has such a number
# Effect of one standard deviation on the log odds of death, by subtype.
OPPOSED = {"HR": (1.8, -1.8, 0.0), "Temp": (0.0, 1.8, -1.8), "Glucose": (-1.8, 0.0, 1.8)}
SHARED = {"BUN": 1.0, "GCS": -1.0, "HCO3": -0.9, "Platelets": -0.9}
LOG_ODDS = -3.4
ICU_TYPE = ((0.5, 0.5, 0.0, 0.0), (0.05, 0.05, 0.8, 0.1), (0.0, 0.0, 0.2, 0.8))
ARTERIAL = {"NIDiasABP": "DiasABP", "NIMAP": "MAP", "NISysABP": "SysABP"}

# What a slip of a raw chart makes of a value: the cleaning rules undo or remove it.
_SLIPPED: dict[str, Callable[[float], float]] = {
    "hundredth": lambda value: value / 100,
    "tenth": lambda value: value / 10,
    "inches as cm": lambda value: value * 2.54,
    "code": lambda value: -1.0,
    "twice to Celsius": lambda value: (value - 32) * 5 / 9,
    "Fahrenheit": lambda value: value * 9 / 5 + 32,
    "zero": lambda value: 0.0,
    "without point": lambda value: value * 100,
    "tenfold": lambda value: value * 10,
    "nameless": lambda value: value,
}

Event = tuple[int, str, float]


@dataclass(frozen=True)
class Signal:
    """Parameters of a variable: its level in each subtype, and how often it is measured."""

    name: str
    level: tuple[float, float, float]  # mean of each of `SUBTYPES`, in the unit of the challenge
    # Standard deviation between stays of one subtype, and between measurements of one stay.
    between: float
    within: float
    count: float  # mean number of measurements, where there are any
    share: float  # share of stays with any measurement
    # Bounds that values are clipped to.
    low: float
    high: float


@dataclass(frozen=True)
class Stay:
    """One synthetic stay: its hidden subtype, its events and its outcomes."""

    record_id: int
    subtype: int
    events: list[Event]
    outcome: tuple[int, int, int, int, int]


@cache
def signals() -> tuple[Signal, ...]:
    """Read the table of signals next to this module."""
    table = []
    for row in typical("icu_signals"):
        name, *fields = row.values()
        numbers = [float(field) for field in fields]
        table.append(Signal(name, (numbers[0], numbers[1], numbers[2]), *numbers[3:]))
    return tuple(table)


def _measure(signal: Signal, level: float, rng: np.random.Generator) -> list[Event]:
    """Draw the measurements of one variable in one stay."""
    if rng.random() > signal.share:
        return []
    count = 1 + rng.poisson(max(signal.count - 1, 0))
    minutes = np.sort(rng.integers(0, 60 * HOURS + 1, size=count)).tolist()
    values = np.clip(rng.normal(level, signal.within, size=count), signal.low, signal.high)
    if signal.name == "GCS":
        values = values.round()
    return [(minute, signal.name, value) for minute, value in zip(minutes, values, strict=True)]


def _care(subtype: int, weight: float, rng: np.random.Generator) -> list[Event]:
    """Draw urine output, body weight and ventilation."""
    hours = range(1, HOURS, 3)
    events: list[Event] = [
        (60 * hour, "Urine", float(max(rng.normal((110, 45, 120)[subtype], 35), 0)))
        for hour in hours
    ]
    events += [(60 * hour, "Weight", weight + 0.02 * hour) for hour in range(2, HOURS, 8)]
    if rng.random() < (0.6, 0.7, 0.5)[subtype]:
        start = int(rng.integers(0, 600))
        stop = int(rng.integers(start + 60, 60 * HOURS))
        events += [(minute, "MechVent", 1.0) for minute in range(start, stop, 240)]
    return events


def _outcome(
    subtype: int, z: dict[str, float], rng: np.random.Generator
) -> tuple[int, int, int, int, int]:
    """Draw SAPS-I, SOFA, length of stay, survival and death in hospital from the stay's signals."""
    opposed = sum(effect[subtype] * z[name] for name, effect in OPPOSED.items())
    score = opposed + sum(effect * z[name] for name, effect in SHARED.items())
    death = int(rng.random() < 1 / (1 + np.exp(-(LOG_ODDS + score))))
    days = int(np.clip(np.exp(rng.normal(2.2 + 0.3 * score, 0.35)), 2, 200).round())
    saps = int(np.clip(rng.normal(14 + score, 3), 0, 34))
    sofa = int(np.clip(rng.normal(6 + 0.7 * score, 2), 0, 22))
    survival = int(rng.integers(2, days + 1)) if death else -1
    if not death and rng.random() < 0.3:
        survival = days + int(rng.integers(1, 900))
    saps, sofa = (-1 if rng.random() < 0.02 else number for number in (saps, sofa))
    return saps, sofa, -1 if rng.random() < 0.02 else days, survival, death


def _descriptors(subtype: int, weight: float, rng: np.random.Generator) -> list[Event]:
    """Draw the descriptors at 00:00; -1 where they are unknown."""
    age = np.clip(rng.normal((68, 64, 55)[subtype], 12), 16, 90)
    height = rng.normal(170, 10) if rng.random() < 0.55 else -1.0
    return [
        (0, "Age", float(np.round(age))),
        (0, "Gender", float(rng.random() < 0.56)),
        (0, "Height", float(height)),
        (0, "ICUType", float(1 + rng.choice(4, p=ICU_TYPE[subtype]))),
        (0, "Weight", weight if rng.random() < 0.92 else -1.0),
    ]


def _arterial(events: list[Event], rng: np.random.Generator) -> list[Event]:
    """Return arterial pressures at the times of the cuff's measurements."""
    return [
        (minute, ARTERIAL[name], value + rng.normal(0, 3))
        for minute, name, value in events
        if name in ARTERIAL
    ]


def _stay(record_id: int, rng: np.random.Generator) -> Stay:
    """Draw one stay, without planted errors."""
    subtype = int(rng.integers(len(SUBTYPES)))
    z = {signal.name: float(rng.standard_normal()) for signal in signals()}
    weight = float(np.clip(rng.normal(82, 15), 40, 180))
    descriptors = _descriptors(subtype, weight, rng)
    measured = _care(subtype, weight, rng)
    for signal in signals():
        level = signal.level[subtype] + signal.between * z[signal.name]
        measured += _measure(signal, level, rng)
    if rng.random() < 0.7:
        measured += _arterial(measured, rng)
    measured.sort(key=lambda event: event[0])
    events = [(0, "RecordID", float(record_id)), *descriptors, *measured]
    return Stay(record_id, subtype, events, _outcome(subtype, z, rng))


@cache
def slips() -> list[tuple[str, str, float]]:
    """Return variable, kind and probability of each planted error; more than in the challenge."""
    rows = typical("chart_slips")
    return [(row["variable"], row["slip"], float(row["often"])) for row in rows]


def spoil(events: list[Event], rng: np.random.Generator) -> list[Event]:
    """Return the events of a stay with planted errors: wrong values, and Albumin without a name."""
    result = []
    for minute, name, value in events:
        for variable, slip, often in slips():
            if variable == name and value != -1 and rng.random() < often:
                value = _SLIPPED[slip](value)
                name = "" if slip == "nameless" else name
                break
        result.append((minute, name, value))
    return result


def _file(stay: Stay) -> bytes:
    """Return the content of one stay's file, with four digits per value as in the challenge."""
    lines = []
    for minute, name, value in stay.events:
        digits = f"{value:.0f}" if name == "RecordID" else f"{value:.4g}"
        lines.append(f"{minute // 60:02d}:{minute % 60:02d},{name},{digits}\n")
    return HEADER + "".join(lines).encode()


def simulate(folder: str | os.PathLike[str], *, n: int, seed: int = 2012) -> None:
    """Write n synthetic stays as raw files in the format of the challenge.

    These are ``set-x.archive`` and ``Outcomes-x.txt`` of the sets a, b and c, each with a third of
    the stays, ``subtypes.csv`` with the planted ones, and an explanation in ``SYNTHETIC.txt``.
    """
    if n < len(SETS):
        raise ConfigError(f"{n} synthetic stays asked for; each of {len(SETS)} sets needs one")
    folder = Path(folder)
    rng = np.random.default_rng(seed)
    drawn = [_stay(FIRST_RECORD + i, rng) for i in range(n)]
    stays = [replace(stay, events=spoil(stay.events, rng)) for stay in drawn]
    for k, letter in enumerate(SETS):
        part = stays[k * n // 3 : (k + 1) * n // 3]
        write_archive(
            folder / f"set-{letter}.archive",
            ((f"set-{letter}/{stay.record_id}.txt", _file(stay)) for stay in part),
        )
        rows = [",".join(map(str, (stay.record_id, *stay.outcome))) for stay in part]
        _write_text(folder / f"Outcomes-{letter}.txt", [OUTCOMES_HEADER, *rows])
    truth = [f"{stay.record_id},{SUBTYPES[stay.subtype]}" for stay in stays]
    _write_text(folder / "subtypes.csv", ["record_id,subtype", *truth])
    _write_text(
        folder / "SYNTHETIC.txt",
        [
            "These files are synthetic: drawn from a random number generator in the format of",
            f"PhysioNet Challenge 2012 ({n} stays, seed {seed}). No real patients.",
        ],
    )


def _write_text(path: Path, lines: list[str]) -> None:
    with atomic_path(path) as partial:
        partial.write_text("\n".join(lines) + "\n", encoding="utf-8")
