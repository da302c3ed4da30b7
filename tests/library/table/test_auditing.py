"""Groups of a column: use, assignment, risk; groups made with the outcome; one-line errors."""

import re
from collections import Counter

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
from deepcac.table.audit.auditing import UNNAMED, audit_table, group_lines, shown_lines
from deepcac.table.audit.beyond_risk import BeyondRisk, _rates, likelihood_ratio
from deepcac.table.audit.group_answer import _assigned, _gain, _use, _warnings
from deepcac.table.audit.group_column import ABSENT, Assignable, Groups, assignable, read_groups
from deepcac.table.audit.group_contenders import (
    ANY,
    CONTROLS,
    FORCED,
    GIVEN,
    HELP,
    KMEANS,
    NEGATIVE,
    NEW,
    PARTITIONS,
    SHUFFLED,
    GroupFit,
    group_contenders,
    group_pairs,
    matched_cells,
)
from deepcac.table.budgeted_trials import TableRun, booster
from deepcac.table.commands import app
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
    risk = np.full((400, 2), 0.5)
    lines, event = group_lines(groups, table.features.label, risk)
    assert event == 1
    assert lines[-1].name == UNNAMED
    assert "secret" not in str(lines)
    cells = shown_lines(lines, 400)
    assert [row.count("withheld") for row in cells] == [0, 0, 1, 4]  # no tenths of 20 risks


def test_an_interval_of_a_share_counts_patients_and_not_their_rows():
    code, y, patient = np.repeat([0, 1], 100), np.arange(200) // 2 % 2, np.arange(200) // 2
    groups = Groups("g", ("a", "b"), np.arange(200), code)
    risk = np.full((200, 2), 0.5)
    (rows, *_), _ = group_lines(groups, y, risk)
    (patients_, *_), _ = group_lines(groups, y, risk, unit=patient)
    ends = wilson(np.array([0.5]), np.array([50]))
    assert patients_.rate.under(OTHERS)[1:] == pytest.approx(np.concatenate(ends))
    assert rows.rate.under(OTHERS)[2] < patients_.rate.under(OTHERS)[2]


def test_an_interval_does_not_tell_that_a_group_is_of_few_patients():
    """Of 20 rows of two patients Wilson's interval goes from 9 % to 91 %, as of two."""
    code = np.repeat([0, 1, 2], [60, 20, 60])
    patient = np.concatenate([np.arange(60), np.repeat([60, 61], 10), np.arange(62, 122)])
    groups = Groups("g", ("a", "b", "c"), np.arange(140), code)
    of = groups, np.arange(140) % 2, np.full((140, 2), 0.5)
    assert not any(line.hidden() for line in group_lines(*of)[0])
    lines, _ = group_lines(*of, unit=patient)
    assert {line.name: line.hidden() for line in lines}["b"]
    assert sum(line.hidden() for line in lines) == 1
    assert not any(line.hidden(OWNER) for line in lines)


def test_a_range_of_risks_is_shown_where_eight_rows_lie_beyond_each_end():
    sizes = (90, 80, 79)
    code = np.repeat(np.arange(3), sizes)
    y = np.zeros(len(code), dtype=np.int64)
    risk = np.linspace(0.1, 0.5, len(code))
    groups = Groups("g", ("a", "b", "c"), np.arange(len(code)), code)
    lines, _ = group_lines(groups, y, np.column_stack([1 - risk, risk]))
    assert [one.hidden() for one in lines] == [False, False, False]
    ranges = [row[-1] for row in shown_lines(lines, len(code))]
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
    made = GroupFit(type(groups)("phenotype", (*groups.names, "new"), groups.row_id, lonely))
    for one in group_contenders(3):
        answer = made(one, one.trials(1)[0], sample)(sample.test)
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
    assert found.agreement_by_chance < 0.1
    assert "index is 0.00 (" in _assigned(found._replace(agreement=-0.003))  # no minus


def test_the_likelihood_ratio_is_that_of_statsmodels():
    rng = np.random.default_rng(3)
    n = 400
    odds = rng.normal(size=n) * 1.3 - 1
    rng.random(n)
    group = rng.integers(0, 4, n)
    y = (rng.random(n) < 1 / (1 + np.exp(-(odds + 0.5 * (group == 2))))).astype(int)
    chi2, freedom, p = likelihood_ratio(y, odds[:, None], np.eye(4)[group][:, 1:])
    # statsmodels 0.15.0, twice the difference of Logit's llf.
    assert chi2 == pytest.approx(6.845196315899159, abs=1e-3)
    assert freedom == 3
    assert p == pytest.approx(0.07699903477111075, abs=1e-4)


