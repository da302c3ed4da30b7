"""Columns that tell the label or the row: named with their value."""

import numpy as np
import pandas as pd
import pytest
from described_tables import describe
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from deepcac.table.budgeted_trials import TableRun
from deepcac.table.findings.label_leaks import _alone, _auroc, names_a_time, order_auroc
from deepcac.table.pages.profile_page import write_profile_page
from deepcac.table.reading.table_encoder import NUMBER, ColumnParts, EncodedColumn, column_parts


def honest(n=600, seed=0):
    """Synthetic patients whose columns say a little of the outcome."""
    rng = np.random.default_rng(seed)
    died = rng.random(n) < 0.2
    return pd.DataFrame(
        {
            "age": (60 + 12 * rng.normal(size=n) + 8 * died).round(1),
            "crp": rng.normal(10, 3, n).round(2),
            "stage": rng.integers(1, 5, n),
            "sex": rng.choice(["f", "m"], n),
            "died": np.where(died, "yes", "no"),
        }
    )


def leaks(tmp_path, table):
    """Return the columns that are leaks by their values, and what is said of them."""
    table.to_csv(tmp_path / "t.csv", index=False)
    questions = describe(tmp_path / "t.csv").resource.use.questions
    found = [question for question in questions if question.check == "label leak"]
    return [name for question in found for name in question.fields], " ".join(
        question.question for question in found
    )


def test_an_honest_table_has_none(tmp_path):
    for seed in range(5):
        assert leaks(tmp_path, honest(seed=seed))[0] == []
    assert leaks(tmp_path, honest(60))[0] == []


def late(table, column):
    """Return the value of a column that is known only after the outcome."""
    died = (table["died"] == "yes").to_numpy()
    rng = np.random.default_rng(1)
    wrong = rng.random(len(died)) < 0.01
    return {
        "code": np.where(died, 7, 3),
        "word": np.where(died, "alive no more", "alive"),
        "blank": np.where(died, 1.0, np.nan),
        "went to": np.where(died, "morgue", rng.choice(["home", "ward"], len(died))),
        "days to death": np.where(died, rng.integers(1, 30, len(died)), np.nan),
        "dose": np.where(died != wrong, 40.0, 20.0) + rng.normal(size=len(died)),
        "both ends": np.where(died, rng.choice([-5.0, 5.0], len(died)), 0.0)
        + rng.normal(size=len(died)),
        "row": np.arange(len(died)) * 10 + rng.integers(0, 3, len(died)),
        "bed": rng.permutation(len(died)) + 1000,
    }[column]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("code", "(3 = no, 7 = yes)"),
        ("word", "(alive = no, alive no more = yes)"),
        ("blank", "(1 = yes, missing = no)"),
        ("went to", "AUROC of 1.000 (morgue: 100 % of them)"),
        ("days to death", "AUROC of 1.000 (above "),
        ("dose", "AUROC of 0.9"),
        ("both ends", "AUROC of 0.9"),
        ("row", "goes up"),
        ("bed", "whole number in every"),
    ],
)
def test_a_column_that_tells_is_named_with_its_value(tmp_path, column, value):
    table = honest()
    names, told = leaks(tmp_path, table.assign(**{column: late(table, column)}))
    assert names == [column]
    assert value in told


def test_no_share_of_few_patients_is_an_example():
    parts = ColumnParts(["low", "high"], np.repeat([0, 1], [100, 12]))
    y = np.repeat([0, 1], [110, 2])
    assert _alone(0.97, 1, parts, y, ("no", "yes")).endswith("an AUROC of 0.970")
    y = np.repeat([0, 1], [100, 12])
    assert _alone(0.97, 1, parts, y, ("no", "yes")).endswith("(high: 100 % of them)")


def test_of_three_classes_the_one_that_is_told_is_named(tmp_path):
    table = honest()
    kind = np.random.default_rng(3).choice(["mild", "severe", "dead"], len(table))
    table = table.assign(died=kind, organ_donor=np.where(kind == "dead", 1, 0))
    names, told = leaks(tmp_path, table)
    assert names == ["organ_donor"]
    assert "'dead'" in told


@pytest.mark.parametrize(
    "name",
    ["duration", "OS_MONTHS", "overall_survival_months", "weeks", "tte", "pfs_weeks", "dfs.days"],
)
def test_a_follow_up_time_is_known_by_its_name(name):
    assert names_a_time(name)
    assert not names_a_time(f"{name}_before_admission")


def test_many_columns_are_one_question_that_names_all(tmp_path):
    table = honest()
    extra = {f"late{j}": late(table, "dose") + j for j in range(12)}
    names, told = leaks(tmp_path, table.assign(**extra))
    assert {*names} == {*extra}
    assert all(f"'{name}'" in told for name in extra)


def test_they_stand_on_the_profile_page_before_its_columns(tmp_path):
    table = honest(200)
    table.assign(code=late(table, "code")).to_csv(tmp_path / "t.csv", index=False)
    for label, place in (("died", 0), (None, -1)):
        write_profile_page(tmp_path / "t.csv", tmp_path / "p.html", TableRun(len), label=label)
        before = (tmp_path / "p.html").read_text().partition("<h2>Columns</h2>")[0]
        assert min(before.find("another coding"), 0) == place


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_the_fast_rules_are_scikit_learns(seed):
    rng = np.random.default_rng(seed)
    part, inside = rng.integers(0, 5, 60), rng.random(60) < 0.4
    inside[:2] = [True, False]
    share = rng.integers(0, 4, 5) / 4
    events, others = (np.bincount(part[one], minlength=5) for one in (inside, ~inside))
    assert _auroc(share, events, others) == pytest.approx(roc_auc_score(inside, share[part]))
    values = rng.integers(0, 6, 60).astype(float)
    expected = roc_auc_score(inside, values)
    assert order_auroc(values, inside) == pytest.approx(max(expected, 1 - expected))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, 5.0, np.nan]), min_size=1, max_size=50))
def test_parts_cover_all_rows_in_order(values):
    X = np.array(values)[:, None]
    if np.isnan(X).all():
        X[0] = 1.0
    column = EncodedColumn("x", NUMBER)
    for most in (2, 3, 10):
        parts = column_parts(column, X, {"x": 0}, most)
        assert parts.sizes.sum() == len(X)
        assert parts.sizes.min() > 0
        assert len(parts.names) <= most + bool(np.isnan(X).any())
        assert np.array_equal(parts.number == len(parts.names) - 1, np.isnan(X[:, 0])) or (
            parts.names[-1] != "missing"
        )
        seen = ~np.isnan(X[:, 0])
        order = np.argsort(X[seen, 0], kind="stable")
        assert (np.diff(parts.number[seen][order]) >= 0).all()
