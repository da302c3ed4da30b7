"""Checks: one table in which each finds its column, and one near it in which it finds none."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from described_tables import asked, decided, describe, inferred

from deepcac.errors import ConfigError
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.findings.checks import CERTAIN, QUESTIONS
from deepcac.table.inference.labelled_table import read_labelled

N = 240
ROW = np.arange(N)


def patients(seed=0, n=N):
    draw = np.random.default_rng(seed)
    table = pd.DataFrame({"age": draw.integers(20, 90, n), "crp": draw.gamma(2, 6, n).round(2)})
    table["bmi"] = draw.normal(27, 4, n).round(1)
    table["glucose"] = draw.gamma(20, 5, n).astype(int)
    table["sex"] = draw.choice(["m", "f"], n)
    return table.assign(died=np.where(draw.permutation(n) % 10 < 3, "yes", "no"))


def drawn(values, seed=7):
    return np.random.default_rng(seed).choice(values, N)


def in_some(seed):
    """Return a measurement of 40 % of the patients, the same ones whatever the seed."""
    values = np.random.default_rng(seed).normal(50, 9, N).round(5)
    return np.where(ROW % 5 < 2, values, np.nan)


def written(tmp_path, table, **options):
    table.to_csv(tmp_path / "t.csv", index=False, **options)
    return tmp_path / "t.csv"


def died(table):
    return (table["died"] == "yes").to_numpy()


def with_last(code, share=0.1):
    """Add three questions of four answers, whose last one stands in the same rows, or in others."""

    def change(table):
        columns = {}
        for place in range(3):
            gone = np.random.default_rng(code and place).random(N) < share
            columns[f"q{place}"] = np.where(gone, 4, drawn([1, 2, 3], place))
        return table.assign(**columns)

    return change


def time_of(table, bounded):
    """Add a time of follow-up, and one to an earlier endpoint that it bounds, or does not."""
    draw = np.random.default_rng(3)
    days = draw.integers(30, 900, N)
    earlier = draw.random(N) < 0.4
    relapse = np.where(earlier, (days * draw.uniform(0.1, 0.9, N)).round(), days)
    return table.assign(fu_days=days, r=relapse if bounded else draw.permutation(relapse))


def until_the_end(table, known):
    """Return months that end at 12 for many without the event, or for as many of any rows."""
    months, early = np.random.default_rng(4).integers(1, 12, N), drawn([True, True, False])
    return np.where(early | died(table) if known else early, months, 12)


# Check, column, a table in which it is found, and one in which it is not.
QUESTIONED = [
    ("unreadable", "crp", lambda t: t.assign(crp=t.crp.where(ROW != 3, 1e300)),
     lambda t: t.assign(crp=t.crp.where(ROW != 3, 1e20))),
    ("unreadable", "sex=m", lambda t: t.assign(**{"sex=m": t.crp + 1}),
     lambda t: t.assign(**{"sex=x": t.crp + 1})),
    ("repeated rows", "bed", lambda t: visits(t, same=True), lambda t: visits(t, same=False)),
    ("repeated rows", None, lambda t: pd.concat([t, t[:40]]), lambda t: t),
    ("repeated rows", None, lambda t: pd.concat([t, t[:60].assign(crp=t.crp + 0.01)]),
     lambda t: pd.concat([t, t[:60].assign(crp=t.crp + 0.01, died=drawn(["yes", "no"])[:60])])),
    ("outcome", "died", lambda t: t.assign(died=np.where(died(t), "rot", "blau")),
     lambda t: t.assign(died=np.where(died(t), "tot", "blau"))),
    ("outcome", "died", lambda t: t.assign(died=t.died.where(ROW % 15 > 0, "unknown")),
     lambda t: t),
    ("outcome", "died", lambda t: t.assign(died=np.where(ROW % 15, died(t), 9).astype(int)),
     lambda t: t.assign(died=died(t).astype(int))),
    ("form", "redcap_event_name", lambda t: t.assign(redcap_event_name=drawn(["a", "b"])),
     lambda t: t.assign(event_name=drawn(["a", "b"]))),
    ("weight", "wt", lambda t: t.assign(wt=np.exp(np.random.default_rng(1).normal(3, 1.5, N))),
     lambda t: t.assign(wt=t.bmi * 3)),
    ("spelling", "ward", lambda t: t.assign(ward=drawn(["ICU", "icu"])),
     lambda t: t.assign(ward=drawn(["ICU", "ICU 2"]))),
    ("spelling", "ward", lambda t: t.assign(ward=drawn(["01", "1", "er"])),
     lambda t: t.assign(ward=drawn(["A1", "a1", "er"]))),
    ("impossible value", "age", lambda t: t.assign(age=t.age.where(ROW != 5, 455)),
     lambda t: t.assign(age=t.age * 12)),
    ("impossible value", "sbp", lambda t: t.assign(sbp=np.where(ROW % 50, t.bmi * 5, 0)),
     lambda t: t.assign(spread=np.where(ROW % 50, t.bmi * 5, 0))),
    ("odd value", "age", lambda t: t.assign(age=t.age.where(ROW % 12 > 0, -9)),
     lambda t: t.assign(age=t.age - 60)),
    ("odd value", "bmi", lambda t: t.assign(bmi=t.bmi * np.where(ROW % 5, 1, 10)),
     lambda t: t.assign(bmi=t.bmi * 10)),
    ("odd value", "q1", with_last(0), with_last(1)),
    ("label leak", "code", lambda t: t.assign(code=np.where(died(t), 7, 3)),
     lambda t: t.assign(code=drawn([7, 3]))),
    ("follow-up", "os_months", lambda t: t.assign(os_months=drawn(range(60))),
     lambda t: t.assign(months_before=drawn(range(60)))),
    ("follow-up", "seen", lambda t: t.assign(seen=until_the_end(t, known=True)),
     lambda t: t.assign(seen=until_the_end(t, known=False))),
    ("later event", "total_costs", lambda t: t.assign(total_costs=drawn(range(30))),
     lambda t: t.assign(costal=drawn(range(30)))),
    ("endpoint", "r", lambda t: time_of(t, bounded=True), lambda t: time_of(t, bounded=False)),
    ("later event", "length_of_stay", lambda t: t.assign(length_of_stay=drawn(range(30))),
     lambda t: t.assign(length=drawn(range(30)))),
    ("later event", "went to",
     lambda t: t.assign(**{"went to": np.where(died(t) & (ROW % 2 > 0), "morgue", drawn(["a", "b"]))}),
     lambda t: t.assign(**{"went to": drawn(["morgue", "a", "b"])})),
    ("filled after", "autopsied",
     lambda t: t.assign(autopsied=np.where(died(t) & (ROW % 3 > 0), t.bmi, np.nan)),
     lambda t: t.assign(autopsied=np.where(ROW % 3, t.bmi, np.nan))),
]  # fmt: skip


def visits(table, same):
    """Return rows of which four have one bed, and with `same` also one outcome and one age."""
    bed = ROW // 4
    if same:
        table = table.assign(died=table.died.to_numpy()[bed], bmi=table.bmi.to_numpy()[bed])
    return table.assign(bed=1_000 - 3 * np.random.default_rng(2).permutation(N)[bed])


@pytest.mark.parametrize(("check", "column", "there", "near"), QUESTIONED)
def test_a_question_is_asked_where_it_is_one(tmp_path, check, column, there, near):
    question = (check, *filter(None, [column]))
    assert question in by_column(asked(written(tmp_path, there(patients()))))
    assert question not in by_column(asked(written(tmp_path, near(patients()))))


def by_column(questions):
    """Return a pair for each column of questions."""
    return [
        (check, *filter(None, [name])) for check, *names in questions for name in names or [None]
    ]


def test_a_column_that_several_checks_suspect_has_one_question_on_leaks(tmp_path):
    table = patients()
    file = written(tmp_path, table.assign(discharged_to=np.where(died(table), "morgue", "home")))
    suspected = [check for check, *names in asked(file) if "discharged_to" in names]
    assert len(suspected) == 1
    # Its answer is one to the other checks too.
    assert "discharged_to" in read_labelled(decided(file)).rows.column_names


def test_a_sound_table_has_no_question(tmp_path):
    for seed in range(5):
        assert asked(written(tmp_path, patients(seed))) == []


def test_every_check_of_questions_is_tried():
    """That of the header is below."""
    assert {check for check, *_ in QUESTIONED} == {*QUESTIONS} - {"header"}


@pytest.mark.parametrize("table", [patients(), patients()[["age"]] / 7])
def test_a_first_line_that_is_a_row_is_asked_about(tmp_path, table):
    assert ("header",) in asked(written(tmp_path, table, header=False), label=None)
    assert asked(written(tmp_path, table), label=None) == []


# Check, column, a table in which it is certain, and one in which it is not.
DECIDED = [
    ("patient", "patient_id", lambda t: t.assign(patient_id=ROW // 4 * 7 % 997),
     lambda t: t.assign(patient_id=ROW)),
    ("patient", "patient_id", lambda t: t.assign(patient_id=[0, *ROW[:-1]]),
     lambda t: t.assign(patient_id=ROW)),
    ("site", "hospital", lambda t: t.assign(hospital=drawn(["north", "south"])),
     lambda t: t.assign(hospital=drawn(["yes", "no"]))),
    ("row name", "note", lambda t: t.assign(note=[f"text {i}" for i in ROW]),
     lambda t: t.assign(note=[f"text {i % 30}" for i in ROW])),
    ("row name", "Unnamed: 0", lambda t: t.assign(**{"Unnamed: 0": [*range(120), *range(120)]}),
     lambda t: t.assign(**{"Unnamed: 0": drawn(range(120))})),
    ("person", "last_name", lambda t: t.assign(last_name=drawn([f"Li {i}" for i in range(30)])),
     lambda t: t.assign(drug_given=drawn([f"Li {i}" for i in range(30)]))),
    ("date", "admission_date", lambda t: t.assign(admission_date=drawn(range(43_000, 44_500))),
     lambda t: t.assign(platelets=drawn(range(43_000, 44_500)))),
    ("date", "seen", lambda t: t.assign(seen=20_240_100 + drawn(range(1, 32))),
     lambda t: t.assign(seen=20_240_000 + drawn(range(1, 32)))),
    ("constant", "country", lambda t: t.assign(country="AT"),
     lambda t: t.assign(country=drawn(["AT", "DE"]))),
    ("constant", "free", lambda t: t.assign(free=None), lambda t: t.assign(free=t.crp + 1)),
    ("duplicate", "male", lambda t: t.assign(male=np.where(t.sex == "m", 1, 0)),
     lambda t: t.assign(male=drawn([0, 1]))),
    ("duplicate", "asian", lambda t: t.assign(r=drawn(["a", "b", "c"])).assign(
        asian=lambda t: (t.r == "a").astype(int)), lambda t: t.assign(asian=drawn([0, 1]))),
    ("duplicate", "copy", lambda t: t.assign(il6=in_some(1)).assign(copy=in_some(1)),
     lambda t: t.assign(il6=in_some(1)).assign(copy=in_some(2))),
    ("code", "race", lambda t: t.assign(race=drawn([1, 2, 3, 4])),
     lambda t: t.assign(grade=drawn([1, 2, 3, 4]))),
]  # fmt: skip


def certain(description):
    """Return the columns that have a role or are left out, and codes."""
    use = description.resource.use
    return {use.patient: "patient", use.site: "site"} | {
        name: "code" for name in ("race", "grade")
        if name in description.fields and description.fields[name].type == "string"
    } | dict.fromkeys(use.leave_out, "left out")  # fmt: skip


@pytest.mark.parametrize(("check", "column", "there", "near"), DECIDED)
def test_what_is_certain_stands_in_the_description(tmp_path, check, column, there, near):
    found = certain(describe(written(tmp_path, there(patients()))))
    assert found[column] == (check if check in ("patient", "site", "code") else "left out")
    assert found.keys() - {column} <= {None}
    silent = describe(written(tmp_path, near(patients())))
    assert certain(silent).keys() <= {None} | ({"patient_id"} & silent.fields.keys())
    assert silent.resource.use.patient is None


def test_the_order_of_a_file_does_not_decide_which_of_two_columns_stays(tmp_path):
    table = patients()
    table = table.assign(male=(table.sex == "m").astype(int), crp_mg=table.crp)
    for columns in (table.columns, table.columns[::-1]):
        use = describe(written(tmp_path, table[columns])).resource.use
        assert {*use.leave_out} == {"crp", "male"}


def test_every_check_of_what_is_certain_is_tried():
    assert {check for check, *_ in DECIDED} == {*CERTAIN}


# Column, its cells, the answers that its question has, and cells near it that have no question.
CELLS = [
    ("age", lambda cells: [*cells[:16], "LINE", *cells[17:]], {"missing", "string"},
     lambda cells: [*cells[:16], "none", *cells[17:]]),
    ("crp", lambda cells: [*cells[:9], *["<0.3"] * 150, *cells[159:]], {"string", "leave out"},
     lambda cells: ["<0.3", "high", "low"] * (N // 3)),
    ("dose", lambda cells: [f"{c} {'mg' if i % 2 else 'mmol'}" for i, c in enumerate(cells)],
     {"string", "leave out"}, lambda cells: [f"{c} mg" for c in cells]),
    ("titre", lambda cells: ["12,5", "12.5", "3,25", "4.75"] * (N // 4),
     {"decimal .", "decimal ,", "string"}, lambda cells: ["12,5", "3,25"] * (N // 2)),
    ("titre", lambda cells: ["950", "1,250", "2,375"] * (N // 3),
     {"decimal .", "decimal ,", "string"}, lambda cells: ["1,4", "1,250", "2,37"] * (N // 3)),
    ("area", lambda cells: ["NA", "EU", "AS"] * (N // 3), {"missing", "a level"},
     lambda cells: ["NA", "Europe", "Asia"] * (N // 3)),
    ("unit", lambda cells: ["1E2", "12", "7"] * (N // 3), {"number", "string"},
     lambda cells: ["1E2", "E12", "F7"] * (N // 3)),
    ("died", lambda cells: ["", *["yes", "no"] * (N // 2)][:N], {"leave these rows out"},
     lambda cells: ["yes", "no"] * (N // 2)),
]  # fmt: skip


@pytest.mark.parametrize(("column", "cells", "answers", "near"), CELLS)
def test_cells_that_do_not_decide_are_a_question(tmp_path, column, cells, answers, near):
    numbers = [str(age) for age in patients()["age"]]
    whole = patients().drop(columns=["crp", "bmi"])
    found = describe(written(tmp_path, whole.assign(**{column: cells(numbers)})))
    (question,) = (q for q in found.resource.use.questions if column in q.fields)
    assert answers <= {*question.answers}
    path = written(tmp_path, whole.assign(**{column: near(numbers)}))
    assert not any(column in names for _, *names in asked(path))


@pytest.mark.parametrize(
    ("label", "cells", "questions"),
    [
        ("status", [0, 1, 2], [("outcome", "status")]),
        ("vital status", ["alive", "dead", "moved"], [("outcome", "vital status")]),
        ("grade", [0, 1, 2], []),
        ("grade", ["mild", "grave", "none"], []),
        ("CENSOR", [0, 1], [("outcome", "CENSOR")]),
        ("died", [0, 1], []),
    ],
)
def test_a_status_has_two_classes_and_a_censoring_says_which(tmp_path, label, cells, questions):
    table = patients().drop(columns="died").assign(**{label: drawn(cells)})
    assert asked(written(tmp_path, table), label) == questions


@pytest.mark.parametrize(("name", "site"), [("SITE", "SITE"), ("hospital", None)])
def test_a_site_may_be_0_or_1_but_a_hospital_may_be_a_no(tmp_path, name, site):
    path = written(tmp_path, patients().assign(**{name: drawn([0, 1])}))
    assert describe(path).resource.use.site == site


def test_a_table_with_questions_is_refused_until_they_are_answered(tmp_path):
    table = patients().assign(code=lambda t: np.where(died(t), 7, 3), ward=drawn(["ICU", "icu"]))
    path = written(tmp_path, table)
    with pytest.raises(ConfigError) as refused:
        read_labelled(inferred(path))
    assert all(f"'{name}'" in str(refused.value) for name in ("code", "ward"))
    assert {"code", "ward=icu"} <= {*read_labelled(decided(path)).features.names}
    left = read_labelled(decided(path, answer="leave out")).features.names
    assert left == ("age", "bmi", "crp", "glucose", "sex=m")


def test_kept_leaks_are_told_of_with_every_answer(tmp_path):
    path = written(tmp_path, patients().assign(code=lambda t: np.where(died(t), 7, 3)))
    (line,) = read_labelled(decided(path)).leaks
    assert "'code'" in line
    assert read_labelled(decided(path, answer="leave out")).leaks == ()


def test_a_column_with_a_role_has_no_question(tmp_path):
    table = patients().assign(code=lambda t: np.where(died(t), 7, 3), bed=ROW // 4)
    path = written(tmp_path, table)
    assert asked(path, patient="bed", leave_out={"code": "known later"}) == []


def test_other_times_and_statuses_at_a_horizon_are_questions(tmp_path):
    table = time_of(patients().assign(died=drawn([0, 1])), bounded=True)
    table["relapsed"] = (table.r < table.fu_days).astype(int)
    table["months"] = table.fu_days // 30
    found = by_column(asked(written(tmp_path, table), time="fu_days", horizon=365.0))
    assert {name for check, name in found if check == "follow-up"} == {"r", "relapsed", "months"}
    plain = patients().assign(died=drawn([0, 1]), days=drawn(range(1, 900)))
    assert asked(written(tmp_path, plain), time="days", horizon=365.0) == []


def test_a_column_that_was_kept_and_has_a_role_is_no_leak(tmp_path):
    """A follow-up time becomes the time of the outcome after its question was answered."""
    table = patients().assign(code=lambda t: np.where(died(t), 7, 3))
    path = written(tmp_path, table)
    described = decided(path)
    assert read_labelled(described).leaks
    use = described.description.resource.use.model_copy(update={"leave_out": {"code": "later"}})
    resource = described.description.resource.model_copy(update={"use": use})
    changed = DescribedTable(path, replace(described.description, resource=resource))
    assert read_labelled(changed).leaks == ()