def test_one_group_says_nothing_beyond_the_risk():
    odds, y = np.linspace(-2, 2, 40)[:, None], np.arange(40) % 2
    assert likelihood_ratio(y, odds, np.empty((40, 0)))[1:] == (0, 1.0)


def test_groups_alone_are_scored_on_rows_they_did_not_learn_from():
    y = np.array([0, 1] * 30)
    own = np.arange(60)  # a group each: on other rows nothing is known of it
    fold = np.arange(60) // 2 % 5
    rates = _rates(own, y, fold, np.ones(60))
    assert np.allclose(rates, 0.5)
    assert roc_auc_score(y, _rates(y, y, fold, np.ones(60))[:, 1]) == 1.0


@pytest.mark.parametrize(("best", "start"), [("better", "Yes: "), ("undecided", "The groups help")])
def test_the_gain_of_the_best_model_is_told_before_a_larger_one_of_a_weaker(best, start):
    """The weaker model gains .08 and stays behind the other one, with groups and without."""
    both = pd.DataFrame(
        {
            "contender": [f"{GIVEN}-column_lr", f"{GIVEN}-column_hgb"],
            "reference": ["lr", "hgb"],
            "reference_score": [0.70, 0.85],
            "score": [0.78, 0.87],
            "mean": [0.08, 0.02],
            "low": [0.05, 0.01],
            "high": [0.11, 0.03],
            "verdict": ["better", best],
        }
    )
    families = [both.assign(question=one.id, metric="auroc") for one in (HELP, NEW, ANY)]
    controls = families[2].assign(verdict="better")
    whole = pd.concat([*families[:2], controls], ignore_index=True)
    said = _gain(whole, families[0], "hgb")
    assert said.startswith(start)
    assert ("boosted trees" in said) == (best == "better")
    # Were logistic regression the best on the validation rows, the gain would be its own.
    assert _gain(whole, families[0], "lr").startswith("Yes: the groups help, +0.080")


def undecided(excluded):
    """Return comparisons in which nothing is decided, and groups that must be used."""
    one = pd.DataFrame(
        {
            "contender": [f"{GIVEN}-column_lr"],
            "reference_score": [0.8],
            "mean": [0.001],
            "metric": ["auroc"],
            "high": [0.0234],
            "p_gain_excluded_holm": [0.01 if excluded else 0.3],
            "verdict": ["never chosen" if excluded is not None else "undecided"],
        }
    )
    return pd.concat([one.assign(question=each.id) for each in (HELP, FORCED)], ignore_index=True)


def beyond(low, chi2=53.0):
    return BeyondRisk(np.zeros((2, 2)), 0.8, 0.7, chi2, 1, 1e-12, 0.025, low, 0.039, 0.1)


def assignment(agreement):
    return Assignable(0.5, agreement, 0.5, 0.0, 0.5)


def test_the_strongest_test_decides_what_is_warned_of():
    """Groups that are the outcome with noise: chi2 53, held-out gain .025 (.012 to .039)."""
    said = _use(undecided(None), (200, "events"), beyond(0.012), cut=False, best="lr")
    assert "+0.0250, 95 % interval +0.0120 to +0.0390" in said
    (warning,) = _warnings(undecided(None), beyond(0.012), assignment(0.01))
    assert "chi2 53 with 1 degrees of freedom" in warning
    assert not _warnings(undecided(None), beyond(0.012), assignment(0.95))  # columns tell them
    assert not _warnings(undecided(None), beyond(-0.01), assignment(0.01))
    said = _use(undecided(None), (200, "events"), beyond(-0.01), cut=False, best="lr")
    assert "no gain: 1 of 1" in said


def test_groups_that_were_never_chosen_get_a_firm_no_only_from_a_test_that_excludes_a_gain():
    firm = _use(undecided(True), (200, "events"), beyond(-0.01), cut=False, best="lr")
    assert firm.startswith("No: ")
    open_ = _use(undecided(False), (200, "events"), beyond(-0.01), cut=False, best="lr")
    assert re.search(r"^No gain .*\(1 never chosen\); .*0\.023", open_)


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
    assert re.match(r"(Yes: t|T)he groups help.* for logistic regression", answer)
    assert "can be read" in answer.splitlines()[-1]
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


def test_groups_that_are_nearly_the_label_are_not_to_be_used():
    said = _use(
        undecided(None), (200, "events"), beyond(0.1)._replace(alone=0.99), cut=False, best="lr"
    )
    assert said.startswith("Do not use")
    assert "0.99" in said


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
