"""The CAC pass on real rows, read straight from the raw files."""

import cac_reference as reference
import numpy as np
import pyarrow.csv as pacsv
import pytest
from mirrors import MIRROR

from deepcac.cac import cluster
from deepcac.cac.cluster import kmeans_labels
from deepcac.preprocess import standardise_alone
from deepcac_study.features.cic import cic_features
from deepcac_study.sources.physionet2012 import read_outcomes, read_sets

pytestmark = [
    pytest.mark.real,
    pytest.mark.slow,
]

ROWS = 2000


def read(name, header):
    options = pacsv.ReadOptions(autogenerate_column_names=not header)
    return pacsv.read_csv(MIRROR / name, read_options=options)


def magic():
    table = read("uci_magic/magic04.data", header=False)
    X = np.column_stack([table.column(j).to_numpy() for j in range(10)])
    return X, (table.column(10).to_numpy(zero_copy_only=False) == "g").astype(np.int64)


def credit():
    table = read("uci_credit/UCI_Credit_Card.csv", header=True)
    X = np.column_stack([table.column(j).to_numpy() for j in range(1, 24)])
    return X.astype(np.float64), table.column(24).to_numpy()


def adult():
    table = read("uci_adult/adult.data", header=False)
    columns = [table.column(j).to_numpy(zero_copy_only=False) for j in range(15)]
    X = np.column_stack([np.unique(column, return_inverse=True)[1] for column in columns[:14]])
    return X.astype(np.float64), np.unique(columns[14].astype(str), return_inverse=True)[1]


def cic():
    folder = MIRROR / "physionet2012"
    (events,) = read_sets({"a": folder / "set-a.tar.xz"})
    data, _ = cic_features("death", events, read_outcomes(folder / "Outcomes-a.txt", "a"))
    return data.X, data.label


@pytest.mark.parametrize(("load", "k"), [(magic, 2), (credit, 3), (adult, 2), (cic, 2)])
@pytest.mark.parametrize("alpha", [0.05, 0.5])
def test_labels_and_moves_equal_the_reference_on_real_rows(load, k, alpha):
    X, y = load()
    rows = np.sort(np.random.default_rng(0).choice(len(X), ROWS, replace=False))
    X, y = standardise_alone(X[rows]), y[rows]
    start = kmeans_labels(X, k, 0)
    found = cluster(X, y, start, alpha, max_iter=6)
    labels, moves, costs = reference.cluster(X, y, start, alpha, k, 6)
    assert found.moves.tolist() == moves
    assert np.array_equal(found.labels, labels)
    assert np.allclose(found.cost, costs[:, 0], rtol=1e-9)
