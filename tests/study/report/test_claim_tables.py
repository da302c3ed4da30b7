"""Counts of claims on pages, from a small summary."""

import pandas as pd

from deepcac_study.report.kept.markdown_tables import made


def test_counts_by_kind_and_the_sentence_on_prediction():
    quantities = {"claims": 3, "holds": 0, "partly": 0, "fails": 1, "cannot_hold": 1}
    quantities |= {"undecided": 1, "not_decidable": 0, "not_run": 0}
    rows = [
        ("claims", paper, "prediction", name, float(n))
        for paper in ("all", "cac_v1")
        for name, n in quantities.items()
    ]
    rows.append(("claims", "cac_v1", "prediction_as_published", "holds", 2.0))
    tables = {
        "summary": pd.DataFrame(rows, columns=["part", "paper", "group", "quantity", "value"])
    }
    assert made(tables, "kinds").splitlines()[2].endswith("| 3 | 0 | 0 | 1 | 1 | 1 | 0 | 0 |")
    assert made(tables, "prediction") == (
        "Under the corrected protocol, none of the 3 claims that CAC or DeepCAC predicts better holds (1 fails, 1 "
        "cannot hold and 1 is not decided); run as published, 2 do.\n"
    )
