from dataclasses import replace

import pytest

from deepcac_study.papers.claim_verdicts import VERDICTS
from deepcac_study.papers.claims import KINDS, claims
from deepcac_study.papers.ledger import entries, write_rows
from deepcac_study.papers.names import LOGS
from deepcac_study.papers.summary import Count, in_words, on_prediction, summary, value
from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Runs

NOTHING = Findings(Runs(()))


@pytest.fixture(scope="module")
def ledger():
    return entries(NOTHING)


def test_every_entry_and_claim_is_counted_once(ledger):
    rows = summary(ledger, claims(NOTHING, ledger))
    printed = [e for e in ledger if e.verdict != "not printed" and e.paper != LOGS]
    groups = ("independent", "derived")
    assert sum(value(rows, "cells", "printed", group=g) for g in groups) == len(printed)
    for group in ("sound", "as_published"):
        parts = [value(rows, "claims", name, group=group) for name in VERDICTS]
        assert sum(parts) == value(rows, "claims", "claims", group=group) == 156
    parts = ("agree", "differ", "no_score", "not_run")
    assert value(rows, "cells", "open") == sum(value(rows, "cells", name) for name in parts)


def of_kinds(*verdicts):
    """Return all claims undecided but the first claims of CAC v1 that predict."""
    rows = [replace(one, verdict="undecided") for one in claims(NOTHING, entries(NOTHING))]
    own = [i for i, one in enumerate(rows) if (one.paper, one.kind) == ("cac_v1", "prediction")]
    for i, verdict in zip(own, verdicts, strict=False):
        rows[i] = replace(rows[i], verdict=verdict)
    return rows


def test_claims_are_counted_by_kind_and_those_that_say_the_same_once(ledger):
    made = claims(NOTHING, ledger)
    assert {one.kind for one in made} == set(KINDS)
    ids = {one.id: one for one in made}
    again = [one for one in made if one.same_as]
    assert ("DCAC-29", "CAC1-05") in {(one.id, one.same_as) for one in again}
    assert all(not ids[one.same_as].same_as and ids[one.same_as].kind == one.kind for one in again)
    rows = summary(ledger, made)
    counted = sum(value(rows, "claims", "claims", group=kind) for kind in KINDS)
    assert counted == 156 - len(again)


@pytest.mark.parametrize(
    ("verdicts", "confirmed"),
    [
        (("fails", "cannot hold"), "none of the 29 claims"),
        (("holds",), "1 of the 29 claims"),
        (("holds", "holds"), "2 of the 29 claims"),
    ],
)
def test_whether_any_claim_of_a_better_prediction_holds(verdicts, confirmed):
    corrected, published = on_prediction(summary((), of_kinds(*verdicts))).split(". ")
    assert confirmed in corrected
    assert "none" in published
    assert on_prediction(summary((), claims(NOTHING, ()))) == ""


def test_counts_in_words():
    none = dict.fromkeys(("holds", "partly", "fails", "cannot_hold"), 0)
    assert in_words(none | {"claims": 3}) == "3 are not decided"
    assert in_words(none | {"claims": 2, "holds": 1}) == "1 holds and 1 is not decided"
    found = {"claims": 8, "holds": 2, "partly": 1, "fails": 1, "cannot_hold": 3}
    assert in_words(found) == (
        "2 hold, 1 holds in part, 1 fails, 3 cannot hold and 1 is not decided"
    )


def test_the_null_rate_is_that_of_all_pairs(ledger):
    changed = [
        replace(e, verdict="agree", needs="", rivals=20, rivals_agree=agree, derived=derived)
        for e, agree, derived in zip(ledger, (3, 5, 20), ("", "", "summary"), strict=False)
    ]
    rows = summary(changed, [])
    assert value(rows, "cells", "agree") == 2
    assert value(rows, "cells", "null_rate") == pytest.approx(8 / 40)
    assert value(rows, "cells", "null_rate", group="derived") == 1.0
    assert value(rows, "cells", "agree", paper="deepcac") == 0


def test_the_file_has_the_columns_that_the_module_names(ledger, tmp_path):
    write_rows(tmp_path / "summary.csv", Count, summary(ledger, []))
    lines = (tmp_path / "summary.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "part,paper,group,quantity,value"
    assert "cells,all,independent,agree,0" in lines
    assert "cells,all,independent,null_rate," in lines
