"""From planted cohorts to the smallest gain that would be seen, in a sentence."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from deepcac.scoring.equivalence import POWER
from deepcac.scoring.sample_size import EXPLAINED, SampleSize, sample_size
from deepcac.scoring.small_cells import FEW
from deepcac.scoring.statistics import wilson
from deepcac.table.answer import FEWEST_EVENTS
from deepcac.table.detectable.planted_runs import FOUND, PlantedRuns
from deepcac.table.reading.labelled_table import LabelledTable
from deepcac.table.reading.table_encoder import CATEGORY


@dataclass(frozen=True)
class PowerAnswer:
    """What a comparison of the table could see.

    Attributes
    ----------
    sentence : str
        The answer in one sentence.
    details : list of str
        What it rests on, a sentence each.
    gain : float or None
        AUROC from which on clusters are found in 80 % of cohorts; None where no cohort shows it.
    curve : DataFrame
        Of `detection_curve`.
    """

    sentence: str
    details: list[str]
    gain: float | None
    curve: pd.DataFrame


def detection_curve(planted: pd.DataFrame) -> pd.DataFrame:
    """Return how often clusters are found, by way and strength.

    Parameters
    ----------
    planted : DataFrame
        Of `PlantedRuns.table`.

    Returns
    -------
    DataFrame
        ``way``, ``strength``, mean ``gain`` of the true subtypes, ``cohorts``, ``mean`` difference
        found, ``detected`` (share) with its 95 % interval ``low`` and ``high`` (Wilson 1927).
    """
    curve: pd.DataFrame = planted.groupby(["way", "strength"], as_index=False, sort=False).agg(
        gain=("gain", "mean"), cohorts=("cohort", "size"), mean=("mean", "mean"),
        detected=("detected", "mean"),
    )  # fmt: skip
    low, high = wilson(curve["detected"].to_numpy(float), curve["cohorts"].to_numpy())
    return curve.assign(low=low, high=high)


def smallest_seen(curve: pd.DataFrame, way: str = FOUND) -> float | None:
    """Return the gain at which the detection rate first reaches 80 %, on a line between strengths.

    None where it never does.
    """
    own = curve[curve["way"] == way].sort_values("gain")
    share = np.maximum.accumulate(own["detected"].to_numpy(float))
    if share[-1] < POWER:
        return None
    after = int(np.argmax(share >= POWER))
    if after == 0:
        return float(own["gain"].iloc[0])
    ends = share[after - 1 : after + 1]
    return float(np.interp(POWER, ends, own["gain"].iloc[after - 1 : after + 1]))


def power_answer(table: LabelledTable, runs: PlantedRuns) -> PowerAnswer:
    """Put what could be seen into words."""
    curve = detection_curve(runs.table)
    gain, largest = smallest_seen(curve), float(curve["gain"].max())
    n, events = len(table.features.label), int((table.features.label == 1).sum())
    shown = f"{events:,}" if events >= FEW else f"fewer than {FEW}"
    who = f"With these {n:,} {'rows' if table.group is not None else 'patients'} and {shown} events"
    if gain is None:
        sentence = f"{who} even a gain of {largest:.3f} AUROC by clusters would often be missed."
    else:
        sentence = f"{who} a gain by clusters below {gain:.3f} AUROC would probably not be seen."
    return PowerAnswer(sentence, _details(table, runs, curve), gain, curve)


def _details(table: LabelledTable, runs: PlantedRuns, curve: pd.DataFrame) -> list[str]:
    said = [
        f"Seen means: found better in at least {100 * POWER:.0f} of 100 comparisons, by the rule "
        "of `deepcac compare`.",
        f"It rests on {runs.cohorts} planted cohorts of each of {curve['strength'].nunique()} "
        "strengths. The outcomes in them are synthetic; the columns are yours.",
    ]
    if runs.cohorts < 10:
        said.append("With so few cohorts the answer is rough; a larger --budget makes more.")
    if table.rarest < FEWEST_EVENTS:
        said.append(f"`deepcac compare` gives no answer below {FEWEST_EVENTS} events.")
    return said


@dataclass(frozen=True)
class ModelNeed:
    """How many patients the risk model itself needs.

    Attributes
    ----------
    size : SampleSize
    sentence : str
        Whether the table has as many.
    note : str
        What was assumed.
    """

    size: SampleSize
    sentence: str
    note: str


def own_sample_size(table: LabelledTable, r2: float | None = None) -> ModelNeed:
    """Return what a risk model of all columns needs.

    Parameters
    ----------
    table : LabelledTable
        With a label of two classes.
    r2 : float, optional
        Cox and Snell's R2; 15 % of the largest if None.
    """
    parameters, share = candidate_parameters(table), float(table.features.label.mean())
    size = sample_size(parameters, share, r2)
    enough = "has enough" if table.total >= size.needed else "has too few"
    origin = f"assumed, {100 * EXPLAINED:.0f} % of the largest" if r2 is None else "as given"
    return ModelNeed(
        size,
        f"A risk model with all {parameters} candidate parameters needs at least "
        f"{size.needed:,} patients; this table {enough}.",
        f"Riley et al. 2020 (BMJ 368, m441), for {parameters} candidate parameters, an outcome in "
        f"{100 * share:.1f} % and a Cox-Snell R2 of {size.r2:.3f} ({origin}). A number is one "
        "parameter, and one more where values are missing; a category one a level but the first.",
    )


def candidate_parameters(table: LabelledTable) -> int:
    """Return the parameters of a linear model of the columns.

    A number has one, and another where values are missing; a category one a level but the first.
    """
    return sum(
        max(len(one.levels) - 1, 1) if one.kind == CATEGORY else 1 + (one.missing > 0)
        for one in table.encoder.used
    )
