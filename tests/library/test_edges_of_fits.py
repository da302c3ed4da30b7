"""Cases at the edge of a fit, with the answer that a reader of its docstring expects."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.datasets import make_blobs, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LeaveOneGroupOut

import deepcac
from deepcac import CACClassifier, CACClassifierCV, DeepCACClassifier, KMClassifier
from deepcac.cac import cluster
from deepcac.decomposition import ClassDecompositionClassifier
from deepcac.displays import SubtypeProfileDisplay
from deepcac.errors import ConfigError, DataError
from deepcac.linear.base_classifiers import fit_weighted
from deepcac.nn import FNNClassifier
from deepcac.scoring.calibration import calibration_curve
from deepcac.scoring.censored import FollowUp, observed_risk
from deepcac.scoring.resampled_scores import (
    INTERCEPT,
    RATIO,
    SCALED,
    Patients,
    patient_draws,
    perfect_ranking,
    score_intervals,
    slopes,
)
from deepcac.sequence_summary import SequenceSummary


@pytest.fixture(scope="module")
def rows():
    return make_classification(240, 5, weights=[0.8], flip_y=0.2, random_state=0)


@pytest.mark.parametrize("selection", ["cv", "best_validation"])
def test_class_weights_by_label_are_those_of_the_search_too(rows, selection):
    """The same fit under labels 0 and 1, for which they cannot be mistaken."""
    X, y = rows

    def chosen(labels, weights):
        if selection == "cv":
            model = CACClassifierCV(
                n_clusters=(1, 2), alphas=(0.0, 0.1), cv=2,
                class_weight=weights, scoring="roc_auc", random_state=0,
            )  # fmt: skip
            return model.fit(X, labels).cv_results_["mean_test_score"]
        model = CACClassifier(
            alpha=0.5, class_weight=weights, selection="best_validation", random_state=0
        )
        return model.fit(X, labels).predict_proba(X)

    plain = chosen(y, {0: 1.0, 1: 20.0})
    assert np.array_equal(plain, chosen(np.where(y, "died", "alive"), {"alive": 1.0, "died": 20.0}))
    assert not np.array_equal(plain, chosen(y, None))


@pytest.mark.parametrize("shift", [-0.5, 1.0, 40.0])
def test_a_safe_alpha_does_not_depend_on_the_origin(shift):
    X, y = np.random.default_rng(0).uniform(size=(500, 10)), np.arange(500) % 2
    alphas = [CACClassifier(random_state=0).fit(X + by, y).alpha_ for by in (0.0, shift)]
    assert alphas[0] == pytest.approx(alphas[1], rel=1e-6)
    assert 0 < alphas[0] < 0.01


def test_a_fold_without_a_score_is_refused_and_decides_nothing(rows):
    X, y = rows
    site = np.arange(len(y)) % 4
    site[y == 1] %= 3  # no event at the last one
    with pytest.raises(DataError, match="fold 4 of 4"):
        CACClassifierCV(scoring="roc_auc", cv=LeaveOneGroupOut()).fit(X, y, groups=site)


def test_draws_without_an_event_widen_no_interval_of_calibration():
    """With four events one Poisson draw in 55 has none."""
    y, risk = np.r_[np.ones(4, int), np.zeros(196, int)], np.linspace(0.1, 0.001, 200)
    found = score_intervals(Patients(y, risk), patient_draws(np.arange(200)))
    assert found[RATIO].low > 0.05
    assert found[RATIO].high < 5
    assert found[INTERCEPT].high - found[INTERCEPT].low < 6
    assert found[SCALED].high - found[SCALED].low < 2


def test_no_event_beside_competing_ones_has_the_interval_of_those_who_are_known():
    time, none = np.full(30, 10.0), np.zeros(30, bool)
    alone = observed_risk(FollowUp(time, none, 5.0))
    assert observed_risk(FollowUp(time, none, 5.0, none)) == pytest.approx(alone)
    other = np.arange(30) < 10
    early = np.where(other, 2.0, 10.0)
    risk, low, high = observed_risk(FollowUp(early, none, 5.0, other))
    assert (risk, low) == (0, 0)
    assert high == pytest.approx(1 - 0.025 ** (1 / 30))


@pytest.mark.parametrize("kind", ["int8", "int32", "uint8", "float32"])
def test_labels_of_any_width_can_be_saved(rows, tmp_path, kind):
    X, y = rows
    model = KMClassifier(random_state=0).fit(X, y.astype(kind))
    deepcac.save(model, tmp_path / "m.deepcac")
    again = deepcac.load(tmp_path / "m.deepcac")
    assert np.array_equal(again.predict(X), model.predict(X))


def test_a_network_whose_parameters_are_of_numpy_can_be_saved(rows, tmp_path):
    X, y = rows
    model = DeepCACClassifier(
        n_clusters=np.int64(2), lr=np.float32(0.01), max_epochs=np.int64(2),
        pretrain_epochs=1, random_state=np.int64(0),
    ).fit(X, y)  # fmt: skip
    deepcac.save(model, tmp_path / "m.deepcac")
    again = deepcac.load(tmp_path / "m.deepcac")
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.n_clusters == 2


def test_clusters_keep_their_numbers_where_the_rows_have_none_of_the_first(rows):
    model = SimpleNamespace(assign=lambda X: np.where(X[:, 0] > 0, 2, 1))
    shown = SubtypeProfileDisplay.from_estimator(model, rows[0])
    labels = [line.get_label() for line in shown.ax_.get_lines()]
    assert [label[:9] for label in labels if label.startswith("cluster")] == [
        "cluster 1",
        "cluster 2",
    ]


def test_a_cluster_whose_rows_all_have_weight_0_has_a_constant_model():
    X, cloud = make_blobs(200, centers=[[0, 0], [40, 40]], random_state=0)
    y = np.arange(200) % 2
    model = KMClassifier(random_state=0).fit(X, y, sample_weight=np.where(cloud == 1, 0.0, 1.0))
    assert model.predict_proba(X[cloud == 1]) == pytest.approx(np.mean(y[cloud == 1]), abs=0.1)


def test_a_model_does_not_begin_at_the_planes_of_other_classes(rows):
    X = rows[0]
    y = np.arange(len(X)) % 3
    base = LogisticRegression(warm_start=True)
    start = fit_weighted(base, X[y < 2], y[y < 2], None)
    again = fit_weighted(base, X, y, None, start)
    assert np.array_equal(again.coef_, fit_weighted(base, X, y, None).coef_)


def test_a_network_refuses_a_class_of_no_weight_before_it_trains(rows):
    X = rows[0]
    y = np.arange(len(X)) % 3
    with pytest.raises(DataError, match="class 2 .*weight 0"):
        FNNClassifier(class_weight={0: 1, 1: 1, 2: 0}, random_state=0).fit(X, y)


def test_a_decomposition_with_a_seed_is_the_same_again(rows):
    X, y = rows

    def fitted():
        forest = RandomForestClassifier(5, max_depth=3)
        return ClassDecompositionClassifier(forest, random_state=0).fit(X, y).predict_proba(X)

    assert np.array_equal(fitted(), fitted())


def test_names_of_a_summary_may_be_an_array():
    values = np.random.default_rng(0).normal(size=(6, 4, 2))
    summary = SequenceSummary(names=np.array(["hr", "map"])).fit(values)
    assert summary.get_feature_names_out()[0].startswith("hr_")


def test_classes_are_numbers_of_any_width_and_none_is_missing():
    X, labels = np.random.default_rng(0).normal(size=(300, 2)), np.arange(300) % 2
    y = np.where(np.arange(300) % 3, 100, -100)
    assert np.array_equal(
        cluster(X, y.astype(np.int8), labels, 0.1).labels, cluster(X, y, labels, 0.1).labels
    )
    with pytest.raises(DataError, match="y is NaN in row 2"):
        cluster(X, np.where(np.arange(300) == 2, np.nan, y), labels, 0.1)


def test_folds_without_an_event_are_refused_whatever_the_score(rows):
    """Average precision calls such a fold 0."""
    X, y = rows
    patient = np.where(y == 1, 0, 1 + np.arange(len(y)) % 30)
    with pytest.raises(DataError, match="none of class"):
        CACClassifierCV().fit(X, y, groups=patient)


def test_a_part_of_a_cluster_is_none(rows):
    with pytest.raises(ConfigError, match="whole numbers"):
        CACClassifierCV(n_clusters=[2.7]).fit(*rows)


def test_equal_risks_have_the_slope_0_and_the_level_of_the_outcome():
    y = np.r_[np.ones(20, int), np.zeros(80, int)]
    draws = np.column_stack([np.ones(100, int), np.r_[np.full(20, 2), np.ones(80, int)]])
    slope, level = slopes(y, np.full(100, 0.3), draws.astype(float))
    assert slope.tolist() == [0, 0]
    assert expit(level) == pytest.approx([0.2, 40 / 120])
    curve = calibration_curve(y, np.full(100, 0.3), np.arange(100))
    assert curve.observed == pytest.approx(np.full(50, 0.2), abs=1e-3)
    tied = np.r_[np.full(60, 0.1), np.full(40, 0.5)]  # one risk of most: two knots are one
    outcome = np.r_[np.arange(60) % 10 == 0, np.arange(40) % 2 == 0].astype(int)
    curve = calibration_curve(outcome, tied, np.arange(100))
    assert curve.observed[[0, -1]] == pytest.approx([0.1, 0.5], abs=0.01)


def test_a_perfect_ranking_of_few_is_uncertain():
    draws = logit(np.random.default_rng(0).beta(10.5, 0.5, 200_000))  # ten pairs, none reversed
    assert perfect_ranking(300, 10) == pytest.approx((draws.mean(), draws.std()), rel=0.02)


def test_a_safe_alpha_of_separations_by_cluster_is_by_row_what_it_is_by_size():
    X, y = np.random.default_rng(0).uniform(size=(400, 4)), np.arange(400) % 2
    sized, bare = (
        CACClassifier(separation=name, random_state=0).fit(X, y).alpha_
        for name in ("size", "cluster")
    )
    assert 100 * sized < bare <= 200 * sized


def test_the_passes_are_chosen_from_the_given_start(rows):
    """From a random start more passes are needed than from k-means."""
    X, y = rows
    start = np.random.default_rng(1).integers(0, 2, len(y))
    model = CACClassifier(selection="best_validation", alpha=0.01, random_state=0)
    fitted = []
    model._passes_needed = lambda X, y, weights, given: fitted.append(given) or 1
    model.fit(X, y, labels=start)
    assert np.array_equal(fitted[0], start)
