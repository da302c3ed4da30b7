"""Risks on the page of a comparison: scores, thresholds, subgroups, and what is withheld."""

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from described_tables import decided, inferred
from sklearn.metrics import roc_auc_score

from deepcac.errors import ConfigError, DataError
from deepcac.judging.contenders import HASH, KM, Contender
from deepcac.pages.sections import tables_of
from deepcac.scoring.resampled_scores import AUROC, RATIO
from deepcac.scoring.small_cells import STEP
from deepcac.table.answer import contender_name
from deepcac.table.budgeted_trials import TableRun, run_budgeted
from deepcac.table.cluster_answer import answer
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.pages.risk_figures import EDGES, benefit_lines, risk_shares, usual_thresholds
from deepcac.table.pages.risk_section import (
    USUAL,
    RiskQuestions,
    check_asked,
    check_columns,
    risk_questions,
    risk_section,
    subgroups,
    worth,
)
from deepcac.table.reading.outcomes import standing_alone


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
    table = read_labelled(inferred(path))
    fighters = [Contender("lr"), Contender("lr", KM), Contender("lr", HASH)]
    trials = run_budgeted(table, TableRun(resamples=5, trials=1, jobs=1), fighters)
    return table, trials, answer(trials, "t", table.rarest)


def section(judged, asked=USUAL, predictions=None, table=None):
    own, trials, found = judged
    return risk_section(table or own, predictions or trials.predictions, found, asked)


def of_page(made, name):
    return next((table for table in tables_of(made.blocks) if table.id == name), None)


def text(made):
    return " ".join(block for block in made.blocks if isinstance(block, str))


def best(judged):
    _, trials, found = judged
    return trials.predictions.named({found.best: found.best, found.clustered: found.clustered})


def test_a_subgroup_is_scored_on_its_own_rows(judged):
    table, _, found = judged
    kept = best(judged)
    shown, few = subgroups(table, kept, ["sex"], 0.3)
    assert few == ["sex x"]
    assert list(shown["sex"]) == ["f", "m"]
    women_there = shown["sex"]["f"]
    women = np.array(table.rows["sex"].to_pylist()) == "f"
    at, risk = women[kept.row], kept.risk[found.best]
    scores = [
        roc_auc_score(kept.y[here], risk[here])
        for here in (at & (kept.part == j) for j in range(5))
    ]
    assert women_there.drawn[AUROC][0] == pytest.approx(np.mean(scores))
    assert women_there.predictions.rows == len(set(kept.row[at]))
    assert women_there.drawn[RATIO][0] == pytest.approx(kept.y[at].sum() / risk[at].sum())


def test_thresholds_are_the_users_or_a_default_that_is_stated(judged):
    share = judged[1].predictions.share
    assert "the default" in text(section(judged))
    usual = usual_thresholds(share)
    assert usual[0] / (1 - usual[0]) == pytest.approx(share / (1 - share) / 3)
    assert usual_thresholds(1 - share) == pytest.approx(
        1 - usual[::-1]
    )  # many events: no end at 95 %
    asked = section(judged, RiskQuestions((0.1, 0.3)))
    assert "Thresholds from 10.0 % to 30.0 %" in text(asked)
    assert "the default" not in text(asked)
    assert [row[0] for row in of_page(asked, "benefits").texts] == [
        *("10 %", "15 %", "20 %", "25 %", "30 %")
    ]


def test_every_number_has_an_interval(judged):
    made = section(judged, RiskQuestions(by=["sex"]))
    assert all(" to " in cell for row in of_page(made, "scores").texts for cell in row[1:-1])
    assert all(" to " in cell for row in of_page(made, "benefits").texts for cell in row[1:])
    assert all(" to " in cell for row in of_page(made, "subgroups").texts for cell in row[3:])
    lines = benefit_lines(best(judged), np.array([0.1, 0.3]), spread=True)
    assert [len(line) for line in lines.values()] == [4, 4, 2, 2]  # all and nobody have no interval
    assert all((line[2] <= line[1]).all() and (line[1] <= line[3]).all()
               for line in lines.values() if len(line) > 2)  # fmt: skip


def test_a_level_of_few_rows_is_not_named_and_the_others_are_rounded(judged):
    table = judged[0]
    doctor = np.array(table.rows["sex"].to_pylist(), dtype=object)
    doctor[:12] = "f"
    doctor[:4] = "Dr X"
    column = pa.array(doctor.tolist(), pa.string()).dictionary_encode()  # as pandas writes it
    changed = replace(table, rows=table.rows.append_column("doctor", column))
    check_columns(changed, ["doctor"])
    made = section(judged, RiskQuestions(by=["doctor"]), table=changed)
    rows = of_page(made, "subgroups").texts
    assert [row[0] for row in rows] == ["doctor f", "doctor m"]
    assert all(int(cell) % STEP == 0 for row in rows for cell in row[1:3])


