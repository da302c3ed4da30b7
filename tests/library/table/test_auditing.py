"""Groups of a column: use, assignment, risk; groups made with the outcome; one-line errors."""

import re
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from described_tables import inferred
from sklearn.metrics import roc_auc_score
from typer.testing import CliRunner

from deepcac.errors import DataError, DeepCACError
from deepcac.judging.resamples import resamples
from deepcac.scoring.small_cells import OTHERS, OWNER
from deepcac.scoring.statistics import wilson
from deepcac.table.answer import Answer
from deepcac.table.audit.auditing import UNNAMED, audit_table, group_table
from deepcac.table.audit.beyond_risk import BeyondRisk, _rates
from deepcac.table.audit.group_answer import _sentence, _warnings
from deepcac.table.audit.group_column import ABSENT, Assignable, Groups, assignable, read_groups
from deepcac.table.audit.group_contenders import (
    ANY,
    CONTROLS,
    GIVEN,
    HELP,
    KMEANS,
    NEGATIVE,
    NEW,
    PARTITIONS,
    SHUFFLED,
    fit_group,
    group_contenders,
    group_pairs,
    matched_cells,
)
from deepcac.table.budgeted_trials import TableRun, booster
from deepcac.table.commands import app
from deepcac.table.found_subtypes import outcome_rates
from deepcac.table.inference.labelled_table import read_labelled


def patients(n=400, seed=0):
    """Synthetic patients: two subtypes, far apart, whose risk factors point opposite ways."""
    rng = np.random.default_rng(seed)
    subtype = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 4))
    X[:, :2] += 4 * subtype[:, None]
    died = rng.random(n) < 1 / (1 + np.exp(-2.5 * (2 * subtype - 1) * X[:, 3]))
    frame = pd.DataFrame(X, columns=["crp", "urea", "age", "sodium"]).round(4)
    return frame.assign(died=died.astype(int), phenotype=np.where(subtype, "<b>hot", "cold"))


def read(tmp_path, frame):
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    return read_labelled(inferred(path, site="phenotype"), apart={"phenotype": "the groups"})


def sample_of(table):
    return next(resamples(table.features, 1, 10_000))


def test_empty_cells_are_a_group_and_small_groups_are_not_shown(tmp_path):
    frame = patients()
    frame.loc[:19, "phenotype"] = None
    frame.loc[20:22, "phenotype"] = "secret"
    table = read(tmp_path, frame)
    groups = read_groups(table, "phenotype")
    assert groups.names == ("<b>hot", "cold", "secret", ABSENT)
    assert np.bincount(groups.code)[2:].tolist() == [3, 20]
    first, second = groups.remarks()
    assert first.startswith("20 rows ")
    assert "8 rows: 1;" in second
    rows = group_table(table, groups, np.full((400, 2), 0.5)).texts
    assert rows[-1][0] == UNNAMED
    assert "secret" not in str(rows)
    assert [row.count("withheld") for row in rows] == [0, 0, 1, 4]  # no tenths of 20 risks


def grouped(sizes, y, patient=None):
    """Return a table of groups of these sizes, called a, b and so on; and the groups."""
    code = np.repeat(np.arange(len(sizes)), sizes)
    features = SimpleNamespace(label=np.asarray(y), n_classes=2)
    table = SimpleNamespace(
        features=features, follow=None, group=patient, shown_classes=("no", "yes")
    )
    return table, Groups("g", tuple("abc"[: len(sizes)]), np.arange(len(code)), code)


def test_an_interval_of_a_share_counts_patients_and_not_their_rows():
    y, patient = np.arange(200) // 2 % 2, np.arange(200) // 2
    (_, by_rows), (_, by_patients) = (
        outcome_rates(table, groups.code)[0]
        for table, groups in (grouped((100, 100), y), grouped((100, 100), y, patient))
    )
    ends = wilson(np.array([0.5]), np.array([50]))
    assert by_patients.under(OTHERS)[1:] == pytest.approx(np.concatenate(ends))
    assert by_rows.under(OTHERS)[2] < by_patients.under(OTHERS)[2]


def test_an_interval_does_not_tell_that_a_group_is_of_few_patients():
    """Of 20 rows of two patients Wilson's interval goes from 9 % to 91 %, as of two."""
    patient = np.concatenate([np.arange(60), np.repeat([60, 61], 10), np.arange(62, 122)])
    sizes, y, risk = (60, 20, 60), np.arange(140) % 2, np.full((140, 2), 0.5)
    withheld = {}
    for whose, units in (("rows", None), ("patients", patient)):
        table = group_table(*grouped(sizes, y, units), risk)
        withheld[whose] = {row[0]: "withheld" in row[3] for row in table.texts}
    assert withheld["rows"] == {"a": False, "b": False, "c": False}
    assert withheld["patients"] == {"a": False, "b": True, "c": False}
    table, groups = grouped(sizes, y, patient)
    rates = outcome_rates(table, groups.code)
    assert not np.isnan(rates[1][1].under(OWNER)[0])


