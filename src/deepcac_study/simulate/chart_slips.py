"""Slips of raw ICU charts, put into synthetic stays: what the cleaning rules undo or remove."""

import numpy as np

Event = tuple[int, str, float]

# Variable, what a slip makes of a value, and how often. In the challenge they are far rarer.
SLIPS = (
    ("Height", "hundredth", 0.004),
    ("Height", "tenth", 0.004),
    ("Height", "inches as cm", 0.004),
    ("Gender", "code", 0.004),
    ("Temp", "twice to Celsius", 0.002),
    ("Temp", "Fahrenheit", 0.002),
    ("Temp", "zero", 0.002),
    ("pH", "without point", 0.003),
    ("pH", "tenfold", 0.003),
    ("pH", "tenth", 0.003),
    ("pH", "zero", 0.002),
    ("PaO2", "tenth", 0.004),
    ("PaCO2", "tenth", 0.004),
    ("HR", "zero", 0.001),
    ("HR", "tenfold", 0.001),
    ("MAP", "zero", 0.002),
    ("SysABP", "zero", 0.002),
    ("RespRate", "zero", 0.002),
    ("NIDiasABP", "code", 0.002),
    ("NISysABP", "zero", 0.002),
    ("DiasABP", "zero", 0.005),
    ("WBC", "hundredth", 0.004),
    ("Weight", "code", 0.004),
    ("Albumin", "nameless", 0.02),
)


def _slipped(value: float, slip: str) -> float:
    """Return what a slip makes of a value."""
    return {
        "hundredth": value / 100,
        "tenth": value / 10,
        "inches as cm": value * 2.54,
        "code": -1.0,
        "twice to Celsius": (value - 32) * 5 / 9,
        "Fahrenheit": value * 9 / 5 + 32,
        "zero": 0.0,
        "without point": value * 100,
        "tenfold": value * 10,
        "nameless": value,
    }[slip]


def spoil(events: list[Event], rng: np.random.Generator) -> list[Event]:
    """Put slips into the events of a stay.

    Parameters
    ----------
    events : list of (minute, variable, value)
        Without slips.
    rng : numpy.random.Generator
        Decides where.

    Returns
    -------
    list of (minute, variable, value)
        The same events; some values changed, some Albumin without its name.
    """
    result = []
    for minute, name, value in events:
        for variable, slip, often in SLIPS:
            if variable == name and value != -1 and rng.random() < often:
                value = _slipped(value, slip)
                name = "" if slip == "nameless" else name
                break
        result.append((minute, name, value))
    return result
