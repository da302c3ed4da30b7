"""From planted cohorts to the gain that would not be seen, in a sentence."""

import numpy as np
import pandas as pd

from deepcac.scoring.equivalence import POWER
from deepcac.scoring.small_cells import Count, Text
from deepcac.scoring.statistics import wilson
from deepcac.table.answer import Answer
from deepcac.table.cluster_answer import FEWEST_EVENTS
from deepcac.table.detectable.planted_runs import FOUND, PlantedRuns
from deepcac.table.inference.labelled_table import LabelledTable


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
    points = curve[curve["way"] == FOUND].sort_values("gain")
    missed = np.logical_and.accumulate(points["high"].to_numpy(float) < POWER)
    return float(points["gain"].to_numpy(float)[missed].max(initial=0.0))


def smallest_seen(curve: pd.DataFrame) -> float | None:
    """Return the gain from which on at least 80 % were found; None where there is none."""
    points = curve[curve["way"] == FOUND].sort_values("gain", ascending=False)
    seen = np.logical_and.accumulate(points["detected"].to_numpy(float) >= POWER)
    return float(points["gain"].to_numpy(float)[seen].min()) if seen.any() else None


def power_answer(table: LabelledTable, runs: PlantedRuns) -> Answer:
    """Put what could be seen into words; the table of the answer is the `detection_curve`."""
    curve = detection_curve(runs.table)
    unseen, seen = largest_unseen(curve), smallest_seen(curve)
    n, events = len(table.features.label), int((table.features.label == 1).sum())
    whom = "rows" if table.group is not None else "patients"
    who = Text("With these {} {} and {} events", Count(n), whom, Count(events))
    if table.rarest < FEWEST_EVENTS:
        phrase = (
            f"no gain by clusters can be found: at least {FEWEST_EVENTS} rows of the rarer class "
            "are needed."
        )
    elif unseen > 0 and unseen == curve["gain"].max():
        phrase = (
            f"even the largest planted gain by clusters, {unseen:.3f} AUROC, could easily be "
            "missed."
        )
    elif unseen > 0:
        phrase = f"a gain by clusters below {unseen:.3f} AUROC could easily be missed."
    elif seen is not None:
        phrase = f"a gain by clusters of {seen:.3f} AUROC would probably be seen."
    else:
        phrase = (
            "it cannot be said yet which gain would be seen; more minutes (--budget) are needed."
        )
    gain = unseen or seen
    often = [] if gain is None else [_how_often(curve, gain)]
    details = [*often, *_details(table, runs, curve, seen)]
    return Answer(Text("{} {}", who, phrase), details=details, table=curve)


def _how_often(curve: pd.DataFrame, gain: float) -> str:
    """Say how often a planted gain was found, with its interval."""
    points = curve[curve["way"] == FOUND]
    point = points[points["gain"] == gain].iloc[0]
    times = round(float(point["detected"]) * int(point["cohorts"]))
    return (
        f"A gain of {gain:.3f} was found in {times} of {point['cohorts']} planted cohorts (95 % "
        f"interval {100 * point['low']:.0f} to {100 * point['high']:.0f} %)."
    )


def _details(
    table: LabelledTable, runs: PlantedRuns, curve: pd.DataFrame, seen: float | None
) -> list[str]:
    most = curve["gain"].max()
    sentences = [
        f"The largest planted gain, {most:.3f}, was found in fewer than 80 % of its cohorts."
        if seen is None
        else f"Planted gains of {seen:.3f} and more were found in at least 80 % of their cohorts.",
        "Not seen means: found in fewer than 80 of 100 comparisons, by the rule of deepcac "
        "compare, even at the upper end of the 95 % interval.",
        f"It rests on {runs.cohorts} planted cohorts of each of {curve['strength'].nunique()} "
        "strengths. The outcomes in them are synthetic; the columns are yours.",
    ]
    if runs.cohorts < 10:
        sentences.append("With so few cohorts the answer is rough; a larger --budget makes more.")
    return sentences
