from dataclasses import replace

import pytest

from deepcac.experiments.finished import Runs
from deepcac.papers.claims import claims
from deepcac.papers.evidence import VERDICTS
from deepcac.papers.findings import Findings
from deepcac.papers.ledger import entries
from deepcac.papers.names import LOGS
from deepcac.papers.summary import summary, value, write

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
        assert sum(parts) == value(rows, "claims", "claims", group=group) == 151
    parts = ("agree", "differ", "no_score", "not_run")
    assert value(rows, "cells", "open") == sum(value(rows, "cells", name) for name in parts)


def test_the_null_rate_is_that_of_all_pairs(ledger):
    changed = [
        replace(e, verdict="agree", needs="", rivals="20", rivals_agree=str(agree), derived=derived)
        for e, agree, derived in zip(ledger, (3, 5, 20), ("", "", "summary"), strict=False)
    ]
    rows = summary(changed, [])
    assert value(rows, "cells", "agree") == 2
    assert value(rows, "cells", "null_rate") == pytest.approx(8 / 40)
    assert value(rows, "cells", "null_rate", group="derived") == 1.0
    assert value(rows, "cells", "agree", paper="deepcac") == 0


def test_the_file_has_the_columns_that_the_module_names(ledger, tmp_path):
    write(tmp_path / "summary.csv", summary(ledger, []))
    lines = (tmp_path / "summary.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "part,paper,group,quantity,value"
    assert "cells,all,independent,agree,0" in lines
    assert "cells,all,independent,null_rate," in lines
