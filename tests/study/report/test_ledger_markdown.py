"""Printed tables of the ledger: what agrees, the null rate, and runs that earlier tables have."""

import numpy as np
import pandas as pd

from deepcac_study.report.kept.markdown_tables import renew
from deepcac_study.report.kept.run_snapshot import LEDGER


def test_cells_are_counted_by_table_and_shared_runs_are_named():
    columns = ("paper", "table", "kind", "verdict", "run", "derived", "rivals", "rivals_agree")
    rows = [
        ("cac_v1", "1", "score", "agree", "a", np.nan, 4, 1),
        ("cac_v1", "1", "score", "differ", "b", np.nan, 4, 3),
        ("cac_v1", "1", "score", "agree", "c", "repeats", 4, 4),
        ("cac_v1", "1", "score", "not run", np.nan, np.nan, np.nan, np.nan),
        ("cac_v1", "5", "score", "agree", "a", np.nan, 2, 0),
        ("cac_v1", "5", "score", "agree", "d", np.nan, 6, 0),
        ("deepcac", "7", "other", "agree", "a", np.nan, np.nan, np.nan),
        ("authors", "x.csv", "log", "agree", "a", np.nan, 1, 1),
    ]
    tables = {LEDGER: pd.DataFrame(rows, columns=columns)}
    text = renew("<!-- from the snapshot: cell_tables -->\n<!-- end -->\n", tables)
    assert text.splitlines()[3:-1] == [
        "| CAC v1 Table 1 | score | 1 | 2 | 0.500 | 0.250 to 0.750 | 0.500 |  |",
        "| CAC v1 Table 5 | score | 2 | 2 | 0.000 | - | 0.000 | 1 (CAC v1 Table 1) |",
        "| DeepCAC Table 7 | other | 1 | 1 | - | - | - |  |",
    ]
