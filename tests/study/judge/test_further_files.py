"""The files of transfer, scorecards and richer labels, by hand from a small configuration."""

import numpy as np
import pytest

from deepcac.errors import ConfigError
from deepcac.feature_matrix import FeatureMatrix
from deepcac_study.judge.further.further_files import FurtherFiles
from deepcac_study.judge.further.moves import Move, grouped, moved

JUDGE = {
    "transfer": {
        "moves": [{"name": "a_b", "dataset": "cic"}, {"name": "away", "dataset": "hidden"}],
        "strengths": [0.0, 0.25],
    },
    "scorecards": {"datasets": ["cic", "hidden"], "strengths": [1.0]},
    "richer_labels": ["cic", "hidden"],
}
FILES = FurtherFiles(JUDGE, lambda dataset: dataset != "hidden")


def test_hidden_data_have_no_records_and_planted_cohorts_do():
    names = (
        *("transfer/a_b", "transfer/planted_0", "transfer/planted_0.25"),
        *("scorecards/cic", "scorecards/planted_1"),
        *("richer_labels/cic_lr", "richer_labels/cic_lgbm"),
    )
    assert FILES.records == [f"results/judge/{name}.json" for name in names]


def test_a_move_is_found_by_name():
    assert FILES.move("away")["dataset"] == "hidden"
    with pytest.raises(ConfigError, match="no move 'b_a' in the configuration; known: a_b, away"):
        FILES.move("b_a")


def test_units_are_told_by_columns_that_are_no_predictors_then():
    X = np.array([[1.0, 0, 7], [0, 1, 8], [0, 0, 9], [1, 0, 6]])
    group = np.array(["a", "a", "b", "b"])
    matrix = FeatureMatrix(np.arange(4), np.array([0, 1, 0, 1]), X, ("CCU", "CSRU", "age"), group)
    found, units = grouped(matrix, ["CCU", "CSRU", "MICU"])
    assert found.names == ("age",)
    assert units.tolist() == ["CCU", "CSRU", "MICU", "CCU"]
    source, target = moved(units, Move((), "CCU"))
    assert (source.tolist(), target.tolist()) == ([1, 2], [0, 3])
    same, groups = grouped(matrix, ())
    assert same is matrix
    source, target = moved(groups, Move(["a"], "b"))
    assert (source.tolist(), target.tolist()) == ([0, 1], [2, 3])
    with pytest.raises(ConfigError, match="no rows of group 'c'; known: a, b"):
        moved(groups, Move(["a"], "c"))
    with pytest.raises(ConfigError, match="no column 'SICU'"):
        grouped(matrix, ["SICU", "MICU"])
