"""Every public estimator answers alike after `save` and `load`; no other file is read."""

import json
import pickle
import tomllib
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from catalogued import make_base, networks
from models import BASES, ZIP, bases
from packaging.requirements import Requirement
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import deepcac
from deepcac.cac import CACClassifier, CACClassifierCV, KMClassifier, MetricKMClassifier
from deepcac.decomposition import ClassDecompositionClassifier, MixedNaiveBayes, PairwiseLinearSVC
from deepcac.errors import DataError, TrustWarning, VersionWarning
from deepcac.persistence.state_table import UNWRITTEN
from deepcac.preprocess import TableScaler
from deepcac.similarity import ClassMetric, EqualWeights, ItemSet, PairSimilarity, SupervisedKMeans

MODELS = [
    CACClassifier(random_state=0),
    CACClassifier(LinearSVC(), n_clusters=3, random_state=np.random.RandomState(1)),
    CACClassifier(make_base("svm"), random_state=0),
    CACClassifier(make_base("nearest_centroid"), random_state=0),
    CACClassifierCV(n_clusters=(1, 2), alphas=(0.0, 0.1), cv=2, random_state=0),
    KMClassifier(random_state=0),
    MetricKMClassifier(ClassMetric(n_sets=3, set_size=20, random_state=0), random_state=0),
    make_pipeline(TableScaler(), CACClassifier(random_state=0)),
    ClassDecompositionClassifier(random_state=0),
    ClassDecompositionClassifier(PairwiseLinearSVC(), random_state=0),
    MixedNaiveBayes(),
    PairwiseLinearSVC(),
]


def rows(n=120):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=["age", "pulse", "lactate", "weight"])
    return X, np.where(X["age"] + 0.5 * rng.normal(size=n) > 0, "died", "lived")


def answers(model, X):
    for name in ("predict_proba", "decision_function", "assign", "transform"):
        if hasattr(model, name):
            yield name, getattr(model, name)(X)
    yield "predict", model.predict(X)


@pytest.mark.parametrize(
    "model", MODELS, ids=[f"{place}-{type(model).__name__}" for place, model in enumerate(MODELS)]
)
def test_a_classifier_answers_alike(model, tmp_path):
    X, y = rows()
    model.fit(X, y)
    deepcac.save(model, tmp_path / "model")
    loaded = deepcac.load(tmp_path / "model")
    assert type(loaded) is type(model)
    for name, answer in answers(model, X):
        assert np.array_equal(getattr(loaded, name)(X), answer), name
    if not hasattr(model, "steps"):
        assert vars(loaded).keys() == vars(model).keys() - UNWRITTEN
        with pytest.raises(ValueError, match="feature names|is missing"):
            loaded.predict(X.rename(columns={"age": "years"}))


def test_a_column_that_is_constant_in_a_cluster_is_scaled_and_saved(tmp_path):
    X, y = rows()
    X["weight"] = 20.0 * (np.arange(len(X)) % 2)  # parts the clusters, and is constant in each
    base = make_pipeline(StandardScaler(), LogisticRegression())
    model = make_pipeline(StandardScaler(), KMClassifier(base, n_clusters=2, random_state=0))
    model.fit(X.assign(pulse=1.0), y)
    deepcac.save(model, tmp_path / "model")
    loaded = deepcac.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    model[0].var_ = -model[0].var_
    with pytest.raises(DataError, match="var_ of StandardScaler is below 0"):
        deepcac.save(model, tmp_path / "model")


def test_a_parameter_may_be_infinite_where_scikit_learn_allows_it(tmp_path):
    X, y = rows()
    model = LogisticRegression(C=np.inf).fit(X, y)
    deepcac.save(model, tmp_path / "model")
    assert np.isinf(deepcac.load(tmp_path / "model").C)
    model.C = np.nan
    with pytest.raises(DataError, match="'C' parameter"):
        deepcac.save(model, tmp_path / "model")


def test_categories_survive(tmp_path):
    X, y = rows()
    X["ward"] = pd.Categorical(np.where(X["pulse"] > 0, "icu", "floor"))
    model = ClassDecompositionClassifier(random_state=0).fit(X, y)
    deepcac.save(model, tmp_path / "model")
    assert np.array_equal(deepcac.load(tmp_path / "model").predict(X), model.predict(X))


