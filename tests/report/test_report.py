import csv
import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
from report_runs import HISTORY, write_run

from deepcac.errors import DataError
from deepcac.experiments.finished import Runs, load
from deepcac.papers import ledger as book
from deepcac.papers.cac_claims import falls
from deepcac.papers.claims import claims
from deepcac.papers.ledger import Ours, entries, verdict
from deepcac.papers.names import method_label
from deepcac.papers.printed import printed_cells
from deepcac.papers.summaries import summarise
from deepcac.report.comparisons import Bootstraps, clustering_effects, compare
from deepcac.report.page import build
from deepcac.report.papertables import paper_tables
from deepcac.report.sweep_curves import Sweeps
from deepcac.report.tables import Cell, Table, escape, latex, markdown, text_row

REGISTRY = """
title: PhysioNet Challenge <2012>
licence: ODC-By 1.0
citation: Silva et al., 2012
homepage: https://example.org/
restricted: false
files: {}
datasets:
  cic: {title: In-hospital death, label: In-hospital_death, positive: died, task: binary}
"""


@pytest.fixture(scope="module")
def cells():
    return printed_cells()


def cell(cells, source, **where):
    found = [c for c in cells if c.source == source]
    found = [c for c in found if all(getattr(c, key) == value for key, value in where.items())]
    assert len(found) == 1
    return found[0]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def report(tmp_path: Path, paths, **options) -> Path:
    registry = tmp_path / "config" / "registry"
    registry.mkdir(parents=True, exist_ok=True)
    (registry / "physionet2012.yaml").write_text(REGISTRY, encoding="utf-8")
    out = tmp_path / "results" / "report"
    build(paths, registry, out, resamples=20, **options)
    return out


def test_every_printed_score_has_an_id_or_a_reason(cells):
    scores = [c for c in cells if c.kind == "score"]
    assert len(scores) == 1074
    assert all(c.method_id for c in scores)
    assert all(c.dataset_id or c.needs for c in scores)


def test_printed_names_find_the_right_run(cells):
    credit = cell(cells, "cac_v1_table5_f1_heldout_5x", dataset="Credit", method="CAC+LR")
    assert (credit.dataset_id, credit.method_id, credit.n_clusters) == ("credit", "cac_lr", 3)
    plain = cell(cells, "deepcac_table5_f1", dataset="WID-M", method="XGB")
    assert (plain.dataset_id, plain.method_id, plain.n_clusters) == ("wid_mortality", "xgb", 1)
    sepsis = cell(cells, "cac_v2_table3_auc", dataset="Sepsis", method="KM+LR")
    assert (sepsis.dataset_id, sepsis.item) == ("sepsis_signature", "auroc")
    neural = cell(cells, "cac_v1_table1_f1_heldout", dataset="CIC", method="DeepCAC")
    assert neural.method_id == "cac_dmnn"


def test_a_missing_value_printed_as_zero_is_not_a_score(cells):
    missing = cell(cells, "deepcac_table6_auc", dataset="Diabetes", method="AC-TPC", k="2")
    assert missing.value is None


@pytest.mark.parametrize(
    ("mean", "sd", "expected"),
    [
        (0.469, 0.0, "agree"),
        (0.487, 0.0, "agree"),
        (0.4875, 0.0, "differ"),
        (None, None, "timeout"),
    ],
)
def test_verdict_without_a_printed_spread(cells, mean, sd, expected):
    printed = cell(cells, "cac_v1_table1_f1_heldout", dataset="CIC", method="CAC+LR")
    assert printed.value == 0.467
    status = "ok" if mean else "timeout"
    assert verdict(printed, Ours(mean, sd, status, "run")) == expected


def test_verdict_with_two_combined_standard_deviations(cells):
    printed = cell(cells, "deepcac_table2_auprc", dataset="Diabetes", method="KM-Z", k="2")
    assert (printed.value, printed.sd) == (0.528, 0.011)
    # 2 sqrt(0.011^2 + 0.0132^2) = 0.03437
    assert verdict(printed, Ours(0.5620, 0.0132, "ok", "run")) == "agree"
    assert verdict(printed, Ours(0.5630, 0.0132, "ok", "run")) == "differ"


