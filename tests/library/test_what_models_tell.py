"""What the holder of a model file learns of single patients: the scripts of an attacker."""

import numpy as np
import pytest
from models import ZIP
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import deepcac
from deepcac.cac import CACClassifier, KMClassifier
from deepcac.decomposition import ClassDecompositionClassifier, MixedNaiveBayes
from deepcac.errors import DataError
from deepcac.linear.base_classifiers import NearestClassMean
from deepcac.similarity import SupervisedKMeans
from deepcac.table.risk_model import coarse_centres, coarse_scaler
from deepcac.task import FEW

OF_CLASSES = (GaussianNB, NearestCentroid, LinearDiscriminantAnalysis, NearestClassMean)


def two_groups(lone, n=60):
    """Two far groups of rows; of the second, so many patients died."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)) + 20.0 * (np.arange(n)[:, None] % 2)
    died = rng.random(n) < 0.5
    died[1::2] = np.arange(n // 2) < lone
    return X, np.where(died, "died", "lived")


def numbers_of(path):
    """Every number of a file: of its arrays, and of the text beside them."""
    parts = ZIP.read(path)
    found = [np.ravel(part) for part in parts.values() if isinstance(part, np.ndarray)]
    found = [part for part in found if part.dtype.kind in "fiub"]

    def inside(part):
        if isinstance(part, dict | list):
            for value in part.values() if isinstance(part, dict) else part:
                yield from inside(value)
        elif isinstance(part, int | float):
            yield part
        elif isinstance(part, str) and part.lstrip("-").replace(".", "", 1).isdigit():
            yield float(part)

    texts = [
        value for name, part in parts.items() if name == "schema.json" for value in inside(part)
    ]
    return np.concatenate([*found, np.array(texts, dtype=float)])


@pytest.mark.parametrize("base", OF_CLASSES)
def test_the_only_patient_of_a_class_in_a_cluster_is_read_from_no_file(base, tmp_path):
    X, y = two_groups(lone=1)
    model = make_pipeline(KMClassifier(base(), n_clusters=2, random_state=0)).fit(X, y)
    path = tmp_path / "model"
    with pytest.raises(DataError, match=r"fewer than 8 .*small_clusters"):
        deepcac.save(model, path)
    assert not path.exists()
    deepcac.save(model, path, small_clusters=True)  # the attacker reads the row if there is a file
    assert np.isin(X[1], numbers_of(path)).all()


@pytest.mark.parametrize("base", OF_CLASSES)
def test_a_file_holds_no_row_no_exact_count_and_no_cluster_of_a_row(base, tmp_path):
    X, y = two_groups(lone=9)
    model = KMClassifier(base(), n_clusters=2, random_state=0).fit(X, y)
    deepcac.save(model, tmp_path / "model")
    assert np.isin(model.class_counts_, numbers_of(tmp_path / "model")).mean() < 1
    assert not np.isin(X, numbers_of(tmp_path / "model")).any()
    parts = ZIP.read(tmp_path / "model").values()
    assert all(len(X) not in np.shape(part) for part in parts if isinstance(part, np.ndarray))
    loaded = deepcac.load(tmp_path / "model")
    assert loaded.class_counts_.tolist() != model.class_counts_.tolist()
    assert (loaded.class_counts_ % 5 == 0).all()
    assert np.array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize("base", [NearestCentroid, LinearDiscriminantAnalysis])
def test_means_of_classes_of_an_unknown_number_of_rows_are_refused(base, tmp_path):
    with pytest.raises(DataError, match="how many rows"):
        deepcac.save(base().fit(*two_groups(lone=1)), tmp_path / "model")


@pytest.mark.parametrize("base", [GaussianNB(), MixedNaiveBayes()])
def test_a_group_of_a_class_of_few_rows_is_refused(base, tmp_path):
    X, y = two_groups(lone=1)
    model = ClassDecompositionClassifier(base, clusterer="kmeans", search="none", random_state=0)
    model.fit(X, y, labels=(np.arange(60) % 2))
    assert np.bincount(model.subtypes_).min() == 1
    with pytest.raises(DataError, match="fewer than 8 rows"):
        deepcac.save(model, tmp_path / "model")


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsClassifier(),
        CACClassifier(KNeighborsClassifier(algorithm="brute"), alpha=0.0, random_state=0),
        make_pipeline(StandardScaler(), KMClassifier(SVC(), random_state=0)),
    ],
)
def test_patients_rows_are_written_only_for_who_trusts_whoever_gets_them(model, tmp_path):
    X, y = two_groups(lone=12)
    model.fit(X, y)
    with pytest.raises(DataError, match=r"holds patients' rows; say trusted=True") as caught:
        deepcac.save(model, tmp_path / "model")
    assert "\n" not in str(caught.value)
    deepcac.save(model, tmp_path / "model", trusted=True)
    assert (tmp_path / "model").exists()


def test_a_kernel_map_holds_rows_as_well(tmp_path):
    from models import item_sets

    topic = np.repeat([0, 1], 6)
    model = SupervisedKMeans(kernel="rbf", random_state=0).fit(item_sets()[:2], [topic, topic])
    with pytest.raises(DataError, match="Nystroem .*rows"):
        deepcac.save(model, tmp_path / "model")


class Described:
    """As much of a table as its coarse states read."""

    def __init__(self, X, names, levels):
        self.features = type("Features", (), {"X": X, "label": np.zeros(len(X))})
        self.encoder = type("Encoder", (), {"names": names, "level_names": levels})
        self.group = None


def guesses(rng):
    """What an attacker who knows the clusters' sizes infers of the level that one cluster hides.

    The count of all rows, less those of the other centres: by the model's numbers, and by exact
    ones.
    """
    sizes = rng.integers(30, 60, 3)
    cluster, n = np.repeat(np.arange(3), sizes), sizes.sum()
    hidden = int(rng.integers(1, FEW))
    level = (rng.random(n) < 0.4).astype(float)
    level[cluster == 0] = np.arange(sizes[0]) < hidden
    X = np.column_stack([rng.normal(size=n) + 6.0 * cluster, level])
    table = Described(X, ["urea", "ward=er"], ["ward=er"])
    scaler = coarse_scaler(table)
    scaled, shares = scaler.transform(X), np.array([False, True])
    centres, nearest = coarse_centres(scaled, cluster, np.arange(n), scaler, shares)
    sizes = np.bincount(nearest)
    truth = [level[nearest == j].sum() for j in range(3)]
    own = int(np.argmin(truth))
    told = centres[:, 1] * scaler.scale_[1] + scaler.mean_[1]
    others = [j for j in range(3) if j != own]
    by_model = scaler.mean_[1] * n - sum(sizes[j] * told[j] for j in others)
    by_exact = level.mean() * n - sum(truth[j] for j in others)
    return np.rint([truth[own], by_model, by_exact])


def test_the_level_that_a_centre_hides_is_not_what_the_other_centres_leave():
    rng = np.random.default_rng(0)
    truth, by_model, by_exact = np.array([guesses(rng) for _ in range(1000)]).T
    assert (by_exact == truth).all()
    most = np.bincount(truth.astype(int)).max() / len(truth)  # who always says the same
    right = (by_model == truth).mean()
    assert right - 1.96 * np.sqrt(right * (1 - right) / len(truth)) < most
