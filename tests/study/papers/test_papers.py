import csv
from pathlib import Path

import pytest

from deepcac.errors import ConfigError
from deepcac_study.catalogue.facts import facts
from deepcac_study.papers import bibliography
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.claims import claims
from deepcac_study.papers.ledger import entries
from deepcac_study.papers.names import LOGS, names, restricted, usual_k
from deepcac_study.papers.printed import printed_cells
from deepcac_study.papers.rules import compared_scores
from deepcac_study.papers.rules.rule import function, rules
from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Runs

FOLDERS = Path(bibliography.__file__).parent
ROOT = Path(__file__).parents[3]
IN_EVERY_FOLDER = {"claims", "figures", "hyperparameters", "names", "tables"}
READ_ELSEWHERE = {
    "deepcac_section14_student": "decides claim DCAC-41",
    "machine_losses": "decides with our own losses the claims of supervised k-means",
    "authors_raw_results": "the authors' logs, added to the ledger after the printed tables",
}


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_folder_is_a_paper():
    folders = {path.parent.name for path in FOLDERS.glob("*/claims.csv")}
    assert {paper.folder for paper in PAPERS.values()} == folders
    assert len(folders) == 5


def test_each_claim_belongs_to_one_paper():
    ids = [row["id"] for paper in PAPERS.values() for row in facts("claims", paper.folder)]
    assert len(ids) == len(set(ids)) == 156
    assert [claim.id for claim in claims(Findings(Runs(())), [])] == ids


@pytest.mark.parametrize("name", sorted(IN_EVERY_FOLDER - {"tables"}))
def test_files_of_a_paper_are_about_that_paper(name):
    for paper in PAPERS.values():
        keys = {row["paper"] for row in rows(FOLDERS / paper.folder / f"{name}.csv")}
        assert keys - {LOGS} == {paper.key}


def test_each_claim_is_quoted_where_a_sentence_of_the_paper_says_it():
    for row in facts("claims"):
        in_a_table = row["section"].startswith("Table") or "Table 4" in row["section"]
        assert bool(row["quote"]) or in_a_table, row["id"]
        assert row["quote"] != row["claim"], row["id"]
        assert len(row["quote"]) < 260, row["id"]


def test_every_rule_decides_a_claim():
    assert set(rules()) == {row["id"] for row in facts("claims")}
    assert all(rules().values())
    assert {row["id"] for row in facts("rules")} <= set(rules())
    for rule in (rule for group in rules().values() for rule in group):
        assert (
            rule.check in compared_scores.CHECKS
            or rule.check == "finishes"
            or callable(function(rule.check))
        )


def test_rows_of_rules_decide_claims_of_their_own_paper():
    for path in FOLDERS.glob("*/rules.csv"):
        ids = {row["id"] for row in facts("claims", path.parent.name)}
        assert {row["id"] for row in rows(path)} <= ids


def test_every_printed_table_is_read_by_the_ledger_or_says_why_not():
    files = {path.stem for path in FOLDERS.glob("*/*.csv")} - IN_EVERY_FOLDER - {"rules"}
    listed = {table.source for paper in PAPERS.values() for table in paper.tables}
    assert files == listed | set(READ_ELSEWHERE)
    assert {cell.source for cell in printed_cells()} == listed | {"authors_raw_results"}


def test_a_table_has_the_number_that_its_file_says():
    for paper in PAPERS.values():
        for table in paper.tables:
            printed = {row["table"] for row in rows(FOLDERS / paper.folder / f"{table.source}.csv")}
            assert table.number in printed
            assert all(n == table.number or n.startswith("text") for n in printed)


def test_every_printed_name_is_known_once():
    printed = [(r["kind"], r["paper"], r["printed"]) for r in facts("names")]
    assert len(printed) == len(names())


def test_k_where_a_table_gives_none():
    assert usual_k("cac_v1", "credit", "cac_lr") == 3
    assert usual_k("cac_v1", "credit", "lr") == 1
    assert usual_k("cac_v2", "credit", "cac_lr") == 2
    assert usual_k("cac_v1", "adult", "km_svm") == 2
    assert usual_k("cac_v2", "adult", "rf") == 1  # not in its tables


def test_restricted_data_come_from_the_names():
    assert set(restricted()) == {"ards", "ards_ts", "wid_mortality"}


def test_unknown_facts_are_an_error():
    with pytest.raises(ConfigError, match="no facts 'cac_v3'"):
        facts("cac_v3")


def test_the_page_of_works_has_the_five_papers():
    page = (ROOT / "docs" / "works.md").read_text(encoding="utf-8")
    for paper in PAPERS.values():
        assert f"| {paper.label} | {paper.reference} |" in page


def test_short_citations():
    assert PAPERS["skmeans"].citation == "Supervised k-means (Finley and Joachims 2008)"
    assert PAPERS["classdecomp"].reference.short == "Vilalta et al. 2003"


def test_without_runs_the_ledger_is_not_run_or_says_what_it_needs():
    verdicts = {entry.verdict for entry in entries(Findings(Runs(())))}
    assert verdicts == {"not run", "not printed", "setting", "data not rebuildable"}