def test_restricted_data_are_named_and_never_empty(cells):
    without = entries(cells, Runs(()))
    restricted = [e for e in without if e.dataset in ("ARDS", "WID-M", "ARDS-TS") and e.printed]
    assert {e.verdict for e in restricted} == {
        "needs MIMIC-III access",
        "needs WiDS Datathon 2020 access",
    }
    assert all(e.verdict for e in without)
    assert not any(e.sound or e.as_published for e in without)


def test_ledger_takes_the_published_run_first(tmp_path, cells):
    results = tmp_path / "results"
    paths = [
        write_run(results, "cic", "deepcac", 3, strength=1.0),
        write_run(results, "cic", "deepcac", 3, strength=1.4, protocol="as_published"),
    ]
    runs = load(paths, tmp_path)
    (entry,) = [
        e
        for e in entries(cells, runs)
        if (e.paper, e.table, e.dataset, e.method, e.k) == ("deepcac", "2", "CIC", "DeepCAC", "3")
    ]
    sound, published = (runs.find(p, "cic", "deepcac", 3) for p in ("sound", "as_published"))
    assert entry.run == "results/as_published/cic/deepcac_k3.json"
    assert entry.decided_by == "as published"
    assert float(entry.sound) == pytest.approx(sound.score("auprc")[0], abs=1e-4)
    assert float(entry.as_published) == pytest.approx(published.score("auprc_macro")[0], abs=1e-4)
    gap = float(entry.as_published) - float(entry.printed)
    assert float(entry.difference) == pytest.approx(gap, abs=2e-4)


def test_means_over_classes_only_where_the_switch_is_on(tmp_path):
    results = tmp_path / "results"
    paths = [write_run(results, "cic", "deepcac", 3, protocol=p) for p in ("sound", "D1")]
    sound, switched = load(paths, tmp_path)
    assert sound.reported("auprc", "deepcac") == "auprc"
    assert switched.reported("auprc", "deepcac") == "auprc_macro"
    assert switched.reported("auroc", "cac_v2") == "auroc"


def test_tuned_alpha_is_the_median_and_a_fixed_one_decides_nothing(tmp_path, cells):
    results = tmp_path / "results"
    tuned = load([write_run(results, "cic", "cac_lr", 2, alpha=0.03)], tmp_path)
    wanted = ("cac_v1", "3", "CIC", "CAC+LR")
    (entry,) = [
        e for e in entries(cells, tuned) if (e.paper, e.table, e.dataset, e.method) == wanted
    ]
    assert (entry.printed, entry.sound, entry.verdict) == ("0.05", "0.03", "agree")
    printed = {(e.paper, e.dataset): e for e in entries(cells, tuned) if e.kind == "alpha"}
    assert printed["cac_v2", "CIC"].verdict == "agree"  # 0.04
    titanic = load([write_run(results, "titanic", "cac_lr", 2, alpha=3.0)], tmp_path)
    printed = {(e.paper, e.dataset): e for e in entries(cells, titanic) if e.kind == "alpha"}
    assert printed["cac_v2", "Titanic"].verdict == "not run"  # 100 is beyond the grid
    fixed = load([write_run(results, "cic", "cac_lr", 2)], tmp_path)
    (entry,) = [
        e for e in entries(cells, fixed) if (e.paper, e.table, e.dataset, e.method) == wanted
    ]
    assert entry.verdict == "not run"


def test_summary_formulas_on_printed_cells():
    # CAC v1, Table 1, Credit: 0.446 / 0.336 and the like; here a hand-made pair of rows.
    scores = [(0.2, 0.4, 0.5), (0.6, 0.6, 0.5)]
    assert summarise("best_count_cac", scores) == 1
    assert summarise("best_count_base", scores) == 1  # a tie goes to the first
    assert summarise("avg_up_f1_pct_vs_base", scores) == pytest.approx(25.0)
    assert summarise("avg_up_f1_pct_vs_km", scores) == pytest.approx(0.0)


