"""Outcomes up to a horizon: reading, weights, the page."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from described_tables import describe, inferred, use_of
from typer.testing import CliRunner

from deepcac.errors import ConfigError, DataError
from deepcac.files.declared import checked
from deepcac.judging.contenders import Contender
from deepcac.judging.predictions import predictions_of_choices, stack
from deepcac.judging.resamples import resamples
from deepcac.judging.trials import run_resample
from deepcac.pages.sections import tables_of
from deepcac.scoring.censored import (
    FollowUp,
    auroc_at,
    brier_at,
    incidence_curve,
    kaplan_meier,
    observed_risk,
)
from deepcac.scoring.resampled_scores import AUROC, BRIER, score_intervals
from deepcac.scoring.small_cells import Rate
from deepcac.table.budgeted_trials import Trials
from deepcac.table.columns.described_rows import as_yaml, description_path
from deepcac.table.columns.description import Outcome
from deepcac.table.commands import app
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.pages.page_sections import page_names, page_text
from deepcac.table.pages.subtype_section import _survival_at, survival_blocks
from deepcac.table.reading.outcomes import horizon_classes, horizon_remarks
from deepcac.table.sample_sizes import size_section

USE = use_of("died", time="days", horizon=365.0)


def followed(n=240, seed=0):
    """Synthetic patients, a third of whom leave follow-up early."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    event = rng.exponential(500 * np.exp(-X[:, 0]))
    end = rng.exponential(900, n)
    frame = pd.DataFrame(X, columns=["age", "urea", "crp"])
    return frame.assign(days=np.minimum(event, end).round(2), died=(event <= end).astype(int))


@pytest.fixture
def path(tmp_path):
    followed().to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def test_the_time_is_no_feature_and_the_label_is_the_event_by_the_horizon(path):
    table, frame = read_labelled(inferred(path, USE)), followed()
    assert table.features.names == ("age", "crp", "urea")
    by = (frame["died"] == 1) & (frame["days"] <= 365)
    assert table.features.label.tolist() == by.astype(int).tolist()
    assert table.follow.outcome_known.tolist() == (by | (frame["days"] >= 365)).tolist()
    assert any("competing event" in one for one in table.remarks)


@pytest.mark.parametrize(
    ("row", "value", "said"),
    [(3, "", "'days', data row 4: no time"), (7, "-2", "'days', data row 8: -2 is no follow-up")],
)
def test_a_time_that_is_none_names_its_row(path, row, value, said):
    frame = followed().astype({"days": object})
    frame.loc[row, "days"] = value
    frame.to_csv(path, index=False)
    with pytest.raises(DataError, match=said):
        read_labelled(inferred(path, USE))


def test_horizons_with_too_few_events_or_patients_are_refused(path):
    with pytest.raises(DataError, match="events up to 1; choose a later"):
        read_labelled(inferred(path, time="days", horizon=1.0))
    with pytest.raises(DataError, match="followed up to 90000; choose an earlier"):
        read_labelled(inferred(path, time="days", horizon=90000.0))


def test_a_table_is_divided_only_with_enough_known_outcomes_without_the_event(path):
    """Of 200 patients of unknown outcome and 30 without the event a test part may hold no 30."""
    frame = followed(300)
    frame["died"] = (np.arange(300) < 70).astype(int)
    frame["days"] = np.repeat([100.0, 50.0, 400.0], [70, 200, 30])
    frame.to_csv(path, index=False)
    with pytest.raises(DataError, match="30 patients .* 365, and 40 "):
        read_labelled(inferred(path, USE))
    frame.loc[70:79, "days"] = 400.0
    frame.to_csv(path, index=False)
    assert read_labelled(inferred(path, USE)).follow is not None


@pytest.mark.parametrize("horizon", [0.0, float("nan")])
def test_a_horizon_lies_after_the_start(horizon):
    with pytest.raises(ConfigError, match="after the start"):
        checked(Outcome, {"field": "died", "time": "days", "horizon": horizon}, "t.yaml")


def rows_of(blocks):
    (table,) = tables_of(blocks)
    return table.texts


def shown_subtype(number, size=100, patients=100):
    return SimpleNamespace(number=number, size=size, rates=[Rate(50, 100, patients)] * 2)


def test_a_subtype_of_few_patients_has_no_number_at_risk():
    time = np.full(300, 20.0)
    follow = FollowUp(time, np.zeros(300, bool), 10.0)
    subtypes = [shown_subtype(1), shown_subtype(2), shown_subtype(3, patients=2)]
    clustering = SimpleNamespace(label=np.repeat([0, 1, 2], 100), subtypes=subtypes, arm="km")
    rows = rows_of(survival_blocks(follow, clustering))
    assert [row[1] for row in rows] == ["100", "100", "withheld"]


