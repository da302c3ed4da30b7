"""The notebook that reads the shipped records runs from top to bottom and says what the tables say."""

import json
from pathlib import Path

import matplotlib
import pandas as pd
import pytest

ROOT = Path(__file__).parents[3]
NOTEBOOK = json.loads((ROOT / "docs" / "read_the_records.ipynb").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def state():
    matplotlib.use("Agg")
    namespace: dict[str, object] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        for number, cell in enumerate(NOTEBOOK["cells"]):
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), f"cell {number}", "exec"), namespace)
    return namespace


def test_outputs_are_not_committed():
    assert all(not cell.get("outputs") for cell in NOTEBOOK["cells"])


@pytest.mark.long
def test_its_runs_have_the_scores_of_the_kept_table(state):
    names = ["protocol", "dataset", "method", "k"]
    kept = pd.read_csv(ROOT / "docs" / "results" / "runs.csv").set_index(names).auroc.dropna()
    means = state["runs"].groupby(names).auroc.mean()
    both = kept.index.intersection(means.index)
    assert len(both) > 500
    assert (kept[both] - means[both]).abs().max() < 1e-4


@pytest.mark.long
def test_its_points_are_the_decided_scores_of_the_ledger(state):
    decided = state["decided"]
    assert set(decided.verdict) == {"agree", "differ"}
    assert decided.ours.notna().all()
    assert {"cic", "credit"} <= set(state["difference"].index)
