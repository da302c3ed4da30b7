"""Counts are hidden or rounded, and what is written of a table gives no few patients away."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepcac.scoring import small_cells
from deepcac.scoring.small_cells import FEW, STEP, format_count, format_percentage, round_count
from deepcac.table.pages import profile_page
from deepcac.table.pages.profile_page import part_lines
from deepcac.table.reading.column_parts import ColumnParts

TABLES = 1000


@given(st.integers(0, 10**6))
def test_a_count_is_nought_hidden_or_a_multiple_of_the_step(count):
    rounded = float(round_count(count))
    if 0 < count < FEW:
        assert np.isnan(rounded)
        assert format_count(count) == format_count(1)
    else:
        assert rounded % STEP == 0
        assert abs(rounded - count) <= STEP / 2
        assert int(format_count(count).replace(",", "")) == rounded


@given(st.integers(1, 300), st.data())
def test_a_percentage_is_whole_and_that_of_rounded_counts(whole, data):
    count = data.draw(st.integers(0, whole))
    text = format_percentage(count, whole)
    if 0 < count < FEW or whole < FEW:
        assert text == small_cells.WITHHELD
    else:
        rounded = float(round_count(count) / round_count(whole))
        assert 0 <= rounded <= 1
        assert text == f"{100 * rounded:.0f} %"


def lines_of(tables, y):
    """Return what a page says of the outcome in the parts of each column."""
    parts = [ColumnParts([str(j) for j in range(int(t.max()) + 1)], t) for t in tables]
    return [list(part_lines(part, y, 2)) for part in parts]


@pytest.fixture
def unrounded(monkeypatch):
    """Pages that write every count, and percentages with a digit, as they are."""
    monkeypatch.setattr(profile_page, "format_count", "{:,}".format)
    exact = "{:.1f} %".format
    monkeypatch.setattr(profile_page, "format_percentage", lambda n, whole: exact(100 * n / whole))


def subtract(larger, smaller):
    """Return size and deaths by which one part exceeds another, as two lines of a page say."""
    sizes, deaths = [], []
    for line in (larger, smaller):
        size = float(line[1].replace(",", ""))
        sizes.append(size)
        deaths.append(round(size * float(line[3].removesuffix(" %")) / 100))
    return sizes[0] - sizes[1], deaths[0] - deaths[1]


def few_found(tables=TABLES):
    """Return in which share of random tables two columns give the deaths of a few patients away.

    A ward has all patients of a clinic and one to seven more. Whoever reads the page subtracts;
    second is the share that is right by always guessing the most frequent number of deaths.
    """
    rng = np.random.default_rng(0)
    found, deaths = 0, []
    for _ in range(tables):
        n, clinic, more = 300, int(rng.integers(40, 120)), int(rng.integers(1, FEW))
        y = rng.integers(0, 2, n)
        row = np.arange(n)
        wards = [(row < clinic).astype(int), (row < clinic + more).astype(int)]
        (*_, small), (*_, large) = lines_of(wards, y)
        truth = (more, int(y[clinic : clinic + more].sum()))
        found += subtract(large, small) == truth
        deaths.append(truth)
    _, times = np.unique(deaths, axis=0, return_counts=True)
    return found / tables, times.max() / tables


def margin(share):
    return 1.96 * np.sqrt(share * (1 - share) / TABLES)


def test_differences_between_columns_tell_few_patients_no_better_than_a_guess():
    found, guessed = few_found()
    assert found <= guessed + margin(guessed)


@pytest.mark.usefixtures("unrounded")
def test_without_rounding_differences_between_columns_tell_them():
    assert few_found(200)[0] > 0.95


def last_outcomes_told(tables=TABLES):
    """Return how often a reader who knows all patients but the outcome of one is told it.

    The page has one count of deaths, and the reader compares it with both pages that there can be.
    """
    rng = np.random.default_rng(1)
    told = 0
    for _ in range(tables):
        y = rng.integers(0, 2, int(rng.integers(100, 400)))
        column = [np.zeros(len(y), dtype=int)]
        pages = []
        for outcome in (0, 1):
            y[0] = outcome
            pages.append(lines_of(column, y)[0][0][3])
        told += pages[0] != pages[1]
    return told / tables


def test_a_count_of_deaths_tells_the_last_outcome_only_at_a_step_of_rounding():
    """One table in five has its count there: rounding bounds what such a reader learns."""
    told = last_outcomes_told()
    assert told <= 1 / STEP + margin(1 / STEP)


@pytest.mark.usefixtures("unrounded")
def test_without_rounding_a_count_of_deaths_tells_the_last_outcome():
    assert last_outcomes_told(200) == 1


def test_a_clinic_of_60_and_a_ward_of_62_read_alike():
    row = np.arange(200)
    y = row % 2
    clinic, ward = lines_of([(row < 60).astype(int), (row < 62).astype(int)], y)
    assert clinic == ward
