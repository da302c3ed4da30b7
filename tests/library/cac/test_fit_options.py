"""What `fit` does with its arguments, and what it tells afterwards."""

import warnings

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from deepcac.cac import CACClassifier, CACClassifierCV, KMClassifier
from deepcac.cac.given_clusters import fit_labels
from deepcac.errors import ConfigError, DataError
from deepcac.preprocess import TableScaler


def rows(n=300, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.digitize(X[:, 0] + 0.7 * rng.normal(size=n), np.linspace(-0.5, 0.5, classes - 1))
    return X, y


def table(X):
    return pd.DataFrame(X, columns=["age", "weight", "pulse", "lactate"])


def test_convergence_is_told():
    X, y = rows()
    labels = np.random.default_rng(0).integers(0, 2, len(y))
    with pytest.warns(ConvergenceWarning, match=r"max_iter=1 passes; raise max_iter") as caught:
        short = CACClassifier(alpha=0.05, max_iter=1).fit(X, y, labels=labels)
    assert caught[0].filename == __file__
    assert not short.converged_
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        whole = CACClassifier(alpha=0.05).fit(X, y, labels=labels)
        CACClassifier(alpha=0.05, max_iter=0).fit(X, y, labels=labels)  # asked for the start
    assert whole.converged_
    assert whole.moves_[-1] == 0


def test_training_loss_is_chosen_by_the_training_rows():
    X, y = rows()
    labels = np.random.default_rng(0).integers(0, 2, len(y))
    model = CACClassifier(alpha=0.3, selection="best_train_loss").fit(X, y, labels=labels)
    losses = []
    for t in range(model.n_iter_ + 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            each = CACClassifier(alpha=0.3, max_iter=t).fit(X, y, labels=labels)
        losses.append(log_loss(y, each.predict_proba(X)))
    assert losses[model.kept_pass_] == pytest.approx(min(losses), rel=1e-9)
    assert len(model.cost_history_) == model.kept_pass_ + 1
    for selection in ("final", "best_train_loss"):
        with pytest.raises(ConfigError, match="no validation rows"):
            CACClassifier(selection=selection).fit(X, y, validation=(X, y))


def test_validation_rows_are_checked():
    X, y = rows(classes=3)
    model = CACClassifier(selection="best_validation", random_state=0)
    model.fit(table(X), y, validation=(table(X), y))
    with pytest.raises(ValueError, match="feature names"):
        model.fit(table(X), y, validation=(table(X).rename(columns={"age": "years"}), y))
    with pytest.raises(ValueError, match="4 features"):
        model.fit(X, y, validation=(X[:, :3], y))
    with pytest.raises(DataError, match=r"class 7 .*\[0, 1, 2\]"):
        model.fit(X, y, validation=(X, np.where(y == 2, 7, y)))
    with pytest.raises(ValueError, match="numbers of samples"):
        model.fit(X, y, validation=(X, y[:-1]))
    broken = table(X)
    broken.loc[3, "pulse"] = np.nan
    with pytest.raises(DataError, match="column 'pulse' holds NaN in row 3"):
        model.fit(table(X), y, validation=(broken, y))


def test_without_validation_rows_a_fifth_chooses_the_number_of_passes():
    X, y = rows(classes=3)
    model = CACClassifier(selection="best_validation", alpha=0.1, random_state=0).fit(X, y)
    assert len(model.subtypes_) == len(y)
    again = CACClassifier(alpha=0.1, max_iter=model.kept_pass_, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert np.array_equal(again.fit(X, y).subtypes_, model.subtypes_)


def test_given_labels_must_fit_the_number_of_clusters():
    X, y = rows()
    with pytest.raises(DataError, match="labels has cluster 4, but n_clusters=3; set n_clusters=5"):
        CACClassifier(n_clusters=3).fit(X, y, labels=np.arange(len(y)) % 5)
    with pytest.raises(DataError, match="integers from 0"):
        KMClassifier().fit(X, y, labels=np.full(len(y), 0.5))
    with pytest.raises(DataError, match=r"labels has shape \(3,\), but X has 300 rows"):
        KMClassifier().fit(X, y, labels=[0, 1, 0])


def test_the_random_state_reaches_the_base_classifier():
    X, y = rows()
    forest = RandomForestClassifier(3)
    first, second = (KMClassifier(forest, random_state=5).fit(X, y) for _ in range(2))
    assert np.array_equal(first.predict_proba(X), second.predict_proba(X))
    assert [each.random_state for each in first.estimators_] == [5, 5]
    assert forest.random_state is None
    own = KMClassifier(RandomForestClassifier(3, random_state=9), random_state=5).fit(X, y)
    assert own.estimators_[0].random_state == 9
    inside = make_pipeline(TableScaler(), forest)
    nested = KMClassifier(inside, random_state=np.random.RandomState(0)).fit(X, y)
    assert nested.estimators_[0][-1].random_state is not None


def test_row_weights_reach_the_base_classifier():
    X, y = rows()
    weight = np.where(X[:, 1] > 0, 3.0, 1.0)
    labels = (X[:, 2] > 0).astype(int)
    model = KMClassifier(LogisticRegression()).fit(X, y, labels=labels, sample_weight=weight)
    own = labels == 1
    alone = LogisticRegression().fit(X[own], y[own], sample_weight=weight[own])
    assert np.allclose(model.estimators_[1].coef_, alone.coef_)
    both = KMClassifier(LogisticRegression(), class_weight={0: 1.0, 1: 2.0})
    both.fit(X, y, labels=labels, sample_weight=weight)
    doubled = weight[own] * np.where(y[own] == 1, 2.0, 1.0)
    alone.fit(X[own], y[own], sample_weight=doubled)
    assert np.allclose(both.estimators_[1].coef_, alone.coef_, atol=1e-3)
    with pytest.raises(ConfigError, match="KNeighborsClassifier takes no sample_weight"):
        KMClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=weight)


def test_jobs_change_nothing():
    X, y = rows(classes=3)
    with parallel_config(backend="threading"):  # processes take seconds to start
        one, two = (CACClassifier(n_jobs=n, random_state=0).fit(X, y) for n in (None, 2))
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


def test_tables_in_and_out():
    X, y = rows()
    model = CACClassifier(n_clusters=3, random_state=0).set_output(transform="pandas")
    out = model.fit(table(X), y).transform(table(X))
    assert model.feature_names_in_.tolist() == ["age", "weight", "pulse", "lactate"]
    assert out.columns.tolist() == ["cacclassifier0", "cacclassifier1", "cacclassifier2"]
    assert np.array_equal(out.to_numpy().argmin(axis=1), model.assign(table(X)))
    gap = np.linalg.norm(X[0] - model.cluster_centers_[1])
    assert out.iloc[0, 1] == pytest.approx(gap)


@pytest.mark.parametrize("estimator", [CACClassifier, KMClassifier, CACClassifierCV])
def test_words_for_classes_and_more_than_two_of_them(estimator):
    X, y = rows(classes=3)
    names = np.array(["low", "middle", "high"])[y]
    model = estimator(random_state=0).fit(X, names)
    assert model.classes_.tolist() == ["high", "low", "middle"]
    assert set(model.predict(X)) <= set(names)
    assert model.predict_proba(X).shape == model.decision_function(X).shape == (300, 3)
    assert model.score(X, names) > 0.5


@pytest.mark.skipif(
    not hasattr(BaseEstimator, "_html_repr"), reason="scikit-learn 1.6 draws the diagram alone"
)
def test_the_picture_in_a_notebook_says_what_was_found():
    X, y = rows()
    model = CACClassifier(alpha=0.01, random_state=0)
    assert "CACClassifier: k" not in model._repr_html_()
    shown = model.fit(X, y)._repr_html_()
    sizes = " rows".join([", ".join(str(n) for n in model.class_counts_.sum(axis=1)), ""])
    assert f"CACClassifier: k = 2; alpha = 0.01; clusters of {sizes}" in shown
    assert "CACClassifier: k = 2" in model._repr_mimebundle_()["text/html"]
    given = fit_labels(CACClassifier(), X, y, np.arange(len(y)) % 2)
    assert "CACClassifier: k = 2; clusters of 150, 150 rows" in given._repr_html_()


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_clusters": "two"},
        {"n_clusters": 0},
        {"alpha": "small"},
        {"alpha": -0.1},
        {"separation": "none"},
        {"selection": "best"},
        {"max_iter": "many"},
        {"class_weight": "even"},
        {"base_estimator": "lr"},
        {"random_state": "seed"},
        {"n_jobs": "all"},
    ],
)
def test_parameters_are_checked_by_name(parameters):
    X, y = rows()
    ((name, value),) = parameters.items()
    with pytest.raises(ValueError, match=f"'{name}' parameter of CACClassifier must be .* Got "):
        CACClassifier(**parameters).fit(X, y)
    assert str(value) in repr(parameters)
