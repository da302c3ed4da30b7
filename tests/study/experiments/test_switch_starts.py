"""Switches from several starts: paired, and the first start that of the study."""

import numpy as np
import pytest

from deepcac.feature_matrix import FeatureMatrix
from deepcac.files.storage import write_json
from deepcac.scoring.metrics import score_predictions
from deepcac_study.catalogue.methods import parse_method
from deepcac_study.catalogue.protocol import SOUND
from deepcac_study.experiments.networks.deep_methods import fit_task, pretrain_tasks
from deepcac_study.experiments.networks.switch_starts import start_sweep
from deepcac_study.experiments.prepare import Setting, make_task
from deepcac_study.splits import Split


def test_the_first_start_is_that_of_the_study(tmp_path, monkeypatch):
    monkeypatch.setattr("deepcac.nn.fitting.pretrain.MAX_EPOCHS", 3)
    rng = np.random.default_rng(0)
    X = rng.standard_t(2, size=(240, 4))
    y = (X[:, 0] + rng.normal(size=240) > 0).astype(np.int64)
    features = FeatureMatrix(np.arange(240), y, X, ("a", "b", "c", "d"))
    split = Split(3, *np.split(rng.permutation(240), [120, 180]))
    record = tmp_path / "km_z_k2.json"
    entry = {"seed": 3, "status": "ok", "n_train": 1, "n_test": 2, "metrics": {"auroc": 0.25}}
    write_json(record, {"method": "km_z", "switches": ["D19"], "splits": [entry]})
    asked = {"starts": 2, "switches": {"km_z": ("D18", "D19")}}
    table = start_sweep(features, [split], "cic", 2, runs=[record], **asked)
    found = table.to_pandas().set_index(["start", "switch"])
    assert list(found.index) == [(s, label) for s in (0, 1) for label in ("", "D18", "D19")]
    setting = Setting("cic", 2, SOUND, "deep")
    task = make_task(features, split, setting)
    pretrain_tasks([task], setting, tmp_path / "autoencoder")
    fitted = fit_task(task, setting, parse_method("km_z"), tmp_path / "autoencoder")
    assert found.loc[(0, ""), "auroc"] == pytest.approx(score_predictions(task, fitted)["auroc"])
    assert found.loc[(0, "D19"), ["n_train", "auroc"]].tolist() == [1, 0.25]  # from its record
    assert found.loc[(1, "D19"), "n_train"] == 120
    assert found["auroc"].nunique() > 3
    assert set(found["split"]) == {3}
