"""Sites left out and a second table: who is learnt from, differences, words, one-line errors."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from described_tables import describe, inferred, use_of
from scipy import stats
from scipy.special import expit, logit
from sklearn.metrics import roc_auc_score
from typer.testing import CliRunner

from deepcac.errors import ConfigError, DataError, DeepCACError
from deepcac.judging.contenders import Contender
from deepcac.scoring.bootstrap import poisson_weights
from deepcac.scoring.censored import FollowUp, observed_risk
from deepcac.scoring.random_effects import pool_sites
from deepcac.scoring.resampled_scores import AUROC, RATIO, SLOPE, Estimate
from deepcac.scoring.small_cells import OTHERS
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.columns.described_rows import as_yaml
from deepcac.table.command_line.command_options import TableOptions
from deepcac.table.commands import app
from deepcac.table.elsewhere.comparing_places import compare_places
from deepcac.table.elsewhere.fold_trials import (
    BEST,
    Compared,
    FoldResult,
    evaluate_fold,
    mean_aurocs,
)
from deepcac.table.elsewhere.folds import _shift_warnings, external_rows, left_out, site_folds
from deepcac.table.elsewhere.place_answer import answer_places, compared_places, over_places
from deepcac.table.elsewhere.place_page import _comparisons, _cut
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.pages.page_sections import page_names, page_text
from deepcac.table.pages.risk_section import RiskQuestions
from deepcac.table.pages.score_tables import POOLED, Place, pool_places


def patients(n=400, seed=0, shift=0.0):
    """Synthetic patients of four hospitals, two rows each."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["age", "urea", "lactate"]).round(4)
    died = rng.random(n) < 1 / (1 + np.exp(-(frame.age * 1.2 - 0.5 + shift)))
    frame["sex"] = rng.choice(["f", "m"], n)
    frame["hospital"] = rng.choice(["north", "south", "<b>east", "west"], n, p=[0.4, 0.3, 0.2, 0.1])
    frame["patient"] = np.arange(n) // 2
    frame["visit"] = np.arange(n)
    return frame.assign(died=np.where(died, "yes", "no"))


def read(tmp_path, frame, site=True, name="a.csv", **lines):
    path = tmp_path / name
    frame.to_csv(path, index=False)
    return read_labelled(inferred(path, site="hospital" if site else None, **lines))


def test_the_site_is_no_feature_and_nobody_is_learnt_from_and_judged(tmp_path):
    frame = patients()
    table = read(tmp_path, frame, patient="patient", leave_out=["visit"])
    assert not any("hospital" in name for name in table.features.names)
    folds, remarks = site_folds(table)
    assert [one.name for one in folds] == frame.hospital.value_counts().index.tolist()
    assert "several sites" in remarks[-1]
    for fold in folds:
        assert (frame.hospital[fold.test] == fold.name).all()
        assert (frame.hospital[fold.fit] != fold.name).all()
        sample = fold.sample(0, 10_000)
        seen = [set(rows.unit) for rows in (sample.train, sample.validation, sample.test)]
        assert not (seen[0] & seen[1])
        assert not (seen[0] & seen[2])
        assert not (seen[1] & seen[2])
        assert len(sample.train) + len(sample.validation) == len(fold.fit)
        assert len(fold.sample(0, 60).train) == 60


def test_small_sites_are_learnt_from_and_not_named(tmp_path):
    frame = patients()
    frame.loc[:2, "hospital"] = "tiny"
    frame.loc[3:12, "hospital"] = "small"
    folds, (remark, *_) = site_folds(read(tmp_path, frame))
    assert len(folds) == 4
    assert "small" in remark
    assert "tiny" not in remark
    assert "1 of fewer than 8 rows" in remark