def test_a_range_of_risks_is_shown_where_eight_rows_lie_beyond_each_end():
    sizes = (90, 80, 79)
    risk = np.linspace(0.1, 0.5, sum(sizes))
    table = group_table(*grouped(sizes, np.zeros(249, int)), np.column_stack([1 - risk, risk]))
    ranges = [row[-1] for row in table.texts]
    low, high = np.quantile(risk[90:170], (0.1, 0.9)) * 100
    assert ranges[1:] == [f"{low:.1f} to {high:.1f} %", "withheld"]


def test_a_text_for_no_group_and_empty_cells_are_one_group(tmp_path):
    frame = patients()
    frame.loc[:19, "phenotype"] = None
    frame.loc[20:29, "phenotype"] = ABSENT
    groups = read_groups(read(tmp_path, frame), "phenotype")
    assert groups.names == ("<b>hot", "cold", ABSENT)
    assert np.bincount(groups.code)[2] == 30


@pytest.mark.parametrize(
    ("values", "line"),
    [
        (["a"] * 400, "'a' in every row"),
        (np.arange(400).astype(str), "400 different values in 400 rows"),
        (np.where(patients().died, "x", "y"), "another coding"),
    ],
)
def test_a_column_that_is_no_partition(tmp_path, values, line):
    with pytest.raises(DataError, match=line) as error:
        read_groups(read(tmp_path, patients().assign(phenotype=values)), "phenotype")
    assert "\n" not in str(error.value)


def test_controls_have_the_sizes_of_the_groups(tmp_path):
    table = read(tmp_path, patients().assign(phenotype=["a"] * 250 + ["b"] * 120 + ["c"] * 30))
    groups, sample = read_groups(table, "phenotype"), sample_of(table)
    mixed = groups.shuffled(1)
    assert Counter(mixed.code.tolist()) == Counter(groups.code.tolist())
    assert (mixed.code != groups.code).any()
    wanted = np.bincount(groups.of(sample.train))
    cells = matched_cells(sample, wanted)
    assert np.abs(np.bincount(cells.train, minlength=3) - wanted).max() <= 3
    X = sample.train.bounded
    same = [X[cells.train == j] for j in range(3)]
    inside = np.mean([np.linalg.norm(own - own.mean(axis=0), axis=1).mean() for own in same])
    assert inside < 0.95 * np.linalg.norm(X - X.mean(axis=0), axis=1).mean()  # cells, not noise


def test_a_group_of_no_training_row_is_still_answered(tmp_path):
    table = read(tmp_path, patients())
    groups, sample = read_groups(table, "phenotype"), sample_of(table)
    lonely = groups.code.copy()
    lonely[np.searchsorted(groups.row_id, sample.test.row_id[:2])] = 2
    more = type(groups)("phenotype", (*groups.names, "new"), groups.row_id, lonely)
    for one in group_contenders(3):
        answer = fit_group(more, one, one.trials(1)[0], sample)(sample.test)
        assert answer.shape == (len(sample.test), 2)
        assert np.isfinite(answer).all()
        assert np.allclose(answer.sum(axis=1), 1)


def test_every_question_has_its_pairs():
    names = [one.id for one in group_contenders(3)]
    assert len(names) == len(set(names)) == 2 + 3 * len(PARTITIONS)
    pairs = {q: list(group_pairs(q, names)) for q in (HELP, NEW, KMEANS, NEGATIVE)}
    assert [len(own) for own in pairs.values()] == [3] * 4
    assert (f"{GIVEN}-local_lr", "lr") in pairs[HELP]
    assert (f"{GIVEN}-column_{booster()}", f"km-column_{booster()}") in pairs[KMEANS]
    assert all(own.startswith(SHUFFLED) for own, _ in pairs[NEGATIVE])
    assert len(CONTROLS) == 3


def test_only_groups_of_the_columns_can_be_assigned(tmp_path):
    rng = np.random.default_rng(9)
    table = read(tmp_path, patients())
    found = assignable(table, read_groups(table, "phenotype"), 0)
    assert found.agreement > 0.9
    assert found.accuracy > 0.97
    blind = read(tmp_path, patients().assign(phenotype=rng.choice(["a", "b"], 400)))
    found = assignable(blind, read_groups(blind, "phenotype"), 0)
    assert abs(found.agreement) < 0.1


