"""The judge on a table of one's own: answer, subtypes, page, exit codes."""

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from described_tables import inferred
from scipy import stats
from sklearn.metrics import adjusted_rand_score, log_loss
from typer.testing import CliRunner

from deepcac import command
from deepcac.judging.choice import choose, open_to
from deepcac.judging.resamples import resamples
from deepcac.pages.sections import tables_of
from deepcac.pages.wording import minus, p_beside
from deepcac.scoring.small_cells import OTHERS, OWNER
from deepcac.table import budgeted_trials
from deepcac.table.answer import signed
from deepcac.table.budgeted_trials import TableRun, run_budgeted
from deepcac.table.cluster_answer import answer, tuned_auroc
from deepcac.table.commands import app
from deepcac.table.found_subtypes import (
    TOO_FEW,
    _subtypes,
    shown_clusterings,
    single_column,
)
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.pages.compare_page import compare_page
from deepcac.table.pages.page_sections import write_page
from deepcac.table.pages.subtype_section import _description, _values


def planted_table(n=400, seed=0):
    """Synthetic patients: two subtypes, far apart, whose risk factors point opposite ways."""
    rng = np.random.default_rng(seed)
    subtype = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 6))
    X[:, :3] += 4 * subtype[:, None]
    risk = 2.5 * (2 * subtype - 1) * X[:, 4]
    died = rng.random(n) < 1 / (1 + np.exp(-risk))
    table = pd.DataFrame(X, columns=["crp", "urea", "lactate", "age", "sodium", "bmi"])
    table["sex"] = rng.choice(["f", "m"], n)
    table["patient"] = np.arange(n) // 2
    return table.assign(died=np.where(died, "yes", "no")), subtype


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "patients.csv"
    frame, subtype = planted_table()
    frame.to_csv(path, index=False)
    table = read_labelled(inferred(path, patient="patient"))
    said = []
    run = TableRun(progress=said.append, budget=0.01, trials=2, jobs=1)
    return table, run, run_budgeted(table, run), subtype, said


def test_five_resamples_are_made_however_long_they_take(judged):
    _, _, trials, _, said = judged
    assert len(trials.seeds) == budgeted_trials.FEWEST_RESAMPLES
    assert said[-1].startswith("resample 5 of 30")
    assert all(len(one.seeds) == 5 for one in trials.records.values())
    assert {one.arm for one in trials.records.values()} == {
        *("", "km", "cac", "dist", "cells", "hash")
    }


def test_planted_subtypes_help_the_linear_model_and_are_found(judged):
    table, _, trials, subtype, _ = judged
    found = answer(trials, "patients", 100)
    assert found.verdict in ("gain", "gain of the weaker model")
    assert "logistic regression" in found.sentence
    numbers = dict(found.numbers)
    assert numbers["Events"] == "100"
    survived = answer(trials, "patients", 100, rare="non-events")
    assert dict(survived.numbers)["Non-events"] == "100"
    assert int(numbers["Training rows"]) == OTHERS.count(trials.records["lr"].sizes[0]["n_train"])
    best = shown_clusterings(table, trials)[0]
    assert adjusted_rand_score(best.label, subtype) > 0.9
    assert best.stability > 0.9
    names = " ".join(one.name for one in best.subtypes)
    assert all(word in names for word in ("crp", "urea", "lactate"))
    assert [one.size for one in best.subtypes] == np.bincount(best.label).tolist()
    assert best.subtypes[0].size >= best.subtypes[1].size


def test_the_answer_is_about_the_model_that_is_named(judged):
    for best in ("lr", "lgbm"):
        named = answer(judged[2], "patients", 100, best=best)
        assert named.best == best
        assert named.clustered.endswith(best)


def test_the_interval_of_an_auroc_is_that_of_the_verdicts_on_page_and_card(judged):
    """Validation rows count as learnt from: a third as many rows are for the test."""
    trials = judged[2]
    found = answer(trials, "patients", 100)
    mean, low, high = tuned_auroc(trials, found.best)
    assert dict(found.numbers)["Its AUROC"] == f"{mean:.3f} ({low:.3f} to {high:.3f})"
    scores = choose(trials.records[found.best], "tuned", "auroc").scores
    half = stats.t.ppf(0.975, 4) * np.sqrt((1 / 5 + 1 / 3) * scores.var(ddof=1))
    assert low == pytest.approx(scores.mean() - half, abs=1e-3)