@pytest.mark.parametrize(
    ("values", "line"),
    [
        (["x"] * 400, "two sites"),
        ([None, *["x", "y"] * 199, "x"], "data row 1: no site"),
        (np.arange(400).astype(str), "400 sites .* 10 rows"),
    ],
)
def test_a_site_column_that_is_none(tmp_path, values, line):
    table = read(tmp_path, patients().assign(hospital=values))
    with pytest.raises(DataError, match=line):
        site_folds(table)


def test_sites_that_share_all_patients_leave_nobody_to_learn_from(tmp_path):
    frame = patients().assign(hospital=np.tile(["a", "b"], 200))
    table = read(tmp_path, frame, patient="patient", leave_out=["visit"])
    with pytest.raises(DataError, match="another column"):
        site_folds(table)


def delong(y, a, b):
    """Standard error of a difference in AUROC (DeLong et al. 1988), by all pairs."""
    above = [np.where(s[y == 1][:, None] > s[y == 0], 1.0, 0.0) for s in (a, b)]
    cases, controls = ([one.mean(axis=axis) for one in above] for axis in (1, 0))
    spread = sum(
        np.var(own[0] - own[1], ddof=1) / len(own[0]) for own in (cases, controls)
    )  # fmt: skip
    return above[0].mean() - above[1].mean(), np.sqrt(spread)


def test_the_bootstrap_error_is_that_of_delong():
    rng = np.random.default_rng(1)
    y = (rng.random(800) < 0.3).astype(np.int64)
    a, b = (stats.norm.cdf(y + rng.normal(size=800)) for _ in range(2))
    risks = [np.column_stack([1 - s, s]) for s in (a, b)]
    mean, error = delong(y, a, b)
    draws = poisson_weights(800, 2000)
    gap, *drawn = np.subtract(*(mean_aurocs(y, risk, draws) for risk in risks))
    assert gap == pytest.approx(mean)
    assert np.std(drawn, ddof=1) == pytest.approx(error, rel=0.06)


def test_auroc_of_three_classes_is_the_mean_of_each_against_the_others():
    rng = np.random.default_rng(2)
    y, risk = np.arange(60) % 3, rng.dirichlet([1, 1, 1], 60)
    wanted = np.mean([roc_auc_score(y == c, risk[:, c]) for c in range(3)])
    assert mean_aurocs(y, risk, np.empty((60, 0)))[0] == pytest.approx(wanted)


def test_verdicts_by_place_and_over_all():
    made = [Compared("km_lr", "lr", 0.8 + gap, 0.8, error) for gap, error in
            [(0.0, 0.002), (0.05, 0.01), (-0.05, 0.01), (0.01, 0.02), (0.0, 0.0)]]  # fmt: skip
    over = over_places("abcde", made)
    words = [place.verdict for place in over.places]
    assert words == ["equivalent", "better", "worse", "undecided", "never chosen"]
    assert over.pooled.freedom == 3  # the place where both sides are one model says nothing
    assert over.whole.verdict == "undecided"
    alone = over_places("a", made[:1])
    assert (alone.pooled, alone.whole) == (None, None)


def one_place(gap, error=0.01, counts=(60, 30)):
    pair = Compared("km_lr", "lr", 0.8 + gap, 0.8, error)
    return FoldResult("n", counts, 100, False, {BEST: pair}, "lr", Estimate(0.8, 0.7, 0.9, 0.1))


def answered(judged):
    return answer_places(judged, compared_places(judged), sites=True)


def test_one_judged_site_is_answered_by_its_own_verdict():
    found = answered([one_place(0.1)])
    assert found.sentence == "Clusters help elsewhere: in 1 of 1 sites they helped."
    assert dict(found.numbers)["Change by clusters, over all sites"].startswith("+0.100 AUROC")


def test_sites_of_fewer_than_20_events_are_no_answer():
    found = answered([one_place(0.1, counts=(60, 12))])
    assert found.sentence.startswith("Too few events")


