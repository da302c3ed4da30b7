import csv
import hashlib
import os
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas
from report_runs import without_pictures, write_run

from deepcac.errors import DataError
from deepcac.files.storage import write_json
from deepcac.pages.figures import Figure, drawn
from deepcac.pages.tables import Cell, Table, escape, latex, markdown, text_row
from deepcac.pages.templating import environment, view
from deepcac_study.catalogue.registry import load_registry
from deepcac_study.papers.ledger import entries
from deepcac_study.papers.printed import printed_cells
from deepcac_study.records.reader import Findings
from deepcac_study.records.record import read_record, scores_path
from deepcac_study.records.runs import Runs, load
from deepcac_study.report.papers.ledger_tables import paper_tables
from deepcac_study.report.runs.comparisons import Bootstraps, clustering_effects, compare_runs
from deepcac_study.report.runs.run_page import write_run_page
from deepcac_study.report.site.page import BesideRecords, ShippedRecords, build

KEPT = Path(__file__).parents[3] / "docs" / "results"
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


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A report of runs on the papers' data, on a table of one's own and on generated data."""
    folder = tmp_path_factory.mktemp("shared")
    results = folder / "results"
    paths = [
        write_run(results, "cic", "lr", 1),
        write_run(results, "cic", "lr", 1, protocol="L1"),
        write_run(results, "cic", "km_lr", 2),
        write_run(results, "cic", "cac_lr", 2, strength=2.5, alpha=0.05),
        write_run(results, "cic", "cac_lr", 2, alpha=0.05, protocol="as_published"),
        write_run(results, "mine", "cac_lr", 2),
        write_run(results, "demo_cic", "cac_lr", 2, synthetic=True),
    ]
    flow = {"flow": [{"step": "all stays", "rows": 9}, {"step": "without <x>", "rows": 7}]}
    (folder / "cohorts").mkdir()
    write_json(folder / "cohorts" / "cic.json", flow)
    with without_pictures():
        return report(folder, paths, data=BesideRecords(cohorts=folder / "cohorts"))


def test_means_over_classes_only_where_the_switch_is_on(tmp_path):
    results = tmp_path / "results"
    paths = [write_run(results, "cic", "deepcac", 3, protocol=p) for p in ("sound", "D1")]
    sound, switched = load(paths, tmp_path)
    assert sound.reported("auprc", "deepcac") == "auprc"
    assert switched.reported("auprc", "deepcac") == "auprc_macro"
    assert switched.reported("auroc", "cac_v2") == "auroc"


def test_the_papers_shapes():
    tables = {table.id: table for table in paper_tables(entries(Findings(Runs(()))))}
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


@pytest.mark.usefixtures("undrawn")
def test_report_without_runs_is_valid(tmp_path):
    out = report(tmp_path, [])
    assert_title(out, "Real study:")
    decided = {row["id"] for row in rows(out / "claims.csv") if not row["runs"]}
    assert len(decided) == 156  # by arithmetic on print, or not at all
    assert "cells,all,independent,agree,0" in (out / "summary.csv").read_text(encoding="utf-8")
    assert len(rows(out / "ledger.csv")) == len(printed_cells())


@pytest.mark.usefixtures("undrawn")
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
    shown = {path.name for path in html(out) if "demo_cic" in path.read_text(encoding="utf-8")}
    assert shown == {"synthetic.html"}
    assert_title(out, "DEMO with generated data:", "demo_cic")


def assert_title(out: Path, title: str, *datasets: str) -> None:
    page = (out / "index.html").read_text(encoding="utf-8")
    assert f"<title>{title}" in page
    assert ("On mine, CAC" in page) == ("mine" in datasets and "cic" not in datasets)
    assert (out / "pages" / "own.html").exists() == ("mine" in datasets)
    assert (out / "pages" / "synthetic.html").exists() == ("demo_cic" in datasets)


def test_the_title_of_a_real_study(shared):
    assert_title(shared, "Real study:", "cic", "mine", "demo_cic")


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    ("datasets", "title"),
    [
        (("mine",), "Own data:"),
        pytest.param(
            ("mine", "demo_cic"), "DEMO on real and generated data:", marks=pytest.mark.long
        ),
    ],
)
def test_the_title_says_whose_data_were_run(tmp_path, datasets, title):
    results = tmp_path / "results"
    paths = [
        write_run(results, name, "cac_lr", 2, synthetic=name.startswith("demo"))
        for name in datasets
    ]
    assert_title(report(tmp_path, paths), title, *datasets)


@pytest.mark.usefixtures("undrawn")
def test_a_shipped_record_has_its_kept_curves_and_a_run_its_own(tmp_path):
    results = tmp_path / "results"
    laid, made = (write_run(results, "cic", name, 1) for name in ("lr", "xgb"))
    scores_path(laid).unlink()
    with pytest.raises(DataError, match="missing; delete both"):
        report(tmp_path, [laid, made])
    out = report(tmp_path, [laid, made], shipped=ShippedRecords(KEPT, {str(laid)}))
    shown, kept = rows(out / "figures" / "curves_cic.csv"), rows(KEPT / "curves.csv")
    height = {m: [float(row["y"]) for row in shown if row["method"] == m] for m in ("lr", "xgb")}
    place = ("cic", "lr", "1")
    assert height["lr"] == [
        float(row["y"]) for row in kept if (row["dataset"], row["method"], row["k"]) == place
    ]
    assert len(height["xgb"]) == 101 * 2 * len(read_record(made)["splits"])


def html(out: Path) -> list[Path]:
    return [out / "index.html", *sorted((out / "pages").glob("*.html"))]


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.long
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


def test_page_escapes_what_it_shows_and_loads_nothing(shared):
    pages = {path.name: path.read_text(encoding="utf-8") for path in html(shared)}
    assert "PhysioNet Challenge &lt;2012&gt;" in pages["data.html"]
    for page in pages.values():
        assert "PhysioNet Challenge <2012>" not in page
        assert not re.search(r'src="(?!(\.\./)?figures/)', page)
        assert "<link" not in page


def test_every_local_link_leads_somewhere(shared):
    broken, local = [], set()
    for page in html(shared):
        links = set(re.findall(r'(?:href|src)="([^"#]+)', page.read_text(encoding="utf-8")))
        targets = {link: (page.parent / link).resolve() for link in links if "://" not in link}
        broken += [(page.name, link) for link, target in targets.items() if not target.exists()]
        local |= set(targets.values())
    assert broken == []
    record = shared.parent / "as_published" / "cic" / "cac_lr_k2.json"
    named = {shared / name for name in ("ledger.csv", "claims.csv", "tables/runs.tex")}
    assert {record.resolve(), *(path.resolve() for path in named)} <= local


def test_clustering_table_compares_paired_splits(shared):
    found = rows(shared / "tables" / "clustering_f1.csv")
    (row,) = [one for one in found if one["comparison"] == "CAC − plain"]
    assert float(row["difference"]) == pytest.approx(
        float(row["first"]) - float(row["second"]), abs=2e-4
    )
    low, high = (float(part) for part in row["bootstrap 95 %"].split(" to "))
    assert low < float(row["difference"]) < high
    assert low > 0


def test_other_test_rows_give_a_difference_without_a_test(tmp_path):
    paths = [write_run(tmp_path / "results", "cic", name, 1) for name in ("lr", "xgb")]
    first, second = load(paths, tmp_path)
    first.splits[0]["metrics"]["f1"] += 0.01
    assert not np.isnan(compare_runs(first, second, "", ["f1"])[0]["low"])
    second.record["inputs"]["splits"] = "2" * 64
    (other,) = compare_runs(first, second, "", ["f1"])
    assert np.isnan([other["low"], other["high"], other["p"]]).all()
    assert other["mean"] == pytest.approx(0.01 / len(first.splits))


def test_networks_are_not_compared_by_f1_with_weighted_classifiers(tmp_path):
    results = tmp_path / "results"
    paths = [
        write_run(results, "cic", method, k, scores=False)
        for method, k in (("lr", 1), ("deepcac", 1), ("deepcac", 3))
    ]
    found = clustering_effects(load(paths, tmp_path), Bootstraps(2))
    assert set(zip(found["comparison"], found["metric"], strict=True)) == {
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
    assert len(clustering_effects(runs, Bootstraps(2)))
    for split in runs.find("sound", "cic", "ac_tpc", 1).splits:
        split["metrics"]["auroc"] = 0.5
    assert clustering_effects(runs, Bootstraps(2)).empty


def test_answer_counts_the_comparisons(shared):
    found = rows(shared / "tables" / "clustering_answer.csv")
    assert [row["comparison"] for row in found] == ["CAC − KM", "CAC − plain", "KM − plain"]
    (alike,) = (row for row in found if row["comparison"] == "KM − plain")
    for metric in ("f1", "auroc", "auprc"):
        assert alike[metric].startswith("0 better, 0 worse of 1; mean ")
    assert 'id="table-clustering_answer"' in (shared / "pages" / "clustering.html").read_text(
        encoding="utf-8"
    )


def test_switch_table_has_a_row_for_every_switch(shared):
    found = rows(shared / "tables" / "switches.csv")
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


def test_cohort_flow_is_shown(shared):
    page = (shared / "pages" / "data.html").read_text(encoding="utf-8")
    assert re.search(r"all stays: 9; without &lt;x&gt;: 7", page)


def test_a_broken_cohort_flow_is_named(tmp_path):
    file = tmp_path / "cohorts" / "cic.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"rows": 1}', encoding="utf-8")
    with pytest.raises(DataError, match=r"cohorts/cic\.json"):
        report(tmp_path, [], data=BesideRecords(cohorts=tmp_path / "cohorts"))


def test_two_records_of_one_run_are_refused(tmp_path):
    one = write_run(tmp_path / "results", "cic", "lr", 1)
    other = write_run(tmp_path / "elsewhere", "cic", "lr", 1)
    with pytest.raises(DataError, match="same run"):
        load([one, other], tmp_path)


def picture(name, draw):
    return Figure(name, name, "A test.", (2, 1), draw, "own", ("x",), [[1.0]])


def test_pictures_are_the_same_however_many_processes_draw(tmp_path):
    figures = [
        picture(f"line_{height}", lambda canvas, height=height: canvas.subplots().plot([0, height]))
        for height in range(5)
    ]
    for threads in (1, 3):
        with drawn(figures, tmp_path / str(threads), threads):
            pass
    alone, shared = (sorted((tmp_path / name).iterdir()) for name in ("1", "3"))
    assert [path.name for path in alone] == [path.name for path in shared]
    assert len(alone) == 15
    assert [path.read_bytes() for path in alone] == [path.read_bytes() for path in shared]


def test_a_picture_that_cannot_be_drawn_is_named(tmp_path):
    def torn(canvas):
        raise ValueError("no paper")

    with (
        pytest.raises(RuntimeError, match=r"not drawn: torn \(ValueError: no paper\)$"),
        drawn([picture("torn", torn), picture("whole", Canvas.subplots)], tmp_path, 2),
    ):
        pass
    assert (tmp_path / "whole.png").exists()


def test_a_process_that_is_killed_while_it_draws_is_seen(tmp_path):
    ours = os.getpid()

    def killed(canvas):
        assert os.getpid() != ours  # else the tests would be killed, and no fault seen
        os.kill(os.getpid(), 9)

    with (
        pytest.raises(RuntimeError, match="was ended"),
        drawn([picture("lost", killed)], tmp_path, 2),
    ):
        pass


def test_a_run_is_shown_in_lines_and_on_a_page(tmp_path):
    (tmp_path / "config" / "registry").mkdir(parents=True)
    (tmp_path / "config" / "registry" / "physionet2012.yaml").write_text(REGISTRY)
    record = write_run(tmp_path / "results", "cic", "cac_lr", 2, strength=1.4, alpha=0.05)
    registry = load_registry(tmp_path / "config" / "registry")
    page = write_run_page(record, registry, tmp_path)
    assert page.path == tmp_path / "results" / "report" / "runs" / "cic_cac_lr_k2.html"
    auroc, sd = load([record], tmp_path).items[0].score("auroc")
    assert f"AUROC {auroc:.3f} ± {sd:.3f}" in page.lines[0]
    text = page.path.read_text()
    assert "CAC+LR, k = 2 on" in text
    assert "Hyper-parameters" in text
    with pytest.raises(DataError, match="no such record; snakemake --cores 2"):
        write_run_page(tmp_path / "results" / "cic" / "lr_k1.json", registry, tmp_path)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("deepcac_table2", ["DeepCAC"]),
        ("deepcac_table3", ["DeepCAC-TS"]),
        ("cac_v2_table2", ["CAC+LR", "CAC+DMNN"]),
        ("cac_v1_table1", []),  # has its methods in rows
    ],
)
def test_the_columns_of_a_papers_own_methods_stay_on_narrow_pages(name, own):
    tables = {table.id: table for table in paper_tables(entries(Findings(Runs(()))))}
    shown = view(tables[name])
    kept = [name for name, stays in zip(shown.head, shown.kept, strict=True) if stays]
    assert [column for column in kept if column not in ("data set", "k")] == own
    template = environment("deepcac_study.report.site").from_string(
        '{% import "macros.html" as m %}{{ m.table(one) }}'
    )
    assert ("data-kept=" in template.render(one=tables[name])) == bool(own)
