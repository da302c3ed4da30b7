"""Risks on the page of a comparison: subgroups, thresholds, and what is withheld."""

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from described_tables import decided
from sklearn.metrics import roc_auc_score

from deepcac.errors import DataError
from deepcac.scoring.small_cells import STEP
from deepcac.table.cluster_answer import answer
from deepcac.table.budgeted_trials import TableEffort, run_budgeted
from deepcac.table.columns.roles import Roles
from deepcac.table.comparison_words import contender_name
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.pages.risk_pictures import usual_thresholds
from deepcac.table.pages.risk_section import (
    RiskQuestions,
    risk_questions,
    risk_section,
    risks_by_outcome,
    worth,
)
from deepcac.table.pages.subgroups import check_columns, subgroups
from deepcac.table.reading.class_labels import standing_alone


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """A synthetic table in which one sex has hardly an event."""
    rng = np.random.default_rng(3)
    n = 300
    age, marker = rng.integers(20, 90, n), rng.normal(size=n)
    sex = np.where(rng.random(n) < 0.5, "f", "m")
    sex[:12] = "x"
    died = (marker + rng.normal(size=n) > 0.6) & (sex != "x")
    path = tmp_path_factory.mktemp("by") / "t.csv"
    lines = [f"{a},{m:.3f},{s},{int(d)}" for a, m, s, d in zip(age, marker, sex, died, strict=True)]
    path.write_text("\n".join(["age,marker,sex,died", *lines]) + "\n")
    table = read_labelled(path, Roles("died"))
    trials = run_budgeted(table, TableEffort(budget=0.01, trials=1), lambda line: None)
    return table, trials, answer(trials, "t", table.rarest)


def test_a_subgroup_is_scored_on_its_own_rows(judged):
    table, trials, found = judged
    shown, few = subgroups(table, trials.held_out, ["sex"], (found.best, found.clustered), 0.3)
    assert few == ["sex x"]
    assert [one.name for one in shown] == ["f", "m"]
    kept, own = trials.held_out, shown[0]
    women = np.array(table.rows["sex"].to_pylist()) == "f"
    at = np.isin(kept.row, table.features.row_id[women])
    scores = [
        roc_auc_score(kept.y[here], kept.risk[found.best][here])
        for here in (at & (kept.resample == j) for j in range(5))
    ]
    assert own.auroc == pytest.approx(np.mean(scores))
    assert own.low < own.auroc < own.high
    assert own.rows == len(set(kept.row[at]))
    assert own.ratio.value == pytest.approx(kept.y[at].sum() / kept.risk[found.best][at].sum())


def test_thresholds_are_the_users_or_a_default_that_is_stated(judged):
    table, trials, found = judged
    share = trials.held_out.y.mean()
    section = risk_section(table, trials.held_out, found, RiskQuestions())
    assert section["default"].startswith("No thresholds were given.")
    usual = usual_thresholds(share)
    assert usual[0] / (1 - usual[0]) == pytest.approx(share / (1 - share) / 3)
    assert usual_thresholds(1 - share) == pytest.approx(
        1 - usual[::-1]
    )  # many events: no end at 95 %
    asked = risk_section(table, trials.held_out, found, RiskQuestions((0.1, 0.3)))
    assert (asked["default"], asked["range"]) == ("", "10.0 % to 30.0 %")
    pair = ("lr", "hash_lr")
    apart = trials.held_out._replace(
        risk={"lr": trials.held_out.risk["lr"], "hash_lr": trials.held_out.risk["lr"] ** 2}
    )
    said = worth(apart, *pair[::-1], np.array([0.1, 0.2, 0.3]))
    assert re.search(r"treating from a risk of 10 % on, .* from a risk of 30 % on, .* \(95 %", said)


def test_every_number_of_calibration_has_an_interval(judged):
    table, trials, found = judged
    section = risk_section(table, trials.held_out, found, RiskQuestions(by=["sex"]))
    assert all(" to " in cell for row in section["rows"] for cell in row[1:])
    assert all(" to " in cell for row in section["by_rows"] for cell in row[3:7])
    assert "withheld" not in {row[7] for row in section["by_rows"]}
    decision = section["figures"][1]
    assert decision.head[3:] == ("low", "high")
    assert all(low <= value <= high for _, _, value, low, high in decision.data)


def test_a_level_of_few_rows_is_not_named_and_the_others_are_rounded(judged):
    table, trials, found = judged
    doctor = np.array(table.rows["sex"].to_pylist(), dtype=object)
    doctor[:12] = "f"
    doctor[:4] = "Dr X"
    column = pa.array(doctor.tolist(), pa.string()).dictionary_encode()  # as pandas writes it
    changed = replace(table, rows=table.rows.append_column("doctor", column))
    check_columns(changed, ["doctor"])
    content = risk_section(changed, trials.held_out, found, RiskQuestions(by=["doctor"]))
    assert content["by_few"] == "doctor (a level of few rows)"
    assert [row[0] for row in content["by_rows"]] == ["doctor f", "doctor m"]
    assert all(int(cell) % STEP == 0 for row in content["by_rows"] for cell in row[1:3])


def test_numbers_are_cut_at_their_quartiles(judged):
    table, trials, found = judged
    shown, _ = subgroups(table, trials.held_out, ["age"], (found.best, found.clustered), 0.3)
    assert len(shown) == 4
    assert sum(one.rows for one in shown) == len(set(trials.held_out.row))
    names = [one.name for one in shown]
    assert names[0].startswith("up to ")  # as `profile` cuts them
    assert names[3].startswith("above ")
    ends = {str(end) for end in (table.features.X[:, 0].min(), table.features.X[:, 0].max())}
    assert not ends & {word for name in names for word in name.split()}