@pytest.mark.parametrize(
    "model",
    [
        SupervisedKMeans(C=10.0, random_state=0),
        SupervisedKMeans(kernel="rbf", random_state=0),
        PairSimilarity(random_state=0),
        EqualWeights(random_state=0),
    ],
    ids=str,
)
def test_a_similarity_answers_alike(model, tmp_path):
    rng, topic = np.random.default_rng(0), np.repeat([0, 1], 6)
    first, second, new = (
        ItemSet(np.column_stack([2.0 * topic - 1, 5.0 * rng.normal(size=12)])) for _ in range(3)
    )
    model.fit([first, second], [topic, topic])
    deepcac.save(model, tmp_path / "model", trusted=getattr(model, "kernel", None) == "rbf")
    loaded = deepcac.load(tmp_path / "model")
    assert np.array_equal(loaded.similarity(new), model.similarity(new))
    assert np.array_equal(loaded.predict(new, 2), model.predict(new, 2))


@pytest.mark.parametrize(
    ("model", "name", "value"),
    [
        (SupervisedKMeans(C=10.0, random_state=0), "_map", True),
        (EqualWeights(random_state=0), "random_state", np.ones(2)),
        (EqualWeights(random_state=0), "predictor", "nobody"),
    ],
    ids=["map", "seed", "predictor"],
)
def test_a_similarity_that_would_not_answer_is_refused_at_load(
    model, name, value, tmp_path, monkeypatch
):
    items, topic = ItemSet(np.eye(6)[:, :2] + np.arange(6)[:, None]), np.repeat([0, 1], 3)
    setattr(model.fit([items], [topic]), name, value)
    monkeypatch.setattr(deepcac.persistence.model_files, "check_state", lambda *_: None)
    deepcac.save(model, tmp_path / "model")
    monkeypatch.undo()
    with pytest.raises(DataError, match="model: "):
        deepcac.load(tmp_path / "model")


@pytest.mark.parametrize("method", networks().values())
@pytest.mark.parametrize("preprocess", ["auto", None])
def test_a_network_answers_alike(method, preprocess, tmp_path):
    X, y = rows(60)
    model = method(max_epochs=1, device="cpu", preprocess=preprocess, random_state=0).fit(X, y)
    deepcac.save(model, tmp_path / "model", small_clusters=True)
    loaded = deepcac.load(tmp_path / "model", device="cpu")
    assert type(loaded) is type(model)
    for name, answer in answers(model, X):
        assert np.array_equal(getattr(loaded, name)(X), answer), name
    for name in ("n_clusters_found_", "best_epoch_", "history_", "feature_names_in_"):
        assert np.array_equal(getattr(loaded, name), getattr(model, name)), name
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(X.rename(columns={"age": "years"}))


def test_scaled_sequences_survive(tmp_path):
    rng = np.random.default_rng(0)
    X = 9.0 + 5.0 * rng.normal(size=(60, 4, 2))
    X[rng.random(X.shape) < 0.2] = np.nan
    model = networks()["fnn"](max_epochs=1, device="cpu", random_state=None)
    model.fit(X, np.arange(60) % 2)
    deepcac.save(model, tmp_path / "model")
    loaded = deepcac.load(tmp_path / "model", device="cpu")
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))


def subtypes():
    return deepcac.SubtypeClassifier(
        n_clusters=2,
        members=2,
        folds=2,
        hidden=3,
        max_epochs=5,
        boosting=False,
        device="cpu",
        random_state=0,
    )


@pytest.mark.parametrize("last", ["fnn", "SubtypeClassifier"])
def test_a_pipeline_that_ends_in_a_network_answers_alike(last, tmp_path):
    X, y = rows(60)
    network = networks()["fnn"](max_epochs=1, device="cpu") if last == "fnn" else subtypes()
    model = make_pipeline(StandardScaler(), network).fit(X, y)
    deepcac.save(model, tmp_path / "model", small_clusters=True)
    assert model.steps[1][1] is network
    loaded = deepcac.load(tmp_path / "model", device="cpu")
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    whole = ZIP.read(tmp_path / "model")
    ZIP.write(tmp_path / "model", {n: v for n, v in whole.items() if "safetensors" not in n})
    with pytest.raises(DataError, match="no estimator"):
        deepcac.load(tmp_path / "model")