def test_numbers_are_cut_at_their_quartiles(judged):
    table, trials, _ = judged
    shown, _ = subgroups(table, best(judged), ["age"], 0.3)
    assert len(shown["age"]) == 4
    rows = [one.predictions.rows for one in shown["age"].values()]
    assert sum(rows) == trials.predictions.rows
    names = list(shown["age"])
    assert names[0].startswith("up to ")  # as `profile` cuts them
    assert names[3].startswith("above ")
    ends = {str(end) for end in (table.features.X[:, 0].min(), table.features.X[:, 0].max())}
    assert not ends & {word for name in names for word in name.split()}


def test_a_number_of_which_most_are_the_largest_tells_no_smallest(judged):
    table = judged[0]
    score = np.full(300, 50.0)
    score[:20] = np.arange(20) / 10 + 7.3
    changed = replace(
        table,
        rows=table.rows.set_column(0, "age", pa.array(score)),
        features=replace(table.features, X=np.column_stack([score, table.features.X[:, 1:]])),
    )
    shown, _ = subgroups(changed, best(judged), ["age"], 0.3)
    assert list(shown["age"]) == ["above 9.2"]  # the others are too few to be scored


def test_a_number_is_cut_whatever_its_column_is_called(tmp_path):
    lines = "\n".join(f"{7 * i % 83},{i % 2}" for i in range(80))
    (tmp_path / "t.csv").write_text(f"group,died\n{lines}\n")
    assert check_columns(read_labelled(decided(tmp_path / "t.csv")), ["group"]) is None


def test_clusters_that_were_not_chosen_change_no_treatment(judged):
    _, trials, found = judged
    kept = trials.predictions
    same = replace(kept, risk={**kept.risk, found.clustered: kept.risk[found.best]})
    made = section(judged, predictions=same)
    assert "none were chosen" in text(made)
    assert of_page(made, "scores").head == ("score", "value (95 % interval)", "best")
    both = replace(kept, risk={**kept.risk, found.clustered: kept.risk[found.best] / 2})
    assert of_page(section(judged, predictions=both), "scores").head[1:3] == (
        contender_name(found.best), contender_name(found.clustered),
    )  # fmt: skip


def test_what_clusters_change_is_the_difference_of_net_benefits(judged):
    _, trials, found = judged
    kept = trials.predictions
    risk = kept.risk[found.best]
    other = replace(kept, risk={"lr": risk, "hash_lr": risk**2})
    said = worth(other, "hash_lr", "lr", np.array([0.1, 0.3]))
    gains = []
    for t in (0.1, 0.3):
        each = np.where(kept.y == 1, 1.0, -t / (1 - t))
        gains.append(1000 * (((risk**2 >= t).astype(float) - (risk >= t)) * each).mean())
    told = re.findall(r"from a risk of (\d+) % on, (?:(no change)|([\d.]+) (more|fewer))", said)
    assert [at for at, *_ in told] == ["10", "30"]
    for gain, (_, none, size, way) in zip(gains, told, strict=True):
        value = 0.0 if none else float(size) * (1 if way == "more" else -1)
        assert value == pytest.approx(gain, abs=0.051)


def test_there_is_no_bar_of_few_patients():
    row = np.tile(np.arange(200), 3)
    risk = np.where(row < 100, 0.72, 0.12)
    risk = np.where(row < 3, 0.47, risk)
    shares = risk_shares(risk, row)
    drawn = EDGES[:-1][shares > 0]
    assert drawn.tolist() == [EDGES[:-1][EDGES[:-1] <= at].max() for at in (0.12, 0.72)]


def test_classes_are_named_so_that_they_stand_alone(judged):
    assert judged[0].shown_classes == ("died = 0", "died = 1")
    assert standing_alone(("benign", "malignant"), "diagnosis") == ("benign", "malignant")
    assert standing_alone(("no", "Yes"), "died") == ("died = no", "died = Yes")


def test_what_is_asked_wrongly_is_one_line(judged):
    for wrong in ("0.3", "0.3,0.1", "a,b", "0,0.5", "0.1,1"):
        with pytest.raises(DataError, match="the highest risk"):
            risk_questions(wrong, None)
    assert risk_questions(None, '"age, years",sex').by == ("age, years", "sex")
    assert risk_questions("0.1,0.3", "sex, age,,sex") == RiskQuestions((0.1, 0.3), ("sex", "age"))
    with pytest.raises(DataError, match="--by ages: .*age, marker"):
        check_columns(judged[0], ["ages"])
    with pytest.raises(DataError, match="outcome"):
        check_columns(judged[0], [judged[0].label])
    label = judged[0].features.label.copy()
    label[0] = 2
    several = replace(judged[0], features=replace(judged[0].features, label=label))
    with pytest.raises(ConfigError, match="two classes"):
        check_asked(several, RiskQuestions(by=["sex"]))
