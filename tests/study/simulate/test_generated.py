"""Synth and the synthetic grid: shapes and shares that the papers state."""

import numpy as np
import pytest

from deepcac.errors import ConfigError
from deepcac_study.features.pairwise import read_pairwise, write_pairwise
from deepcac_study.simulate.synth_pairs import synth_pairs
from deepcac_study.simulate.synthetic_cac import Cell, grid, synthetic_cac


def true_region(data):
    low = np.minimum(data.label[data.first], data.label[data.second])
    high = np.maximum(data.label[data.first], data.label[data.second])
    return high * (high + 1) // 2 + low


def test_synth_is_what_the_paper_says():
    data = synth_pairs()
    assert len(data.row_id) == 5 * 100
    assert set(data.group.tolist()) == {"0", "1", "2", "3", "4"}
    assert data.pair_features().shape == (5 * 4950, 750)
    assert data.nodes.shape == (500, 0)
    assert (data.group[data.first] == data.group[data.second]).all()
    for clustering in range(5):
        rows = data.group == str(clustering)
        assert np.bincount(data.label[rows]).tolist() == [20] * 5
    active = data.marks.indices.reshape(-1, 5)
    assert all(len(set(row)) == 5 for row in active[:500].tolist())
    assert (active // 50 == active[:, :1] // 50).all()  # one region a pair
    assert set((active[:, 0] // 50).tolist()) == set(range(15))
    # 0.84 squared, and .08 x .08 / 4 more where both ends are swapped: .706; sd .003.
    assert np.mean(active[:, 0] // 50 == true_region(data)) == pytest.approx(0.706, abs=0.012)
    share = np.bincount(data.marks.indices % 50, minlength=50) / data.marks.nnz
    np.testing.assert_allclose(share, 0.02, atol=0.002)


def test_synth_depends_on_the_seed_alone(tmp_path):
    one, two, other = synth_pairs(seed=1), synth_pairs(seed=1), synth_pairs(seed=2)
    assert (one.marks != two.marks).nnz == 0
    assert (one.marks != other.marks).nnz > 0
    write_pairwise(tmp_path / "synth_pairs.parquet", one)
    again = read_pairwise(tmp_path / "synth_pairs.parquet")
    assert (again.marks != one.marks).nnz == 0
    assert not again.products
    np.testing.assert_array_equal(again.first, one.first)


def test_grid_has_every_combination_once():
    for imbalanced in (False, True):
        names = [cell.dataset for cell in grid(imbalanced=imbalanced)]
        assert len(set(names)) == 6 * 3 * 7
        assert all(name.endswith("_1to10") == imbalanced for name in names)
    assert names[0] == "synthetic_cac_i000_o100_c2_1to10"


@pytest.mark.parametrize("imbalanced", [False, True])
def test_cell_shape_shares_and_seed(imbalanced):
    cell = Cell(1.0, 1.5, 5, imbalanced)
    data = synthetic_cac(cell, seed=3)
    assert data.X.shape == (2500, 8)
    assert np.unique(data.group, return_counts=True)[1].tolist() == [500] * 5
    # One per cent of the labels is drawn anew.
    assert data.label.mean() == pytest.approx(1 / 11 if imbalanced else 0.5, abs=0.02)
    np.testing.assert_array_equal(data.X, synthetic_cac(cell, seed=3).X)
    assert not np.array_equal(data.X, synthetic_cac(cell, seed=4).X)


def test_inner_separation_pulls_the_classes_of_a_cluster_apart():
    distance = []
    for ics in (0.0, 0.5, 2.0):
        data = synthetic_cac(Cell(ics, 1.0, 20))
        gaps = [
            np.linalg.norm(
                data.X[(data.group == g) & (data.label == 1)].mean(axis=0)
                - data.X[(data.group == g) & (data.label == 0)].mean(axis=0)
            )
            for g in np.unique(data.group)
        ]
        distance.append(np.mean(gaps))
    assert distance[0] < 0.5 * distance[1] < 0.5 * distance[2]


def test_outer_separation_is_the_spread_of_the_centres():
    for ocs in (1.0, 2.0):
        data = synthetic_cac(Cell(0.0, ocs, 200), rows=50)
        centres = np.stack([data.X[data.group == g].mean(axis=0) for g in np.unique(data.group)])
        assert centres.std() == pytest.approx(ocs, rel=0.1)


@pytest.mark.parametrize("cell", [Cell(1, 1, 0), Cell(-1, 1, 2), Cell(1, -1, 2)])
def test_impossible_cells(cell):
    with pytest.raises(ConfigError, match="needs a cluster"):
        synthetic_cac(cell)


def test_impossible_synth():
    with pytest.raises(ConfigError, match="one clustering"):
        synth_pairs(clusters=0)
