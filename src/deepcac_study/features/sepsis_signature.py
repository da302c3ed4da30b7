"""Sepsis in six hours (CAC v2, section 6): signature features of one record of each stay.

The record is the one six hours before the onset of sepsis, which is the first with ``SepsisLabel``
1. Nothing after it is used. For a stay without sepsis, a record is drawn at the hour of a septic
one, in the first two days, and at least six hours before its end. Most such stays end by then, so
that a later septic record has no match.

With switch S7 (the cohort that CAC v2 describes) it is the sixth from the end, at any hour, and the
hour is a feature; both reveal the hour, and the hour reveals the class.

Features follow the winners of the challenge (Morrill et al. 2019); 88 columns, and the hour with
S7, which makes the 89 of section 8 of DeepCAC:

====  =====================================================================================
39    last known value of each variable and the demographic columns; with S7 the hour as well
5     ShockIndex, BUN/Cr, SaO2/FiO2, partial SOFA, its rise over the lowest of 24 hours
14    highest and lowest of seven vital signs over six hours
15    log-signature, depth 3, of the lead-lag path of SOFA, BUN/Cr and MAP over seven hours
15    the same of the paths with time as a channel
====  =====================================================================================

The papers print no list; this one is ours. A lead, its lag and a channel paired with time have the
same increment, so that 6 of the columns are duplicates.
"""

import os

import numpy as np
import numpy.typing as npt

from deepcac.errors import DataError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.types import Array, Ints
from deepcac_study.catalogue.protocol import SOUND, Protocol
from deepcac_study.cohort import Flow
from deepcac_study.features.columns.hourly import AGGREGATES, aggregate, fill_forward
from deepcac_study.features.columns.signature import add_time, lead_lag, log_signature, lyndon_words
from deepcac_study.features.columns.sofa import MEASUREMENTS, PARTS, sofa_parts
from deepcac_study.features.columns.stay_columns import Stays
from deepcac_study.sources.physionet2019 import DEMOGRAPHICS, VARIABLES

Rows = Ints

FROM_END = 6
MATCHED_HOURS = 48
HOUR = "ICULOS"
LOOK_BACK = 7
EXTREMES_HOURS = 6
SOFA_HOURS = 24
DEPTH = 3
EXTREMES = ("HR", "O2Sat", "Temp", "SBP", "MAP", "DBP", "Resp")
CHANNELS = ("SOFA", "BUN_Cr", "MAP")
# The challenge has no Glasgow score; Morrill's partial SOFA leaves out oxygenation as well.
SOFA_PARTS = tuple(part for part in PARTS if part != "O2")


def records(stays: Stays, protocol: Protocol = SOUND) -> tuple[npt.NDArray[np.intp], Rows, Flow]:
    """Choose one record per stay; return positions of the stays that have one, rows, and the flow.

    Rows are those of the tidy table. With switch S7 the record of a stay without sepsis is the
    sixth from its end.
    """
    septic = stays.first_label >= 0
    hour = np.where(septic, stays.first_label, stays.length - FROM_END)
    flow: Flow = [
        {"step": "stays in the files", "rows": len(hour)},
        {"step": f"sepsis, or {FROM_END} hourly rows or more", "rows": int((hour >= 0).sum())},
    ]
    if "S7" not in protocol:
        hour[septic & (hour >= MATCHED_HOURS)] = -1
        early = int((hour >= 0).sum())
        flow.append({"step": f"no onset after hour {MATCHED_HOURS + FROM_END}", "rows": early})
        hour[~septic] = match_hours(hour[septic & (hour >= 0)], hour[~septic])
        matched = int((hour >= 0).sum())
        flow.append({"step": "sepsis, or a record at the hour of a septic one", "rows": matched})
    chosen = np.flatnonzero(hour >= 0)
    if not len(chosen):
        raise DataError(f"{stays.tidy}: no stay has {FROM_END} hours or sepsis")
    return chosen, stays.starts[chosen] + hour[chosen], flow


def sepsis_signature(
    tidy: str | os.PathLike[str], backend: str = "iisignature", protocol: Protocol = SOUND
) -> tuple[FeatureMatrix, Flow]:
    """Build the 88 features of all stays, NaN where there is no value yet; and the cohort flow.

    With switch S7 (`records`) the hour is the 89th. The backend is that of
    `deepcac_study.features.columns.signature.signature`.
    """
    stays = Stays.read(tidy)
    chosen, at, flow = records(stays, protocol)
    begin = stays.starts[chosen]
    filled = {name: fill_forward(stays.column(name), stays.starts) for name in VARIABLES}
    channels = filled | derived_channels(filled)
    columns = {name: values[at] for name, values in channels.items()}
    demographics = [name for name in DEMOGRAPHICS if name != HOUR or "S7" in protocol]
    columns |= {name: stays.column(name)[at] for name in demographics}
    columns |= _window_columns(channels, begin, at)
    for name in CHANNELS:
        columns |= signature_columns(name, channels[name], begin, at, backend)
    matrix = FeatureMatrix(
        row_id=stays.patient_id[chosen],
        label=(stays.first_label[chosen] >= 0).astype(np.int64),
        X=np.column_stack(list(columns.values())),
        names=tuple(columns),
        group=stays.hospital[chosen],
    )
    return matrix, flow


