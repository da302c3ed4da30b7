"""What a clinician reads about subtypes: numbers against plain references, small counts hidden."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_runs import write_run
from scipy.stats import kruskal, spearmanr

from deepcac.feature_matrix import FeatureMatrix, write_features
from deepcac_study.catalogue.entries import DataSet
from deepcac_study.features.columns.ranges import Range
from deepcac_study.records.runs import load
from deepcac_study.report.site.page import BesideRecords, build
from deepcac_study.report.subtypes.subtype_numbers import (
    UnseenRows,
    explained,
    follows,
    mean_differences,
    middles,
    variable_values,
)
from deepcac_study.report.subtypes.subtype_tables import who_table
from deepcac_study.report.subtypes.subtypepages import _badly_calibrated, _shares

REGISTRY = Path(__file__).parents[3] / "config" / "registry"
NAN = float("nan")
NOTHING = pd.DataFrame()
LACTATE = {"Lactate": Range("Lactate", "mmol/L", 0, 30, meaning="Lactate in blood")}


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=25, max_size=60))
def test_explained_is_the_share_of_kruskal_and_wallis(rows):
    values, cluster = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    parts = [values[cluster == one] for one in np.unique(cluster)]
    (share,) = explained(pd.DataFrame({"x": values}), cluster)
    if len(parts) < 2 or np.ptp(values) == 0:
        assert share == pytest.approx(0.0)
    else:
        assert share == pytest.approx(kruskal(*parts).statistic / (len(values) - 1))


def test_one_line_a_variable_with_its_full_name_and_unit():
    names = ("Lactate_first", "Lactate_last", "Lactate_median", "sex=male", "sex=female")
    X = np.array([[1.0, 2.0, 1.5, 1, 0], [3.0, NAN, 3.0, 0, 1]])
    features = FeatureMatrix(np.arange(2), np.array([0, 1]), X, names)
    values, about = variable_values(features, np.arange(2), LACTATE)
    assert about[["name", "unit"]].to_numpy().tolist() == [
        *(["Lactate in blood, median", "mmol/L"], ["sex: male", "%"], ["sex: female", "%"])
    ]
    assert values["Lactate"].tolist() == [1.5, 3.0]


def test_an_hourly_variable_is_the_mean_of_its_measured_hours():
    X = np.array([[1.0, NAN, 3.0], [NAN, NAN, NAN]])
    features = FeatureMatrix(np.arange(2), np.array([0, 1]), X, ("HR@00", "HR@01", "HR@02"))
    values, _ = variable_values(features, np.arange(2), {})
    assert values["HR"].tolist() == pytest.approx([2.0, NAN], nan_ok=True)


def unseen(values, cluster, share=False):
    table = pd.DataFrame({"x": values})
    about = pd.DataFrame({"name": "x", "unit": "", "share": share}, index=["x"])
    return UnseenRows(cluster, cluster, np.zeros(len(cluster)), table, about, cluster.max() + 1)


def test_too_few_values_give_no_number():
    rng = np.random.default_rng(0)
    values = rng.normal(size=60)
    values[10:] = NAN
    rows = unseen(values, (np.arange(60) >= 9).astype(int))
    own = rows.values[:9]
    assert mean_differences(rows).isna().all(axis=None)
    assert middles(own, rows.about["share"]).isna().all()
    assert follows(own, values[:9]).empty


def test_a_difference_and_what_the_risk_follows_are_those_of_the_textbook():
    rng = np.random.default_rng(0)
    values, risk = rng.normal(size=200), rng.normal(size=200)
    rows = unseen(values, (np.arange(200) >= 80).astype(int))
    one, other = values[:80], values[80:]
    d = (one.mean() - other.mean()) / np.sqrt((one.var(ddof=1) + other.var(ddof=1)) / 2)
    assert mean_differences(rows).loc["x"].to_numpy() == pytest.approx([d, -d])
    assert follows(rows.values[:80], risk[:80])["x"] == pytest.approx(
        spearmanr(one, risk[:80]).statistic
    )


def test_the_middle_is_a_median_or_a_share():
    values = np.r_[np.ones(9), np.zeros(11)]
    middle = [
        middles(unseen(values, np.zeros(20, int), share).values, pd.Series({"x": share}))["x"]
        for share in (False, True)
    ]
    assert middle == [0.0, 45.0]


def test_small_counts_of_restricted_data_are_withheld(tmp_path):
    (run,) = load([write_run(tmp_path / "results", "ards", "km_lr", 2)], tmp_path)
    cluster, label = np.repeat([0, 1], [95, 5]), np.r_[np.ones(20), np.zeros(80)].astype(int)
    rows = UnseenRows(cluster, label, np.full(100, 0.2), NOTHING, NOTHING, 2)
    entry = DataSet(title="t", label="l", positive="died", task="binary")
    shown, hidden = (
        [[cell.text for cell in row] for row in who_table(run, rows, entry, hidden=hide).rows]
        for hide in (False, True)
    )
    assert shown[1][1:3] == ["5", "0"]
    assert not {"5", "95", "0"} & {text for row in hidden for text in row}
    assert [row[1] for row in hidden] == ["withheld", "withheld"]


@pytest.fixture
def report(tmp_path, undrawn):
    """Return a report with one page of subtypes: `Lactate` is measured in the second alone."""
    results = tmp_path / "results"
    path = write_run(results, "cic", "km_lr", 2)
    (run,) = load([path], tmp_path)
    table = run.scores(["row_id", "seed", "cluster"]).to_pandas()
    first = table[table["seed"] == 0]
    rng = np.random.default_rng(0)
    age, lactate = rng.normal(60, 9, 1000), rng.normal(2, 1, 1000)
    lactate[first["row_id"][first["cluster"] == 0]] = NAN
    features = FeatureMatrix(
        np.arange(1000), np.arange(1000) % 2, np.column_stack([age, lactate]), ("Age", "Lactate")
    )
    write_features(tmp_path / "features" / "cic.parquet", features)
    build(
        [path],
        REGISTRY,
        results / "report",
        data=BesideRecords(features=tmp_path / "features"),
        resamples=5,
    )
    return results / "report"


def test_the_page_says_what_the_clusters_are(report):
    page = (report / "pages" / "subtypes_cic_km_lr_k2.html").read_text(encoding="utf-8")
    assert "Lactate was measured" in page
    assert "0 % in subtype 1, 100 % in subtype 2" in page
    assert "died in hospital" in page
    assert (report / "tables" / "subtypes_cic_km_lr_k2_medians.csv").is_file()
    listed = (report / "pages" / "subtypes.html").read_text(encoding="utf-8")
    assert 'href="../pages/subtypes_cic_km_lr_k2.html"' in listed


def test_far_risks_are_told_and_near_ones_are_not():
    cluster, label = np.repeat([0, 1], 60), np.tile([0, 1, 1], 40)
    near = UnseenRows(cluster, label, np.full(120, 0.65), NOTHING, NOTHING, 2)
    far = UnseenRows(cluster, label, np.where(cluster == 1, 0.1, 0.65), NOTHING, NOTHING, 2)
    decisions = UnseenRows(cluster, label, np.full(120, -3.0), NOTHING, NOTHING, 2)
    said = _badly_calibrated(far, hidden=True)
    assert "in subtype 2 their mean is 10 %, and 67 % have the outcome" in said
    assert _badly_calibrated(near, hidden=False) == _badly_calibrated(decisions, hidden=False) == ""
    rare = UnseenRows(
        np.repeat(0, 60), (np.arange(60) < 3).astype(int), np.full(60, 0.9), NOTHING, NOTHING, 1
    )
    assert "5 % have the outcome" in _badly_calibrated(rare, hidden=False)
    assert _badly_calibrated(rare, hidden=True) == ""
    few = UnseenRows(cluster[55:65], label[55:65], np.zeros(10), NOTHING, NOTHING, 2)
    assert _badly_calibrated(few, hidden=False) == ""


def test_a_subtype_without_unseen_rows_has_no_share():
    values = pd.Series([1.0, NAN, 2.0, 3.0])
    rows = UnseenRows(
        np.array([0, 0, 2, 2]), np.array([0, 1, 0, 1]), np.zeros(4), NOTHING, NOTHING, 3
    )
    said = "It was measured in 50 % in subtype 1, 100 % in subtype 3."
    assert _shares(rows, values, hidden=False) == said


def test_restricted_data_tell_no_share_of_a_small_subtype():
    cluster = np.repeat([0, 1, 2], [9, 30, 30])
    rows = UnseenRows(cluster, cluster, np.zeros(69), NOTHING, NOTHING, 3)
    values = np.where(np.arange(69) % 2, NAN, 1.0)
    values[39:68] = NAN  # one of the third
    shown = _shares(rows, pd.Series(values), hidden=True)
    assert "50 % in subtype 2" in shown
