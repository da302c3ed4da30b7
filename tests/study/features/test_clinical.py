"""Clinical tables: cohorts, outcomes at a horizon and what is no feature, by hand."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from catalogued import REGISTRY
from hypothesis import given
from hypothesis import strategies as st

from deepcac.errors import DataError
from deepcac_study.catalogue.variables import read_variables
from deepcac_study.features.clinical import (
    at_horizon,
    rotterdam_to_gbsg,
    with_outcome,
    write_breast_cancers,
)

COHORTS = {name: entry for name, entry in REGISTRY.datasets.items() if entry.counts}
# What the outcome is made of, or is known after it: no name of a feature may be one of these.
_NAMES = """
    death hospdead slos d.time charges totcst totmcst avtisst sps aps surv2m surv6m prg2m prg6m dnr
    dnrday sfdm2 adlsc adlp adls sno patient ptid sadmdte dschdte dthdte lstctdte survial_d30
    death_d30 rhc surv2md1 HDLC LDLC DEATH ANGINA HOSPMI MI_FCHD ANYCHD STROKE CVD HYPERTEN TIME
    PERIOD TIMEAP TIMEMI TIMEMIFC TIMECHD TIMESTRK TIMECVD TIMEDTH TIMEHYP flc.grp chapter futime
    status case.id id pid rtime recur dtime time seqno edrel rel in.subcohort ptime pstat seqn yrdth
    modth dadth wt82 wt82_71 smkintensity82_71 qsmk pat_id outcome risk los lenfol fstat censor
    time_d censor_d cens RANDID rownames stroke etype
