"""What people do wrong with a table, for every public classifier: the message names it."""

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import ClassifierMixin, clone
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from deepcac import (
    CACClassifier,
    CACClassifierCV,
    ClassDecompositionClassifier,
    DeepCACClassifier,
    KMClassifier,
    SubtypeClassifier,
    SupervisedKMeans,
    nn,
)
from deepcac.cac import MetricKMClassifier
from deepcac.decomposition import MixedNaiveBayes
from deepcac.errors import DataError, ScaleWarning
from deepcac.linear.newton_svm import NewtonSVC

LOCAL = {
    "cac": CACClassifier(n_clusters=2, random_state=0),
    "cac_cv": CACClassifierCV(n_clusters=(1, 2), alphas=(0.0, 0.1), cv=2, random_state=0),
    "km": KMClassifier(n_clusters=2, random_state=0),
    "metric_km": MetricKMClassifier(n_clusters=2, random_state=0),
}
DEEP = {
    "deep": DeepCACClassifier(n_clusters=2, max_epochs=1, device="cpu", random_state=0),
    "deep_ready": DeepCACClassifier(
        n_clusters=2, max_epochs=1, device="cpu", preprocess=None, random_state=0
    ),
}
DECOMPOSED = {"decomposed": ClassDecompositionClassifier(max_clusters=2, random_state=0)}
EVERY = LOCAL | DEEP | DECOMPOSED
NO_HOLES = {name: EVERY[name] for name in (*LOCAL, "deep_ready")}
NUMBERS = LOCAL | DEEP


def table(n=60):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["age", "pulse", "lactate"])
    return X, (X["age"] + rng.normal(size=n) > 0).to_numpy().astype(int)


def with_value(value, row=7):
    X, y = table()
    X = X.astype(object) if isinstance(value, str) else X
    X.loc[row, "pulse"] = value
    return X, y


