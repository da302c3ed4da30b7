"""CACClassifierCV against the same by hand, one fit at a time."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from deepcac.cac import CACClassifier, CACClassifierCV
from deepcac.cac.given_clusters import fit_labels
from deepcac.errors import ConfigError, DataError


def xor_rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    side = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 3))
    X[:, 0] += np.where(side == 1, 4.0, -4.0)
    return X, ((X[:, 1] + 0.5 * rng.normal(size=n) > 0) ^ (side == 1)).astype(int)


def plain_rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X @ [1.0, 1.0, 0.0] + 0.5 * rng.normal(size=n) > 0.8).astype(int)


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_one_fit_at_a_time(weighted):
    X, y = plain_rows()
    weight = np.where(X[:, 2] > 0, 2.0, 1.0) if weighted else None
    ks, alphas = (1, 3), (0.0, 0.05)
    model = CACClassifierCV(n_clusters=ks, alphas=alphas, cv=3, random_state=4)
    model.fit(X, y, sample_weight=weight)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=4).split(X, y))
    expected = []
    for k, alpha in ((1, 0.0), (3, 0.0), (3, 0.05)):
        for train, held_out in folds:
            one = CACClassifier(n_clusters=k, alpha=alpha, random_state=4)
            one.fit(X[train], y[train], sample_weight=None if weight is None else weight[train])
            values = one.decision_function(X[held_out])
            expected.append(average_precision_score(y[held_out], values))
    found = model.cv_results_
    got = np.array([found[f"split{f}_test_score"] for f in range(3)]).T
    assert got.ravel() == pytest.approx(np.array(expected), abs=1e-3)
    assert found["mean_test_score"] == pytest.approx(got.mean(axis=1))
    assert found["std_test_score"] == pytest.approx(got.std(axis=1))
    assert model.best_params_ == found["params"][model.best_index_]
    assert model.best_score_ == found["mean_test_score"][model.best_index_]
    best = model.set_params(parsimony=0).fit(X, y, sample_weight=weight)
    assert best.cv_results_["rank_test_score"][best.best_index_] == 1
    assert best.best_score_ == best.cv_results_["mean_test_score"].max()
    assert found["param_n_clusters"].tolist() == [1, 3, 3]
    assert found["param_alpha"].tolist() == [0.0, 0.0, 0.05]
    assert model.n_splits_ == 3


def test_what_is_kept_is_the_best_candidate_fitted_to_all_rows():
    X, y = xor_rows()
    model = CACClassifierCV(random_state=0).fit(X, y)
    assert model.best_params_["n_clusters"] == 2
    same = CACClassifier(**model.best_params_, random_state=0).fit(X, y)
    assert np.array_equal(model.predict_proba(X), same.predict_proba(X))
    assert np.array_equal(model.subtypes_, same.subtypes_)
    assert model.alpha_ == same.alpha_
    assert np.array_equal(model.cost_history_, same.cost_history_)


def test_the_simplest_that_is_not_clearly_worse_is_kept_by_hand():
    model = CACClassifierCV(parsimony=1.0)
    candidates = [(1, 0.0), (2, 0.0), (2, 0.1)]
    # Gaps to the last: 0.3 +- 0.1 / 2, then 0.02 +- 0.04 / 2 (four folds).
    last = np.full(4, 0.9)
    clearly = last - [0.2, 0.3, 0.3, 0.4]
    hardly = last - [0.0, 0.0, 0.0, 0.08]
    model._note(candidates, np.vstack([clearly, hardly, last]))
    assert model.best_params_ == {"n_clusters": 2, "alpha": 0.0}
    assert model.best_score_ == pytest.approx(0.88)
    model.set_params(parsimony=0.5)._note(candidates, np.vstack([clearly, hardly, last]))
    assert model.best_params_ == {"n_clusters": 2, "alpha": 0.1}


def test_no_clusters_where_none_help():
    X, y = plain_rows(600)
    model = CACClassifierCV(random_state=0).fit(X, y)
    assert model.best_params_ == {"n_clusters": 1, "alpha": 0.0}
    plain = LogisticRegression(max_iter=1000).fit(X, y)
    assert model.predict_proba(X) == pytest.approx(plain.predict_proba(X), abs=1e-6)
    assert not model.collapsed_


@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", "neg_log_loss", "f1"])
def test_words_for_classes_with_every_kind_of_score(scoring):
    X, y = xor_rows()
    model = CACClassifierCV(n_clusters=2, alphas=(0.0, 0.1), scoring=scoring, random_state=0)
    coded = model.fit(X, y).best_score_
    named = model.fit(X, np.array(["alive", "dead"])[y])
    assert named.best_score_ == pytest.approx(coded)
    assert named.classes_.tolist() == ["alive", "dead"]


def test_several_classes_are_ranked_one_against_rest():
    X, _ = plain_rows()
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    for scoring in ("average_precision", "roc_auc_ovr"):
        model = CACClassifierCV(n_clusters=(1, 2), scoring=scoring, random_state=0).fit(X, y)
        assert 0.8 < model.best_score_ <= 1.0


def test_splitters_and_groups():
    X, y = xor_rows()
    patient = np.repeat(np.arange(100), 3)
    model = CACClassifierCV(n_clusters=(1, 2), alphas=(0.0,), random_state=0)
    for cv, groups, splits in ((KFold(4), None, 4), (GroupKFold(3), patient, 3), (5, patient, 5)):
        assert model.set_params(cv=cv).fit(X, y, groups=groups).n_splits_ == splits
    folds = model._folds(X, y, patient, 0)
    for train, held_out in folds:
        assert not set(patient[train]) & set(patient[held_out])
    rare = np.zeros(300, dtype=int)
    rare[:3] = 1
    assert model.set_params(cv=5).fit(X, rare).n_splits_ == 3
    rare[:2] = 0
    with pytest.raises(DataError, match="class 1 has 1 row of n_samples=300"):
        model.fit(X, rare)


def test_jobs_and_repetition_change_nothing():
    X, y = xor_rows()
    with parallel_config(backend="threading"):  # processes take seconds to start
        one, two = (CACClassifierCV(n_jobs=n, random_state=1).fit(X, y) for n in (None, 2))
    assert np.array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


def test_a_ranking_is_better_than_chance_on_new_rows():
    model = CACClassifierCV(random_state=0).fit(*xor_rows(600))
    X, y = xor_rows(600, seed=1)
    assert roc_auc_score(y, model.decision_function(X)) > 0.85


@pytest.mark.parametrize(
    "parameters", [{"n_clusters": ()}, {"n_clusters": (0, 2)}, {"alphas": (-1.0,)}, {"alphas": ()}]
)
def test_empty_or_impossible_grids_are_refused(parameters):
    with pytest.raises(ConfigError, match="from 1 and .* from 0"):
        CACClassifierCV(**parameters).fit(*xor_rows())


def test_equal_clusterings_are_fitted_once(monkeypatch):
    fits = []
    monkeypatch.setattr("deepcac.cac.path.fit_labels", lambda *a: fits.append(1) or fit_labels(*a))
    X, y = xor_rows()
    CACClassifierCV(n_clusters=2, alphas=np.linspace(0, 1e-6, 9), cv=2, random_state=0).fit(X, y)
    assert len(fits) == 2  # nine alphas that move nothing, two folds
