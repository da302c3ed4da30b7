"""Clinical tables as their files are written: commas, ARFF, R data, missing values, bad input."""

import pandas as pd
import pytest

from deepcac.errors import DataError
from deepcac.files.storage import read_table
from deepcac_study.catalogue.variables import levels_of
from deepcac_study.raw.arff import read_arff
from deepcac_study.sources.clinical_tables import (
    extract,
    extract_arff,
    extract_breast_cancers,
    extract_nhanes1,
    extract_rda,
)

# As scikit-survival ships it: tabs, keywords in capitals, a comment, the outcome last.
WHAS = """\
% Taken from http://www.umass.edu/statdata/statdata/data/
@RELATION DataTable
@ATTRIBUTE age	numeric
@ATTRIBUTE gender	{0,1}
@ATTRIBUTE hr	numeric
@ATTRIBUTE sysbp	numeric
@ATTRIBUTE diasbp	numeric
@ATTRIBUTE bmi	numeric
@ATTRIBUTE cvd	{0,1}
@ATTRIBUTE afb	{0,1}
@ATTRIBUTE sho	{0,1}
@ATTRIBUTE chf	{0,1}
@ATTRIBUTE av3	{0,1}
@ATTRIBUTE miord	{0,1}
@ATTRIBUTE mitype	{0,1}
@ATTRIBUTE los	numeric
@ATTRIBUTE lenfol	numeric
@ATTRIBUTE fstat	{0,1}

@DATA
83.0,0,89.0,152.0,78.0,25.54051,1,1,0,0,0,1,0,5,2178,0
49.0,1,84.0,120.0,60.0,?,1,0,0,0,0,0,1,5,12,1
"""
FLCHAIN = """\
@relation flchain
@attribute age numeric
@attribute sex {F,M}
@attribute sample.yr {1995,1996,1997,1998,1999,2000,2001,2002,2003}
@attribute kappa numeric
@attribute lambda numeric
@attribute flc.grp {1,2,3,4,5,6,7,8,9,10}
@attribute creatinine numeric
@attribute mgus {no,yes}
@attribute futime numeric
@attribute death {alive,dead}
@attribute chapter {Blood,Circulatory,External Causes,Ill Defined}
@data
97,F,1997,5.7,4.86,10,1.7,no,85,dead,External Causes
60,M,2000,0.87,0.683,1,?,no,4281,alive,?
"""
MGUS = """\
rownames,id,age,sex,dxyr,hgb,creat,mspike,ptime,pstat,futime,death
1,1,88,F,1981,13.1,1.3,0.5,30,0,30,1
2,2,78,M,1968,,1.2,2,25,0,25,1
"""
ROTTERDAM = """\
rownames,pid,year,age,meno,size,grade,nodes,pgr,er,hormon,chemo,rtime,recur,dtime,death
1393,1,1992,74,1,<=20,3,0,35,291,0,0,1799,0,1799,0
1416,2,1984,79,1,20-50,3,0,36,611,0,0,2828,0,2828,0
"""
GBSG = """\
rownames,pid,age,meno,size,grade,nodes,pgr,er,hormon,rfstime,status
1,132,49,0,18,2,2,0,0,0,1838,0
"""
INDO = "rownames,id,site,age,risk,gender,outcome,sod,pep,recpanc,psphinc,precut,difcan,pneudil,amp,"
INDO += "paninj,acinar,brush,asa81,asa325,asa,prophystent,therastent,pdstent,sodsom,bsphinc,bstent,"
INDO += "chole,pbmal,train,status,type,rx,bleed\n"
INDO += "1,1001,1_UM,26,2,1_female,1_yes,1_yes" + ",0_no" * 10 + ",NA_NA" + ",0_no" * 10
INDO += ",1_yes,1_outpatient,1_type 1,1_indomethacin,\n"


