from collections import Counter
from types import SimpleNamespace

import pytest
from paper_checks import find_entry
from report_runs import write_run

from deepcac_study.papers.agreement import Ours
from deepcac_study.papers.ledger import _entry as entry_of
from deepcac_study.papers.ledger import entries, number
from deepcac_study.papers.null_rate import SUMMARY
from deepcac_study.papers.printed import printed_cells
from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Runs, load


def test_a_cell_that_was_not_run_says_what_it_needs():
    without = entries(Findings(Runs(())))
    asked = [
        e for e in without if e.dataset in ("ARDS", "WID-M", "ARDS-TS") and e.verdict == "not run"
    ]
    assert {e.needs for e in asked} == {"MIMIC-III access", "WiDS Datathon 2020 access"}
    assert all(e.needs for e in without if e.verdict in ("not run", "data not rebuildable"))
    assert {(e.sound, e.as_published) for e in without} == {(None, None)}
    where = {"paper": "cac_v2", "table": "2", "dataset": "CIC", "method": "CAC+LR"}
    entry = find_entry(Runs(()), **where)
    assert entry.needs == "results/as_published_v2/cic/cac_lr_k2.json"


def test_a_cell_is_decided_by_its_own_protocol_alone(tmp_path):
    results = tmp_path / "results"
    where = {"paper": "deepcac", "table": "2", "dataset": "CIC", "method": "DeepCAC", "k": "3"}
    sound = write_run(results, "cic", "deepcac", 3, strength=1.0)
    entry = find_entry(load([sound], tmp_path), **where)
    assert (entry.verdict, entry.run, entry.decided_by) == ("not run", "", "as_published")
    assert entry.sound
    assert entry.sound_verdict == "differ"
    published = write_run(results, "cic", "deepcac", 3, strength=1.4, protocol="as_published")
    runs = load([sound, published], tmp_path)
    entry = find_entry(runs, **where)
    ours = runs.find("as_published", "cic", "deepcac", 3).score("auprc_macro")[0]
    assert entry.run == "results/as_published/cic/deepcac_k3.json"
    assert entry.as_published == pytest.approx(ours, abs=1e-4)
    gap = entry.as_published - float(entry.printed)
    assert entry.difference == pytest.approx(gap, abs=2e-4)


def test_other_data_decide_nothing(tmp_path):
    results = tmp_path / "results"
    generated = write_run(results, "cic", "deepcac", 3, protocol="as_published", synthetic=True)
    demo = write_run(results, "demo_cic", "deepcac", 3, protocol="as_published")
    own = write_run(results, "own_ward", "deepcac", 3, protocol="as_published")
    found = entries(Findings(load([generated, demo, own], tmp_path)))
    assert not any(e.run or e.sound or e.as_published for e in found)


def test_the_null_rate_counts_the_rivals_whose_cells_we_would_agree_with_too(tmp_path):
    run = write_run(tmp_path / "results", "cic", "lr", 1, protocol="as_published", scores=False)
    ours = load([run], tmp_path).find("as_published", "cic", "lr", 1).score("f1")[0]
    where = {"paper": "cac_v1", "table": "1", "dataset": "CIC", "kind": "score"}
    table = [
        float(c.text)
        for c in printed_cells()
        if (c.source, c.dataset) == ("cac_v1_table1_f1_heldout", "CIC") and c.method != "LR"
    ]
    entry = find_entry(load([run], tmp_path), **where, method="LR")
    assert entry.rivals == len(table) == 26
    # Those of networks have no split of ours.
    near = [abs(value - ours) <= 0.005 for value in table]
    assert abs(entry.rivals_agree - sum(near)) <= 3
    other = find_entry(load([run], tmp_path), **where, method="SVM")
    assert (other.rivals, other.rivals_agree) == (None, None)


def test_repeated_cells_are_no_evidence_of_their_own():
    found = entries(Findings(Runs(())))
    repeats = Counter((e.paper, e.table, e.derived) for e in found if e.derived)
    assert repeats["cac_v1", "5", "repeats cac_v1 Table 1"] == 84
    assert repeats["cac_v1", "1", SUMMARY] == 70
    assert repeats["skmeans", "4", SUMMARY] == 24
    assert not any(e.derived for e in found if e.paper == "classdecomp")


def test_tuned_alpha_is_the_median_and_a_fixed_one_decides_nothing(tmp_path):
    results = tmp_path / "results"
    tuned = load([write_run(results, "cic", "cac_lr", 2, alpha=0.03)], tmp_path)
    wanted = {"paper": "cac_v1", "table": "3", "dataset": "CIC", "method": "CAC+LR"}
    entry = find_entry(tuned, **wanted)
    assert (entry.printed, entry.sound, entry.verdict) == ("0.05", 0.03, "agree")
    printed = {(e.paper, e.dataset): e for e in entries(Findings(tuned)) if e.kind == "alpha"}
    assert printed["cac_v2", "CIC"].verdict == "agree"  # 0.04
    titanic = load([write_run(results, "titanic", "cac_lr", 2, alpha=3.0)], tmp_path)
    printed = {(e.paper, e.dataset): e for e in entries(Findings(titanic)) if e.kind == "alpha"}
    assert printed["cac_v2", "Titanic"].verdict == "data not rebuildable"
    fixed = load([write_run(results, "cic", "cac_lr", 2)], tmp_path)
    entry = find_entry(fixed, **wanted)
    assert entry.verdict == "not run"


def test_one_split_has_no_spread(tmp_path):
    results = tmp_path / "results"
    run = write_run(results, "cic", "lr", 1, protocol="as_published", seeds=(0,), scores=False)
    where = {"paper": "cac_v1", "table": "1", "dataset": "CIC", "method": "LR"}
    entry = find_entry(load([run], tmp_path), **where, kind="score")
    assert entry.as_published
    assert entry.as_published_sd is None


def test_every_cell_has_an_entry_in_the_order_of_the_printed_cells():
    found = entries(Findings(Runs(())))
    assert [(e.paper, e.table, e.item, e.printed) for e in found] == [
        (c.paper, c.table, c.item, c.text) for c in printed_cells()
    ]


def test_a_rounded_zero_has_no_sign():
    assert number(-0.00001, signed=True) == "0"
    cell = next(cell for cell in printed_cells() if cell.kind == "score" and cell.value)
    run = Ours(cell.value - 0.00001, None, "ok", "a run")
    answers = SimpleNamespace(
        answer=lambda *_: run, target=lambda _: "", remark=lambda _: "", not_counted=lambda _: ""
    )
    assert str(entry_of(cell, answers, (), "").difference) == "0.0"
