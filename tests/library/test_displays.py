"""Pictures show the numbers of the fitted estimator."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import silhouette_samples
from sklearn.pipeline import make_pipeline

from deepcac import CostCurveDisplay, SilhouetteDisplay, SubtypeProfileDisplay
from deepcac.cac import CACClassifier, CACClassifierCV, KMClassifier
from deepcac.errors import ConfigError, DataError
from deepcac.preprocess import TableScaler


@pytest.fixture(autouse=True)
def no_window():
    import matplotlib as mpl

    mpl.use("agg")
    yield
    mpl.pyplot.close("all")


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    side = rng.integers(0, 2, n)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["age", "pulse", "lactate"])
    X["pulse"] += 6.0 * side
    y = ((X["age"] > 0) ^ (side == 1)).to_numpy().astype(int)
    return X, y


def test_the_cost_curve_is_that_of_the_fit():
    X, y = rows()
    labels = np.random.default_rng(0).integers(0, 2, len(y))
    model = CACClassifier(alpha=0.05).fit(X, y, labels=labels)
    shown = CostCurveDisplay.from_estimator(model)
    within, separation, cost = (line.get_ydata() for line in shown.ax_.lines)
    assert np.array_equal(cost, model.cost_history_)
    assert within - separation == pytest.approx(cost)
    assert shown.ax_.get_xlabel() == "pass over the rows"
    chosen = CACClassifierCV(n_clusters=2, alphas=(0.0,), cv=2, random_state=0).fit(X, y)
    assert CostCurveDisplay.from_estimator(chosen, ax=shown.ax_).ax_ is shown.ax_
    with pytest.raises(ConfigError, match="KMClassifier has no cost"):
        CostCurveDisplay.from_estimator(KMClassifier(random_state=0).fit(X, y))


def test_the_profile_names_the_column_that_sets_the_clusters_apart():
    X, y = rows()
    model = make_pipeline(TableScaler(), KMClassifier(random_state=0)).fit(X, y)
    shown = SubtypeProfileDisplay.from_estimator(model, X, y, max_features=2)
    assert shown.names[0] == "pulse"
    assert len(shown.names) == 2
    labels = model[-1].assign(model[:-1].transform(X))
    inside = labels == 0
    gap = X["pulse"][inside].mean() - X["pulse"][~inside].mean()
    assert shown.difference[0, 0] == pytest.approx(gap / X["pulse"].std(ddof=0))
    assert shown.sizes.tolist() == np.bincount(labels).tolist()
    assert shown.shares[0] == pytest.approx(y[inside].mean())
    legend = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    assert legend[0] == f"cluster 0: {inside.sum()} rows, {y[inside].mean():.1%} of class 1"
    assert [tick.get_text() for tick in shown.ax_.get_yticklabels()] == shown.names


def test_the_profile_takes_holes_constants_and_plain_arrays():
    X, y = rows()
    X["constant"] = 1.0
    holes = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    model = make_pipeline(TableScaler(), KMClassifier(random_state=0)).fit(holes, y)
    shown = SubtypeProfileDisplay.from_estimator(model, holes)
    assert np.isfinite(shown.difference).all()
    assert not shown.difference[:, shown.names.index("constant")].any()
    plain = KMClassifier(random_state=0).fit(X.to_numpy(), y)
    named = SubtypeProfileDisplay.from_estimator(
        plain, X.to_numpy(), feature_names=["a", "b", "c", "d"]
    )
    assert named.names[0] == "b"
    assert SubtypeProfileDisplay.from_estimator(plain, X.to_numpy()).names[0] == "column 1"
    with pytest.raises(DataError, match="2 feature_names for 4 columns"):
        SubtypeProfileDisplay.from_estimator(plain, X.to_numpy(), feature_names=["a", "b"])
    one = KMClassifier(n_clusters=1).fit(X, y)
    assert not SubtypeProfileDisplay.from_estimator(one, X).difference.any()


def test_the_silhouette_is_scikit_learns():
    X, y = rows()
    model = KMClassifier(random_state=0).fit(X, y)
    shown = SilhouetteDisplay.from_estimator(model, X)
    assert shown.values == pytest.approx(silhouette_samples(X, model.assign(X)))
    assert len(shown.ax_.collections) == 2
    part = SilhouetteDisplay.from_estimator(model, X, max_rows=50)
    assert len(part.values) == 50
    with pytest.raises(DataError, match="two clusters"):
        SilhouetteDisplay.from_estimator(KMClassifier(n_clusters=1).fit(X, y), X)


def test_a_small_cluster_is_in_every_part():
    X, y = rows()
    X.iloc[:3] += 50.0
    model = KMClassifier(random_state=0).fit(X, y)
    for seed in range(5):
        shown = SilhouetteDisplay.from_estimator(model, X, max_rows=20, random_state=seed)
        assert len(np.unique(shown.labels)) == 2


def test_the_profile_takes_what_a_pipeline_encodes():
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    X, y = rows()
    X["sex"] = np.where(X["pulse"] > 3, "f", "m")
    encoder = make_column_transformer((OneHotEncoder(), ["sex"]), remainder="passthrough")
    model = make_pipeline(encoder, KMClassifier(random_state=0)).fit(X, y)
    assert "onehotencoder__sex_f" in SubtypeProfileDisplay.from_estimator(model, X).names
    with pytest.raises(DataError, match="holds text"):
        SubtypeProfileDisplay.from_estimator(KMClassifier().fit(X.drop(columns="sex"), y), X)


def test_a_constant_of_rounding_sets_no_cluster_apart():
    X = np.array([[0.0, 0.1]] * 3 + [[5.0, 0.1]] * 7)
    model = KMClassifier(random_state=0).fit(X, np.arange(10) % 2)
    shown = SubtypeProfileDisplay.from_estimator(model, X)
    assert shown.names[0] == "column 0"
    assert not shown.difference[:, 1].any()


def test_a_deep_classifier_is_looked_at_in_its_latent_space():
    from deepcac.nn.km_z import KMZClassifier

    X, y = rows()
    model = KMZClassifier(n_clusters=2, max_epochs=2, device="cpu", random_state=0).fit(X, y)
    shown = SilhouetteDisplay.from_estimator(model, X)
    assert shown.values == pytest.approx(silhouette_samples(model.embed(X), model.assign(X)))
    assert SubtypeProfileDisplay.from_estimator(model, X, y).sizes.sum() == len(y)


def test_without_matplotlib_the_way_out_is_named():
    code = (
        "import sys; sys.modules['matplotlib.pyplot'] = None\n"
        "from deepcac import CostCurveDisplay\n"
        "try:\n    CostCurveDisplay([1.0], [1.0], [0.0], 0.1).plot()\n"
        "except ModuleNotFoundError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "pictures need matplotlib: pip install 'deepcac[plot]'\n"