def test_the_papers_shapes(cells):
    tables = {table.id: table for table in paper_tables(entries(cells, Runs(())))}
    table = tables["deepcac_table2"]
    assert table.head == [
        "dataset",
        "k",
        "KM-Z",
        "DCN-Z",
        "IDEC-Z",
        "DMNN",
        "AC-TPC",
        "GRASP",
        "DeepCAC",
    ]
    assert len(table.rows) == 18
    assert [c.text for c in table.rows[0][:3]] == ["Diabetes", "2", "0.528 ± 0.011"]
    assert len(tables["cac_v1_table1"].rows) == 27
    assert all(len(row) == len(t.head) for t in tables.values() for row in t.rows)


def test_latex_and_markdown_escape():
    compared = Cell("0.5", published="0.51", sound="0.4", verdict="agree")
    table = Table("t", "Title", "Note", ("a_b", "c|d"), [[*text_row("50 % & more"), compared]])
    assert escape("a_b & 5 %") == r"a\_b \& 5 \%"
    assert r"50 \% \& more & 0.5 | 0.51 | 0.4 \checkmark{} \\" in latex(table)
    assert r"| 50 % & more | 0.5 \| 0.51 \| 0.4 ✓ |" in markdown(table)


@pytest.mark.parametrize(
    ("curve", "expected"), [([3.0, 2.0, 2.0], True), ([3.0, 2.0, 2.1], False), ([3.0], None)]
)
def test_falling_curves(curve, expected):
    assert falls(curve) is expected


def decided(results: Path, paths, root: Path) -> dict[str, tuple[str, str]]:
    runs = load(paths, root)
    return {
        c.id: (c.verdict, c.as_published)
        for c in claims(runs, entries(printed_cells(), runs), Sweeps())
    }


def test_claims_follow_the_runs(tmp_path):
    results = tmp_path / "results"
    paths = []
    for name in ("titanic", "magic", "credit", "adult", "diabetes", "sepsis_signature", "cic"):
        paths += [
            write_run(results, name, "dmnn", 2, strength=1.0, scores=False),
            write_run(results, name, "cac_dmnn", 2, strength=1.6, scores=False),
        ]
    paths.append(write_run(results, "diabetes", "ec3", 1, status="timeout"))
    found = decided(results, paths, tmp_path)
    assert found["CAC2-14"] == ("holds", "not run")
    assert found["CAC2-17"] == ("holds", "not run")
    assert found["CAC1-01"] == ("not run", "not run")
    assert len(found) == 151
    worse = [
        write_run(results, name, "cac_dmnn", 2, strength=0.4, scores=False)
        for name in ("titanic", "magic", "credit", "adult")
    ]
    assert set(worse) < set(paths)
    assert decided(results, paths, tmp_path)["CAC2-14"][0] == "fails"


@pytest.mark.parametrize(
    ("sizes", "features", "expected"),
    [
        (
            [[9, 1, 1], [3, 3, 3], [1, 2, 9]],
            ["MechVentDuration", "UrineOutput_sum"],
            ("holds", "holds"),
        ),
        ([[9, 1, 1], [8, 3, 3], [7, 2, 6]], ["GCS_last", "UrineOutput_sum"], ("fails", "fails")),
    ],
)
def test_case_study_claims(tmp_path, sizes, features, expected):
    clusters = {
        "sizes_train": sizes,
        "sizes_test": sizes,
        "features": [
            {"cluster": 0, "feature": name, "effect": 1.0, "p": 0.01} for name in features
        ],
    }
    results = tmp_path / "results"
    run = write_run(results, "cic_los", "deepcac", 3, scores=False, clusters=clusters)
    found = decided(results, [run], tmp_path)
    assert (found["DCAC-43"][0], found["DCAC-44"][0]) == expected


