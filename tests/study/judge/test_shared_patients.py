"""Tables that share patients are told from tables that do not, on drawn tables."""

import numpy as np
import pandas as pd
import pytest
from shared_patients import NONE, SHARED, TOO_FEW, Measured, codes, compare


def drawn(rows: int, seed: int) -> pd.DataFrame:
    """Patients whose pressure and cholesterol go with their age."""
    rng = np.random.default_rng(seed)
    age = rng.integers(30, 80, rows)
    systolic = np.round(100 + age / 2 + rng.normal(0, 15, rows))
    return pd.DataFrame(
        {
            "age": age,
            "female": rng.integers(0, 2, rows),
            "systolic": systolic,
            "diastolic": np.round(systolic / 2 + rng.normal(15, 6, rows)),
            "cholesterol": np.round(150 + age + rng.normal(0, 40, rows)),
        }
    ).astype(float)


def measured(values: pd.DataFrame) -> Measured:
    return Measured(values, np.arange(len(values)))


def planted(into: pd.DataFrame, source: pd.DataFrame, share: float) -> pd.DataFrame:
    """Put rows of another table into one, each value measured anew in one row of five."""
    rng = np.random.default_rng(9)
    count = round(share * len(into))
    rows = source.sample(count, random_state=1).reset_index(drop=True)
    noise = rng.integers(1, 4, rows.shape) * (rng.random(rows.shape) < 0.2)
    return pd.concat([into.iloc[count:], rows + noise], ignore_index=True)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_twentieth_of_shared_patients_is_found_and_strangers_are_not(seed):
    first, second = drawn(3000, seed), drawn(2000, seed + 100)
    strangers = compare(measured(first), measured(second))
    assert strangers["verdict"] == NONE
    assert strangers["equal"] <= 1.5 * strangers["most_by_chance"]
    shared = compare(measured(first), measured(planted(second, first, 0.05)))
    assert shared["verdict"] == SHARED
    assert 30 < shared["equal"] - shared["by_chance"] <= 100


def test_all_shared_patients_are_counted_once():
    first = drawn(3000, 5)
    rows = pd.concat([first.head(600)] * 2, ignore_index=True)
    twice = Measured(rows, np.tile(np.arange(600), 2))
    answer = compare(measured(first), twice)
    assert (answer["verdict"], answer["patients"], answer["equal"]) == (SHARED, 600, 600)


def test_age_and_sex_tell_nobody():
    first, second = (measured(drawn(2000, seed)[["age", "female"]]) for seed in (1, 2))
    assert compare(first, second)["verdict"] == TOO_FEW


def test_values_are_compared_at_the_coarser_decimals_and_ages_are_cut():
    fine, whole = pd.Series([61.9, 62.0, np.nan], name="age"), pd.Series([61.0, 62.0], name="age")
    first, second = codes(fine, whole)
    assert first.tolist()[:2] == second.tolist()
    assert first[2] == -1
    first, second = codes(fine.rename("albumin"), whole.rename("albumin"))
    assert first.tolist()[:2] == [second[1], second[1]]
