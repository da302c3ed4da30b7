import re
from importlib import resources
from pathlib import Path

import pytest
import yaml

from deepcac.pages.tables import Table, text_row
from deepcac_study.report.declarations import declared_table

FOLDER = resources.files("deepcac_study.report")
DECLARED = yaml.safe_load((FOLDER / "declarations.yaml").read_text(encoding="utf-8"))


def test_every_declaration_is_used():
    code = "".join(one.read_text(encoding="utf-8") for one in Path(str(FOLDER)).rglob("*.py"))
    names = set(re.findall(r'"(\w+)"', code))
    assert names >= {name for kind in DECLARED.values() for name in kind}


def test_texts_and_columns_are_filled():
    table = declared_table("case_table7", [text_row("age", 1, 2)], prefix="x", cells="Cells.",
                           clusters=["C1", "C2"])  # fmt: skip
    assert (table.id, table.head) == ("x_table7", ("feature", "C1", "C2"))
    assert table.note.startswith("Cells. ")
    with pytest.raises(KeyError, match="prefix"):
        declared_table("case_table7", [], cells="", clusters=[])


def test_a_table_of_records_by_field_function_and_format():
    columns = {"a": "a", "twice": ("a", lambda value: 2 * value), "all": len}
    made = Table.of([{"a": 1, "b": None}], columns, n_labels=2)
    assert [[cell.text for cell in row] for row in made.rows] == [["1", "2", "2"]]
    assert made.n_labels == 2


def test_every_column_has_a_name():
    # A button that sorts by a column reads its name out.
    heads = {name: table.get("head", ()) for name, table in DECLARED["tables"].items()}
    assert [name for name, head in heads.items() if not all(map(str.strip, head))] == []
