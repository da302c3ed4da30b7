"""Descriptions as other programs read them: YAML of a Data Package resource."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from jsonschema import Draft7Validator

from deepcac.table.columns.described_rows import as_yaml
from deepcac.table.columns.description import Outcome, Use
from deepcac.table.inference.described_table import describe_table

SUPPORT = Path(__file__).parents[2] / "support"
STANDARD = Draft7Validator(yaml.safe_load((SUPPORT / "data_package.yaml").read_text("utf-8")))
N = 120


def patients(**columns):
    draw = np.random.default_rng(0)
    table = pd.DataFrame({"age": draw.integers(20, 90, N), "crp": draw.gamma(2, 6, N).round(1)})
    return table.assign(died=draw.permutation(np.arange(N) % 3 == 0).astype(int), **columns)


def of_all_kinds():
    """Return a table with cells of every kind that a description has a property for."""
    draw = np.random.default_rng(1)
    return patients(
        ward=draw.choice(["no", "yes", "2024-01-01", "1e3"], N),
        smoker=draw.choice(["true", "false"], N),
        admitted=[f"2024-03-{1 + i % 28:02}" for i in range(N)],
        creatinine=[f"{value:.2f} mg/dL".replace(".", ",") for value in draw.gamma(9, 0.1, N)],
        platelets=[f"{value:,}".replace(",", ".") for value in draw.integers(1_000, 2_000_000, N)],
        sodium=np.where(np.arange(N) % 9, draw.integers(120, 150, N).astype(str), "unknown"),
        children=np.where(np.arange(N) % 9, draw.integers(0, 4, N).astype(str), "3+"),
        hospital=draw.choice(["A", "B"], N),
        note=[f"text {i}" for i in range(N)],
    )


WRITERS = {
    "t.csv": lambda path: of_all_kinds().to_csv(path, index=False, sep=";"),
    "Of 2024, final.csv.gz": lambda path: patients().to_csv(path, index=False, sep="\t"),
    "t.xlsx": lambda path: of_all_kinds().to_excel(path, index=False, sheet_name="t"),
    "t.parquet": lambda path: patients(
        admitted=pd.date_range("2024-01-01", periods=N), smoker=np.arange(N) % 2 > 0
    ).to_parquet(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_description_is_a_resource_of_the_standard(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path)
    sheet = "t" if path.suffix == ".xlsx" else None
    description = describe_table(path, Use(outcome=Outcome(field="died")), sheet=sheet).description
    content = yaml.safe_load(as_yaml(description.resource))
    assert [error.message for error in STANDARD.iter_errors(content)] == []
    # What it says of the columns is there for others, and not with us alone.
    assert [field["name"] for field in content["schema"]["fields"]] == [*description.fields]


def test_what_the_page_shows_of_a_description_is_of_the_standard():
    text = (SUPPORT.parents[1] / "docs" / "your-table.md").read_text("utf-8")
    lines = [yaml.safe_load(line) for line in re.findall(r"`([a-z]+[A-Za-z]*: [^`]+)`", text)]
    dialect = next(line for line in lines if "dialect" in line)
    field = {"name": "a", "type": "number"}
    for line in lines:
        field |= line if line.keys() & {"missingValues", "decimalChar", "groupChar", "unit"} else {}
    assert {"missingValues", "decimalChar", "groupChar", "unit"} < field.keys()
    assert STANDARD.is_valid(RIGHT | dialect | {"schema": {"fields": [field]}})


RIGHT = {"name": "t", "path": "t.csv", "schema": {"fields": [{"name": "a", "type": "any"}]}}


@pytest.mark.parametrize(
    "wrong",
    [
        {"path": "../t.csv"},
        {"dialect": {"delimiter": 7}},
        {"dialect": {"headerRows": [0]}},
        {"schema": {"fields": []}},
        {"schema": {"fields": [{"name": "age", "type": "number", "categories": ["1"]}]}},
        {"schema": {"fields": [{"name": "ward", "type": "string", "categories": [False]}]}},
        {"schema": {"fields": [{"name": "age", "type": "number", "decimal_char": ","}]}},
    ],
)
def test_what_is_no_resource_is_found(wrong):
    assert STANDARD.is_valid(RIGHT)
    assert not STANDARD.is_valid(RIGHT | wrong)