"""
LEAKS = set(_NAMES.split())
# Columns of the same name that are measured before the outcome in another table.
HARMLESS = {("rhc", "aps"), ("indo_rct", "status")}


def table(**columns):
    n = len(next(iter(columns.values())))
    return pa.table({"row_id": list(range(1, n + 1)), **columns})


def test_at_a_horizon_an_event_counts_up_to_it_and_life_only_beyond_it():
    #            event before, at the day, later; censored before, at the day, later
    people = table(
        time=[10, 100, 101, 50, 100, 101], died=[1, 1, 1, 0, 0, 0], age=[1, 2, 3, 4, 5, 6]
    )
    matrix, flow = at_horizon(people, events={"died": "time"}, horizon=100)
    assert matrix.row_id.tolist() == [1, 2, 3, 6]
    assert matrix.label.tolist() == [1, 1, 0, 0]
    assert matrix.names == ("age",)
    assert [step["rows"] for step in flow] == [6, 4]
    assert "without 2 censored by then" in flow[-1]["step"]


def test_of_two_events_the_first_counts_and_a_competing_one_ends_the_wait():
    people = table(
        recur=[1, 0, 0, 0],
        rtime=[50, 300, 300, 80],
        death=[0, 1, 0, 1],
        dtime=[300, 90, 300, 80],
        age=[1, 2, 3, 4],
    )
    matrix, _ = at_horizon(people, events={"recur": "rtime", "death": "dtime"}, horizon=100)
    assert matrix.label.tolist() == [1, 1, 0, 1]
    matrix, _ = at_horizon(
        people, events={"recur": "rtime"}, free_of={"death": "dtime"}, horizon=100
    )
    assert matrix.row_id.tolist() == [1, 2, 3, 4]
    assert matrix.label.tolist() == [1, 0, 0, 0]
    assert matrix.names == ("age",)


@given(
    st.lists(
        st.tuples(st.integers(0, 20), st.booleans(), st.integers(0, 9)), min_size=2, max_size=30
    ),
    st.integers(0, 20),
)
def test_known_is_who_had_the_event_or_was_seen_beyond(people, horizon):
    wanted = {
        place: int(event and time <= horizon)
        for place, (time, event, _) in enumerate(people, start=1)
        if time > horizon or event
    }
    columns = {
        "time": [time for time, _, _ in people],
        "event": [int(event) for _, event, _ in people],
        "age": [float(place) for place in range(len(people))],
    }
    if len(wanted) < 2:
        return
    matrix, flow = at_horizon(table(**columns), events={"event": "time"}, horizon=horizon)
    assert dict(zip(matrix.row_id.tolist(), matrix.label.tolist(), strict=True)) == wanted
    assert flow[-1]["rows"] == len(wanted)


def test_rows_are_chosen_step_by_step_and_a_group_is_no_feature():
    people = table(
        visit=[1, 2, 1, 1],
        ill=["no", "no", "yes", "no"],
        site=["a", "a", "b", "b"],
        out=["1_yes", "0_no", "1_yes", "0_no"],
        age=[1, 2, 3, 4],
    )
    matrix, flow = with_outcome(
        people,
        outcome="out",
        happened="1_yes",
        rows={"first visits": {"visit": 1}, "healthy": {"ill": "no"}},
        excluded={"the same in all rows": ["ill"]},
        group="site",
    )
    assert [(step["step"], step["rows"]) for step in flow] == [
        ("rows of the table", 4),
        ("first visits", 3),
        ("healthy", 2),
    ]
    assert matrix.label.tolist() == [1, 0]
    assert matrix.group.tolist() == ["a", "b"]
    assert matrix.names == ("age",)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"outcome": "gone"}, "no column 'gone'"),
        ({"outcome": "out", "excluded": {"an id": ["agee"]}}, "no column 'agee'"),
        ({"outcome": "out", "rows": {"adults": {"adult": 1}}}, "no column 'adult'"),
        ({"outcome": "hole"}, r"data row 2 has no outcome \(hole\)"),
    ],
)
def test_a_wrong_name_or_a_gap_is_one_line(arguments, message):
    people = table(out=[0, 1], hole=[1, None], age=[1, 2])
    with pytest.raises(DataError, match=message):
        with_outcome(people, **arguments)


def test_a_missing_time_is_one_line():
    people = table(out=[0, 1], time=[1, None], age=[1, 2])
    with pytest.raises(DataError, match=r"data row 2 has no time \(time\)"):
        at_horizon(people, events={"out": "time"}, horizon=3)


def test_rotterdam_and_gbsg_are_pooled_by_what_both_have():
    same = {"meno": [0, 1], "nodes": [1, 2], "pgr": [3, 4], "er": [5, 6], "hormon": [0, 1]}
    development = table(
        **{"age": [40, 60], "size": ["<=20", ">50"], "grade": [2, 3], "chemo": [0, 1], **same},
        **{"rtime": [10, 200], "recur": [1, 0], "dtime": [20, 200], "death": [1, 0]},
    )
    validation = table(
        **{"age": [41, 61], "size": [20, 21], "grade": [1, 2], **same},
        **{"rfstime": [10, 300], "status": [0, 0]},
    )
    matrix, flow = rotterdam_to_gbsg(development, validation, horizon=100)
    assert matrix.row_id.tolist() == [1, 2, 4]  # the third was censored at day 10
    assert matrix.label.tolist() == [1, 0, 0]
    assert matrix.group.tolist() == ["rotterdam", "rotterdam", "gbsg"]
    assert "chemo" not in matrix.names
    column = dict(zip(matrix.names, matrix.X.T.tolist(), strict=True))
    assert column["age"] == [40, 60, 61]
    assert column["size=20-50"] == [0, 0, 1]
    assert [step["rows"] for step in flow] == [4, 3]


def test_the_two_cohorts_are_written_as_one_table_each(tmp_path):
    same = {"meno": [0, 1], "nodes": [1, 2], "pgr": [3, 4], "er": [5, 6], "hormon": [0, 1]}
    development = table(
        **{"age": [40, 60], "size": ["<=20", ">50"], "grade": [2, 3], "chemo": [0, 1], **same},
        **{"rtime": [10, 200], "recur": [0, 0], "dtime": [20, 190], "death": [1, 0]},
    )
    validation = table(
        **{"age": [41, 61], "size": [20, 51], "grade": [1, 2], **same},
        **{"rfstime": [10, 300], "status": [0, 1]},
    )
    for name, cohort in (("rotterdam", development), ("gbsg", validation)):
        pq.write_table(cohort, tmp_path / f"{name}.parquet")
    write_breast_cancers(tmp_path, tmp_path)
    first, second = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("rotterdam", "gbsg"))
    assert first.columns.tolist() == second.columns.tolist()
    assert {"chemo", "row_id"}.isdisjoint(first.columns)
    assert first[["time", "event"]].to_numpy().tolist() == [[10, 1], [190, 0]]
    assert second[["time", "event"]].to_numpy().tolist() == [[10, 0], [300, 1]]
    assert second["size"].tolist() == ["<=20", ">50"]


@pytest.mark.parametrize("name", COHORTS)
def test_nothing_that_follows_the_outcome_is_a_feature(name):
    entry = COHORTS[name]
    arguments = entry.features.arguments
    listed = {column for names in arguments.get("excluded", {}).values() for column in names}
    events = {**arguments.get("events", {}), **arguments.get("free_of", {})}
    used = {*events, *events.values(), arguments.get("outcome"), arguments.get("group")}
    chosen = {column for wanted in arguments.get("rows", {}).values() for column in wanted}
    table_of = entry.ranges.rpartition("/")[2].removesuffix(".csv")
    if entry.features.function == "features.clinical.rotterdam_to_gbsg":
        return  # it names its features one by one
    columns = {variable.name for variable in read_variables(table_of)}
    features = columns - listed - used - chosen
    assert listed <= columns
    assert not {column for column in features & LEAKS if (table_of, column) not in HARMLESS}
    assert features


def test_every_cohort_says_what_is_published():
    assert len(COHORTS) == 20
    assert all(entry.unit and entry.note and entry.ranges for entry in COHORTS.values())
    assert COHORTS["stroke"].counts.published is None


def test_rows_without_an_outcome_are_refused_or_left_out_and_counted():
    people = table(out=[0, None, 1], age=[40, 50, 60])
    with pytest.raises(DataError, match="data row 2 has no outcome"):
        with_outcome(people, outcome="out")
    features, flow = with_outcome(people, outcome="out", unknown="left out")
    assert features.row_id.tolist() == [1, 3]
    assert [step["rows"] for step in flow] == [3, 2]


def test_a_table_without_features_is_refused():
    with pytest.raises(DataError, match="no column varies"):
        with_outcome(table(out=[0, 1], age=[1, 1]), outcome="out")