def test_one_site_that_differs_is_not_called_the_same_risks():
    found = answered([one_place(-0.1), one_place(0.0, 0.0)])
    assert re.match("Use no clusters for now: .*1 of 2 sites .*harm", found.sentence)
    assert dict(found.numbers)["Change by clusters, over all sites"].startswith("not pooled")


def test_a_model_that_is_not_pooled_has_not_the_verdict_of_the_first_site():
    judged = [one_place(-0.1), one_place(0.0, 0.0)]
    judged = [one._replace(comparisons={**one.comparisons, "km_lr": one.comparisons[BEST]})
              for one in judged]  # fmt: skip
    (row,) = _comparisons(compared_places(judged)).texts
    assert row[1:4] == ("not pooled", "", "")
    # Another model differs in both sites and is pooled: both rows have its columns.
    pooled = over_places("ab", [Compared("cac_lr", "lr", 0.85, 0.8, 0.01)] * 2)
    rows = _comparisons({**compared_places(judged), "cac_lr": pooled}).texts
    assert [len(row) for row in rows] == [7, 7]
    assert rows[0][4:] == ("", "", "0 of 2")
    assert rows[1][6] == "2 of 2"


def external(tmp_path, a, b, **lines):
    table = read(tmp_path, a, site=False, **lines)
    b.to_csv(tmp_path / "b.csv", index=False)
    return table, external_rows(table, [tmp_path / "b.csv"], rows=20_000, seed=0)


def test_a_second_table_is_read_as_the_first_and_what_differs_is_named(tmp_path):
    a, b = (patients(n, seed).drop(columns="patient") for n, seed in ((400, 0), (200, 1)))
    b["new"] = 1.5
    b.loc[:5, "sex"] = "other"
    b.loc[6, "sex"] = "secret"
    b.loc[190:, a.columns] = a.iloc[:10].to_numpy()
    b["visit"] = [f"{visit}.0" for visit in b.visit]
    with pytest.raises(DataError, match="b.csv: column 'visit', data row 191: .* row 1"):
        external(tmp_path, a, b, id="visit", leave_out=["hospital"])
    b.loc[190:, "visit"] = [f"{visit}.0" for visit in range(190, 195)] + list("vwxyz")
    table, (fold, judged) = external(tmp_path, a, b, id="visit", leave_out=["hospital"])
    assert (len(fold.fit), len(fold.test)) == (400, 200)
    assert fold.features.label[400:].tolist() == (b.died == "yes").astype(int).tolist()
    j = table.features.names.index("age")
    np.testing.assert_array_equal(fold.features.X[400:, j], b.age.astype(float))
    text = "\n".join(judged.remarks)
    assert "are not used: new." in text
    assert "other" in text
    assert "secret" not in text
    assert "Warning: 195 ids" in text
    assert "10 of 200 rows" in text


def test_a_second_table_whose_times_or_labels_have_another_unit_is_refused(tmp_path):
    frames = [followed(400, seed).drop(columns="hospital") for seed in (0, 1)]
    frames[1]["years"] *= 12
    roles = use_of("status", time="years", horizon=5.0, competing=["2"])
    for name, frame in zip("ab", frames, strict=True):
        frame.assign(years=frame.years + 2).to_csv(tmp_path / f"{name}.csv", index=False)
    table = read_labelled(inferred(tmp_path / "a.csv", roles))
    asked = {"rows": 20_000, "seed": 0}
    with pytest.raises(DataError, match="b.csv: column 'years': .* use one unit"):
        external_rows(table, [tmp_path / "b.csv"], **asked)
    months = use_of("status", time="years", horizon=90.0, competing=["2"])
    other_way = [tmp_path / "a.csv"]
    with pytest.raises(DataError, match="a.csv: column 'years': .* use one unit"):
        external_rows(read_labelled(inferred(tmp_path / "b.csv", months)), other_way, **asked)
    again = left_out("again", table.features, np.arange(400) < 200, None, table.follow)
    assert _shift_warnings(table, [again]) == []
    follow = replace(table.follow, time=table.follow.time * np.where(np.arange(400) < 200, 30, 1))
    with pytest.raises(DataError, match="follow-up time, site"):
        _shift_warnings(replace(table, follow=follow), [again])


