"""The crossing of clusters, weights and heads: every cell once, scored on the test rows."""

import numpy as np
import pytest

from deepcac.task import Task
from deepcac_study.catalogue.protocol import SOUND
from deepcac_study.experiments.networks.deep_methods import pretrain_tasks
from deepcac_study.experiments.networks.factorial import factorial
from deepcac_study.experiments.prepare import Setting


def task(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(240, 5))
    y = (X[:, 0] + 0.5 * rng.normal(size=240) > 0).astype(np.int64)
    parts = (slice(0, 120), slice(120, 180), slice(180, 240))
    return Task(*(v for p in parts for v in (X[p], y[p])), n_classes=2, k=1, seed=seed)


@pytest.mark.slow
def test_every_cell_of_every_split(tmp_path):
    setting, tasks = Setting("cic", 1, SOUND, "deep"), [task(0), task(1)]
    pretrain_tasks(tasks, setting, tmp_path / "ae")
    table = factorial(tasks, setting, tmp_path / "ae", clusters=(1, 2), betas=(0.0,)).to_pandas()
    cells = [
        ("FNNClassifier", 1, "local"),
        ("KMZClassifier", 1, "local"),
        ("DeepCACClassifier", 1, "local"),
    ]
    cells += [("DeepCACClassifier", 2, head) for head in ("local", "soft", "one", "permuted")]
    for seed in (0, 1):
        own = table[table["seed"] == seed]
        assert list(zip(own["estimator"], own["k"], own["head"], strict=True)) == cells
    assert table["auroc"].between(0.5, 1).all()
    assert (table.loc[table["k"] == 1, "smallest"] == 120).all()
    assert (table.loc[table["k"] == 2, "smallest"] <= 60).all()
    assert table["beta"].isna().sum() == 4
