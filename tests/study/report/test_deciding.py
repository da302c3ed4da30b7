"""What decided a claim is linked from its row; what a switch did is said in a sentence."""

import pandas as pd
import pytest

from deepcac.pages.tables import Table, text_row
from deepcac.pages.templating import view
from deepcac_study.catalogue.protocol import switches
from deepcac_study.papers.claims import Claim
from deepcac_study.report.papers.ledger_tables import Place, claims_table, deciding
from deepcac_study.report.site.contents import Contents
from deepcac_study.report.site.paperpages import report_places, switch_sentences, touching

KNOWN = {
    "table:cac_v1_table1": Place("Table 1", "pages/paper_cac_v1.html#table-cac_v1_table1"),
    "table:cac_v1_table4": Place("Table 4", "pages/paper_cac_v1.html#table-cac_v1_table4"),
    "figure:separation": Place("Figure: S", "pages/figures.html#figure-separation"),
    "table:theory": Place("Theorems", "pages/theory.html#table-theory"),
}


def claim(check, verdict="holds", id_="X-1", section=""):
    return Claim(id_, "cac_v1", section, "c", "", "", verdict, "r", "not run", "", "", "", check)


@pytest.mark.parametrize(
    ("one", "texts"),
    [
        (claim("Tables 1, 4, 5; run CAC with alpha = 0"), ["Table 1", "Table 4"]),
        (claim("Table 1 (also 4, 5)", section="Fig 5"), ["Table 1", "Figure: S"]),
        (claim("train and test loss", id_="CAC1-03"), ["Theorems"]),
        (claim("Table 1", verdict="not run"), []),
        (claim("nothing is named"), []),
    ],
)
def test_a_claim_links_what_it_names_or_is_listed_with(one, texts):
    assert [place.text for place in deciding(one, KNOWN)] == texts


def test_the_links_stand_in_the_claims_row():
    table = claims_table([claim("Table 1")], places=KNOWN)
    place = list(table.head).index("decided by")
    assert table.rows[0][place].text == "Table 1"
    assert "links" in {cell.kind for cell in view(table).rows[0]}
    assert "links" not in {cell.kind for cell in view(claims_table([claim("Table 1")])).rows[0]}


def differences(*runs):
    """Return comparisons of the sound run with that of switch L1, by data set and both scores."""
    table = pd.DataFrame(runs, columns=["dataset", "first_mean", "second_mean"])
    mean = table["first_mean"] - table["second_mean"]
    names = {"protocol": "L1", "method": "cac_lr", "k": 2, "metric": "auroc"}
    return table.assign(**names, mean=mean, low=mean - 0.01, high=mean + 0.01)


def test_a_switch_is_told_with_its_largest_change():
    effects = differences(("cic", 0.860, 0.820), ("cic_los", 0.7, 0.71))
    (said,) = switch_sentences(switches().values(), effects)
    assert said.startswith("L1. The program: Length_of_stay")
    assert "the AUROC of CAC+LR on cic, k = 2 falls from 0.860 to 0.820 (−0.040" in said
    assert "95 % interval −0.050 to −0.030" in said
    assert "largest change of 2 runs, from −0.040 to +0.010" in said
    (same,) = switch_sentences([switches()["L1"]], differences(("cic", 0.86, 0.8601)))
    assert "stays at 0.860" in same
    assert switch_sentences([switches()["A1"]], effects) == []


def test_without_an_interval_none_is_told():
    one = differences(("cic", 0.8, 0.9)).assign(low=float("nan"), high=float("nan"))
    (said,) = switch_sentences([switches()["L1"]], one)
    assert "rises from 0.800 to 0.900 (+0.100)." in said


def test_a_paper_has_its_own_switches_and_those_of_all():
    labels = {one.label for one in touching("cac_v1")}
    assert {"A1", "C9"} <= labels
    assert "D5" not in labels
    assert touching("skmeans") == []


def test_what_stands_on_the_judges_page_is_linked_there():
    table = Table("one", "One", "", ["a"], [text_row("b")])
    shown = Contents(None, (), (), (), (), (), tables={"judge": [table]})
    assert report_places(shown) == {"table:one": Place("One", "pages/judge.html#table-one")}
