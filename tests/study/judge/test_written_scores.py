"""Losses are positive in a file, and have a minus in the program."""

import pytest
from deepcac_study.records.written_scores import as_scored, as_written


@pytest.mark.parametrize("write", [as_scored, as_written], ids=["older", "newer"])
def test_losses_are_positive_in_a_file_and_both_signs_read_the_same(write):
    compared = [{"question": "help", "log_loss": [-0.02, 0.003, 0.004]}]
    record = {
        "resamples": [{"trials": [{"test": {"auroc": 0.7, "log_loss": -0.3}}]}],
        "networks": {"arms": [{"arm": "soft", "brier": -0.1}]},
        "cards": [{"log_loss": [-0.3, -0.4]}],
        "comparisons": compared,
    }
    written = as_written(write(record))
    assert as_scored(written) == record
    assert written["resamples"][0]["trials"][0]["test"] == {"auroc": 0.7, "log_loss": 0.3}
    assert written["networks"]["arms"] == [{"arm": "soft", "brier": 0.1}]
    assert written["cards"] == [{"log_loss": [0.3, 0.4]}]
    assert written["comparisons"] == compared