def test_a_second_table_is_read_by_its_own_description_or_else_by_that_of_the_first(tmp_path):
    a, b = patients(), patients(200, seed=1)
    written = b.assign(age=[f"{value:.4f}".replace(".", ",") for value in b.age])
    roles = {"patient": "patient", "leave_out": ["hospital", "visit"]}
    b["patient"] = written["patient"] = [f"b{n}" for n in b.patient]
    with pytest.raises(DataError, match="b.csv: column 'age', data row 1"):
        external(tmp_path, a, written, **roles)
    description = describe(tmp_path / "b.csv", leave_out={"visit": "counts rows"})
    (tmp_path / "b.yaml").write_text(as_yaml(description.resource), encoding="utf-8")
    _, (fold, _) = external(tmp_path, a, written, **roles)
    np.testing.assert_array_equal(fold.features.X[400:, 0], b.age)


def test_a_part_of_the_first_table_is_no_other_place(tmp_path):
    a = patients().drop(columns=["patient", "visit"])
    a["lab"] = np.random.default_rng(5).normal(size=len(a)).round(4)
    with pytest.raises(DataError, match="equal to a row"):
        external(tmp_path, a, a.iloc[:300])


def test_two_further_tables_of_the_same_rows_are_not_two_places(tmp_path):
    table = read(tmp_path, patients(), site=False)
    other = patients(seed=3).drop(columns="hospital")
    paths = [tmp_path / name for name in ("one.csv", "two.csv")]
    other.to_csv(paths[0], index=False)
    other.sample(frac=0.4, random_state=0).to_csv(paths[1], index=False)
    for order in (paths, paths[::-1]):
        with pytest.raises(DataError, match="--external two: .* one "):
            external_rows(table, order, rows=1000, seed=0)


def test_patients_of_both_tables_are_not_learnt_from(tmp_path):
    drop = {"patient": "patient", "leave_out": ["visit"]}
    a, b = patients(), patients(100, seed=1).assign(patient=lambda frame: frame.patient + 190)
    _, (fold, judged) = external(tmp_path, a, b.astype({"patient": float}), **drop)  # 190.0 is 190
    assert len(fold.fit) == 400 - 20
    assert any(one.startswith("20 rows") for one in judged.remarks)


def test_a_second_table_of_the_same_patients_leaves_nobody_to_learn_from(tmp_path):
    with pytest.raises(DataError, match="the other tables"):
        external(tmp_path, patients(), patients(seed=1), patient="patient", leave_out=["visit"])


def test_a_row_of_the_second_table_without_its_patient_is_named(tmp_path):
    b = patients(200, seed=1).astype({"patient": object})
    b.loc[3, "patient"] = ""
    with pytest.raises(DataError, match="b.csv: column 'patient', data row 4"):
        external(tmp_path, patients(), b, patient="patient", leave_out=["visit"])


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda b: b.drop(columns=["age", "urea"]), r"b.csv: column 'age' .*\(and 1 more\)"),
        (lambda b: b.drop(columns="died"), "b.csv: no column 'died'"),
        (lambda b: b.assign(died=b.died.str[0]), "holds n, y; .* no, yes"),
        (lambda b: b.assign(died=["yes"] * 3 + ["no"] * 197), "'yes' .* 10 rows"),
        (lambda b: b.assign(age=["high", *b.age[1:]]), "'age', data row 1: 'high'"),
    ],
)  # fmt: skip
def test_a_second_table_that_does_not_fit(tmp_path, change, line):
    with pytest.raises(DataError, match=line) as error:
        external(tmp_path, patients(), change(patients(200, seed=1)))
    assert "\n" not in str(error.value)