def test_the_kept_risks_are_those_of_the_chosen_trials(judged):
    _, _, trials, _, _ = judged
    kept = trials.predictions
    assert set(kept.risk) == set(trials.records)
    for name in trials.records:
        scores = choose(open_to(trials.records, name), "tuned", "log_loss").scores
        for j, score in enumerate(scores):
            own = kept.part == j
            found = log_loss(kept.y[own], kept.risk[name][own])
            assert found == pytest.approx(score, abs=1e-5), name
    assert len(set(kept.unit)) == len(set(kept.row)) / 2


def test_rows_of_a_patient_stay_together(judged):
    table, _, trials, _, _ = judged
    for one in trials.records["lr"].sizes:
        assert one["n_train"] % 2 == one["n_test"] % 2 == 0
    assert table.group.tolist() == [i // 2 for i in range(400)]


def test_the_page_needs_no_other_file_and_answers_first(judged, tmp_path):
    table, run, trials, _, _ = judged
    found = answer(trials, table.name, table.rarest)
    leaky = replace(table, leaks=("Column 'urea' <i> tells",))
    named = replace(run, command="deepcac compare <b>")
    page = compare_page(leaky, named, trials, found, shown_clusterings(table, trials))
    write_page(tmp_path / "page.html", page)
    page = (tmp_path / "page.html").read_text()
    leak = page.index("Column &#39;urea&#39; &lt;i&gt; tells")
    assert page.index(found.sentence) < leak < page.index("<figure")
    assert page.index("<figure") < page.index("<h2>Subtypes</h2>")
    assert not re.findall(r"(?:src|href)=\"(?!#|data:)", page)
    assert "deepcac compare &lt;b&gt;" in page
    for word in (
        "5 of 30 resamples",
        "k-means",
        "CAC",
        "adjusted Rand",
        "a random one",
        "candidate parameters needs at least",
        "A study that validates this model",
    ):
        assert word in page


def test_equal_clusterings_are_shown_once(judged, tmp_path):
    table, run, trials, _, _ = judged
    first = shown_clusterings(table, trials)[0]
    twice = [replace(first, arm="cac"), replace(first, arm="km")]
    write_page(
        tmp_path / "page.html",
        compare_page(
            replace(table, remarks=()),
            run,
            replace(trials, planned=5),
            answer(trials, table.name, 100),
            twice,
        ),
    )
    page = (tmp_path / "page.html").read_text()
    assert page.count('id="table-subtypes-') == 1
    assert 'id="table-subtypes-km"' in page
    assert "What to know" not in page  # there is nothing


def test_unstable_subtypes_are_not_described(judged, tmp_path):
    table, run, trials, _, _ = judged
    shaky = [replace(one, stability=0.3) for one in shown_clusterings(table, trials)]
    found = answer(trials, table.name, table.rarest)
    write_page(tmp_path / "p.html", compare_page(table, run, trials, found, shaky))
    page = (tmp_path / "p.html").read_text()
    assert "unstable" in page
    assert 'id="table-subtypes-km"' not in page


def test_a_part_of_the_training_rows_is_said_in_the_first_line(judged):
    table, _, trials, _, _ = judged
    cut = replace(trials, rows=trials.rows + 1)
    found = answer(cut, table.name, 200)
    assert "a part of" in found.sentence
    assert dict(found.numbers)["Training rows"].endswith(" (a part)")
    assert "a part of" not in answer(trials, table.name, 200).sentence


@pytest.mark.parametrize("beyond", [0, 1, 2, 5])
def test_the_limit_of_training_rows_may_be_just_below_all_of_them(tmp_path, beyond):
    pd.DataFrame({"age": np.arange(200) % 71, "three": np.arange(200) % 3}).to_csv(
        tmp_path / "t.csv", index=False
    )
    features = read_labelled(inferred(tmp_path / "t.csv", "three")).features
    (whole,) = resamples(features, 1, 1000)
    (part,) = resamples(features, 1, len(whole.train) - beyond)
    assert len(whole.train) - len(part.train) in (beyond, beyond + 3)
    assert len(part.test) == len(whole.test)


def test_differences_have_a_sign_but_zero_has_none():
    assert [signed(one) for one in (0.0123, -0.0123, -0.0004)] == ["+0.012", "-0.012", "0.000"]
    assert minus("-0.1 (-.5 to -2) p-1 --drop") == "−0.1 (−.5 to −2) p-1 --drop"


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.usefixtures("drawn")
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH")
def test_the_page_opens_in_a_browser_without_an_error(judged, tmp_path):
    table, run, trials, _, _ = judged
    clusterings = shown_clusterings(table, trials)
    found = answer(trials, table.name, table.rarest)
    write_page(tmp_path / "page.html", compare_page(table, run, trials, found, clusterings))
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom")
    line = [str(CHROMIUM), *flags, (tmp_path / "page.html").as_uri()]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=True)
    assert "CONSOLE" not in done.stderr
    assert '<html lang="en" class="js">' in done.stdout
    assert '<button type="button">model</button>' in done.stdout  # tables sort


