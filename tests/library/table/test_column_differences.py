"""Standardised differences, by hand and as tableone's formulas give them."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from deepcac.scoring.standardised_differences import category_difference, number_difference
from deepcac.table.pages.column_tables import difference_lines


def test_two_means_a_standard_deviation_apart():
    first = np.array([1.0, 2.0, 3.0])  # variance 1
    second = np.array([4.0, 6.0, 8.0])  # variance 4
    assert number_difference(first, second) == pytest.approx(4 / np.sqrt(2.5))
    assert np.isnan(number_difference(np.ones(3), np.ones(3)))


def test_of_two_levels_it_is_the_difference_of_shares_over_their_spread():
    """Austin 2009: (p1 - p2) / sqrt((p1 (1 - p1) + p2 (1 - p2)) / 2)."""
    expected = 0.3 / np.sqrt((0.5 * 0.5 + 0.2 * 0.8) / 2)
    assert category_difference([50, 50], [40, 10]) == pytest.approx(expected)
    assert category_difference([50, 50], [10, 10]) == pytest.approx(0, abs=1e-12)
    assert np.isnan(category_difference([50, 0], [10, 0]))
    assert category_difference([50, 0], [0, 50]) == np.inf


def test_groups_that_share_no_level_differ_completely():
    assert category_difference([50, 0, 0], [0, 25, 25]) == np.inf
    assert category_difference([50, 10, 0], [0, 25, 25]) < np.inf


def test_of_three_levels_it_is_the_distance_of_mahalanobis():
    """Yang and Dalton 2012, written out for three levels: any two of them give the same."""
    first, second = np.array([20, 30, 50]), np.array([30, 60, 10])
    p, q = first / 100, second / 100
    for keep in ([0, 1], [1, 2], [0, 2]):
        gap = p[keep] - q[keep]
        a, b = (
            np.array([[s[0] * (1 - s[0]), -s[0] * s[1]], [-s[0] * s[1], s[1] * (1 - s[1])]])
            for s in (p[keep], q[keep])
        )
        expected = np.sqrt(gap @ np.linalg.inv((a + b) / 2) @ gap)
        assert category_difference(first, second) == pytest.approx(expected)


def cohort():
    rng = np.random.default_rng(0)
    code = np.repeat([0, 1, 2], [60, 40, 4])
    age = rng.normal(60 + 10 * (code == 1), 10)
    age[:7] = np.nan
    bmi = rng.normal(25, 4, 104)
    sex = np.where(rng.random(104) < np.where(code == 1, 0.8, 0.4), "m", "f").astype(object)
    sex[3] = None
    columns = (("age", "number"), ("bmi", "number"), ("sex", "category"))
    used = tuple(SimpleNamespace(name=name, kind=kind) for name, kind in columns)
    features = SimpleNamespace(X=np.column_stack([age, bmi]), names=("age", "bmi"))
    rows = pa.table({"sex": pa.array(sex.tolist(), pa.string())})
    encoder = SimpleNamespace(used=used, places={"age": 0, "bmi": 1})
    return SimpleNamespace(encoder=encoder, features=features, rows=rows), code


def test_the_most_different_column_stands_first_and_small_groups_take_no_part():
    table, code = cohort()
    lines = difference_lines(table, code, ["a", "b", "c"])
    assert [line[0] for line in lines][2] == "bmi"
    assert {line[2] for line in lines} == {"a and b"}
    age = table.features.X[:, 0]
    told = {line[0]: line[1] for line in lines}
    assert told["age"] == f"{number_difference(age[7:60], age[60:100]):.2f}"
    sex = np.array(table.rows["sex"].to_pylist(), dtype=object)
    counts = [[(sex[part] == level).sum() for level in "fm"] for part in (code == 0, code == 1)]
    assert told["sex"] == f"{category_difference(*counts):.2f}"


def test_a_level_of_few_rows_tells_nothing_alone():
    table, code = cohort()
    sex = np.array(table.rows["sex"].to_pylist(), dtype=object)
    sex[70] = "x"
    rare = pa.table({"sex": pa.array(sex.tolist(), pa.string())})
    table.rows = rare
    told = {line[0]: line[1] for line in difference_lines(table, code, ["a", "b", "c"])}
    known = [[(sex[part] == level).sum() for level in "fm"] for part in (code == 0, code == 1)]
    assert told["sex"] == f"{category_difference(*known):.2f}"


def flags(first, second):
    """Return a table of one column of texts: how often each is in two groups."""
    cells = [level for counts in (first, second) for level, n in counts.items() for _ in range(n)]
    rows = pa.table({"sepsis": pa.array(cells, pa.string())})
    encoder = SimpleNamespace(used=(SimpleNamespace(name="sepsis", kind="category"),))
    code = np.repeat([0, 1], [sum(first.values()), sum(second.values())])
    return SimpleNamespace(encoder=encoder, rows=rows), code


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"yes": 60}, {"no": 40}, ["complete"]),
        ({"yes": 60}, {"yes": 20, "no": 20}, ["1.41"]),
        ({"yes": 57, "no": 3}, {"no": 40}, []),  # a finite number would tell the three
        ({"a": 60}, {"b": 37, "c": 3}, ["complete"]),
        ({"a": 50, "b": 2}, {"b": 40, "c": 20}, []),
    ],
)
def test_an_empty_cell_is_no_few_rows(first, second, expected):
    lines = difference_lines(*flags(first, second), ["a", "b"])
    assert [line[1] for line in lines] == expected