def test_few_patients_are_neither_told_as_lost_nor_as_events_of_a_subtype():
    events, label = np.zeros(200, dtype=bool), np.repeat([0, 1, 2], [100, 60, 40])
    events[:20] = events[100:102] = events[160:180] = True  # 20 of 100, 2 of 60, 20 of 40
    time = np.where(events, 100.0, 400.0)
    time[50:52] = 10.0
    follow = FollowUp(time, events, 365.0)
    assert "for fewer than 8 of the patients" in horizon_remarks(follow)[0]
    subtypes = [shown_subtype(1), shown_subtype(2, patients=2), shown_subtype(3)]
    rows = rows_of(
        survival_blocks(follow, SimpleNamespace(label=label, subtypes=subtypes, arm="km"))
    )
    assert [row.count("withheld") for row in rows] == [0, 5, 0]


def test_a_curve_of_survival_falls_by_eight_events_or_not_at_all():
    time = np.concatenate([np.arange(1.0, 31.0), np.full(70, 40.0)])
    curve = kaplan_meier(time, time < 31)
    shown, survival = _survival_at(curve, np.linspace(0, 32, 25))
    falls = -np.diff(survival) * 100
    assert len(shown) == 25
    assert survival[-1] == pytest.approx(0.7)
    assert all(fall == pytest.approx(0, abs=1e-9) or fall > 7.9 for fall in falls)


def test_three_outcomes_are_named_as_competing(path):
    followed().assign(died=np.arange(240) % 3).to_csv(path, index=False)
    with pytest.raises(DataError, match="3 classes.*competing"):
        read_labelled(inferred(path, USE))


def test_resamples_fit_known_rows_by_weights_of_their_training_rows(path):
    table = read_labelled(inferred(path, USE))
    (sample,) = resamples(table.features, 1, 1000, follow=table.follow)
    known = dict(
        zip(table.features.row_id.tolist(), table.follow.outcome_known.tolist(), strict=True)
    )
    assert all(
        known[one] for one in (*sample.train.row_id.tolist(), *sample.validation.row_id.tolist())
    )
    unknown = [not known[one] for one in sample.test.row_id.tolist()]
    assert (sample.test.weight[unknown] == 0).all()
    assert (sample.test.weight[~np.array(unknown)] >= 1).all()
    taken = sample.test.take(np.array([2, 5]))
    assert taken.weight.tolist() == sample.test.weight[[2, 5]].tolist()
    assert taken.beside(np.zeros((2, 1))).weight is taken.weight


@pytest.mark.parametrize("name", ["lr", "hgb"])
def test_weights_of_one_change_nothing_and_others_do(path, name):
    """Without censoring a horizon is a plain label."""
    frame = followed().assign(died=1)
    frame.loc[0, ["days", "died"]] = 9999, 0
    frame.to_csv(path, index=False)
    table = read_labelled(inferred(path, USE))
    samples = [
        next(resamples(table.features, 1, 1000, follow=follow))
        for follow in (
            None,
            table.follow,
            FollowUp(table.follow.time, followed()["died"].to_numpy() == 1, 365.0),
        )
    ]
    one = Contender(name, "km")
    plain, whole, other = (run_resample(each, one, one.trials(2)) for each in samples)
    assert plain.scores == pytest.approx(whole.scores, abs=1e-5)
    assert (plain.scores != other.scores).any()


def predicted(table, n=1):
    samples = resamples(table.features, n, 1000, follow=table.follow)
    parts = []
    for sample in samples:
        record = run_resample(sample, Contender("lr"), Contender("lr").trials(1))
        parts.append(predictions_of_choices(sample, [record], table.features.row_id, table.follow))
    return stack(parts), record


def test_the_score_of_a_trial_is_the_auroc_at_the_horizon(path):
    table = read_labelled(inferred(path, USE))
    judged, record = predicted(table)
    # The weights of the trial come from the training rows, those of `auroc_at` from the test rows.
    found = auroc_at(judged.follow, judged.risk["lr"])
    assert found == pytest.approx(record.score("test", "auroc")[0, 0], abs=0.03)
    assert judged.share == pytest.approx(observed_risk(judged.follow)[0])


