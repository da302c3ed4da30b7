"""What the page on the data tells, and plausible ranges."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from catalogued import extracted, made
from hypothesis import given
from hypothesis import strategies as st
from mirrors import MIRROR
from report_runs import write_run

from deepcac.errors import ConfigError
from deepcac.files.storage import write_json
from deepcac.pages.sections import tables_of
from deepcac_study.catalogue.describe import with_sources
from deepcac_study.catalogue.registry import load_registry
from deepcac_study.features.columns.ranges import Range, count_outside, read_ranges, variable_of
from deepcac_study.records.reader import read
from deepcac_study.report.data.restricted_counts import few_rows, published_count
from deepcac_study.report.data.source_notes import (
    DataUse,
    data_table,
    data_use,
    source_notes,
    source_sections,
)

ROOT = Path(__file__).parents[3]
REGISTRY = ROOT / "config" / "registry"
NAN = np.nan


@pytest.mark.parametrize(
    ("column", "variable"),
    [
        ("HR_median", "HR"),
        ("HR_lowest_6h", "HR"),
        ("HR@05", "HR"),
        ("sex=male", "sex"),
        ("state=a_max", "state"),
        ("d1_heartrate_max", "d1_heartrate"),
        ("Bilirubin_direct_last", "Bilirubin_direct"),
        ("SOFA_MAP", "SOFA_MAP"),
        ("MAP_time_12", "MAP_time_12"),
        ("first", "first"),
        ("_last", "_last"),
    ],
)
def test_columns_belong_to_variables(column, variable):
    assert variable_of(column) == variable


def test_every_table_of_ranges_in_the_registry_is_readable():
    tables = {d.ranges for d in load_registry(REGISTRY).datasets.values() if d.ranges}
    assert len(tables) >= 5
    for table in tables:
        ranges = read_ranges(table)
        assert ranges
        for entry in ranges.values():
            assert entry.low is None or entry.high is None or entry.low < entry.high
    hr = read_ranges("features/johnson_variables.csv")["HR"]
    assert (hr.unit, hr.low, hr.high, hr.meaning) == ("1/min", 0, 350, "Heart rate")
    assert read_ranges("sources/mimic3/items.csv")["HR"].unit == "bpm"
    assert not read_ranges("catalogue/columns/uci_adult.csv")["workclass"].bounded
    with pytest.raises(ConfigError, match=r"'features/none\.csv'"):
        read_ranges("features/none.csv")


@given(
    st.lists(st.floats(-5, 5) | st.just(NAN)),
    st.none() | st.floats(-3, 0),
    st.none() | st.floats(0, 3),
)
def test_values_outside_against_a_loop(values, low, high):
    expected = sum((low is not None and v < low) or (high is not None and v > high) for v in values)
    ranges = {"x": Range("x", "", low, high)}
    rows = count_outside([("x", np.array(values, dtype=float))], ranges)
    assert sum(row["outside"] for row in rows) == expected


def test_small_counts_are_withheld():
    assert [published_count(count) for count in (0, 1, 9, 10)] == [0, None, None, 10]
    assert [published_count(count, 30) for count in (0, 20, 21, 29, 30)] == [0, 20, None, None, 30]
    assert few_rows([[500], [3]]).tolist() == [True, True]
    assert few_rows([[500], [30], [3]]).tolist() == [False, True, True]
    assert few_rows([[500], [0], [3]]).tolist() == [True, False, True]
    assert few_rows([[500], [30]]).tolist() == [False, False]


def test_the_data_page_shows_every_data_set(tmp_path):
    flow = [{"step": "stays", "rows": n} for n in (300, 95, 90, 40)]
    for name in ("ards", "demo_cic"):
        write_json(tmp_path / "cohorts" / f"{name}.json", {"flow": flow})
    uses = {"ards": DataUse(["1 run"], "40", "1 columns", "92.5 % : 7.5 %")}
    sources = source_notes(REGISTRY, tmp_path / "cohorts", uses)
    notes = {note.id: note for item in sources for note in item.sets}
    assert notes.keys() == load_registry(REGISTRY).datasets.keys() | {"demo_cic"}
    assert [step.rows for step in notes["demo_cic"].cohort] == ["300", "95", "90", "40"]
    ards = notes["ards"]
    assert (ards.use.rows, ards.use.shares) == ("40", "withheld")
    # 95 and 90 tell that five were left out: the earlier count goes.
    assert [step.rows for step in ards.cohort] == ["300", "withheld", "90", "40"]
    table = data_table(sources)
    shown = {row[0].text: row[1].text for row in table.rows}
    assert (shown["ards"], shown["wid_mortality"], shown["adult"]) == ("40", "restricted", "")
    assert next(row for row in table.rows if row[0].text == "demo_cic")[6].text == "none: generated"
    (section,) = source_sections(sources)
    assert len(tables_of([section])) == len([item for item in sources if item.source.files])


def test_data_have_the_size_and_use_that_records_give(tmp_path):
    run = write_run(tmp_path / "results", "cic", "lr", 1)
    judged = [{"dataset": "uci_vote", "n_rows": 435, "n_features": 16}]
    uses = data_use(read([run], tmp_path), ["cic"], judged)
    table = data_table(source_notes(REGISTRY, uses=uses))
    shown = {row[0].text: [cell.text for cell in row[1:6]] for row in table.rows}
    assert shown["cic"][:3] == ["1,000", "1 run, our study", "12 columns"]
    assert shown["cic"][4] == "12.5 %"
    assert shown["uci_vote"][:3] == ["435", "our study", "16 columns"]
    assert shown["adult"][:2] == ["", "not in this report"]


def test_the_page_on_the_data_is_up_to_date():
    committed = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    assert committed == with_sources(committed, REGISTRY), (
        "run: python -m deepcac_study.catalogue.describe"
    )


# Real data: what the sound features hold lies inside the plausible ranges


def outside_by_variable(features, table):
    ranges, checked, counts = read_ranges(table), 0, {}
    for name, values in zip(features.names, features.X.T, strict=True):
        variable = variable_of(name)
        if variable in ranges and ranges[variable].bounded and "=" not in name:
            checked += 1
            for row in count_outside([(variable, values)], ranges):
                counts[variable] = counts.get(variable, 0) + row["outside"]
    return checked, counts


@pytest.mark.real
def test_flat_tables_lie_in_their_ranges(tmp_path):
    from deepcac.files.storage import read_table
    from deepcac_study.features import flat as features
    from deepcac_study.sources import flat_tables as flat

    for extract, encode, raw, checked in (
        (
            partial(extracted, "uci_credit"),
            partial(made, "credit"),
            ["uci_credit/UCI_Credit_Card.csv"],
            23,
        ),
        (partial(extracted, "uci_magic"), partial(made, "magic"), ["uci_magic/magic04.data"], 10),
        (partial(extracted, "titanic"), partial(made, "titanic"), ["titanic/titanic3.csv"], 5),
        (flat.extract_adult, features.adult, ["uci_adult/adult.data", "uci_adult/adult.test"], 6),
    ):
        extract(*(MIRROR / name for name in raw), tmp_path / "tidy", tmp_path / "cohort")
        found = encode(read_table(tmp_path / "tidy"))
        table = f"catalogue/columns/{raw[0].partition('/')[0]}.csv"
        assert outside_by_variable(found, table) == (checked, {})


@pytest.mark.real
def test_diabetes_lies_in_its_ranges(tmp_path):
    from deepcac.files.storage import read_table
    from deepcac_study.features.diabetes import all_columns, cohort, nine_columns
    from deepcac_study.sources.uci_diabetes import extract

    extract(MIRROR / "uci_diabetes" / "dataset_diabetes.zip", tmp_path / "tidy")
    rows, _ = cohort(read_table(tmp_path / "tidy").to_pandas())
    table = "features/diabetes_ranges.csv"
    assert outside_by_variable(nine_columns(rows), table) == (1, {})
    assert outside_by_variable(all_columns(rows), table) == (9, {})


@pytest.mark.real
def test_ards_of_the_open_demo_lies_in_its_ranges(tmp_path):
    from deepcac_study.features.ards import ards, ards_ts
    from deepcac_study.sources.mimic3 import extract

    (archive,) = (MIRROR / "mimic3_demo").glob("*.tar.xz")
    extract(archive, tmp_path)
    table = "sources/mimic3/items.csv"
    assert outside_by_variable(ards(tmp_path)[0], table) == (485, {})
    assert outside_by_variable(ards_ts(tmp_path)[0], table) == (2328, {})


@pytest.mark.real
@pytest.mark.slow
def test_sepsis_lies_in_its_ranges(tmp_path):
    from deepcac_study.features.sepsis import sepsis, sepsis_ts
    from deepcac_study.features.sepsis_signature import sepsis_signature
    from deepcac_study.sources.physionet2019 import extract

    tidy = tmp_path / "hourly.parquet"
    folder = MIRROR / "physionet2019"
    extract({part: folder / f"training_set{part}.tar.xz" for part in "AB"}, tidy)
    table = "features/physionet2019_ranges.csv"
    assert outside_by_variable(sepsis(tidy)[0], table) == (172, {})
    assert outside_by_variable(sepsis_ts(tidy)[0], table) == (960, {})
    assert outside_by_variable(sepsis_signature(tidy, "numba")[0], table) == (53, {})


@pytest.mark.real
@pytest.mark.slow
def test_cic_leaves_its_ranges_only_where_no_cleaning_rule_acts(tmp_path):
    from deepcac.files.storage import read_table
    from deepcac_study.features.cic import cic_features
    from deepcac_study.sources.physionet2012 import extract

    folder = MIRROR / "physionet2012"
    events, outcomes = tmp_path / "events.parquet", tmp_path / "outcomes.parquet"
    extract(
        {part: folder / f"set-{part}.tar.xz" for part in "abc"},
        {part: folder / f"Outcomes-{part}.txt" for part in "abc"},
        events_path=events,
        outcomes_path=outcomes,
    )
    features, _ = cic_features("death", read_table(events), read_table(outcomes))
    checked, counts = outside_by_variable(features, "features/johnson_variables.csv")
    assert checked == 107
    # The features of Johnson et al. are cleaned by their rules, not clipped to these ranges.
    assert counts == {
        **{"Weight": 21, "Glucose": 43, "MAP": 254, "NIMAP": 3, "ALP": 26, "ALT": 8, "AST": 10},
        **{"Bilirubin": 4, "Cholesterol": 2, "K": 1, "Lactate": 6, "Mg": 2, "PaO2": 38},
        **{"Platelets": 1, "TroponinT": 24},
    }