def put(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_an_arff_file_keeps_names_levels_and_gaps(tmp_path):
    tidy = tmp_path / "t.parquet"
    extract_arff(put(tmp_path, "whas500.arff", WHAS), tidy, columns="whas500")
    table = read_table(tidy)
    assert table.column_names[:3] == ["row_id", "age", "gender"]
    assert table["row_id"].to_pylist() == [1, 2]
    assert table["bmi"].to_pylist() == [25.54051, None]
    assert table["fstat"].to_pylist() == ["0", "1"]
    assert levels_of(table.schema.field("chf")) == ("0", "1")  # though no row has the second


def test_a_level_may_hold_a_space_and_the_last_attribute_may_be_missing(tmp_path):
    tidy = tmp_path / "t.parquet"
    extract_arff(put(tmp_path, "flchain.arff", FLCHAIN), tidy, columns="flchain")
    table = read_table(tidy)
    assert table["chapter"].to_pylist() == ["External Causes", None]
    assert table["creatinine"].to_pylist() == [1.7, None]
    assert table["death"].to_pylist() == ["dead", "alive"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            WHAS.replace("@ATTRIBUTE los	numeric\n", "").replace(",5,", ","),
            "attributes .* not those",
        ),
        (WHAS.replace("gender	{0,1}", "gender	numeric"), "'gender' is not the category"),
        (
            WHAS.replace("gender	{0,1}", "gender	{0,1,2}").replace("49.0,1", "49.0,2"),
            "'gender'",
        ),
        (WHAS[: WHAS.index("83.0")], "needs rows"),
        ("<html>", "not a readable ARFF file|needs rows"),
    ],
)
def test_another_arff_file_is_one_line(tmp_path, text, message):
    with pytest.raises(DataError, match=message) as caught:
        extract_arff(put(tmp_path, "w.arff", text), tmp_path / "t", columns="whas500")
    assert "\n" not in str(caught.value)


def test_arff_numbers_and_categories_are_told_apart(tmp_path):
    table = read_arff(put(tmp_path, "w.arff", WHAS))
    assert levels_of(table.schema.field("age")) is None
    assert levels_of(table.schema.field("fstat")) == ("0", "1")


def test_a_csv_table_has_its_listed_columns_and_row_numbers(tmp_path):
    tidy = tmp_path / "t.parquet"
    extract(put(tmp_path, "mgus2.csv", MGUS), tidy, columns="mgus2")
    table = read_table(tidy)
    assert "rownames" not in table.column_names
    assert table["hgb"].to_pylist() == [13.1, None]
    assert table["sex"].to_pylist() == ["F", "M"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MGUS.replace(",88,", ",880,"), "data row 1, age: '880' is outside"),
        (MGUS.replace(",F,", ",X,"), "data row 1, sex: 'X' "),
        (MGUS.replace("2,2,78", "2,1,78"), "data row 2, id: '1' occurs twice"),
        (MGUS.replace("death", "dead"), "'death' is missing"),
        (MGUS.replace(",25,1", ",25,"), "data row 2, death: value is missing"),
    ],
)
def test_a_wrong_value_names_its_row_and_column(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        extract(put(tmp_path, "mgus2.csv", text), tmp_path / "t", columns="mgus2")


def test_two_ways_to_write_a_gap(tmp_path):
    tidy = tmp_path / "t.parquet"
    raw = put(tmp_path, "indo_rct.csv", INDO)
    extract(raw, tidy, columns="indo_rct", missing=("", "NA_NA"))
    table = read_table(tidy)
    assert table["asa81"].to_pylist() == [None]
    assert table["bleed"].to_pylist() == [None]
    assert table["outcome"].to_pylist() == ["1_yes"]


def test_both_breast_cancer_cohorts_are_read(tmp_path):
    first, second = tmp_path / "r.parquet", tmp_path / "g.parquet"
    extract_breast_cancers(
        put(tmp_path, "r.csv", ROTTERDAM), put(tmp_path, "g.csv", GBSG), first, second
    )
    assert read_table(first)["size"].to_pylist() == ["<=20", "20-50"]
    assert read_table(second)["size"].to_pylist() == [18]


def bleeding(**changes):
    columns = {
        "time": [1.0, 4.0, 4.0],
        "status": ["1", "0", "0"],
        "statusSE": [1.0, 0.0, None],
        "sex": ["male", "female", "male"],
        "age": [30, 40, 50],
        "injurytime": [1.0, 2.5, 8.0],
        "injurytype": ["blunt", "penetrating", "blunt and penetrating"],
        "sbp": [80, 0, 120],
        "hr": [120, 90, 80],
        "rr": [30, 20, 18],
        "cc": [4, 2, 0],
        "gcs": [3, 15, 14],
    }
    frame = pd.DataFrame(columns | changes)
    texts = [name for name, kind in frame.dtypes.items() if not pd.api.types.is_numeric_dtype(kind)]
    return frame.astype(dict.fromkeys(texts, "category"))  # factors, as R has them


def put_rda(folder, frame):
    path = folder / "crash2.rda"
    pytest.importorskip("rdata").write_rda(path, {"crash2": frame})
    return path


def test_an_r_table_is_checked_as_a_text_file_and_its_codes_are_missing(tmp_path):
    tidy = tmp_path / "t.parquet"
    extract_rda(put_rda(tmp_path, bleeding()), tidy, columns="crash2", codes={"sbp": [0]})
    table = read_table(tidy)
    assert table["sbp"].to_pylist() == [80, None, 120]
    assert table["cc"].to_pylist() == [4, 2, 0]  # 0 is a code in one column only
    assert table["status"].to_pylist() == ["1", "0", "0"]
    assert table["statusSE"].to_pylist() == [1, 0, None]
    assert table["row_id"].to_pylist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "sbp: '0' is outside"),
        ({"sbp": [80, 90, 100], "gcs": [2, 3, 4]}, "gcs: '2' is outside"),
    ],
)
def test_an_r_table_with_an_unbelievable_value_is_one_line(tmp_path, changes, message):
    with pytest.raises(DataError, match=message):
        extract_rda(put_rda(tmp_path, bleeding(**changes)), tmp_path / "t", columns="crash2")