def test_claims_of_the_second_paper_look_at_its_own_runs_first(tmp_path):
    results = tmp_path / "results"
    names = ("titanic", "magic", "credit", "adult", "diabetes", "sepsis_signature", "cic")

    def write(protocol, strengths):
        ks = {"lr": 1, "km_lr": 2, "cac_lr": 2}
        return [
            write_run(
                results, name, method, ks[method], strength=s, protocol=protocol, scores=False
            )
            for name in names
            for method, s in strengths.items()
        ]

    paths = write("as_published", {"lr": 1.0, "km_lr": 1.3, "cac_lr": 1.6})
    assert decided(results, paths, tmp_path)["CAC2-13"] == ("not run", "holds")
    paths += write("as_published_cv5", {"lr": 1.0, "km_lr": 1.3, "cac_lr": 0.4})
    assert decided(results, paths, tmp_path)["CAC2-13"] == ("not run", "fails")
    paths += write("as_published_v2", {"cac_lr": 1.3})  # as good as KM+LR: beats or equals
    assert decided(results, paths, tmp_path)["CAC2-13"] == ("not run", "holds")
    assert decided(results, paths, tmp_path)["CAC2-16"][1] != "holds"


def test_a_claim_to_be_best_needs_every_rival_and_beats_one_without_a_result(tmp_path):
    results = tmp_path / "results"
    names = ("titanic", "magic", "credit", "adult", "diabetes", "sepsis_signature", "cic")
    ours = [
        write_run(results, name, method, 2, strength=1.0, scores=False)
        for name in names
        for method in ("cac_lr", "cac_dmnn")
    ]
    assert decided(results, ours, tmp_path)["CAC2-15"][0] == "not run"
    rivals = [
        write_run(
            results, name, "ec3", 1, strength=0.3, scores=False,
            status="timeout" if name == "diabetes" else "ok",
        )
        for name in names
    ]  # fmt: skip
    assert decided(results, [*ours, *rivals[:-1]], tmp_path)["CAC2-15"][0] == "not run"
    assert decided(results, [*ours, *rivals], tmp_path)["CAC2-15"][0] == "holds"


def test_ties_are_no_wins(tmp_path):
    results = tmp_path / "results"
    names = ("titanic", "magic", "credit", "adult", "diabetes", "sepsis_signature", "cic")
    paths = [
        write_run(results, name, method, 2, scores=False)
        for name in names
        for method in ("dmnn", "cac_dmnn")
    ]
    assert decided(results, paths, tmp_path)["CAC2-14"][0] == "fails"


def test_a_rising_cost_breaks_the_claim(tmp_path, monkeypatch):
    results = tmp_path / "results"
    assert (
        decided(results, [write_run(results, "cic", "cac_lr", 2)], tmp_path)["CAC1-05"][0]
        == "holds"
    )
    monkeypatch.setitem(HISTORY, "cost", [100.0, 80.0, 81.0])
    assert (
        decided(results, [write_run(results, "cic", "cac_lr", 2)], tmp_path)["CAC1-05"][0]
        == "fails"
    )


def test_report_without_runs_is_valid(tmp_path):
    out = report(tmp_path, [])
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "No run on real data has been made yet" in page
    assert {row["verdict"] for row in rows(out / "claims.csv")} <= {
        "not run",
        "not decidable from open data",
    }
    assert len(rows(out / "ledger.csv")) == len(printed_cells())


def test_synthetic_runs_stay_out_of_the_papers_tables(tmp_path):
    results = tmp_path / "results"
    paths = [
        write_run(results, "demo_cic", "cac_lr", 2, synthetic=True),
        write_run(results, "cic", "cac_lr", 2, synthetic=True),
    ]
    out = report(tmp_path, paths)
    assert not any(row["sound"] or row["as_published"] for row in rows(out / "ledger.csv"))
    assert rows(out / "tables" / "runs.csv") == []
    assert len(rows(out / "tables" / "synthetic_runs.csv")) == 2
    page = (out / "index.html").read_text(encoding="utf-8")
    assert page.index("demo_cic") > page.index('id="synthetic"')


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_report_is_the_same_bytes_in_any_place_and_order(tmp_path):
    made = []
    for place in ("one", "two"):
        results = tmp_path / place / "results"
        paths = [
            write_run(results, "cic", "lr", 1),
            write_run(results, "cic", "km_lr", 2, strength=1.1),
            write_run(results, "cic", "cac_lr", 2, strength=1.3, alpha=0.05),
            write_run(results, "cic", "cac_lr", 2, strength=1.2, alpha=0.05, protocol="L1"),
        ]
        made.append(digests(report(tmp_path / place, paths if place == "one" else paths[::-1])))
    assert made[0] == made[1]
    names = set(made[0])
    assert {"figures/curves_cic.svg", "figures/curves_cic.png", "figures/curves_cic.csv"} <= names
    assert {"tables/deepcac_table2.tex", "tables/clustering_f1.md", "ledger.csv"} <= names