def fitted(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(*table())


def cases(models):
    return pytest.mark.parametrize("model", models.values(), ids=models)


@cases(NO_HOLES)
def test_missing_values(model):
    with pytest.raises(
        ValueError, match="column 'pulse' holds NaN in row 7; impute it first, .*TableScaler"
    ):
        clone(model).fit(*with_value(np.nan))
    known = fitted(model)
    with pytest.raises(ValueError, match="column 'pulse' holds NaN in row 7"):
        known.predict(with_value(np.nan)[0])


@cases({name: EVERY[name] for name in ("deep", "decomposed")})
def test_missing_values_where_they_are_welcome(model):
    X, y = with_value(np.nan)
    assert len(clone(model).fit(X, y).predict(X)) == len(y)


@cases(EVERY)
def test_infinite_values(model):
    with pytest.raises(ValueError, match="('pulse' .*inf.* row 7|infinity)"):
        clone(model).fit(*with_value(np.inf))


@cases(EVERY)
def test_values_too_large_to_square(model):
    with pytest.raises(ValueError, match="'pulse' .*1e.300, .*row 7"):
        clone(model).fit(*with_value(1e300))


@cases(EVERY)
def test_text(model):
    with pytest.raises(ValueError, match="column 'pulse' (holds text|is neither numeric)"):
        clone(model).fit(*with_value("fast"))


@cases(EVERY)
def test_dates(model):
    X, y = table()
    X["pulse"] = pd.Timestamp("2020-02-02")
    with pytest.raises(ValueError, match="'pulse' .*text or dates"):
        clone(model).fit(X, y)


@cases(NUMBERS)
def test_categories_where_numbers_are_needed(model):
    X, y = table()
    X["pulse"] = pd.Categorical(np.where(y == 1, "fast", "slow"))
    with pytest.raises(ValueError, match="'pulse' .*OneHotEncoder"):
        clone(model).fit(X, y)


@cases(EVERY)
def test_an_unseen_category_or_word_at_prediction(model):
    with pytest.raises(ValueError, match="could not convert|holds text"):
        fitted(model).predict(with_value("fast")[0])


def test_an_unseen_level_is_missing_where_categories_are_known():
    X, y = table()
    X["ward"] = pd.Categorical(np.where(X["pulse"] > 0, "icu", "floor"))
    model = clone(DECOMPOSED["decomposed"]).fit(X, y)
    new, absent = X.copy(), X.copy()
    new["ward"] = pd.Categorical(["garden"] * len(X))
    absent["ward"] = pd.Categorical([None] * len(X), categories=["floor", "icu"])
    assert np.array_equal(model.predict_proba(new), model.predict_proba(absent))


@cases(EVERY)
def test_one_class(model):
    X, y = table()
    with pytest.raises(ValueError, match=r"one class only \(1\)"):
        clone(model).fit(X, np.ones_like(y))
    with pytest.raises(ValueError, match=r"one class only \('died'\)"):
        clone(model).fit(X, np.full(len(y), "died"))


@cases(EVERY)
def test_a_measurement_for_a_label(model):
    X, y = table()
    with pytest.raises(ValueError, match="Unknown label type"):
        clone(model).fit(X, y + 0.3 * X["pulse"])


@cases(EVERY)
def test_a_missing_label(model):
    X, y = table()
    with pytest.raises(ValueError, match="y contains NaN"):
        clone(model).fit(X, np.where(np.arange(len(y)) == 3, np.nan, y))


@cases({name: EVERY[name] for name in ("cac", "km", "metric_km", "deep", "deep_ready")})
def test_more_clusters_than_rows(model):
    X, y = table(20)
    with pytest.raises(ValueError, match="n_clusters=30.*ask for fewer"):
        clone(model.__class__(**{**model.get_params(), "n_clusters": 30})).fit(X, y)


def test_more_clusters_than_rows_among_candidates_or_in_a_class():
    X, y = table(20)
    with pytest.raises(ValueError, match="n_clusters=30.*ask for fewer"):
        clone(CACClassifierCV(n_clusters=(1, 30), cv=2)).fit(X, y)
    many = ClassDecompositionClassifier(max_clusters=30, clusterer="kmeans", search="none")
    assert sum(many.fit(X, y).n_clusters_) == len(X)  # as many as there are rows


@pytest.mark.parametrize("value", [np.inf, 1e300])
def test_a_table_with_categories_is_checked_too(value):
    X, y = with_value(value)
    X["ward"] = pd.Categorical(np.where(X["age"] > 0, "icu", "floor"))
    with pytest.raises(ValueError, match="'pulse' .*too large .*row 7"):
        clone(DECOMPOSED["decomposed"]).fit(X, y)


@cases(LOCAL)
def test_constant_columns_and_repeated_rows_are_no_mistake(model):
    X, y = table()
    X["unit"] = 1.0
    twice = pd.concat([X, X], ignore_index=True)
    found = clone(model).fit(twice, np.r_[y, y])
    assert np.isfinite(found.predict_proba(twice)).all()
    assert np.array_equal(found.subtypes_[: len(y)], found.subtypes_[len(y) :])


@cases(LOCAL | {"deep_ready": DEEP["deep_ready"]})
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_only_equal_rows(model):
    X, y = table()
    same = pd.DataFrame(np.ones(X.shape), columns=X.columns)
    found = clone(model).fit(same, y)
    assert len(np.unique(found.subtypes_)) == 1
    assert np.isfinite(found.predict_proba(same)).all()


def test_nothing_but_constant_columns_cannot_be_scaled():
    X, y = table()
    same = pd.DataFrame(np.ones(X.shape), columns=X.columns)
    with pytest.raises(ValueError, match="all columns of X are constant"):
        clone(DEEP["deep"]).fit(same, y)


@cases(EVERY)
def test_no_rows_no_columns_one_axis(model):
    X, y = table()
    with pytest.raises(ValueError, match="0 sample"):
        clone(model).fit(X.iloc[:0], y[:0])
    with pytest.raises(ValueError, match="0 feature|one array|no column"):
        clone(model).fit(X[[]], y)
    with pytest.raises(ValueError, match="[Ee]xpected 2D array|1D"):
        clone(model).fit(X["age"].to_numpy(), y)
    with pytest.raises(ValueError, match="numbers of samples"):
        clone(model).fit(X, y[:-1])


@cases(EVERY)
def test_complex_numbers(model):
    X, y = table()
    with pytest.raises(ValueError, match="Complex data"):
        clone(model).fit(X.to_numpy() + 1j, y)


@cases(EVERY)
def test_another_table_at_prediction(model):
    X, _ = table()
    known = fitted(model)
    with pytest.raises(ValueError, match="(?s)feature names.*lactate|'lactate' is missing"):
        known.predict(X.drop(columns="lactate"))
    with pytest.raises(ValueError, match="2 features"):
        known.predict(X.to_numpy()[:, :2])


@cases(LOCAL | {"deep_ready": DEEP["deep_ready"]})
def test_unscaled_columns(model):
    X, y = table()
    X["pulse"] = 2000.0 * X["pulse"]
    with pytest.warns(ScaleWarning, match="column 'pulse' .*(scale them first|preprocess='auto')"):
        clone(model).fit(X, y)


@cases(EVERY)
def test_prediction_before_fit(model):
    with pytest.raises(ValueError, match="not fitted yet"):
        clone(model).predict(table()[0])


@cases(EVERY)
def test_a_word_for_a_number(model):
    name = "max_clusters" if "max_clusters" in model.get_params() else "n_clusters"
    broken = clone(model).set_params(**{name: "three"})
    with pytest.raises(
        ValueError, match=f"'{name}' parameter of .* Got 'three'|numbers of clusters"
    ):
        clone(broken).fit(*table())


@pytest.mark.parametrize("model", [CACClassifier, KMClassifier, ClassDecompositionClassifier])
def test_a_regression_is_no_base_classifier(model):
    with pytest.raises(TypeError, match=r"LinearRegression\(\) is no classifier; give one"):
        model(LinearRegression()).fit(*table())


def test_features_and_labels_are_no_training_set_of_supervised_kmeans():
    X, y = table()
    with pytest.raises(TypeError, match=r"item_sets .*ndarray; .*ItemSet"):
        SupervisedKMeans().fit(X.to_numpy(), y)


def test_few_rows_for_a_network_are_told():
    X, _ = table()
    model = DeepCACClassifier(n_clusters=2, max_epochs=1, device="cpu", random_state=0)
    with pytest.raises(ValueError, match="4 rows .*2 classes; 9"):
        clone(model).fit(X[:4], [0, 1] * 2)
    with pytest.raises(ValueError, match="n_clusters=3 exceeds the 2 rows"):
        clone(SubtypeClassifier(device="cpu", random_state=0)).fit(X[:2], [0, 1])


def test_every_deep_classifier_can_be_had_from_its_package():
    assert nn.DeepCACClassifier is DeepCACClassifier
    assert all(issubclass(getattr(nn, name), ClassifierMixin) for name in nn.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Deep'"):
        nn.Deep  # noqa: B018


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e9])
def test_rows_far_from_the_origin_stay_in_their_clusters(offset):
    """At 1e9 a square has 18 digits, of which 16 are kept: the distances of 1 were lost."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) + 8 * rng.integers(0, 2, (300, 1)) + offset
    y = rng.integers(0, 2, 300)
    for model in (KMClassifier(n_clusters=2), CACClassifier(n_clusters=2, alpha=0.0)):
        model.set_params(random_state=0).fit(X, y)
        assert np.array_equal(model.assign(X), model.subtypes_)
        near = model.transform(X).min(axis=1)
        assert near.max() < 6


def test_a_cluster_of_equal_rows_answers_its_shares():
    """Naive Bayes would divide by the spread of the ten equal rows."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(80, 2)), np.full((10, 2), 50.0)])
    y = np.r_[(X[:80, 0] > 0).astype(int), 1, 1, 1, 0, 0, 0, 0, 0, 0, 0]
    for model in (KMClassifier(GaussianNB()), CACClassifier(GaussianNB(), alpha=0.0)):
        model.set_params(n_clusters=2, random_state=0).fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()
        assert model.predict_proba([[50.0, 50.0]])[0] == pytest.approx([8 / 12, 4 / 12])
        assert model.predict([[50.0, 50.0]])[0] == 0


