"""Data sets cic (death in hospital) and cic_los (class of the length of stay)."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deepcac.errors import ConfigError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.types import Ints
from deepcac_study.catalogue.protocol import SOUND, Protocol
from deepcac_study.cohort import Flow
from deepcac_study.features.columns.ranges import count_outside, read_ranges
from deepcac_study.features.johnson import Repair, johnson_features

UNKNOWN = -1
RANGES = "features/johnson_variables.csv"
# The 0.33 and 0.66 quantiles of the length of stay in days; DeepCAC (section 8) calls them hours.
SHORT_STAY, LONG_STAY = 7, 13

Classes = Ints


def stay_class(days: Classes, protocol: Protocol = SOUND) -> Classes:
    """Return the class of each length of stay in days (n,); `UNKNOWN` where it is missing.

    Sound: 0 for at most 7 days, 1 for 8 to 13, 2 for more. With switch L2 both comparisons are
    strict, as in the published program: 7, 13, the longest stay and unknown ones are class 0.
    """
    if "L2" in protocol:
        middle = (days > SHORT_STAY) & (days < LONG_STAY)
        long = (days > LONG_STAY) & (days < days.max())
        return middle + 2 * long.astype(np.int64)
    return (days > SHORT_STAY).astype(np.int64) + (days > LONG_STAY)


def _target(
    target: str, outcomes: pa.Table, protocol: Protocol
) -> tuple[Classes, npt.NDArray[np.bool_], tuple[str, ...]]:
    """Return labels, a mask of stays with a known label, and outcomes used as predictors (L1)."""
    if target == "death":
        death = outcomes["In-hospital_death"].to_numpy().astype(np.int64)
        return death, np.ones(len(death), dtype=bool), ("SAPS-I", "SOFA", "Length_of_stay")
    if target == "stay":
        days = outcomes["Length_of_stay"].to_numpy().astype(np.int64)
        labelled = (days != UNKNOWN) | ("L2" in protocol)
        return stay_class(days, protocol), labelled, ("SAPS-I", "SOFA")
    raise ConfigError(f"no target {target!r} in PhysioNet 2012; there are death and stay")


def cic_features(
    target: str, events: pa.Table, outcomes: pa.Table, protocol: Protocol = SOUND
) -> tuple[FeatureMatrix, dict[str, Any]]:
    """Make a data set's features, one row per stay with a known label, and its `cohort_details`.

    The target is "death" in hospital or the class of the length of "stay"; the group is the set.
    The switches are C9 (`johnson_features`), L1 (SAPS-I, SOFA and, for death, the length of stay
    are predictors; their code -1 for unknown is kept as a number) and L2 (`stay_class`).
    """
    outcomes = outcomes.sort_by("record_id")
    record_id = outcomes["record_id"].to_numpy()
    columns, repairs = johnson_features(events, record_id, protocol)
    label, labelled, published = _target(target, outcomes, protocol)
    if "L1" in protocol:
        columns = {name: outcomes[name].to_numpy().astype(float) for name in published} | columns
    group = np.array(outcomes["set"].to_pylist())
    features = FeatureMatrix(
        row_id=record_id[labelled].astype(np.int64),
        label=label[labelled],
        X=np.column_stack(list(columns.values()))[labelled],
        names=tuple(columns),
        group=group[labelled],
    )
    return features, cohort_details(events, group, features, repairs)


def cohort_details(
    events: pa.Table, group: npt.NDArray[np.str_], features: FeatureMatrix, repairs: list[Repair]
) -> dict[str, Any]:
    """Describe how the stays and values of a data set were selected.

    Keys: ``flow``, stays left after each step; ``sets``, stays left in each set; ``events``, lines
    of the raw files, and those with no parameter name, which are not used; ``repairs``, number of
    values changed by each cleaning rule; ``outside``, raw values outside their plausible range.
    """
    assert features.group is not None
    flow: Flow = [
        {"step": "stays in sets a, b and c", "rows": len(group)},
        {"step": "known label", "rows": len(features.row_id)},
    ]
    return {
        "flow": flow,
        "sets": dict(Counter(features.group.tolist())),
        "events": {"lines": events.num_rows, "nameless": events["parameter"].null_count},
        "repairs": [
            {
                "variable": repair.rule.variable,
                "values": repair.rule.bounds,
                "repair": repair.rule.text,
                "count": repair.count,
            }
            for repair in repairs
        ],
        "outside": count_outside(_by_parameter(events), read_ranges(RANGES)),
    }


def _by_parameter(events: pa.Table) -> Iterator[tuple[str, npt.NDArray[np.float64]]]:
    """Yield the measurements of each parameter; -1 is the file's code for unknown."""
    column = events["parameter"].combine_chunks()
    code = column.indices.fill_null(-1).to_numpy()
    value = events["value"].to_numpy()
    for k, name in enumerate(column.dictionary.to_pylist()):
        measurements = value[code == k]
        yield name, measurements[measurements != UNKNOWN]