class Odd(ClassifierMixin, BaseEstimator):
    """A user's own classifier."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_a_type_that_is_not_known_must_be_trusted_by_name(tmp_path):
    X, y = rows()
    for base, name in (
        (DecisionTreeClassifier(), "sklearn.tree._tree.Tree"),
        (Odd(), f"{Odd.__module__}.Odd"),
    ):
        model = KMClassifier(base, random_state=0).fit(X, y)
        deepcac.save(model, tmp_path / "model")
        with pytest.raises(DataError, match=r"trusted=\[\.\.\.\]") as caught:
            deepcac.load(tmp_path / "model")
        assert name in str(caught.value)
    deepcac.save(KMClassifier(DecisionTreeClassifier(), random_state=0).fit(X, y), tmp_path / "m")
    loaded = deepcac.load(tmp_path / "m", trusted=["sklearn.tree._tree.Tree"])
    assert set(loaded.predict(X)) <= {"died", "lived"}


@pytest.mark.parametrize(
    ("base", "name"),
    [
        (KNeighborsClassifier(algorithm="brute"), "neighbors._classification.KNeighborsClassifier"),
        (RandomForestClassifier(3, random_state=0), "sklearn.ensemble._forest.RandomForestClassif"),
        (CalibratedClassifierCV(LinearSVC(), cv=2), "sklearn.calibration.CalibratedClassifierCV"),
        (MLPClassifier((2,), max_iter=5), "sklearn.neural_network._multilayer_perceptron.MLP"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_estimator_without_a_declared_state_is_told_at_save_and_read_by_trust(
    base, name, tmp_path
):
    X, y = rows()
    model = KMClassifier(base, random_state=0).fit(X, y)
    with pytest.warns(TrustWarning, match=r"trusted=True") as caught:
        deepcac.save(model, tmp_path / "model", trusted=True)
    assert name in str(caught[-1].message)
    with pytest.raises(DataError, match=r"trusted=\[\.\.\.\]") as refused:
        deepcac.load(tmp_path / "model")
    assert name in str(refused.value)
    loaded = deepcac.load(tmp_path / "model", trusted=True)
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_a_pipeline_that_encodes_columns_of_text_is_read_by_trust(tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"age": rng.normal(60, 10, 200), "sex": rng.choice(["f", "m"], 200)})
    y = rows["age"] + 10 * (rows["sex"] == "m") > 65
    columns = make_column_transformer((OneHotEncoder(), ["sex"]), remainder=TableScaler())
    model = make_pipeline(columns, CACClassifier(n_clusters=2, random_state=0)).fit(rows, y)
    with pytest.warns(TrustWarning, match="OneHotEncoder"):
        deepcac.save(model, tmp_path / "model")
    with pytest.raises(DataError, match="OneHotEncoder"):
        deepcac.load(tmp_path / "model")
    loaded = deepcac.load(tmp_path / "model", trusted=True)
    np.testing.assert_array_equal(loaded.predict_proba(rows), model.predict_proba(rows))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", BASES)
def test_every_declared_base_is_read_without_trust(name, n_classes, tmp_path):
    X, _ = rows()
    y = np.resize(["a", "b", "c"][:n_classes], len(X))
    model = KMClassifier(bases()[name](), n_clusters=2, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrustWarning)
        deepcac.save(model, tmp_path / "model")
    loaded = deepcac.load(tmp_path / "model")
    for asked, answer in answers(model, X):
        assert np.array_equal(getattr(loaded, asked)(X), answer), asked


def test_a_cluster_of_few_rows_is_not_saved_unless_asked(tmp_path):
    X, y = rows(60)
    X.iloc[0] = 90.0
    model = KMClassifier(n_clusters=2, random_state=0).fit(X, y)
    assert model.class_counts_.sum(axis=1).min() == 1
    inner = Pipeline([("model", model)])
    for whole in (model, inner, Pipeline([("inner", inner)])):
        with pytest.raises(DataError, match=r"holds fewer than 8 rows.*small_clusters=True"):
            deepcac.save(whole, tmp_path / "model")
    assert not (tmp_path / "model").exists()
    deepcac.save(model, tmp_path / "model", small_clusters=True)
    assert deepcac.load(tmp_path / "model").n_clusters_found_ == 2


@pytest.mark.parametrize("name", ["fnn", "SubtypeClassifier"])
def test_a_network_saves_no_cluster_of_few_rows_by_itself_either(name, tmp_path):
    X, y = rows(60)
    model = subtypes() if name != "fnn" else networks()["fnn"](max_epochs=1, device="cpu")
    model.fit(X, y).subtypes_ = np.arange(60) // 58
    model.class_counts_ = np.array([[30, 28], [1, 1]])
    path = tmp_path / "model"
    for save in (model.save, lambda path: deepcac.save(model, path)):
        with pytest.raises(DataError, match=r"holds fewer than 8 rows.*small_clusters=True"):
            save(path)
    assert not path.exists()
    model.save(path, small_clusters=True)
    assert path.exists()


def test_a_state_that_would_answer_without_end_is_refused_at_load(tmp_path):
    X, y = rows()
    path = tmp_path / "model"
    deepcac.save(KMClassifier(GaussianNB(), n_clusters=2, random_state=0).fit(X, y), path)
    parts = ZIP.read(path)
    for shape in ((2,), (2, 4)):
        for name in arrays_of(parts, shape):
            ZIP.write(path, parts | {name: np.zeros(shape)})
            try:
                found = deepcac.load(path).decision_function(X)
            except DataError:
                continue
            assert np.isfinite(found).all(), name


@pytest.mark.parametrize("power", [-310, -200, -165])
def test_naive_bayes_of_columns_without_spread_is_refused_at_fit(power):
    X, y = rows()
    model = KMClassifier(GaussianNB(), n_clusters=2, random_state=0)
    with pytest.raises(DataError, match="without spread"):
        model.fit(X * 10.0**power, y)


def test_a_row_beyond_all_numbers_ends_in_one_line():
    X, y = rows()
    model = KMClassifier(GaussianNB(), n_clusters=2, random_state=0).fit(1e-20 * X.to_numpy(), y)
    with pytest.raises(DataError, match="row 1: .*nan"):
        model.predict_proba([[0.0] * 4, [1e149, 0, 0, 0]])


def test_other_and_damaged_files_are_refused(tmp_path):
    X, y = rows()
    path = tmp_path / "model"
    with pytest.raises(DataError, match="no such file"):
        deepcac.load(path)
    with pytest.raises(NotFittedError):
        deepcac.save(CACClassifier(), path)
    path.write_bytes(pickle.dumps(LogisticRegression()))
    with pytest.raises(DataError, match="model: "):
        deepcac.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes.txt", "nothing")
    with pytest.raises(DataError, match=r"deepcac\.save"):
        deepcac.load(path)
    deepcac.save(CACClassifier(random_state=0).fit(X, y), path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert json.loads(parts["deepcac.json"])["format"] == 3
    for changed, message in (
        ({"deepcac.json": b'{"format": 99}'}, "another format than 3; fit and save it again"),
        ({"schema.json": b"{}"}, "digest does not hold"),
    ):
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in (parts | changed).items():
                archive.writestr(name, content)
        with pytest.raises(DataError, match=message) as caught:
            deepcac.load(path)
        assert "\n" not in str(caught.value)


def test_a_cut_file_is_refused(tmp_path):
    X, y = rows()
    path = tmp_path / "model"
    deepcac.save(KMClassifier(random_state=0).fit(X, y), path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match="model: "):
        deepcac.load(path)


def saved_parts(tmp_path):
    """A saved model's parts by name, and a function that writes others with a digest that holds."""
    X, y = rows()
    path = tmp_path / "model"
    deepcac.save(CACClassifier(n_clusters=2, random_state=0).fit(X, y), path)
    return path, ZIP.read(path), lambda parts: ZIP.write(path, parts)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"estimator": "KMClassifier"}, "holds a CACClassifier"),
        ({"version": 3}, "version"),
    ],
)
def test_the_header_must_name_what_the_file_holds(header, message, tmp_path):
    path, parts, write = saved_parts(tmp_path)
    write(parts | {"deepcac.json": parts["deepcac.json"] | header})
    with pytest.raises(DataError, match=message):
        deepcac.load(path)