def test_scores_at_the_horizon_are_of_single_models(path):
    """Their mean, not the score of the mean risk of five models, which nobody has."""
    judged, _ = predicted(read_labelled(inferred(path, USE)), 5)
    found = score_intervals(judged.of("lr"), judged.draws)
    parts = [judged.part == j for j in range(5)]
    aurocs = [auroc_at(judged.follow.take(p), judged.risk["lr"][p]) for p in parts]
    briers = [brier_at(judged.follow.take(p), judged.risk["lr"][p]) for p in parts]
    assert found[AUROC].value == pytest.approx(np.mean(aurocs))
    assert found[BRIER].value == pytest.approx(np.mean(briers))
    drawn = []
    for draw in judged.draws.T[:60]:
        rows = [np.repeat(np.flatnonzero(p), draw[p]) for p in parts]
        own = [auroc_at(judged.follow.take(r), judged.risk["lr"][r]) for r in rows]
        drawn.append(np.mean(own))
    half = (found[AUROC].high - found[AUROC].low) / 2
    assert half == pytest.approx(1.96 * np.std(drawn, ddof=1), rel=0.35)


def test_a_study_is_planned_at_a_horizon_too_for_the_lowest_threshold(path):
    table = read_labelled(inferred(path, USE))
    risk = predicted(table)[0].risk["lr"]
    (asked,) = tables_of([size_section(table, risk, (0.75, 0.7), 0.2)])
    what, patients = asked.texts[3]
    assert what == "standardised net benefit, treating from 20 % on, known within 0.1"
    assert int(patients.replace(",", "")) > 0
    (unasked,) = tables_of([size_section(table, risk, (0.75, 0.7), None)])
    assert unasked.texts[3][1] == "no threshold"
    assert unasked.texts[:3] == asked.texts[:3]


def test_no_study_is_planned_for_a_model_without_evidence_that_it_ranks(path):
    table = read_labelled(inferred(path, USE))
    made = size_section(table, np.linspace(0.2, 0.4, 50), (0.56, 0.49), None)
    assert tables_of([made]) == []


@pytest.mark.parametrize(("most", "cut"), [(100, True), (1000, False)])
def test_training_rows_that_were_left_out_are_told_though_some_outcomes_are_not_known(
    path, most, cut
):
    table = read_labelled(inferred(path, USE))
    (sample,) = resamples(table.features, 1, most, follow=table.follow)
    record = run_resample(sample, Contender("lr"), Contender("lr").trials(1))
    known = int(table.follow.outcome_known.sum())
    trials = Trials({"lr": record}, 1, most, 0.0, rows=known)
    assert trials.trained_on < most  # of the rows drawn some are of unknown outcome
    assert trials.cut == cut


@pytest.mark.usefixtures("few_contenders")
def test_the_command_reads_time_and_horizon_from_the_description(path, tmp_path):
    frame, kind = followed(), np.arange(240) % 2  # two kinds of patients, found again and again
    frame.assign(urea=frame.urea + 9 * kind, crp=frame.crp + 9 * kind).to_csv(path, index=False)
    description = describe(path, time="days", horizon=365.0)
    description_path(path).write_text(as_yaml(description.resource), encoding="utf-8")
    out = tmp_path / "compare.html"
    call = ["compare", str(path), "--resamples", "5", "--jobs", "1", "--out", str(out)]
    done = CliRunner().invoke(app, call)
    assert done.exit_code == 0, done.output
    page = out.read_text()
    for word in (
        "Risks by 365",
        "AUROC(t)",
        "Net benefit",
        "at risk at 365",
        "reasons that have nothing",
    ):
        assert word in page
    assert page.index('class="answer"') < page.index("Risks by 365</h2>")


@pytest.mark.parametrize("other", [None, np.array([False, True])])
def test_classes_at_a_horizon_are_called_by_what_was_seen(other):
    """A patient who left early is not known to be free of the event, and is not called so."""
    follow = FollowUp(np.array([3.0, 9.0]), np.array([True, False]), 5.0, other)
    assert horizon_classes("relapse", follow) == ("relapse not seen by 5", "relapse by 5")


def test_a_page_at_a_horizon_quotes_the_words_of_its_label(path):
    """Its classes have other names there, and the words of the file are shown all the same."""
    table = read_labelled(inferred(path, USE))
    (counted,) = (line for line in table.remarks if line.startswith("Label:"))
    assert "'…'" not in page_text(counted, page_names(table))
    assert "'…'" in page_text(counted)


def test_curves_of_subtypes_fall_by_the_incidence_beside_competing_events():
    """One less the risk at the horizon that stands beside them."""
    rng = np.random.default_rng(3)
    time, kind = rng.uniform(0, 10, 200), rng.integers(0, 3, 200)
    follow = FollowUp(time, kind == 1, 8.0, kind == 2)
    assert 1 - incidence_curve(follow).at(8.0) == pytest.approx(observed_risk(follow)[0])
    assert incidence_curve(follow).at(8.0) > kaplan_meier(time, kind == 1).at(8.0)
