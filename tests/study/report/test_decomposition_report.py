import csv
from pathlib import Path

import pytest
from decomposition_records import SETS, decomposed, write_decomposed
from report_runs import write_run

from deepcac_study.records.decompositions import DecompositionRecord
from deepcac_study.records.runs import load
from deepcac_study.report.papers.decomposition_gains import (
    decomposition_figures,
    gains_tables,
    rows_or_classes_tables,
)
from deepcac_study.report.runs.comparisons import Bootstraps
from deepcac_study.report.site.page import build

REGISTRY = Path(__file__).parents[3] / "config" / "registry"


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_gains_beside_print():
    records = [
        decomposed("uci_vote", nb=4.0, spread=0.0, separate=2.0, clusters=(4, 3)),
        decomposed("uci_vote", "as_published", nb=6.0, spread=3.0),
        decomposed("uci_colic"),
    ]
    (table,) = gains_tables(records)
    found = {(row[0].text, row[1].text): [cell.text for cell in row[2:]] for row in table.rows}
    assert found["uci_vote", "naive Bayes"] == [
        "+6.02", "+6.00", "0.007 *", "+4.00", "–", "+2.00", "3.50", "0 of 6", "0.83", "0.083",
    ]  # fmt: skip
    assert found["uci_colic", "linear machines"][:3] == ["-0.22", "–", "–"]
    assert gains_tables([]) == []


def test_machines_one_against_rest_have_a_row_where_they_were_run():
    record = decomposed("uci_vowel")
    extra = [row | {"base": "svm_rest"} for row in record.rows("svm", "alone")]
    extra += [row | {"base": "svm_rest"} for row in record.rows("svm", "separate")]
    extra += [row | {"base": "svm_rest"} for row in record.rows("svm", "greedy")]
    seconds = record.record["machine"]["seconds"] | {"svm_rest_greedy": 3.0}
    both = record.record | {
        "runs": [*record.record["runs"], *extra],
        "machine": {"seconds": seconds},
    }
    records = [DecompositionRecord(record.path, both), decomposed("uci_vote")]
    (table,) = gains_tables(records)
    found = [(row[0].text, row[1].text, row[2].text) for row in table.rows]
    assert ("uci_vowel", "linear machines, one against rest", "+11.53") in found
    assert len(found) == 5


def test_rows_or_classes(tmp_path):
    results = tmp_path / "results"
    strength = {"lr_k1": 1.0, "km_lr_k2": 1.1, "cac_lr_k2": 1.2, "cd_lr_k2": 1.6, "cdk_lr_k2": 0.8}
    paths = [
        write_run(results, "cic", *name.split("_k")[:1], int(name[-1]), strength=value)
        for name, value in strength.items()
    ]
    scores, f1, auroc = rows_or_classes_tables(load(paths, tmp_path), Bootstraps(50))
    assert [cell.text for cell in scores.rows[0][:4]] == ["cic", "LR", "2", "F1"]
    assert scores.head[4:] == ("plain", "KM", "CAC", "SKM", "CD", "CD-KM")
    assert scores.rows[0][7].text == "–"
    labels = [row[3].text for row in auroc.rows]
    assert labels == [
        "CD − plain",
        "CD-KM − plain",
        "CD − KM",
        "CD-KM − KM",
        "CD − CAC",
        "CD-KM − CAC",
    ]
    signs = [row[6].text[0] for row in auroc.rows]
    assert signs == ["+", "-", "+", "-", "+", "-"]
    assert f1.id == "rows_or_classes_f1"
    assert rows_or_classes_tables(load(paths[:3], tmp_path), Bootstraps(50)) == []


def test_figures():
    boundaries, mapping, alone = decomposition_figures([])
    assert alone.id == "merging_case"
    right = [
        sum(row[column] == row[2] for row in boundaries.data) / len(boundaries.data)
        for column in (3, 4, 5)
    ]
    assert right[0] < 0.7 < 0.9 < right[2] < right[1] == 1.0
    assert {row[2:] for row in mapping.data} == {(0, 1), (0, 2), (1, 1)}
    split = sum((row[0] < 0) == (row[3] == mapping.data[0][3]) for row in mapping.data[:70])
    assert split >= 66  # EM finds the two clusters as they were generated, but for few rows
    accuracy = [
        sum(row[column] == row[2] for row in alone.data) / len(alone.data) for column in (4, 5, 6)
    ]
    assert accuracy == [0.75, 108 / 128, 1.0]
    *_, gains = decomposition_figures([decomposed(name) for name in SETS[:3]])
    assert gains.data[0][:3] == ("uci_anneal", "naive Bayes", 9.98)
    assert len(gains.data) == 6


@pytest.mark.usefixtures("undrawn")
def test_the_page(tmp_path):
    results = tmp_path / "results"
    kinds = ("sound", "as_published")  # a printed cell is decided by its own protocol alone
    paths = [write_decomposed(results, name, kind) for name in SETS for kind in kinds]
    paths.append(write_decomposed(results, "demo_cic", synthetic=True))
    out = results / "report"
    build(paths, REGISTRY, out)
    claims = {row["id"]: row["verdict"] for row in rows(out / "claims.csv")}
    assert claims["CDEC-01"] == "holds"
    assert claims["CDEC-16"] == "fails"
    ledger = [row for row in rows(out / "ledger.csv") if row["paper"] == "classdecomp"]
    assert len(ledger) == 80
    assert {row["verdict"] for row in ledger} == {"agree", "differ"}
    assert len(rows(out / "tables" / "decomposition_gains.csv")) == 40
    assert len(rows(out / "tables" / "synthetic_decomposition.csv")) == 2
    page = (out / "pages" / "decomposition.html").read_text(encoding="utf-8")
    assert 'id="figure-decomposition_gains"' in page