def test_a_model_of_another_version_is_loaded_with_a_warning(tmp_path):
    path, parts, write = saved_parts(tmp_path)
    write(parts | {"deepcac.json": parts["deepcac.json"] | {"version": "99.0"}})
    with pytest.warns(VersionWarning, match="saved by deepcac 99.0"):
        assert isinstance(deepcac.load(path), CACClassifier)


def with_attribute(parts, name, node):
    """Return parts in which the estimator holds one attribute more."""
    state = parts["schema.json"]["content"]
    state["key_types"]["content"].append(state["key_types"]["content"][0])
    state["content"][name] = node
    return parts


def text_list(number, *content):
    return {
        **{"__class__": "list", "__module__": "builtins", "__loader__": "ListNode"},
        **{"__id__": number, "content": list(content)},
    }


@pytest.mark.parametrize("name", ["predict", "predict_proba", "__sklearn_tags__", "more_"])
def test_an_attribute_that_no_fit_sets_is_refused_by_its_name(name, tmp_path):
    path, parts, write = saved_parts(tmp_path)
    write(with_attribute(parts, name, text_list(10**12)))
    with pytest.raises(DataError, match=f"attribute '{name}'") as caught:
        deepcac.load(path)
    assert "\n" not in str(caught.value)


def doubling():
    """Nested lists, each of which holds the next one, and refers to it."""
    node = text_list(10**12)
    for level in range(1, 41):
        node = text_list(10**12 + level, node, text_list(10**12 + level - 1))
    return node