def test_another_file_than_one_of_r_is_one_line(tmp_path):
    pytest.importorskip("rdata")
    for raw in (tmp_path / "none.rda", put(tmp_path, "crash2.rda", "<html>")):
        with pytest.raises(DataError, match="cannot be read|not an R data file") as caught:
            extract_rda(raw, tmp_path / "t", columns="crash2")
        assert "\n" not in str(caught.value)


NHANES = """\
,Age,Diastolic BP,Poverty index,Race,Red blood cells,Sedimentation rate,Serum Albumin,Serum Cholesterol,Serum Iron,Serum Magnesium,Serum Protein,Sex,Systolic BP,TIBC,TS,White blood cells,BMI,Pulse pressure
0,35.0,92.0,126.0,2.0,77.7,12.0,5.0,165.0,135.0,1.37,7.6,2.0,142.0,323.0,41.8,5.8,31.1,50.0
1,71.0,,210.0,1.0,88.80000000000001,37.0,4.0,298.0,89.0,1.38,6.4,2.0,156.0,331.0,26.9,,32.4,78.0
2,50.0,80.0,999.0,1.0,45.2,,4.0,298.0,89.0,1.38,6.4,1.0,156.0,331.0,26.9,5.3,32.4,78.0
"""


def test_years_above_0_end_in_death_and_codes_are_missing(tmp_path):
    predictors, tidy = put(tmp_path, "X.csv", NHANES), tmp_path / "t.parquet"
    years = put(tmp_path, "y.csv", ",y\n0,15.25\n1,-11.5\n2,0.0\n")
    extract_nhanes1(predictors, years, tidy, codes={"Red blood cells": [77.7, 88.8]})
    table = read_table(tidy)
    assert table["died"].to_pylist() == [1, 0, 0]
    assert table["years"].to_pylist() == [15.25, 11.5, 0]
    assert table["Red blood cells"].to_pylist() == [None, None, 45.2]
    with pytest.raises(DataError, match="the years"):
        extract_nhanes1(predictors, put(tmp_path, "y.csv", ",y\n0,1.0\n"), tidy, codes={})