def test_groups_alone_are_scored_on_rows_they_did_not_learn_from():
    y = np.array([0, 1] * 30)
    own = np.arange(60)  # a group each: on other rows nothing is known of it
    fold = np.arange(60) // 2 % 5
    rates = _rates(own, y, fold, np.ones(60))
    assert np.allclose(rates, 0.5)
    assert roc_auc_score(y, _rates(y, y, fold, np.ones(60))[:, 1]) == 1.0


def answered(help_, new="better", any_="better", verdict="gain"):
    """Return the answer about models with and without the groups, by a verdict a question."""
    one = {"contender": f"{GIVEN}-column_lr", "metric": "auroc"}
    words = {HELP: help_, NEW: new, ANY: any_}
    table = pd.DataFrame([{**one, "question": q.id, "verdict": v} for q, v in words.items()])
    return Answer("The groups help: a model.", verdict=verdict, table=table)


def beyond(low, alone=0.7):
    return BeyondRisk(np.zeros((2, 2)), 0.8, alone, 0.025, low, 0.039)


def assignment(agreement):
    return Assignable(0.5, agreement, 0.5)


@pytest.mark.parametrize(
    ("new", "any_", "end"),
    [
        ("better", "better", "help: a model."),
        ("undecided", "better", "no gain once they are read from the other columns of a patient."),
        ("better", "undecided", "no advantage over groups that mean nothing."),
    ],
)
def test_a_gain_is_told_with_what_takes_it_away(new, any_, end):
    assert _sentence(answered("better", new, any_), beyond(-0.01)).endswith(end)
    assert _sentence(answered("better", new, any_), beyond(-0.01, alone=0.97)).startswith("Do not ")
    few = answered("better", new, any_, verdict="too few")
    assert _sentence(few, beyond(-0.01, alone=0.97)) == few.sentence


def test_what_groups_say_beyond_the_risk_decides_what_is_warned_of():
    """Groups that are the outcome with noise: held-out gain .025 (.012 to .039)."""
    open_ = answered("undecided", "undecided", "undecided", verdict="undecided")
    said = _sentence(open_, beyond(0.012))
    assert said.startswith("The groups say more about the outcome than the risk without them")
    assert "+0.0250 (+0.0120 to +0.0390)" in said
    (warning,) = _warnings(open_.table, beyond(0.012), assignment(0.01))
    assert "the outcome was known when they were made" in warning
    assert not _warnings(open_.table, beyond(0.012), assignment(0.95))  # columns tell them
    assert not _warnings(open_.table, beyond(-0.01), assignment(0.01))
    assert _sentence(open_, beyond(-0.01)) == open_.sentence


def audited(tmp_path, frame):
    frame.to_csv(tmp_path / "t.csv", index=False)
    answer = audit_table(
        inferred(tmp_path / "t.csv", site="phenotype"),
        "phenotype",
        tmp_path / "page.html",
        TableRun(lambda line: None, command="deepcac <i>", jobs=1, resamples=5, trials=2),
    )
    return answer, (tmp_path / "page.html").read_text().replace("−", "-")


@pytest.mark.usefixtures("few_trials")
def test_planted_subtypes_help_logistic_regression_and_can_be_assigned(tmp_path):
    answer, page = audited(tmp_path, patients())
    assert re.match(r"The groups help.* logistic regression", answer)
    assert "can be read" in answer
    events = patients().died.value_counts().min()
    assert f"vents</dt><dd>{events}</dd>" in page
    assert re.search(
        r"Best model without the groups</dt><dd>\w+.*Training rows</dt><dd>225<", page, re.S
    )
    assert (
        page.index(answer.splitlines()[0]) < page.index("<figure") < page.index('id="table-groups"')
    )
    assert "&lt;b&gt;hot" in page
    assert "<b>hot" not in page


@pytest.mark.usefixtures("few_contenders")
def test_groups_made_with_the_outcome_are_told(tmp_path):
    frame = patients()
    rng = np.random.default_rng(1)
    frame["died"] = rng.integers(0, 2, 400)
    made = np.where(rng.random(400) < 0.7, frame.died, rng.integers(0, 2, 400))
    answer, page = audited(tmp_path, frame.assign(phenotype=made))
    assert re.search("no gain once they .* other columns", answer)
    assert "cannot be read" in answer
    assert "outcome known" in page


@pytest.mark.parametrize(
    ("groups", "line"),
    [
        ("stage", "no column 'stage'"),
        ("died", "column 'died' "),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(tmp_path, groups, line, monkeypatch):
    monkeypatch.chdir(tmp_path)
    patients(60).to_csv("t.csv", index=False)
    asked = ["audit", "t.csv", "--label", "died", "--groups", groups]
    done = CliRunner().invoke(app, asked)
    assert isinstance(done.exception, DeepCACError)
    assert re.fullmatch(f"{re.escape(line)}.*", str(done.exception))
    assert not (tmp_path / "audit.html").exists()