def test_a_number_of_which_most_are_the_largest_tells_no_smallest(judged):
    table, trials, found = judged
    score = np.full(300, 50.0)
    score[:20] = np.arange(20) / 10 + 7.3
    changed = replace(
        table,
        rows=table.rows.set_column(0, "age", pa.array(score)),
        features=replace(table.features, X=np.column_stack([score, table.features.X[:, 1:]])),
    )
    shown, _ = subgroups(changed, trials.held_out, ["age"], (found.best, found.clustered), 0.3)
    assert [one.name for one in shown] == ["above 9.2"]  # the others are too few to be scored


def test_a_subgroup_without_both_outcomes_in_any_test_part_is_not_scored(judged):
    table, trials, found = judged
    kept, sex = trials.held_out, np.array(["f"] * 300, dtype=object)
    places = kept.row - 1
    apart = [np.unique(places[(kept.resample == j) & (kept.y == c)]) for j, c in ((0, 1), (1, 0))]
    both = np.isin(places, np.concatenate(apart))
    sex[np.concatenate(apart)] = "m"
    alone = both & (kept.resample == np.where(kept.y == 1, 0, 1))
    other = ~both | alone
    fewer = kept._replace(
        **{name: getattr(kept, name)[other] for name in ("y", "patient", "row", "resample")},
        risk={name: risk[other] for name, risk in kept.risk.items()},
    )
    place = table.rows.column_names.index("sex")
    changed = replace(table, rows=table.rows.set_column(place, "sex", pa.array(sex.tolist())))
    _, few = subgroups(changed, fewer, ["sex"], (found.best, found.clustered), 0.3)
    assert few == ["sex m (never both outcomes in one test part)"]


def test_a_number_is_cut_whatever_its_column_is_called(tmp_path):
    lines = "\n".join(f"{7 * i % 83},{i % 2}" for i in range(80))
    (tmp_path / "t.csv").write_text(f"group,died\n{lines}\n")
    assert check_columns(read_labelled(*decided(tmp_path / "t.csv")), ["group"]) is None


def test_clusters_that_were_not_chosen_change_no_treatment(judged):
    table, trials, found = judged
    kept = trials.held_out
    same = kept._replace(risk={**kept.risk, found.clustered: kept.risk[found.best]})
    content = risk_section(table, same, found, RiskQuestions(by=["sex"]))
    assert "Clusters change no treatment here" in content["worth"]
    assert "because none were chosen" in content["worth"]
    assert [row[0] for row in content["rows"]] == [contender_name(found.best)]
    assert [row[4] for row in content["by_rows"]] == ["0.000", "0.000"]  # and no interval of it


def test_there_is_no_bar_of_few_patients(judged):
    table, trials, found = judged
    kept = trials.held_out
    rows = np.unique(kept.row)
    risk = np.where(np.isin(kept.row, rows[: len(rows) // 2]), 0.72, 0.12)
    risk = np.where(np.isin(kept.row, rows[:3]), 0.47, risk)
    seen = kept._replace(risk={found.best: risk})
    bars = {
        begin: shares
        for begin, *shares in risks_by_outcome(seen, found.best, table.shown_classes).data
    }
    drawn = {begin for begin, shares in bars.items() if max(map(float, shares)) > 0}
    assert drawn == {max(begin for begin in bars if begin <= at) for at in (0.12, 0.72)}


def test_classes_are_named_so_that_they_stand_alone(judged):
    assert judged[0].shown_classes == ("died = 0", "died = 1")
    assert standing_alone(("benign", "malignant"), "diagnosis") == ("benign", "malignant")
    assert standing_alone(("no", "Yes"), "died") == ("died = no", "died = Yes")


def test_what_is_asked_wrongly_is_one_line(judged):
    for wrong in ("0.3", "0.3,0.1", "a,b", "0,0.5", "0.1,1"):
        with pytest.raises(DataError, match="the lowest and the highest risk"):
            risk_questions(wrong, None)
    assert risk_questions(None, '"age, years",sex').by == ("age, years", "sex")
    assert risk_questions("0.1,0.3", "sex, age,,sex") == RiskQuestions((0.1, 0.3), ("sex", "age"))
    with pytest.raises(DataError, match="--by ages: there is no such column; known: age, marker"):
        check_columns(judged[0], ["ages"])
    label = judged[0].features.label.copy()
    label[0] = 2
    several = replace(judged[0], features=replace(judged[0].features, label=label))
    with pytest.raises(DataError, match="two classes"):
        check_columns(several, ["sex"])


def test_the_section_names_what_is_too_few_and_says_the_range(judged):
    table, trials, found = judged
    content = risk_section(table, trials.held_out, found, RiskQuestions((0.1, 0.5), ("sex", "age")))
    assert content["by_few"] == "sex x"
    assert content["range"] == "10.0 % to 50.0 %"
    assert "from a risk of 10 % on" in content["worth"]
    assert [one.id for one in content["figures"]] == ["calibration", "decision", "risks"]
    assert len(content["rows"]) == 2
    assert len(content["by_rows"]) == 6
    assert content["by_head"][-1].endswith("treating from 10 % on")
