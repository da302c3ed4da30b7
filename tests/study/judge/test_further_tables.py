"""Verdicts of transfer, scorecards and richer labels, by hand from small records."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from deepcac.errors import DataError
from deepcac.files.storage import write_json
from deepcac.judging.resample_scores import LOSSES
from deepcac_study.judge.further.further_tables import richer_table, scorecard_table, transfer_table
from deepcac_study.judge.further.further_verdicts import decided, resampled
from deepcac_study.judge.further.richer_labels import ARMS
from deepcac_study.judge.further.scorecards import ARMS as PARTS
from deepcac_study.judge.further.scorecards import CARDS, ONE
from deepcac_study.judge.further.transfer import COMPARED
from deepcac_study.records.written_scores import as_scored, as_written

ROW = {"cohort": "real", "question": "q", "metric": "auroc", "freedom": 49}
SIZES = {"n_train": 60, "n_validation": 15, "n_test": 25}


def test_holm_covers_one_question_and_metric_and_leaves_out_what_compared_nothing():
    rows = [
        ROW | {"mean": 0.02, "error": 0.01},
        ROW | {"mean": 0.001, "error": 0.001},
        ROW | {"mean": 0.0, "error": 0.0},
        ROW | {"mean": 0.02, "error": 0.01, "metric": "auprc"},
    ]
    table = decided(pd.DataFrame(rows))
    p = [2 * stats.t.sf(2, 49), 2 * stats.t.sf(1, 49)]
    assert table["p_holm"].tolist() == pytest.approx([2 * p[0], p[1], np.nan, p[0]], nan_ok=True)
    assert table["verdict"].tolist() == ["undecided", "equivalent", "never chosen", "undecided"]
    gain = stats.t.cdf((0.01 - 0.001) / -0.001, 49)
    assert table["p_gain_excluded"][1] == pytest.approx(gain, abs=1e-12)
    assert table["low"][0] == pytest.approx(0.02 - 0.01 * stats.t.ppf(0.975, 49))


def test_a_table_that_was_decided_is_decided_again_alike():
    rows = [ROW | {"mean": m, "error": 0.01} for m in (0.05, 0.0, -0.02)]
    once = decided(pd.DataFrame(rows))
    pd.testing.assert_frame_equal(decided(once), once)
    alone = decided(once[once["mean"] == 0.05])
    assert alone["p_holm"].item() == pytest.approx(once["p_holm"][0] / 3)


def test_every_planted_cohort_is_a_family_of_its_own():
    rows = [ROW | {"mean": 0.02, "error": 0.01, "cohort": c} for c in ("real", "planted_1")]
    assert decided(pd.DataFrame(rows))["p_holm"].nunique() == 1


def test_a_loss_has_a_margin_of_its_own():
    """.004 is negligible in AUROC and in nats, not by the Brier score."""
    rows = [
        ROW | {"mean": 0.004, "error": 4e-4, "metric": m} for m in ("auroc", "log_loss", "brier")
    ]
    rows = [row | {"question": row["metric"]} for row in rows]
    found = decided(pd.DataFrame(rows))
    assert (found["p_gain_excluded"] < 0.05).tolist() == [True, True, False]
    assert found["verdict"].tolist() == ["better"] * 3


def test_resamples_overlap():
    found = resampled([SIZES] * 4, [0.6, 0.7, 0.8, 0.9], [0.5, 0.5, 0.5, 0.5])
    assert found["mean"] == pytest.approx(0.25)
    assert found["error"] == pytest.approx(
        np.sqrt((1 / 4 + 1 / 3) * np.var([1, 2, 3, 4], ddof=1) / 100)
    )
    assert found["freedom"] == 3


def _written(folder, name, content):
    path = folder / f"{name}.json"
    write_json(path, content)
    return path


def test_a_transfer_reads_both_errors_and_leaves_out_what_cannot_differ(tmp_path):
    told = {m: [0.02, 0.003, 0.004] for m in ("log_loss", "brier", "auroc")}
    ways = {way for _, *both in COMPARED for way in both}
    entry = {
        **{"labels": 50, "clustered": {"km": 7}},
        "scores": {way: {"log_loss": 0.3, "brier": 0.1, "auroc": 0.8} for way in ways},
        "comparisons": [
            {"question": q, "contender": ours, "reference": theirs, "draws": 50} | told
            for q, ours, theirs in COMPARED
        ],
    }
    record = {"dataset": "cic", "learners": {"lr": [entry], "lgbm": [entry]}}
    table = decided(transfer_table([_written(tmp_path, "away", record)]))
    assert len(table) == 2 * (3 * len(COMPARED) - 1)
    assert not ((table["question"] == "recalibration") & (table["metric"] == "auroc")).any()
    assert set(table.loc[table["metric"] == "log_loss", "score"]) == {-0.3}
    half = 0.005 * stats.t.ppf(0.975, 49)  # of a triangle with sides 3, 4 and 5
    assert table["low"].tolist() == pytest.approx([0.02 - half] * len(table))
    assert table.loc[table["contender"] == "km", "clustered"].tolist() == [7] * 6
    # Moves of a later plan leave the corrections of an earlier one as they are.
    later = [_written(tmp_path, name, record) for name in ("away", "back")]
    later.append(_written(tmp_path, "new", record | {"family": "clinical"}))
    both = decided(transfer_table(later)).groupby(["cohort", "question", "metric"]).size()
    assert set(both["real"] / both["clinical"]) == {2}


@pytest.mark.parametrize("write", [as_scored, as_written], ids=["older", "newer"])
def test_losses_of_every_question_are_positive_in_a_file_and_both_signs_read_the_same(write):
    compared = [{"question": "help", "log_loss": [-0.02, 0.003, 0.004]}]
    record = {
        "cards": [{"arm": "km", "auroc": [0.7, 0.6], "log_loss": [-0.3, -0.4]}],
        "learners": {"lr": [{"scores": {"km": {"brier": -0.1}}, "comparisons": compared}]},
        "networks": {"arms": [{"arm": "soft", "auroc": 0.8, "log_loss": -0.3}]},
    }
    written = as_written(write(record))
    assert as_scored(written) == record
    assert written["cards"] == [{"arm": "km", "auroc": [0.7, 0.6], "log_loss": [0.3, 0.4]}]
    assert written["networks"]["arms"][0] == {"arm": "soft", "auroc": 0.8, "log_loss": 0.3}
    (entry,) = written["learners"]["lr"]
    assert entry == {"scores": {"km": {"brier": 0.1}}, "comparisons": compared}


def _as_printed(metric: str, *values: float) -> list[float]:
    """Return scores as a file has them: of a loss less is better."""
    return [1 - value if metric in LOSSES else value for value in values]


def _cards(gain: float) -> list[dict]:
    noise = [0.001, 0.002, 0.003]
    return [
        SIZES
        | {"seed": seed}
        | {
            "cards": [
                {"size": 6, "arm": arm, "k": k}
                # The second number of cards is the better one in validation, and worse in the test.
                | {
                    m: _as_printed(m, 0.5 + k / 100, 0.5 + (k == 2) * gain * (arm == "km") + extra)
                    for m in METRICS
                }
                for arm, k in [(ONE, 1), *((arm, k) for arm in PARTS for k in CARDS)]
                for extra in [own if arm == "km" else 0.0]
            ]
        }
        for seed, own in enumerate(noise)
    ]


METRICS = ("auroc", "auprc", "log_loss")


def test_scorecards_are_chosen_by_validation_and_judged_by_test_rows(tmp_path):
    record = {"dataset": "cic", "resamples": _cards(0.1)}
    folder = tmp_path / "scorecards"
    folder.mkdir()
    table = decided(scorecard_table([_written(folder, "cic", record)])).set_index(
        ["question", "contender", "reference", "metric"]
    )
    assert table.loc[("forced", "km_2", "one", "auroc"), "mean"] == pytest.approx(0.102)
    assert table.loc[("forced", "km_3", "one", "auroc"), "mean"] == pytest.approx(0.002)
    assert table.loc[("help", "km", "one", "auroc"), "mean"] == pytest.approx(0.002)
    assert table.loc[("any_partition", "km_2", "hash_2", "auroc"), "verdict"] == "better"
    with pytest.raises(DataError, match="is the record of 'scorecards/cic.json'"):
        scorecard_table([_written(folder, "adult", record)])


def test_planted_scorecards_count_the_cohorts_in_which_they_were_better(tmp_path):
    cohorts = [_cards(0.1), _cards(0.1), _cards(-0.1)]
    record = {"synthetic": True, "strength": 0.5, "cohorts": cohorts}
    table = decided(scorecard_table([_written(tmp_path, "planted_0.5", record)])).set_index(
        ["question", "contender", "reference", "metric"]
    )
    own = table.loc[("forced", "km_2", "one", "auroc")]
    assert (own["found"], own["cohorts"]) == (2, 3)
    assert np.isnan(own["p_holm"])
    assert pd.isna(own["verdict"])
    assert own["mean"] == pytest.approx(0.1 / 3 + 0.002)


def test_richer_labels_meet_every_rival(tmp_path):
    values = {arm: 0.8 + j / 100 for j, arm in enumerate(ARMS)}
    rows = [
        {"arm": arm} | {m: _as_printed(m, value, value) for m in (*METRICS, "brier")}
        for arm, value in values.items()
    ]
    samples = [SIZES | {"seed": seed, "contenders": rows} for seed in range(3)]
    folder = tmp_path / "richer_labels"
    folder.mkdir()
    record = {"dataset": "cic", "learner": "lr", "resamples": samples}
    table = richer_table([_written(folder, "cic_lr", record)])
    assert len(table) == 4 * (3 + 3 + 2 + 4 + 1)
    for row in table.itertuples():
        assert row.mean == pytest.approx(values[row.contender] - values[row.reference])
