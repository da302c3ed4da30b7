"""Subgroups at other places and at a horizon: the plain definitions, and the pages."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from deepcac.scoring.bootstrap import poisson_weights
from deepcac.scoring.censored import FollowUp
from deepcac.scoring.resampled_scores import AUROC, RATIO, SLOPE, Patients, estimate
from deepcac.scoring.small_cells import round_count
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.columns.roles import Roles
from deepcac.table.comparing import compare_table
from deepcac.table.elsewhere.comparing_places import compare_places
from deepcac.table.pages.risk_section import RiskQuestions
from deepcac.table.pages.subgroup_risks import (
    BENEFIT,
    CHANGE,
    JudgedPart,
    scores_of,
    subgroup_lines,
)

HORIZON, T = 2.0, 0.3


def censored_weights(time, event, counts):
    """How many patients each one stands for, one by one: 1 / G just before the event or horizon."""
    weights = []
    for moment, ended in zip(time, event, strict=True):
        if moment < HORIZON and not ended:
            weights.append(0.0)
            continue
        left = 1.0
        for s in np.unique(time[~event]):
            if s < min(moment, HORIZON):
                at_risk = counts[(time > s) | ((time == s) & ~event)].sum()
                lost = counts[(time == s) & ~event].sum()
                left *= 1 - (lost / at_risk if at_risk else 0.0)
        weights.append(1 / max(left, 1 / max(counts.sum(), 1)))
    return np.array(weights) * counts


@pytest.fixture(params=["once", "horizon"])
def parts(request):
    """Return two parts of 60 and 40 patients, judged by two models each."""
    rng = np.random.default_rng(3)
    parts = []
    for rows in (np.arange(60), np.arange(60, 100)):
        odds = rng.normal(-0.4, 1.2, len(rows))
        follow = None
        y = (rng.random(len(rows)) < 1 / (1 + np.exp(-odds))).astype(np.int64)
        if request.param == "horizon":
            time = rng.exponential(3, len(rows)).round(2)
            follow = FollowUp(time, rng.random(len(rows)) < 0.6, HORIZON)
            y = follow.outcome
        risk, other = (1 / (1 + np.exp(-odds - rng.normal(0, 0.5, len(rows)))) for _ in range(2))
        parts.append(JudgedPart(rows, Patients(y, risk, follow), other))
    return parts


def plain_scores(parts, counts):
    """The scores of all parts by their definitions, under one draw."""
    aurocs, y, risk, weight, everyone, benefit = [], [], [], [], [], 0.0
    for part, n in zip(parts, counts, strict=True):
        whom = part.patients
        treated = whom.risk >= T

        def weigh(rows, whom=whom, n=n):
            if whom.follow is None:
                return n[rows].astype(float)
            return censored_weights(whom.follow.time[rows], whom.follow.event[rows], n[rows])

        w = weigh(np.ones(len(n), bool))
        aurocs.append(
            [roc_auc_score(whom.y, r, sample_weight=w) for r in (whom.risk, part.clustered)]
        )
        events = (whom.y[treated] * weigh(treated)).sum()
        benefit += events - (n[treated].sum() - events) * T / (1 - T)
        for column, values in zip(
            (y, risk, weight, everyone), (whom.y, whom.risk, w, n), strict=True
        ):
            column.append(values)
    y, risk, weight, everyone = map(np.concatenate, (y, risk, weight, everyone))
    odds = np.log(risk / (1 - risk))

    def loss(ab):
        at = ab[0] + ab[1] * odds
        return (weight * (np.logaddexp(0, at) - y * at)).sum()

    without, with_ = np.mean(aurocs, axis=0)
    return {
        AUROC: without,
        CHANGE: with_ - without,
        RATIO: (weight * y).sum() / (everyone * risk).sum(),
        SLOPE: minimize(loss, [0.0, 1.0], tol=1e-12).x[1],
        BENEFIT: 1000 * benefit / everyone.sum(),
    }


def test_scores_of_a_subgroup_are_their_plain_definitions_in_every_draw(parts):
    weights = poisson_weights(100, 4)
    weights[:, 0] = 1
    draws = [weights[judged.rows] for judged in parts]
    made = scores_of(parts, draws, T)
    for j in range(4):
        wanted = plain_scores(parts, [d[:, j] for d in draws])
        for name, value in wanted.items():
            assert made[name][j] == pytest.approx(value, rel=1e-4, abs=1e-5), (name, j)


def cohort(n=100):
    sex = np.where(np.arange(n) % 2, "m", "f")
    ward = np.where(np.arange(n) < n - 3, "a", "b")
    rows = pa.table({"sex": sex, "ward": ward, "site": np.where(np.arange(n) < 60, "x", "y")})
    label = (np.arange(n) % 4 < 2).astype(np.int64)
    encoder = SimpleNamespace(places={}, used=())
    features = SimpleNamespace(label=label, row_id=np.arange(n), X=np.zeros((n, 0)))
    return SimpleNamespace(rows=rows, encoder=encoder, features=features, group=None, follow=None)


def test_a_subgroup_of_few_is_not_named_and_the_others_are_rounded(parts):
    table = cohort()
    lines = subgroup_lines(table, parts, ["sex", "ward"], T)
    assert lines["few"] == "ward (a level of few rows)"
    assert [row[:3] for row in lines["rows"]] == [
        ("sex f", "50", "25"), ("sex m", "50", "25"), ("ward a", "95", "50"),
    ]  # fmt: skip
    (gaps,) = lines["gap_rows"]
    assert gaps[0] == "sex m – f"
    women, men = (float(row[3].split()[0]) for row in lines["rows"][:2])
    assert float(gaps[1].split()[0]) == pytest.approx(men - women, abs=0.0011)
    assert all(re.search(r" to .*\), p ", cell) for cell in gaps[1:4])


def test_patients_of_unknown_outcome_are_not_counted_as_without_the_event():
    """Of men 25 had the event and nobody else was followed to the horizon: nothing to rank."""
    table, rows = cohort(), np.arange(100)
    event = table.features.label == 1
    time = np.where(event, 1.0, np.where(rows % 2, 0.5, 3.0))
    follow = FollowUp(time, event, HORIZON)
    risk = np.linspace(0.1, 0.9, 100)
    part = JudgedPart(rows, Patients(follow.outcome, risk, follow), risk)
    table.follow = follow
    assert part.take(rows % 2 == 0).rankable
    assert not part.take(rows % 2 == 1).rankable
    lines = subgroup_lines(table, [part], ["sex"], T)
    assert [row[:3] for row in lines["rows"]] == [("sex f", "50", "25")]
    assert lines["few"] == "sex m"


def test_a_draw_of_one_outcome_has_no_ratio_and_no_slope():
    y, risk = np.repeat([0, 1], 20), np.linspace(0.1, 0.9, 40)
    part = JudgedPart(np.arange(40), Patients(y, risk), risk)
    draws = np.column_stack([np.ones(40, np.uint8), 1 - y, y]).astype(np.uint8)
    scores = scores_of([part], [draws], T)
    for name in (AUROC, RATIO, SLOPE):
        assert np.isnan(scores[name]).tolist() == [False, True, True]


def test_one_draw_that_is_ranked_perfectly_does_not_make_an_interval_of_everything():
    rng = np.random.default_rng(0)
    y, odds = np.arange(40) % 2, rng.normal(size=40) + 0.5 * (np.arange(40) % 2)
    risk = 1 / (1 + np.exp(-odds))
    part = JudgedPart(np.arange(40), Patients(y, risk), risk)
    draws = np.hstack([np.ones((40, 1), np.uint8), poisson_weights(40, 200)])
    usual = scores_of([part], [draws], T)
    draws[:, 1] = np.where(y == 1, odds > 1, odds < 0)
    scores = scores_of([part], [draws], T)
    assert 0.95 < scores[AUROC][1] < 1
    assert np.flatnonzero(np.isnan(scores[SLOPE])).tolist() == [1]
    for name in (AUROC, SLOPE):
        errors = [estimate(name, of[name][0], of[name][1:]).error for of in (usual, scores)]
        assert errors[1] == pytest.approx(errors[0], rel=0.25)


def patients(n, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["age", "urea"]).round(4)
    frame["sex"] = rng.choice(["f", "m"], n)
    frame["hospital"] = rng.choice(["north", "south"], n)
    event = rng.exponential(500 * np.exp(-frame.age))
    end = rng.exponential(900, n)
    frame["days"] = np.minimum(event, end).round(2)
    return frame.assign(died=np.where(event <= end, "yes", "no"))


def shown(page):
    table = re.search(r'id="table-subgroups".*?</table>', page.read_text(), re.S)[0]
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in table.split("<tr>")[2:]]
    return {row[0]: row[1:] for row in rows}


def wanted(frame, event):
    return {
        f"sex {sex}": [f"{round_count(n):.0f}" for n in (len(rows), event[rows.index].sum())]
        for sex, rows in frame.groupby("sex")
    }


def test_compare_by_a_column_at_other_sites_and_on_a_second_table(tmp_path):
    first, second = patients(300, 1), patients(200, 2)
    for name, frame in (("a", first), ("b", second)):
        frame.drop(columns="days").to_csv(tmp_path / f"{name}.csv", index=False)
    ask = RiskQuestions(by=("sex",))
    options = {"run": TableRun(lambda line: None, jobs=1), "asked": ask}
    page = tmp_path / "p.html"
    compare_places(tmp_path / "a.csv", Roles("died"), page, site="hospital", **options)
    rows = shown(page)
    assert {name: row[:2] for name, row in rows.items()} == wanted(first, first.died == "yes")
    compare_places(
        tmp_path / "a.csv", Roles("died"), page, external=[tmp_path / "b.csv"], **options
    )
    rows = shown(page)
    assert {name: row[:2] for name, row in rows.items()} == wanted(second, second.died == "yes")
    assert all(re.match(r"0\.\d{3} \(0\.\d{3} to [01]\.\d{3}\)", row[2]) for row in rows.values())


def test_compare_by_a_column_and_with_thresholds_at_a_horizon(tmp_path):
    frame = patients(240, 3).drop(columns="hospital")
    frame.to_csv(tmp_path / "a.csv", index=False)
    page = tmp_path / "p.html"
    compare_table(
        tmp_path / "a.csv",
        Roles("died", time="days", horizon=365.0),
        page,
        TableRun(lambda line: None, resamples=5, command="", jobs=1),
        asked=RiskQuestions((0.1, 0.5), ("sex",)),
    )
    rows = shown(page)
    by = (frame.died == "yes") & (frame.days <= 365)
    for name, (n, events) in wanted(frame, by).items():
        assert int(rows[name][0]) <= int(n)  # of those in a test part
        assert int(rows[name][1]) <= int(events)
    assert "treating from 10 % on" in page.read_text()
    assert '<th scope="col">at 20 %</th>' in page.read_text()