def test_page_escapes_what_it_shows_and_loads_nothing(tmp_path):
    results = tmp_path / "results"
    out = report(tmp_path, [write_run(results, "cic", "cac_lr", 2, alpha=0.05)])
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "PhysioNet Challenge &lt;2012&gt;" in page
    assert "PhysioNet Challenge <2012>" not in page
    assert 'src="http' not in page
    assert "<link" not in page


def test_every_local_link_leads_somewhere(tmp_path):
    results = tmp_path / "results"
    paths = [
        write_run(results, "cic", "lr", 1),
        write_run(results, "cic", "cac_lr", 2, alpha=0.05, protocol="as_published"),
    ]
    out = report(tmp_path, paths)
    page = (out / "index.html").read_text(encoding="utf-8")
    links = set(re.findall(r'href="([^"#]+)"', page))
    local = {link for link in links if "://" not in link}
    assert "../as_published/cic/cac_lr_k2.json" in local
    assert {"ledger.csv", "claims.csv", "tables/runs.tex"} <= local
    assert [link for link in sorted(local) if not (out / link).exists()] == []


def test_clustering_table_compares_paired_splits(tmp_path):
    results = tmp_path / "results"
    paths = [
        write_run(results, "cic", "lr", 1, strength=1.0),
        write_run(results, "cic", "cac_lr", 2, strength=2.5),
    ]
    out = report(tmp_path, paths)
    (row,) = rows(out / "tables" / "clustering_f1.csv")
    assert row["comparison"] == "CAC − plain"
    assert float(row["difference"]) == pytest.approx(
        float(row["first"]) - float(row["second"]), abs=2e-4
    )
    low, high = (float(part) for part in row["bootstrap 95 %"].split(" to "))
    assert low < float(row["difference"]) < high
    assert low > 0


def test_other_test_rows_give_a_difference_without_a_test(tmp_path):
    paths = [write_run(tmp_path / "results", "cic", name, 1) for name in ("lr", "xgb")]
    first, second = load(paths, tmp_path)
    assert not np.isnan(compare(first, second, "", ["f1"])[0].test.low)
    second.record["inputs"]["splits"] = "2" * 64
    (other,) = compare(first, second, "", ["f1"])
    assert np.isnan([other.test.low, other.test.high, other.test.p]).all()
    assert other.test.mean == 0.0


def test_networks_are_not_compared_by_f1_with_weighted_classifiers(tmp_path):
    results = tmp_path / "results"
    paths = [
        write_run(results, "cic", method, k, scores=False)
        for method, k in (("lr", 1), ("deepcac", 1), ("deepcac", 3))
    ]
    found = clustering_effects(load(paths, tmp_path), Bootstraps(2))
    assert {(row.label, row.metric) for row in found} == {
        ("DeepCAC − its k = 1", "f1"),
        *(
            (f"DeepCAC − {other}", metric)
            for other in ("its k = 1", "LR")
            for metric in ("auroc", "auprc")
        ),
    }


def test_a_run_with_one_risk_for_all_is_no_yardstick(tmp_path):
    results = tmp_path / "results"
    paths = [write_run(results, "cic", "ac_tpc", k, scores=False) for k in (1, 2)]
    runs = load(paths, tmp_path)
    assert clustering_effects(runs, Bootstraps(2)) != []
    for split in runs.find("sound", "cic", "ac_tpc", 1).splits:
        split["metrics"]["auroc"] = 0.5
    assert clustering_effects(runs, Bootstraps(2)) == []


def test_answer_counts_the_comparisons(tmp_path):
    results = tmp_path / "results"
    paths = [
        write_run(results, "cic", method, k)
        for method, k in (("lr", 1), ("km_lr", 2), ("cac_lr", 2))
    ]
    out = report(tmp_path, paths)
    found = rows(out / "tables" / "clustering_answer.csv")
    assert [row["comparison"] for row in found] == ["CAC − KM", "CAC − plain", "KM − plain"]
    for row in found:
        for metric in ("f1", "auroc", "auprc"):
            assert row[metric].startswith("0 better, 0 worse of 1; mean ")
    assert 'id="table-clustering_answer"' in (out / "index.html").read_text(encoding="utf-8")


