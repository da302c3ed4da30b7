"""What bends a line without clusters, other uses of clusters, and the averaged control."""

from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.mixture import GaussianMixture

from deepcac.errors import ConfigError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.judging.bent_lines import MOST_PRODUCTS, _most_columns, _pairs_of, _splines
from deepcac.judging.choice import CLUSTERED, choose
from deepcac.judging.contenders import parse_contender
from deepcac.judging.fitting import fit_trial
from deepcac.judging.partitions import beside, part
from deepcac.judging.questions import BEND, BENT, HELP, RANDOM, pairs
from deepcac.judging.random_partitions import with_views
from deepcac.judging.resample_scores import resample_scores
from deepcac.judging.resamples import resamples
from deepcac.judging.spaces import GRID_ALPHAS, GRID_CLUSTERS, partition_grid
from deepcac.judging.trial_scores import LOSSES, METRICS
from deepcac.judging.trials import Effort, judge_rows

RNG = np.random.default_rng(5)
N = 900
X = RNG.normal(size=(N, 4))
X[::17, 3] = np.nan


def matrix_of(score, noise=0.5):
    y = (score + noise * np.random.default_rng(1).normal(size=N) > np.median(score)).astype(int)
    return FeatureMatrix(np.arange(N), y, X, tuple("abcd"))


BENDS = matrix_of(np.square(X[:, 0]))
CROSSES = matrix_of(X[:, 0] * X[:, 1])


def auroc(name, matrix, values=None):
    sample = next(resamples(matrix, 1, 1000))
    contender = parse_contender(name)
    answer = fit_trial(contender, values or contender.trials(2)[0], sample)(sample.test)
    assert answer.shape == (len(sample.test), 2)
    assert np.allclose(answer.sum(axis=1), 1)
    return roc_auc_score(sample.test.y, answer[:, 1])


def test_splines_see_a_bend_and_products_a_crossing_that_a_line_does_not():
    assert auroc("lr", BENDS) < 0.6
    assert auroc("spline_lr", BENDS) > 0.85
    assert auroc("lr", CROSSES) < 0.65
    assert auroc("products_lr", CROSSES) > 0.75


def test_explainable_boosting_sees_a_bend_and_a_crossing_and_stops_by_the_validation_rows():
    pytest.importorskip("interpret")
    pairs_of_ten = parse_contender("ebm").trials(1)[0]
    assert auroc("ebm", BENDS) > 0.85
    assert auroc("ebm", CROSSES, {**pairs_of_ten, "interactions": 0}) < 0.65
    assert auroc("ebm", CROSSES, pairs_of_ten) > 0.75


def test_splines_in_clusters_see_a_bend_that_turns_round_between_them():
    # Two groups far apart, in which the same column bends the risk in opposite directions.
    side = np.sign(X[:, 1])
    apart = matrix_of(side * (np.square(X[:, 0]) - 0.455))  # the median of the square
    groups = FeatureMatrix(
        apart.row_id, apart.label, np.column_stack([X[:, 0], 4 * side]), ("a", "s")
    )
    values = {"C": 0.1, "knots": 5, "class_weight": None}
    assert auroc("spline_lr", groups, values) < 0.7
    for name in ("km_spline_lr", "cac_spline_lr"):
        assert auroc(name, groups, {**values, "n_clusters": 2, "alpha": 0.0}) > 0.8


def test_splines_with_clusters_are_compared_with_splines_and_are_no_bent_rival():
    present = ["lr", "spline_lr", "km_spline_lr", "dist_spline_lr"]
    assert list(pairs(HELP, present)) == [(name, "spline_lr") for name in present[2:]]
    assert list(pairs(BEND, present)) == [("spline_lr", "lr")]


def test_experts_and_lines_in_leaves_see_a_crossing():
    assert auroc("moe", CROSSES) > 0.75
    assert auroc("linear_lgbm", CROSSES) > 0.75


@pytest.mark.parametrize("knots", [4, 5, 6])
def test_splines_hold_every_cubic_between_the_knots_and_a_line_beyond(knots):
    column = np.sort(RNG.exponential(size=300))
    flag = (RNG.random(300) < 0.2).astype(float)
    splines = _splines(np.column_stack([column, flag]), knots)
    basis = splines(np.column_stack([column, flag]))
    assert basis.shape == (300, knots + 1)  # none for the flag, which has two values
    full = np.column_stack([np.ones(300), basis])
    for cubic in (column, column**2, column**3 - column):
        fitted = full @ np.linalg.lstsq(full, cubic, rcond=None)[0]
        assert np.allclose(fitted, cubic, atol=1e-6 * np.abs(cubic).max())
    beyond = column[-1] + np.linspace(0.1, 3, 30)
    outside = splines(np.column_stack([beyond, np.zeros(30)]))
    assert np.allclose(np.diff(outside, 2, axis=0), 0, atol=1e-9)


def test_products_are_all_pairs_of_as_many_columns_as_there_is_room_for():
    most = _most_columns()
    columns = np.arange(most)
    assert len(_pairs_of(columns)) == most * (most - 1) // 2 == MOST_PRODUCTS
    assert _pairs_of(np.array([3, 5, 9])) == [(3, 5), (3, 9), (5, 9)]


