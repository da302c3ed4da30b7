"""Tables of the documentation on claims and printed tables, from small snapshots."""

import pandas as pd

from deepcac_study.report.kept.markdown_tables import made

LEDGER = pd.DataFrame(
    [
        ("skmeans", "3", "WEBKB-N", None, "loss_delta", 78.6, 77.9, None, "Cornell; Table 3"),
        ("skmeans", "3", "WEBKB-N", "Pair", "loss_delta", 74.8, 81.6, 82.5, "Cornell; Table 3"),
        ("skmeans", "3", "NEWS 8-1", "Pair", "loss_delta", 45.2, None, None, "Business"),
        ("classdecomp", "1", "Vowel", "NB", "accuracy", 59.9, 61.8, 59.9, "percent"),
    ],
    columns=["paper", "table", "dataset", "method", "item", "printed", "sound", "as_published",
             "note"],
)  # fmt: skip


def test_a_printed_table_has_the_rows_that_were_run():
    found = made({"ledger": LEDGER}, "printed_table", "skmeans", "3").splitlines()
    assert found[0] == "| printed / sound / as published | None | Pair |"
    assert found[2:] == ["| WEBKB-N, Cornell | 78.6 / 77.9 / - | 74.8 / 81.6 / 82.5 |"]
    other = made({"ledger": LEDGER}, "printed_table", "classdecomp", "1").splitlines()
    assert other[2:] == ["| Vowel | 59.9 / 61.8 / 59.9 |"]


def test_claims_with_their_verdicts_and_those_said_again():
    table = pd.DataFrame(
        {"id": ["A-1", "B-1"], "paper": ["skmeans", "deepcac"], "claim": ["x", "y"],
         "verdict": ["holds", "cannot hold"], "as_published": ["not run", "fails"],
         "reason": ["f1: 1 | auc: 2", "z"], "same_as": [None, "A-1"]}
    )  # fmt: skip
    rows = made({"claims": table}, "verdict_rows", "skmeans").splitlines()[2:]
    assert rows == ["| A-1 | x | holds | not run | f1: 1 ; auc: 2 |"]
    assert made({"claims": table}, "repeats").splitlines()[2:] == ["| A-1 | B-1 |"]


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