def test_one_question_at_a_time(tmp_path):
    path = tmp_path / "a.csv"
    patients().to_csv(path, index=False)
    told = {"run": TableRun(print)}
    with pytest.raises(DataError, match="the same file"):
        compare_places(inferred(path), tmp_path / "o", external=[path], **told)
    with pytest.raises(ConfigError, match="the label and the site"):
        TableOptions(label="died").read(path, site="died")
    with pytest.raises(DataError, match="named twice"):
        compare_places(inferred(path), tmp_path / "o", external=["b", "b"], **told)
    with pytest.raises(DataError, match="no column 'ward'"):
        TableOptions(label="died").read(path, site="ward")


def test_rows_are_left_out_only_where_there_are_more(tmp_path, monkeypatch):
    few = [Contender("lr"), Contender("lr", "km")]
    monkeypatch.setattr("deepcac.table.elsewhere.fold_trials.contenders", lambda: few)
    fold = site_folds(read(tmp_path, patients(), leave_out=["patient", "visit"]))[0][0]
    n = len(fold.sample(0, 10_000).train)
    assert [len(fold.sample(0, n - j).train) for j in (1, 2)] == [n - 3, n - 2]
    (exact,), (part,) = (evaluate_fold(fold, 0, 1, most) for most in (n, n - 10))
    assert (exact.n_train, exact.cut) == (n, False)
    assert (part.n_train, part.cut) == (n - 10, True)
    for one, said in ((exact, False), (part, True)):
        assert ("a part of" in answered([one]).sentence) == said
        assert bool(_cut([one], n)) == said


@pytest.mark.usefixtures("few_contenders")
def test_pages_answer_first_and_hold_every_site(tmp_path):
    patients().to_csv(tmp_path / "a.csv", index=False)
    there = patients(200, seed=1, shift=1.0)
    there.to_csv(tmp_path / "b.csv", index=False)
    alive = (there.died == "no").sum()
    roles = use_of("died", patient="patient", site="hospital", leave_out=["visit"])
    told = {"run": TableRun(lambda line: None, "deepcac <i>", jobs=1)}
    out = tmp_path / "page.html"
    answer = compare_places(inferred(tmp_path / "a.csv", roles), out, **told)
    page = out.read_text().replace("−", "-")
    assert re.search(r"in \d of 4 sites ", answer)
    assert re.search(r"over all sites</dt><dd>[+-]?0\.\d{3} AUROC \(95 % interval", page)
    assert (
        f"Events in the test</dt><dd>{OTHERS.count((patients().died == 'yes').sum()):.0f}</dd>"
        in page
    )
    assert re.search(r"Training rows</dt><dd>\d+ to \d+</dd>", page)
    assert page.index(answer) < page.index("<figure") < page.index('id="table-places"')
    assert "&lt;b&gt;east" in page
    assert "<b>east" not in page
    for word in ("Hartung", "prediction interval", "logistic regression + k-means", "slope"):
        assert word in page
    part = compare_places(
        inferred(tmp_path / "a.csv", roles),
        out,
        run=replace(told["run"], train_rows=100),
    )
    assert "from a part" in part
    assert not part.startswith("Use no clusters elsewhere")
    answer = compare_places(
        inferred(tmp_path / "a.csv", roles), out, external=[tmp_path / "b.csv"], **told
    )
    page = out.read_text().replace("−", "-")
    assert answer in page
    assert "Hartung" not in page
    assert page.count("Tested on: the table b.csv") == 2
    assert "eft out: the table" not in page
    ratio = float(re.search(r"Observed / expected events ([\d.]+)", page)[1])
    assert ratio > 1.15  # planted: more die in b
    assert re.search(r": .*in b ", answer)
    assert f"Non-events in the test</dt><dd>{OTHERS.count(alive):.0f}</dd>" in page  # most die in b