@pytest.mark.parametrize(
    ("verdicts", "word"),
    [
        (["equivalent"] * 6, "no gain"),
        (["equivalent"] * 5 + ["worse"], "no gain"),
        (["equivalent"] * 5 + ["undecided"], "undecided"),
        (["worse"] * 5 + ["better"], "gain"),
        (["better"] + ["worse"] * 5, "gain of the weaker model"),
    ],
)
def test_the_answer_is_the_verdicts(judged, monkeypatch, verdicts, word):
    found = _answer_of(judged, monkeypatch, verdicts)
    assert found.verdict == word
    model = dict(found.numbers)["Best model without clusters"]
    assert found.sentence.startswith(f"Use {model}")
    assert ("without clusters" in found.sentence) == (word != "gain")


@pytest.mark.parametrize(("own", "rarest", "now"), [("equivalent", 200, False),
                                                    ("undecided", 200, True),
                                                    ("equivalent", 60, True)])  # fmt: skip
def test_a_gain_of_the_weaker_model_is_no_firm_no_for_the_best(
    judged, monkeypatch, own, rarest, now
):
    found = _answer_of(judged, monkeypatch, ["better", "worse", "worse", *[own] * 3], rarest)
    assert "they help the weaker" in found.sentence
    assert ("without clusters for now;" in found.sentence) == now


def test_a_weaker_model_that_gets_ahead_is_told_with_both_scores(judged, monkeypatch):
    found = _answer_of(judged, monkeypatch, ["better"] + ["worse"] * 5, score=0.999)
    assert "; its AUROC is then 0.999, that of " in found.sentence


def _answer_of(judged, monkeypatch, verdicts, rarest=200, excluded=0.01, **rows):
    """Answer with given verdicts of the comparisons of the weaker model, then of the best.

    `excluded` is the p of the test that models of two clusters or more gain the margin.
    """
    table, _, trials, _, _ = judged
    given = answer(trials, table.name, rarest)
    made = given.table
    own = made[(made["question"] == "help") & (made["metric"] == "auroc")]
    ordered = own.index[(own["reference"] == given.best).argsort(kind="stable")]
    made.loc[made["question"] == "forced", "p_gain_excluded_holm"] = excluded
    made.loc[ordered, "verdict"] = verdicts
    made.loc[ordered, ["low", "high"]] = (-0.1, 0.1)
    made.loc[ordered, "score"] = 0.5
    for name, value in rows.items():
        made.loc[ordered, name] = value
    monkeypatch.setattr("deepcac.table.cluster_answer.verdicts", lambda *a: made)
    return answer(trials, table.name, rarest)


def test_never_chosen_is_no_test_and_gives_no_firm_no(judged, monkeypatch):
    """Three never chosen and three equivalent: a firm no needs models of two clusters or more."""
    words = ["never chosen"] * 3 + ["equivalent"] * 3
    firm = _answer_of(judged, monkeypatch, words)
    assert firm.sentence.endswith("less than 0.01 AUROC.")
    open_ = _answer_of(judged, monkeypatch, words, excluded=0.06)
    assert open_.verdict == "none seen"
    rows = open_.table[open_.table["question"].isin(["help", "forced"])]
    highest = rows.loc[rows["metric"] == "auroc", "high"].max()
    assert open_.sentence.endswith(f"above {highest:.3f} AUROC.")


