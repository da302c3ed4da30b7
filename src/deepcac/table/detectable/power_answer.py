"""From planted cohorts to the gain that would not be seen, in a sentence."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from deepcac.scoring.equivalence import POWER
from deepcac.scoring.sample_size import EXPLAINED, SampleSize, sample_size
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
    unseen : float
        Gain in AUROC up to which clusters are mostly missed (`largest_unseen`).
    curve : DataFrame
        Of `detection_curve`.
    """

    sentence: str
    details: list[str]
    unseen: float
    curve: pd.DataFrame


def detection_curve(planted: pd.DataFrame) -> pd.DataFrame:
    """Return how often clusters are found, by way and strength, from `PlantedRuns.table`.

    Its columns are ``way``, ``strength``, mean ``gain`` of the true subtypes, ``cohorts``, ``mean``
    difference found, and ``detected``: a share with its 95 % interval ``low`` to ``high`` (Wilson).
    """
    curve: pd.DataFrame = planted.groupby(["way", "strength"], as_index=False, sort=False).agg(
        gain=("gain", "mean"), cohorts=("cohort", "size"), mean=("mean", "mean"),
        detected=("detected", "mean"),
    )  # fmt: skip
    low, high = wilson(curve["detected"].to_numpy(float), curve["cohorts"].to_numpy())
    return curve.assign(low=low, high=high)


def largest_unseen(curve: pd.DataFrame) -> float:
    """Return the largest gain up to which even the upper end of the interval lies below 80 %.

    0 where no planted gain was missed so surely.
    """
    own = curve[curve["way"] == FOUND].sort_values("gain")
    missed = np.logical_and.accumulate(own["high"].to_numpy(float) < POWER)
    return float(own["gain"].to_numpy(float)[missed].max(initial=0.0))


def smallest_seen(curve: pd.DataFrame) -> float | None:
    """Return the gain from which on at least 80 % were found; None where there is none."""
    own = curve[curve["way"] == FOUND].sort_values("gain", ascending=False)
    found = np.logical_and.accumulate(own["detected"].to_numpy(float) >= POWER)
    return float(own["gain"].to_numpy(float)[found].min()) if found.any() else None


def power_answer(table: LabelledTable, runs: PlantedRuns) -> PowerAnswer:
    """Put what could be seen into words."""
    curve = detection_curve(runs.table)
    unseen, seen = largest_unseen(curve), smallest_seen(curve)
    n, events = len(table.features.label), int((table.features.label == 1).sum())
    whom = "rows" if table.group is not None else "patients"
    who = f"With these {n:,} {whom} and {events:,} events"
    if table.rarest < FEWEST_EVENTS:
        said = (
            f"no gain by clusters can be shown: the rarer class has {table.rarest} rows, "
            f"{FEWEST_EVENTS} are the fewest."
        )
    elif unseen > 0 and unseen == curve["gain"].max():
        said = f"not even the largest planted gain by clusters, {unseen:.3f} AUROC, would be seen."
    elif unseen > 0:
        said = f"a gain by clusters below {unseen:.3f} AUROC would probably not be seen."
    elif seen is not None:
        said = f"a gain by clusters of {seen:.3f} AUROC would probably be seen."
    else:
        said = "it cannot be said yet which gain would be seen; more minutes (--budget) are needed."
    return PowerAnswer(f"{who} {said}", _details(table, runs, curve, seen), unseen, curve)


def _details(
    table: LabelledTable, runs: PlantedRuns, curve: pd.DataFrame, seen: float | None
) -> list[str]:
    most = curve["gain"].max()
    said = [
        f"The largest planted gain, {most:.3f}, was found in fewer than 80 % of its cohorts."
        if seen is None
        else f"Planted gains of {seen:.3f} and more were found in at least 80 % of their cohorts.",
        "Not seen means: found in fewer than 80 of 100 comparisons, by the rule of deepcac "
        "compare, even at the upper end of the 95 % interval.",
        f"It rests on {runs.cohorts} planted cohorts of each of {curve['strength'].nunique()} "
        "strengths. The outcomes in them are synthetic; the columns are yours.",
    ]
    if runs.cohorts < 10:
        said.append("With so few cohorts the answer is rough; a larger --budget makes more.")
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
    """Return what a risk model of all columns needs, for a label of two classes.

    `r2` is Cox and Snell's; 15 % of the largest if None.
    """
    parameters, share = candidate_parameters(table), float(table.features.label.mean())
    size = sample_size(parameters, share, r2)
    # Rows of one patient are no further patients; of a sample the share of patients is that of all.
    each = 1.0 if table.group is None else len(np.unique(table.group)) / len(table.group)
    enough = "has enough" if each * table.total >= size.needed else "has too few"
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
