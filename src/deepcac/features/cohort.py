"""The cohort flow of a data set: how many rows are left after each exclusion, as JSON."""

import os

import numpy as np

from deepcac.features.matrix import FeatureMatrix
from deepcac.storage import write_json

Flow = list[dict[str, str | int]]


def write_cohort(
    path: str | os.PathLike[str], features: FeatureMatrix, flow: Flow, *, unit: str
) -> None:
    """Write a cohort flow.

    Parameters
    ----------
    path : path-like
        JSON file to write: ``unit``, ``steps`` (list of {"step", "rows"}, in order) and
        ``classes`` (rows of each class in the feature file).
    features : FeatureMatrix
        What the flow ends in.
    flow : list of {"step", "rows"}
        Rows left after each step.
    unit : str
        What a row is, for example "ICU stay".
    """
    classes, counts = np.unique(features.label, return_counts=True)
    by_class = {str(c): int(n) for c, n in zip(classes, counts, strict=True)}
    write_json(path, {"unit": unit, "steps": flow, "classes": by_class})
