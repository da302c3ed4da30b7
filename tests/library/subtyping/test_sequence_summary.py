"""Sequences as rows: by hand, and against a plain loop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from deepcac import SequenceSummary
from deepcac.errors import DataError

NAN = np.nan


def plainly(sequence):
    found = []
    for column in sequence.T:
        at = [step for step, value in enumerate(column) if not np.isnan(value)]
        seen = [column[step] for step in at]
        if not seen:
            found += [NAN] * 6 + [0, NAN]
            continue
        mean = sum(seen) / len(seen)
        since = len(column) - 1 - at[-1]
        found += [seen[0], seen[-1], min(seen), max(seen), mean, seen[-1] - seen[0]]
        found += [len(seen), since]
    return found


@given(
    arrays(
        float,
        st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(1, 3)),
        elements=st.sampled_from([NAN, -2.0, 0.0, 1.0, 3.5]),
    )
)
@settings(max_examples=50, deadline=None)
def test_as_a_plain_loop(X):
    np.testing.assert_allclose(
        SequenceSummary().fit_transform(X), [plainly(sequence) for sequence in X]
    )


def test_names_and_faults():
    X = np.zeros((2, 3, 2))
    names = SequenceSummary(names=["hr", "ph"]).fit(X).get_feature_names_out()
    assert names[:2].tolist() == ["hr_first", "hr_last"]
    assert names[-1] == "ph_hours_since"
    with pytest.raises(DataError, match="3 names for 2 variables"):
        SequenceSummary(names=["a", "b", "c"]).fit(X)
    with pytest.raises(DataError, match="not \\(2, 3\\)"):
        SequenceSummary().fit(X[:, :, 0])
    with pytest.raises(DataError, match="sequences of 1 variables; fit saw 2"):
        SequenceSummary().fit(X).transform(X[:, :, :1])
