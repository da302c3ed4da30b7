import pytest
from paper_checks import find_entry
from report_runs import write_run

from deepcac.experiments.finished import Runs, load
from deepcac.papers.findings import Findings
from deepcac.papers.ledger import entries, number
from deepcac.papers.printed import printed_cells


def test_restricted_data_are_named_and_never_empty():
    without = entries(Findings(Runs(())))
    restricted = [e for e in without if e.dataset in ("ARDS", "WID-M", "ARDS-TS") and e.printed]
    assert {e.verdict for e in restricted} == {
        "needs MIMIC-III access",
        "needs WiDS Datathon 2020 access",
    }
    assert all(e.verdict for e in without)
    assert not any(e.sound or e.as_published for e in without)


def test_ledger_takes_the_published_run_first(tmp_path):
    results = tmp_path / "results"
    paths = [
        write_run(results, "cic", "deepcac", 3, strength=1.0),
        write_run(results, "cic", "deepcac", 3, strength=1.4, protocol="as_published"),
    ]
    runs = load(paths, tmp_path)
    where = {"paper": "deepcac", "table": "2", "dataset": "CIC", "method": "DeepCAC", "k": "3"}
    entry = find_entry(runs, **where)
    sound, published = (runs.find(p, "cic", "deepcac", 3) for p in ("sound", "as_published"))
    assert entry.run == "results/as_published/cic/deepcac_k3.json"
    assert entry.decided_by == "as published"
    assert float(entry.sound) == pytest.approx(sound.score("auprc")[0], abs=1e-4)
    assert float(entry.as_published) == pytest.approx(published.score("auprc_macro")[0], abs=1e-4)
    gap = float(entry.as_published) - float(entry.printed)
    assert float(entry.difference) == pytest.approx(gap, abs=2e-4)


def test_tuned_alpha_is_the_median_and_a_fixed_one_decides_nothing(tmp_path):
    results = tmp_path / "results"
    tuned = load([write_run(results, "cic", "cac_lr", 2, alpha=0.03)], tmp_path)
    wanted = {"paper": "cac_v1", "table": "3", "dataset": "CIC", "method": "CAC+LR"}
    entry = find_entry(tuned, **wanted)
    assert (entry.printed, entry.sound, entry.verdict) == ("0.05", "0.03", "agree")
    printed = {(e.paper, e.dataset): e for e in entries(Findings(tuned)) if e.kind == "alpha"}
    assert printed["cac_v2", "CIC"].verdict == "agree"  # 0.04
    titanic = load([write_run(results, "titanic", "cac_lr", 2, alpha=3.0)], tmp_path)
    printed = {(e.paper, e.dataset): e for e in entries(Findings(titanic)) if e.kind == "alpha"}
    assert printed["cac_v2", "Titanic"].verdict == "not run"  # 100 is beyond the grid
    fixed = load([write_run(results, "cic", "cac_lr", 2)], tmp_path)
    entry = find_entry(fixed, **wanted)
    assert entry.verdict == "not run"


def test_one_split_has_no_spread(tmp_path):
    results = tmp_path / "results"
    run = write_run(results, "cic", "lr", 1, protocol="as_published", seeds=(0,), scores=False)
    where = {"paper": "cac_v1", "table": "1", "dataset": "CIC", "method": "LR"}
    entry = find_entry(load([run], tmp_path), **where, kind="score")
    assert entry.as_published
    assert entry.as_published_sd == ""


def test_every_cell_has_an_entry_in_the_order_of_the_printed_cells():
    found = entries(Findings(Runs(())))
    assert [(e.paper, e.table, e.item, e.printed) for e in found] == [
        (c.paper, c.table, c.item, c.text) for c in printed_cells()
    ]


def test_a_rounded_zero_has_no_sign():
    assert number(-0.00001, signed=True) == "0"
