import csv
from pathlib import Path

from decomposition_records import SETS, decomposed, write_decomposed

from deepcac.report.decomposition_gains import decomposition_figures, gains_tables
from deepcac.report.page import build

REGISTRY = Path(__file__).parents[2] / "config" / "registry"


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
        "+6.02", "+6.00", "0.007 *", "+4.00", "0.000 *", "+2.00", "3.50", "0 of 6", "0.83", "0.083",
    ]  # fmt: skip
    assert found["uci_colic", "linear machines"][:3] == ["-0.22", "–", "–"]
    assert gains_tables([]) == []


def test_figures():
    (alone,) = decomposition_figures([])
    assert alone.id == "merging_case"
    accuracy = [
        sum(row[column] == row[2] for row in alone.data) / len(alone.data) for column in (4, 5, 6)
    ]
    assert accuracy == [0.75, 108 / 128, 1.0]
    _, gains = decomposition_figures([decomposed(name) for name in SETS[:3]])
    assert gains.data[0][:3] == ("uci_anneal", "naive Bayes", 9.98)
    assert len(gains.data) == 6


def test_the_page(tmp_path):
    results = tmp_path / "results"
    paths = [write_decomposed(results, name) for name in SETS]
    paths.append(write_decomposed(results, "demo_cic", synthetic=True))
    out = results / "report"
    build([], REGISTRY, out, decomposition_paths=paths)
    claims = {row["id"]: row["verdict"] for row in rows(out / "claims.csv")}
    assert claims["CDEC-01"] == "holds"
    assert claims["CDEC-16"] == "fails"
    ledger = [row for row in rows(out / "ledger.csv") if row["paper"] == "classdecomp"]
    assert len(ledger) == 80
    assert {row["verdict"] for row in ledger} == {"agree", "differ"}
    assert len(rows(out / "tables" / "decomposition_gains.csv")) == 40
    assert len(rows(out / "tables" / "synthetic_decomposition.csv")) == 2
    page = (out / "index.html").read_text(encoding="utf-8")
    assert page.index('id="figure-decomposition_gains"') < page.index('id="theory"')