def test_the_answer_is_about_the_models_that_validation_rows_choose(judged, monkeypatch):
    table, _, trials, _, _ = judged
    made = answer(trials, table.name, 200)
    worse = made.table.assign(reference_score=-made.table["reference_score"])  # of the test rows
    monkeypatch.setattr("deepcac.table.cluster_answer.verdicts", lambda *a: worse)
    again = answer(trials, table.name, 200)
    assert (again.best, again.clustered) == (made.best, made.clustered)


def test_a_gain_that_the_correction_takes_away_is_called_likely(judged, monkeypatch):
    found = _answer_of(judged, monkeypatch, ["undecided"] * 6, low=[-0.1] * 5 + [0.01])
    assert found.verdict == "gain likely"
    assert "likely but not certain" in found.sentence
    weaker = _answer_of(judged, monkeypatch, ["undecided"] * 6, low=[0.01] + [-0.1] * 5)
    assert weaker.sentence.startswith("Use ")
    assert "likely but not certain" in weaker.sentence


def test_no_firm_no_from_few_events_or_a_part_of_the_training_rows(judged, monkeypatch):
    few = _answer_of(judged, monkeypatch, ["equivalent"] * 6, rarest=60)
    assert (few.verdict, "for now" in few.sentence) == ("no gain, few events", True)
    table, _, trials, *_ = judged
    cut = replace(trials, rows=trials.rows + 1)
    found = _answer_of((table, None, cut, None, None), monkeypatch, ["equivalent"] * 6)
    assert found.verdict == "no gain, cut training set"
    assert dict(found.numbers)["Training rows"].endswith("(a part)")


@pytest.mark.parametrize(("rarest", "told"), [(9, "(10)"), (19, "(20)")])
def test_too_few_events_are_no_answer(judged, rarest, told):
    found = answer(judged[2], "patients", rarest)
    assert found.verdict == "too few"
    assert found.sentence.startswith("Too few events")
    assert told in found.sentence
    assert answer(judged[2], "patients", 20).verdict != "too few"


def test_cells_of_few_patients_of_a_subtype_are_withheld(judged):
    """A subtype of three rows, two of which died, beside large ones."""
    table, trials = judged[0], judged[2]
    n = len(table.features.label)
    y = np.zeros(n, np.int64)
    y[:40], y[300:320], y[-2:] = 1, 1, 1
    planted = replace(table, features=replace(table.features, label=y))
    label = np.repeat([0, 1, 2], [200, n - 203, 3])
    one, two, few = _subtypes(np.zeros((n, 1)), label, ("x",), planted)
    assert np.isnan([rate.under(OTHERS) for rate in few.rates]).all()
    assert not np.isnan([rate.under(OTHERS) for rate in (*one.rates, *two.rates)]).any()
    assert [rate.under(OTHERS)[0] for rate in one.rates] == [0.8, 0.2]
    assert [rate.under(OWNER)[0] for rate in few.rates] == pytest.approx([1 / 3, 2 / 3])
    assert few.name == TOO_FEW
    found = shown_clusterings(table, trials)[0]
    profile = np.zeros((3, len(found.names)))
    profile[2] = np.nan
    shown = replace(found, subtypes=[one, two, few], label=label, profile=profile)
    blocks = _description(shown, table, "")
    subtypes, medians, *_ = tables_of(blocks)
    cells = [cell for row in subtypes.texts for cell in row]
    assert cells.count("withheld") == 3  # share and both outcomes; the size is of few
    assert all(row[3] == "withheld" for row in medians.texts)


def test_a_clustering_by_one_column_is_said_to_be_it(tmp_path):
    i = np.arange(60)
    one, table = halves(tmp_path, ward=np.where(i < 30, "a", np.where(i < 45, "b", "c")))
    assert single_column(table, one.label) == "ward"
    assert single_column(table, i % 2) is None
    by_size, table = halves(tmp_path, size=np.random.default_rng(0).permutation(60) / 7)
    place = table.features.names.index("size")
    high = (table.features.X[:, place] > 4).astype(np.int64)
    assert single_column(table, high) == "size"
    assert single_column(table, by_size.label) is None