def test_switch_table_has_a_row_for_every_switch(tmp_path):
    results = tmp_path / "results"
    paths = [write_run(results, "cic", "lr", 1), write_run(results, "cic", "lr", 1, protocol="L1")]
    out = report(tmp_path, paths)
    found = rows(out / "tables" / "switches.csv")
    measured = [row for row in found if row["switch"] == "L1"]
    assert [row["metric"] for row in measured] == ["f1", "auroc", "auprc"]
    assert all(float(row["difference"]) == 0 for row in measured)
    assert {row["metric"] for row in found if row["switch"] != "L1"} == {"not run"}


@pytest.mark.parametrize("text", ['{"schema": 1}', "", '"whole"'])
def test_broken_records_are_named(tmp_path, text):
    path = write_run(tmp_path / "results", "cic", "lr", 1)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"lr_k1\.json"):
        report(tmp_path, [path])


def test_cohort_flow_is_shown(tmp_path):
    file = tmp_path / "tidy" / "physionet2012" / "cohort_cic.json"
    file.parent.mkdir(parents=True)
    flow = {"flow": [{"step": "all stays", "rows": 9}, {"step": "without <x>", "rows": 7}]}
    file.write_text(json.dumps(flow), encoding="utf-8")
    out = report(tmp_path, [], tidy_dir=tmp_path / "tidy")
    page = (out / "index.html").read_text(encoding="utf-8")
    assert re.search(r"all stays</span> <b>9</b>.*without &lt;x&gt;</span> <b>7</b>", page, re.S)


def test_a_broken_cohort_flow_is_named(tmp_path):
    file = tmp_path / "tidy" / "physionet2012" / "cohort_cic.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"rows": 1}', encoding="utf-8")
    with pytest.raises(DataError, match=r"cohort_cic\.json"):
        report(tmp_path, [], tidy_dir=tmp_path / "tidy")


def test_two_records_of_one_run_are_refused(tmp_path):
    one = write_run(tmp_path / "results", "cic", "lr", 1)
    other = write_run(tmp_path / "elsewhere", "cic", "lr", 1)
    with pytest.raises(DataError, match="same run"):
        load([one, other], tmp_path)


def test_method_labels():
    assert method_label("cac_lr") == "CAC+LR"
    assert method_label("deepcac_ts") == "DeepCAC (sequence)"
    assert method_label("cac_dmnn") == "CAC+DMNN"
    assert book.number(-0.00001, signed=True) == "0"


def test_one_split_has_no_spread(tmp_path, cells):
    results = tmp_path / "results"
    run = write_run(results, "cic", "lr", 1, protocol="as_published", seeds=(0,), scores=False)
    found = entries(cells, load([run], tmp_path))
    (entry,) = [
        e for e in found if (e.paper, e.table, e.dataset, e.method) == ("cac_v1", "1", "CIC", "LR")
    ]
    assert entry.as_published
    assert entry.as_published_sd == ""


def test_a_claim_over_restricted_data_is_decided_on_the_open_part(tmp_path):
    results = tmp_path / "results"
    paths = [
        write_run(results, name, f"{arm}_{base}", 2, strength=s, scores=False)
        for name in ("diabetes", "cic")
        for base in ("lr", "svm", "lda", "perceptron", "rf", "knn", "sgd", "ridge", "xgb")
        for arm, s in (("km", 1.0), ("cac", 1.5))
    ]
    runs = load(paths, tmp_path)
    found = {c.id: c for c in claims(runs, entries(printed_cells(), runs), Sweeps())}
    assert found["DCAC-02"].verdict == "holds"
    assert "18 wins, 0 ties, 0 losses of 18" in found["DCAC-02"].figures
    assert "WiDS Datathon 2020 access" in found["DCAC-02"].figures
    assert found["DCAC-03"].verdict == "holds"