def _window_columns(channels: dict[str, Array], begin: Rows, at: Rows) -> dict[str, Array]:
    """Return columns of the rise of the SOFA score and the extremes of vital signs, by name."""
    lowest, highest = AGGREGATES.index("lowest"), AGGREGATES.index("highest")
    score = channels["SOFA"]
    window = aggregate(score, np.maximum(begin, at - SOFA_HOURS + 1), at + 1)
    columns = {"SOFA_rise": score[at] - window[:, lowest]}
    for name in EXTREMES:
        window = aggregate(channels[name], np.maximum(begin, at - EXTREMES_HOURS + 1), at + 1)
        columns[f"{name}_lowest_6h"] = window[:, lowest]
        columns[f"{name}_highest_6h"] = window[:, highest]
    return columns


def derived_channels(filled: dict[str, Array]) -> dict[str, Array]:
    """Return ShockIndex, BUN/Cr, SaO2/FiO2 and the partial SOFA score of each hour.

    A ratio is NaN where a part is unknown; a missing part of the score counts as 0 (Morrill).
    """
    parts = sofa_parts({name: filled[name] for name in MEASUREMENTS})
    return {
        "ShockIndex": _ratio(filled["HR"], filled["SBP"]),
        "BUN_Cr": _ratio(filled["BUN"], filled["Creatinine"]),
        "SaO2_FiO2": _ratio(filled["SaO2"], filled["FiO2"]),
        "SOFA": np.nansum(parts[:, [PARTS.index(part) for part in SOFA_PARTS]], axis=1),
    }


def _ratio(a: Array, b: Array) -> Array:
    """Divide; NaN where `b` is 0."""
    return np.divide(a, b, out=np.full_like(a, np.nan), where=b != 0)


def signature_columns(
    name: str, values: Array, begin: Rows, at: Rows, backend: str
) -> dict[str, Array]:
    """Return the log-signatures of the last hours of one channel, by column name."""
    path, time, complete = look_back(values, begin, at)
    word_names = ["".join(str(i + 1) for i in word) for word in lyndon_words(2, DEPTH)]
    columns: dict[str, Array] = {}
    for kind, augmented in (("leadlag", lead_lag(path)), ("time", add_time(path, time))):
        entries = np.full((len(at), len(word_names)), np.nan)
        entries[complete] = log_signature(augmented[complete], DEPTH, backend)
        columns |= {f"{name}_{kind}_{word}": entries[:, j] for j, word in enumerate(word_names)}
    return columns


def look_back(values: Array, begin: Rows, at: Rows) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
    """Return the windows of `LOOK_BACK` hours of a channel, carried forward, up to the records.

    A window that begins before the stay, or before the first known value, is constant up to its
    first known point, which does not change the signature. `begin` and `at`, of shape (n,), are the
    first row of each stay and the row of its record. Returned are the paths (n, LOOK_BACK, 1), the
    hours (n, LOOK_BACK), 0 at the record, and a mask (n,), False if the whole window is unknown.
    """
    rows = np.maximum(at[:, None] + np.arange(1 - LOOK_BACK, 1), begin[:, None])
    first = np.argmax(~np.isnan(values[rows]), axis=1)
    step = np.maximum(np.arange(LOOK_BACK), first[:, None])
    rows = np.take_along_axis(rows, step, axis=1)
    path = values[rows]
    complete = ~np.isnan(path).any(axis=1)
    return path[:, :, None], (rows - at[:, None]).astype(np.float64), complete


def match_hours(case_hours: Ints, last_hours: Ints, seed: int = 0) -> Ints:
    """Assign hours to as many controls as possible, the same number per case at each hour.

    The hour alone then carries no information on the class: the share of cases is equal at all
    hours. `last_hours`, of shape (controls,), are the last possible hours, negative if there is
    none. Controls that are left out get -1.
    """
    given = np.full(len(last_hours), -1, dtype=np.int64)
    hours, counts = np.unique(case_hours, return_counts=True)
    # Controls for an hour come from those observed so long; so count from the last hour down.
    cases_left = counts[::-1].cumsum()[::-1]
    controls_left = np.array([(last_hours >= hour).sum() for hour in hours])
    a_case = int((controls_left // cases_left).min()) if len(hours) else 0
    rng = np.random.default_rng(seed)
    for hour, count in zip(hours[::-1], counts[::-1], strict=True):
        free = np.flatnonzero((given < 0) & (last_hours >= hour))
        given[rng.choice(free, a_case * count, replace=False)] = hour
    return given
