"""The rows of a data set as the judge's contenders read them."""

import os
from dataclasses import replace

import numpy as np

from deepcac.feature_matrix import FeatureMatrix, read_features
from deepcac.sequence_summary import SequenceSummary


def read_rows(path: str | os.PathLike[str]) -> FeatureMatrix:
    """Read a feature file; static features stay as they are, hourly sequences become a row a stay.

    Of sequences it has each variable's `SequenceSummary`, without columns that say nothing new in
    any row, of training or test: those of one value without a gap, and those that repeat an earlier
    one (the summaries of an age). No label is looked at.
    """
    features = read_features(path)
    if features.n_steps == 1:
        return features
    variables = [name.rpartition("@")[0] for name in features.names[:: features.n_steps]]
    summary = SequenceSummary(variables)
    X = summary.fit_transform(features.sequences())
    names = summary.get_feature_names_out()
    # A mean of equal values may miss them by the last bit.
    known = np.where(np.isnan(X), np.inf, X).astype(np.float32)
    _, first = np.unique(known, axis=1, return_index=True)
    kept = [j for j in sorted(first) if known[:, j].min() < known[:, j].max()]
    return replace(features, X=X[:, kept], names=tuple(names[kept]))