def test_a_page_names_the_sites_in_its_warnings_as_in_its_tables():
    table = SimpleNamespace(columns=[], classes=(), words=(), label="died")
    warning = "Warning: column 'died', site 'north': 20 % of the rows have levels of no other site"
    assert page_text(warning, page_names(table, "north")) == warning
    assert "'north'" not in page_text(warning, page_names(table))


def test_a_mistake_is_one_line_and_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    patients(100).to_csv("a.csv", index=False)
    asked = ["compare", "a.csv", "--label", "died", "--external", "none.csv"]
    done = CliRunner().invoke(app, asked)
    assert isinstance(done.exception, DeepCACError)
    assert str(done.exception).startswith("none.csv")
    assert not (tmp_path / "compare.html").exists()


def followed(n, seed, shift=0.0):
    """Synthetic patients with follow-up; a third leave early, some die of something else first."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["age", "urea"]).round(4)
    event = rng.exponential(6 * np.exp(-frame.age - shift))
    other, end = rng.exponential(15, n), rng.exponential(12, n)
    first = np.minimum(np.minimum(event, other), end)
    frame["years"] = first.round(5)
    frame["hospital"] = rng.choice(["north", "south", "west"], n)
    return frame.assign(status=np.select([first == event, first == other], [1, 2], 0))


def of_page(page, table, row):
    """Return the cells of a row of a table of a page."""
    body = page[page.index(f'id="table-{table}"') :]
    rows = re.findall(r"<tr>(.*?)</tr>", body[: body.index("</table>")], re.DOTALL)
    cells = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", one, re.DOTALL) for one in rows]
    return next(one for one in cells if one[0] == row)


@pytest.fixture
def few_contenders(monkeypatch):
    few = [Contender("lr"), Contender("lr", "km")]
    monkeypatch.setattr("deepcac.table.elsewhere.fold_trials.contenders", lambda: few)


@pytest.mark.usefixtures("few_contenders")
@pytest.mark.parametrize("places", ["site", "external"])
def test_three_classes_are_judged_by_their_mean_auroc(tmp_path, places):
    for seed, name in enumerate("ab"):
        frame = patients(300, seed=seed).drop(columns=["patient", "visit", "died"])
        frame["grade"] = pd.cut(frame.age, [-9, -0.5, 0.5, 9], labels=["low", "mid", "high"])
        frame["age"] += np.random.default_rng(seed).normal(size=300)
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    table = inferred(tmp_path / "a.csv", "grade", site="hospital")
    external = [tmp_path / "b.csv"] if places == "external" else []
    out, run = tmp_path / "page.html", TableRun(lambda line: None, jobs=1)
    answer = compare_places(table, out, run, external=external)
    page = out.read_text().replace("−", "-")
    assert answer in page
    cells = of_page(page, "places-scores", "north" if places == "site" else "b")
    assert len(cells) == 4  # place, rows, model, AUROC
    assert 0.5 < float(cells[-1].split()[0]) < 1


@pytest.mark.usefixtures("few_contenders")
def test_several_tables_at_a_horizon_with_competing_events(tmp_path):
    told = {"run": TableRun(lambda line: None, "deepcac", jobs=1)}
    roles = use_of("status", time="years", horizon=5.0, competing=["2"], leave_out=["hospital"])
    for name, seed, shift in (("a", 0, 0.0), ("b", 1, 0.0), ("c", 2, 0.8), ("d", 3, 0.4)):
        followed(300, seed, shift).to_csv(tmp_path / f"{name}.csv", index=False)
    others = [tmp_path / f"{name}.csv" for name in "bcd"]
    answer = compare_places(inferred(tmp_path / "a.csv", roles), tmp_path / "o.html", external=others,
                            asked=RiskQuestions((0.1, 0.5)), **told)  # fmt: skip
    page = (tmp_path / "o.html").read_text().replace("−", "-")
    assert "of 3 sites" in answer
    assert "competing event" in page
    assert "&#39;2&#39; in" in page  # the page names the competing event
    ratios = {}
    for name, seed, shift in (("b", 1, 0.0), ("c", 2, 0.8), ("d", 3, 0.4)):
        cells = of_page(page, "places-scores", name)
        ratios[name] = float(cells[4].split()[0])
        assert int(cells[1]) == 300
        own = followed(300, seed, shift)
        follow = FollowUp(
            own.years.to_numpy(), own.status.to_numpy() == 1, 5.0, own.status.to_numpy() == 2
        )
        assert int(cells[2]) == OTHERS.count(follow.outcome.sum())
        share = observed_risk(follow)[0]
        assert 1000 * (share - (1 - share) / 9) == pytest.approx(
            float(benefit_of(page, name, "10 %")[-2].split()[0]), abs=0.06
        )
    assert ratios["b"] < ratios["d"] < ratios["c"]  # as planted
    assert "all sites, pooled" not in page  # of three


def benefit_of(page, place, threshold):
    """Return the net benefits of a place from a threshold on."""
    body = page[page.index('id="table-benefits"') :]
    rows = re.findall(r"<tr>(.*?)</tr>", body[: body.index("</table>")], re.DOTALL)
    cells = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", one, re.DOTALL) for one in rows]
    return next(one[2:] for one in cells if one[:2] == [place, threshold])


@pytest.mark.usefixtures("few_contenders")
def test_sites_at_a_horizon_and_a_second_table_without_follow_up(tmp_path):
    frame = followed(450, 0)
    frame.to_csv(tmp_path / "a.csv", index=False)
    told = {"run": TableRun(lambda line: None, "deepcac", jobs=1)}
    roles = use_of("status", time="years", horizon=5.0, competing=["2"], site="hospital")
    answer = compare_places(inferred(tmp_path / "a.csv", roles), tmp_path / "o.html", **told)
    assert "of 3 sites" in answer
    page = (tmp_path / "o.html").read_text()
    assert (
        sum(int(of_page(page, "places-scores", one)[1]) for one in ("north", "south", "west"))
        == 450
    )
    short = frame.assign(years=frame.years.clip(upper=4))
    short.to_csv(tmp_path / "b.csv", index=False)
    roles = use_of("status", time="years", horizon=5.0, competing=["2"], leave_out=["hospital"])
    with pytest.raises(DataError, match="b.csv: column 'years': fewer than 20 patients are fol"):
        compare_places(
            inferred(tmp_path / "a.csv", roles),
            tmp_path / "o.html",
            external=[tmp_path / "b.csv"],
            **told,
        )


@pytest.mark.parametrize(
    ("score", "values", "scale", "back"),
    [
        (RATIO, [0.8, 1.0, 1.5, 1.1, 0.9], np.log, np.exp),
        (AUROC, [0.7, 0.75, 0.9, 0.8, 0.72], logit, expit),
        (SLOPE, [0.7, 0.75, 1.4, 0.8, 1.1], np.array, np.array),
    ],
)
def test_pooled_score_is_the_random_effects_mean_on_its_scale(score, values, scale, back):
    errors = [0.1, 0.2, 0.1, 0.1, 0.2]
    others = {name: Estimate(0.9, 0.8, 0.95, 0.1) for name in POOLED}
    places = {
        str(value): Place(None, others | {score: Estimate(value, value, value, error)}, {})
        for value, error in zip(values, errors, strict=True)
    }
    found = pool_places(places)[score]
    pooled = pool_sites(scale(values), errors)
    over, new = found
    assert over.mean == new.mean == pytest.approx(back(pooled.mean))
    assert new.high == pytest.approx(back(pooled.new_high))
    half = stats.t.ppf(0.975, pooled.freedom) * pooled.error
    assert over.low == pytest.approx(back(pooled.mean - half))
    assert pool_places(dict(list(places.items())[:4])) == {}