def test_products_lr_is_logistic_regression_on_the_products():
    sample = next(resamples(CROSSES, 1, 1000))
    values = {"C": 0.5, "class_weight": None}
    answer = fit_trial(parse_contender("products_lr"), values, sample)(sample.test)
    train, test = (np.clip(rows.scaled, -5, 5) for rows in (sample.train, sample.test))
    width = train.shape[1]
    crossed = [
        np.column_stack(
            [rows[:, i] * rows[:, j] for i in range(width) for j in range(i + 1, width)]
        )
        for rows in (train, test)
    ]
    moving = crossed[0].std(axis=0) > 1e-9
    mean, scale = crossed[0][:, moving].mean(axis=0), crossed[0][:, moving].std(axis=0)
    wide = [
        np.hstack([rows, np.clip((own[:, moving] - mean) / scale, -5, 5)])
        for rows, own in zip((train, test), crossed, strict=True)
    ]
    plain = LogisticRegression(C=0.5, tol=1e-8, max_iter=5000).fit(wide[0], sample.train.y)
    assert np.allclose(answer[:, 1], plain.predict_proba(wide[1])[:, 1], atol=2e-3)


def test_ids_and_soft_weights_are_columns_of_the_clusters():
    sample = next(resamples(CROSSES, 1, 1000))
    ids = beside(sample, "ids", 3)(sample.test)
    clusters = part(sample, "km", 3, 0.0).assign(sample.test)
    assert all(len(np.unique(ids[clusters == j], axis=0)) == 1 for j in range(3))
    assert len(np.unique(ids, axis=0)) == len(np.unique(clusters))
    soft = beside(sample, "soft", 2)(sample.train)
    mixture = GaussianMixture(2, covariance_type="diag", reg_covar=1e-3, random_state=0)
    weights = mixture.fit(sample.train.bounded).predict_proba(sample.train.bounded)
    assert np.allclose(soft, (weights - weights.mean(axis=0)) / weights.std(axis=0))
    for name in ("ids_lr", "soft_lr"):
        assert 0 <= auroc(name, CROSSES, parse_contender(name).trials(5)[0]) <= 1


def test_the_grid_has_every_cell_once_and_alpha_0_apart():
    cells = [(one["n_clusters"], one["alpha"]) for one in partition_grid(20)]
    assert sorted(cells) == sorted(product(GRID_CLUSTERS, GRID_ALPHAS))
    assert cells[0] == (2, 0.03)
    assert 0.0 in GRID_ALPHAS
    drawn = parse_contender("cac_lr").grid_trials(20)
    assert [(one["n_clusters"], one["alpha"]) for one in drawn] == cells
    assert all("alpha" not in one for one in parse_contender("km_lr").grid_trials(20))


@pytest.mark.parametrize("name", ["cac_moe", "mean_of_cells_lr", "ids_bag"])
def test_what_has_no_arms_is_refused(name):
    with pytest.raises(ConfigError, match="no model"):
        parse_contender(name)


def test_random_groups_of_equal_effort_choose_a_trial_in_each_draw():
    effort = Effort(2, 2, 0, 300, 4, 2, partitions=3, grid=True, choose_in_each=True)
    record = judge_rows(CROSSES, parse_contender("cells_lr"), effort)
    found = with_views({"cells_lr": record})["each_of_cells_lr"]
    for metric in ("auroc", "log_loss"):
        m = METRICS.index(metric)
        for j, draws in enumerate(record.partitions):
            assert sorted(draws) == list(range(len(record.values)))
            tests = []
            for turn in range(3):
                validation = {t: scores[turn, 0, m] for t, scores in draws.items()}
                best = (min if metric in LOSSES else max)(validation, key=validation.get)
                tests.append(draws[best][turn, 1, m])
            assert choose(found, CLUSTERED, metric).scores[j] == pytest.approx(np.mean(tests))


def test_the_averaged_control_is_the_mean_of_its_draws_and_the_best_by_validation():
    effort = Effort(2, 2, 0, 300, 4, 2, partitions=3, grid=True)
    record = judge_rows(CROSSES, parse_contender("cells_lr"), effort)
    alone = judge_rows(CROSSES, parse_contender("lr"), effort)
    found = with_views({"cells_lr": record, "lr": alone})
    assert set(found) == {"cells_lr", "lr", "mean_of_cells_lr", "best_of_cells_lr"}
    for metric in ("auroc", "log_loss"):
        chosen = choose(record, CLUSTERED, metric)
        for view in ("mean_of_cells_lr", "best_of_cells_lr"):
            seen = choose(found[view], CLUSTERED, metric)
            assert seen.trials == chosen.trials
            for place, partitions in enumerate(record.partitions):
                draws = partitions[chosen.trials[place]]
                assert len(draws) == 3
                assert (draws[0] == record.scores[place, chosen.trials[place]]).all()
                checks, tests = draws[:, :, METRICS.index(metric)].T
                best = np.argmin(checks) if metric in LOSSES else np.argmax(checks)
                wanted = {"mean_of_cells_lr": sum(tests) / 3, "best_of_cells_lr": tests[best]}
                assert seen.scores[place] == pytest.approx(wanted[view])
    aurocs = [draws[:, 1, METRICS.index("auroc")] for draws in record.partitions[0].values()]
    assert any(len(set(own)) == 3 for own in aurocs)
    names = set(resample_scores({"d": {"cells_lr": record, "lr": alone}})["contender"])
    assert names == set(found)


def test_clusters_meet_the_average_partition_and_the_bent_line():
    present = ["cac_lr", "ids_lr", "km_lr", "lr", "mean_of_cells_lr", "spline_lr"]
    assert list(pairs(RANDOM, present)) == [
        ("cac_lr", "mean_of_cells_lr"),
        ("km_lr", "mean_of_cells_lr"),
    ]
    assert list(pairs(BENT, present)) == [
        (name, "spline_lr") for name in ("cac_lr", "ids_lr", "km_lr")
    ]
