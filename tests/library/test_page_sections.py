"""Blocks of a page: where they can be linked to, and what stands above their columns."""

from deepcac.pages.sections import Section
from deepcac.pages.tables import Table
from deepcac.pages.templating import environment, view
from deepcac.scoring.small_cells import WITHHELD


def rendered(*blocks):
    macros = environment("deepcac.table").get_template("macros.html").module
    return str(macros.show(Section("whole", "Whole", blocks), 2))


def test_a_section_in_a_section_can_be_linked_to_by_any_name():
    page = rendered(
        Section("inner", "Inner", ["text"]),
        Section('a"b<c', "<b>Named</b>", ["text"], folded=True),
    )
    assert '<h3 id="inner">Inner</h3>' in page
    assert '<details id="a&#34;b&lt;c"><summary>&lt;b&gt;Named&lt;/b&gt;</summary>' in page


def test_a_withheld_number_leaves_its_column_one_of_numbers():
    rows = [("a", "12 %", "yes"), ("b", WITHHELD, WITHHELD)]
    assert view(Table.of_texts("t", "T", ("x", "share", "word"), rows)).numeric[1:] == (True, False)


def test_heads_that_a_user_named_stay_as_they_are():
    head, rows = ("maj", "f1", "dataset"), [("1", "2", "3")]
    assert view(Table.of_texts("t", "T", head, rows)).head == head
    assert view(Table.of([{"f1": 1}], {"f1": "f1"})).head != ("f1",)
