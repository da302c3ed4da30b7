"""Counts are hidden or rounded, and what is written of a table gives no few patients away."""

import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deepcac.scoring.small_cells import (
    FEW,
    OTHERS,
    OWNER,
    STEP,
    WITHHELD,
    Count,
    OfSome,
    Rate,
    Share,
    Text,
    join_texts,
)
from deepcac.table.pages.profile_page import part_lines
from deepcac.table.reading.table_encoder import ColumnParts

TABLES = 1000


@given(st.integers(0, 10**6))
def test_a_count_is_nought_hidden_or_a_multiple_of_the_step(count):
    rounded = float(OTHERS.count(count))
    assert Count(count).exact == f"{count:,}"
    if 0 < count < FEW:
        assert np.isnan(rounded)
        assert Count(count) == Count(1)
    else:
        assert rounded % STEP == 0
        assert abs(rounded - count) <= STEP / 2
        assert int(Count(count).replace(",", "")) == rounded


@given(st.integers(1, 300), st.data())
def test_a_percentage_is_whole_and_that_of_rounded_counts(whole, data):
    count = data.draw(st.integers(0, whole))
    text = Share(count, whole)
    assert text.exact == f"{100 * count / whole:.1f} %"
    if 0 < count < FEW or whole < FEW:
        assert text == WITHHELD
    else:
        rounded = float(OTHERS.count(count) / OTHERS.count(whole))
        assert 0 <= rounded <= 1
        assert text == f"{100 * rounded:.0f} %"


def test_a_text_has_both_forms_however_it_is_put_together():
    name = "{braces} of 7"
    parts = [Text("{!r}: {}", name, Count(3)), Count(62), "no count"]
    text = pickle.loads(pickle.dumps(Text("{}; {:.1f}", join_texts(", ", parts), 0.25)))
    assert text == f"'{name}': fewer than 8, 60, no count; 0.2"
    assert text.exact == f"'{name}': 3, 62, no count; 0.2"
    assert OTHERS.show(text) == str(text)
    assert OWNER.show(text) == text.exact
    assert type(OTHERS.show(text)) is str


def test_what_holds_of_some_patients_is_seen_from_its_number_on():
    assert OfSome("a", FEW) == "a"
    assert OfSome("a", FEW - 1, instead="b") == "b"
    assert [OfSome("a", n, 20).exact for n in (0, 1, 20)] == [WITHHELD, "a", "a"]


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 300), st.booleans())
def test_a_rate_of_few_is_hidden_and_its_owner_sees_it(events, others, patients, hidden):
    rows = events + others
    patients = min(max(patients, 1), max(rows, 1))
    rate = Rate(events, rows, patients, hidden)
    shown, own = rate.under(OTHERS), rate.under(OWNER)
    assert np.isnan(own).all() if rows == 0 else own[0] == events / rows
    few = hidden or rows == 0 or any(0 < n < FEW for n in (events, rows, patients))
    assert np.isnan(shown).all() == few
    assert (rate.text == WITHHELD) == few
    for share, low, high in (shown, own):
        assert np.isnan(share) or 0 <= low <= share <= high <= 1


def lines_of(tables, y, rule=OTHERS):
    """Return what a page says of the outcome in the parts of each column."""
    parts = [ColumnParts([str(j) for j in range(int(t.max()) + 1)], t) for t in tables]
    return [[tuple(map(rule.show, line)) for line in part_lines(part, y, 2)] for part in parts]


def subtract(larger, smaller):
    """Return size and deaths by which one part exceeds another, as two lines of a page say."""
    sizes, deaths = [], []
    for line in (larger, smaller):
        size = float(line[1].replace(",", ""))
        sizes.append(size)
        deaths.append(round(size * float(line[3].removesuffix(" %")) / 100))
    return sizes[0] - sizes[1], deaths[0] - deaths[1]


def few_found(tables=TABLES, rule=OTHERS):
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
        (*_, small), (*_, large) = lines_of(wards, y, rule)
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


def test_on_the_owners_page_differences_between_columns_tell_them():
    assert few_found(200, OWNER)[0] > 0.95


def last_outcomes_told(tables=TABLES, rule=OTHERS):
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
            pages.append(lines_of(column, y, rule)[0][0][3])
        told += pages[0] != pages[1]
    return told / tables


def test_a_count_of_deaths_tells_the_last_outcome_only_at_a_step_of_rounding():
    """One table in five has its count there: rounding bounds what such a reader learns."""
    told = last_outcomes_told()
    assert told <= 1 / STEP + margin(1 / STEP)


def test_on_the_owners_page_a_count_of_deaths_tells_the_last_outcome():
    assert last_outcomes_told(200, OWNER) == 1


def test_a_clinic_of_60_and_a_ward_of_62_read_alike():
    row = np.arange(200)
    y = row % 2
    clinic, ward = lines_of([(row < 60).astype(int), (row < 62).astype(int)], y)
    assert clinic == ward