def halves(tmp_path, **columns):
    """Return 60 patients with further columns, and two clusters of 30 in the order of the rows."""
    frame = planted_table(60)[0].drop(columns="patient")
    frame.assign(**columns).to_csv(tmp_path / "t.csv", index=False)
    table = read_labelled(inferred(tmp_path / "t.csv"))
    return SimpleNamespace(label=np.arange(60) // 30, subtypes=[1, 2]), table


def test_a_column_that_is_called_missing_shows_its_own_values(tmp_path):
    one, table = halves(tmp_path, crp_missing=np.arange(60) % 3 + 7.0)
    assert _values(one, table, ["crp_missing"]) == [("crp_missing", "8", "8")]


def test_values_of_few_patients_of_a_subtype_are_withheld(tmp_path):
    i = np.arange(60)
    ward = np.where(np.isin(i, [0, 1, *range(30, 36)]), "b", "a")  # two and six of 30
    lab = np.where((i < 3) | (i >= 30), i, np.nan)  # three values, and thirty
    one, table = halves(tmp_path, ward=ward, lab=lab)
    assert _values(one, table, ["ward=b", "lab"]) == [
        ("ward = b", "withheld", "withheld"),
        ("lab", "withheld", "44.5"),
    ]


def test_an_outcome_of_a_subtype_of_few_patients_with_many_rows_is_withheld(tmp_path):
    """Of 30 rows of two patients Wilson's interval is that of two."""
    one, table = halves(tmp_path)
    X, names = table.features.X, table.features.names
    i = np.arange(60)
    for group, few in ((i, False), (np.where(i < 30, i, 30 + i % 2), True)):
        described = _subtypes(X, one.label, names, replace(table, group=group))
        ends = [[rate.under(OTHERS)[1] for rate in subtype.rates] for subtype in described]
        assert np.isnan(ends).all(axis=1).tolist() == [False, few]


def test_a_users_mistake_is_one_line_and_code_2(tmp_path, monkeypatch, capsys):
    planted_table(60)[0].to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["deepcac", "compare", "t.csv", "--label", "dead"])
    with pytest.raises(SystemExit) as end:
        command.main()
    assert end.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("deepcac: no column 'dead'")


@pytest.mark.long
def test_no_number_depends_on_the_number_of_jobs(judged):
    table, run, trials, _, _ = judged
    said = []
    two = run_budgeted(table, replace(run, jobs=2, progress=said.append))
    assert two.seeds == trials.seeds
    for name, record in trials.records.items():
        assert (two.records[name].scores == record.scores).all()
        assert two.records[name].values == record.values
    assert said[-1].startswith("resample 5 of 30")


def test_a_given_number_of_resamples_is_made_whatever_the_time(judged):
    table, run, *_ = judged
    exact = run_budgeted(table, replace(run, trials=1, resamples=6))
    assert (exact.planned, exact.seeds) == (6, [0, 1, 2, 3, 4, 5])


def test_a_p_value_beside_a_verdict_lies_on_its_side():
    values = [0.0004, 0.0494, 0.04996, 0.04997, 0.05 - 1e-9, 0.05, 0.05000001, 0.0504]
    assert [p_beside(value) for value in values] == [
        *("< 0.001", "0.049", "0.04996", "0.04997", "< 0.05", "0.0500", "0.0500", "0.0504"),
    ]


@pytest.mark.usefixtures("few_contenders")
@pytest.mark.parametrize("signal", [False, True])
def test_no_model_is_recommended_that_ranks_no_better_than_chance(signal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.normal(60, 9, 200), "crp": rng.normal(10, 3, 200)})
    risk = 1 / (1 + np.exp(-(frame.age - 62) / 5)) if signal else 0.4
    frame["died"] = (rng.random(200) < risk).astype(int)
    frame.to_csv("t.csv", index=False)
    call = "compare t.csv --label died --resamples 5 --jobs 1"
    said = CliRunner().invoke(app, call.split()).output
    assert ("Use logistic regression" in said) == signal
