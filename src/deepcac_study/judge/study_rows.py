"""Input rows of the judge's contenders."""

import os
from dataclasses import replace

import numpy as np

from deepcac.feature_matrix import FeatureMatrix, read_features
from deepcac.sequence_summary import SequenceSummary


def read_rows(path: str | os.PathLike[str]) -> FeatureMatrix:
    """Read a feature file; hourly sequences are summarised to one row per stay.

    Each variable of a sequence becomes its `SequenceSummary`. Columns that are constant over all
    rows, of training and test, or repeat an earlier one (the summaries of an age) are dropped. No
    label is used.
    """
    features = read_features(path)
    if features.n_steps == 1:
        return features
    variables = [name.rpartition("@")[0] for name in features.names[:: features.n_steps]]
    summary = SequenceSummary(variables)
    X = summary.fit_transform(features.sequences())
    names = summary.get_feature_names_out()
    # A mean of equal values may miss them by the last bit.
    filled = np.where(np.isnan(X), np.inf, X).astype(np.float32)
    _, first = np.unique(filled, axis=1, return_index=True)
    varied = [j for j in sorted(first) if filled[:, j].min() < filled[:, j].max()]
    return replace(features, X=X[:, varied], names=tuple(names[varied]))