@pytest.mark.parametrize("build", [CACClassifier, KMClassifier, MixedNaiveBayes, NewtonSVC])
@pytest.mark.parametrize(
    ("label", "words"),
    [
        (
            np.array(["dead", None] * 20, dtype=object),
            r"y contains NaN or None .* row 1 \(20 in all",
        ),
        (
            np.array(["dead", np.nan] * 20, dtype=object),
            r"y contains NaN or None .* row 1 \(20 in all",
        ),
        (
            pd.array(["dead", None] * 20, dtype="string"),
            r"y contains NaN or None .* row 1 \(20 in all",
        ),
        (pd.Categorical(["dead", None] * 20), r"y contains NaN or None .* row 1 \(20 in all"),
        (np.array([0.0, np.nan] * 20), r"y contains NaN or None .* row 1 \(20 in all"),
        (np.array(["dead", 1] * 20, dtype=object), "types, 'dead' and 1"),
    ],
)
def test_a_label_that_is_missing_or_of_another_type_is_told(build, label, words):
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(DataError, match=words):
        build().fit(X, label)


@pytest.mark.parametrize(
    "rows",
    [
        [[{"a": 1}, 2, 3]], [[1, 2]], [[1, 2, 3], [1]], "text", None, 7, [["a", "b", "c"]],
        [[1j, 1, 1]], [[datetime.date(2020, 1, 1), 1, 1]], sparse.csr_matrix([[1.0, 2, 3]]),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("ask", ["predict_proba", "predict", "decision_function", "assign"])
def test_rows_of_any_kind_end_in_one_line(ask, rows):
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    model = KMClassifier(random_state=0).fit(X, y)
    with pytest.raises(DataError) as caught:
        getattr(model, ask)(rows)
    assert "\n" not in str(caught.value)
