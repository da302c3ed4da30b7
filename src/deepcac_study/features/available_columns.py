"""Features of a task without what may not be known when the prediction is due.

The rule and the columns: docs/archive/judge-plan-evidence.md, "Known at the time of prediction".
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from deepcac.errors import ConfigError
from deepcac.feature_matrix import FeatureMatrix, read_features, write_features
from deepcac_study.catalogue.judge_plan import KnownThen


def write_available(
    features: str | os.PathLike[str],
    available: str | os.PathLike[str],
    *,
    known_then: Mapping[str, Any],
) -> None:
    """Write the feature file again by the rule `known_then` of its task."""
    rule = KnownThen.model_validate(known_then)
    write_features(available, keep_available(read_features(features), rule))


def keep_available(features: FeatureMatrix, rule: KnownThen) -> FeatureMatrix:
    """Return the features that a task's rule leaves.

    Gaps of ``filled`` columns become the median of all rows; no label is used.

    Raises
    ------
    ConfigError
        The rule names a column that the task does not have.
    """
    levels = {name: name.partition("=")[0] for name in features.names}
    lacking = {*rule.without} - {*features.names, *levels.values()}
    if unknown := sorted(lacking | ({*rule.missing, *rule.filled} - {*features.names})):
        raise ConfigError(f"known_then: no column {unknown[0]!r}")
    X = features.X.copy()
    for name, code in rule.missing.items():
        column = X[:, features.names.index(name)]
        column[column == code] = np.nan
    for name in rule.filled:
        column = X[:, features.names.index(name)]
        column[np.isnan(column)] = np.nanmedian(column)
    remaining = [name for name in features.names if not {name, levels[name]} & {*rule.without}]
    places = [features.names.index(name) for name in remaining]
    return replace(features, X=X[:, places], names=tuple(remaining))