def read_later():
    """The same; first in the file, but read last, is an empty list of each of its numbers."""
    empty = text_list(1, *(text_list(10**12 + level) for level in range(41)))
    return {
        **{"__class__": "dict", "__module__": "builtins", "__loader__": "DictNode", "__id__": 2},
        **{"content": {"a": empty}, "key_types": text_list(3, doubling())},
    }


def one_array():
    """Nodes that each read the same array."""
    node = {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode"}
    node |= {"type": "numpy", "file": "a.npy"}
    return text_list(1, *(node | {"__id__": 10**12 + number} for number in range(9)))


@pytest.mark.parametrize(
    "node",
    [doubling(), text_list(None, text_list(None, doubling())), read_later(), one_array()],
    ids=["doubling", "without numbers", "read later", "one array"],
)
def test_nodes_that_refer_to_others_are_refused_before_they_are_visited(node, tmp_path):
    path, parts, write = saved_parts(tmp_path)
    write(with_attribute(parts, "n_iter_", node) | {"a.npy": np.zeros(4)})
    with pytest.raises(DataError, match="refer to others"):
        deepcac.load(path)


def arrays_of(parts, shape, kind="f"):
    return [
        name
        for name, value in parts.items()
        if isinstance(value, np.ndarray) and value.shape == shape and value.dtype.kind == kind
    ]


@pytest.mark.parametrize(
    "change",
    [
        lambda own: own[:1],
        lambda own: np.vstack([own, own[:1]]),
        lambda own: own * np.nan,
        lambda own: own.astype(np.float32),
        lambda own: own + 1e60,
        lambda own: own.T,
    ],
)
def test_impossible_centres_are_refused_before_any_prediction(change, tmp_path):
    path, parts, write = saved_parts(tmp_path)
    (centres,) = arrays_of(parts, (2, 4))
    write(parts | {centres: change(parts[centres])})
    with pytest.raises(DataError, match="model: "):
        deepcac.load(path)


def test_a_compressed_part_is_refused_before_it_is_unpacked(tmp_path):
    path, _, _ = saved_parts(tmp_path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", b"[" + b"0," * 10_000_000 + b"0]")
        archive.writestr("deepcac.json", b"{}")
    assert path.stat().st_size < 100_000
    tracemalloc.start()
    with pytest.raises(DataError, match=r"schema.json is compressed"):
        deepcac.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_what_libsvm_computes_must_be_trusted(tmp_path):
    X, y = rows()
    model = KMClassifier(SVC(), random_state=0).fit(X, y)
    deepcac.save(model, tmp_path / "model", trusted=True)
    with pytest.raises(DataError, match=r"a sklearn.svm._classes.SVC, .* in trusted=\[\.\.\.\]"):
        deepcac.load(tmp_path / "model")
    loaded = deepcac.load(tmp_path / "model", trusted=["sklearn.svm._classes.SVC"])
    assert set(loaded.predict(X)) <= {"died", "lived"}


def test_no_skops_with_a_known_hole_is_allowed():
    """Before 0.12 a file could run code in spite of the list of trusted types (CVE-2025-54412)."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    (bound,) = (Requirement(one) for one in project["dependencies"] if one.startswith("skops"))
    assert not any(bound.specifier.contains(version) for version in ("0.10.0", "0.11.0"))
    assert bound.specifier.contains("0.12.0")
