import pytest
from paper_checks import find_cell

from deepcac.papers.agreement import Ours, verdict


@pytest.mark.parametrize(
    ("mean", "sd", "expected"),
    [
        (0.469, 0.0, "agree"),
        (0.487, 0.0, "agree"),
        (0.4875, 0.0, "differ"),
        (None, None, "timeout"),
    ],
)
def test_verdict_without_a_printed_spread(mean, sd, expected):
    printed = find_cell("cac_v1_table1_f1_heldout", dataset="CIC", method="CAC+LR")
    assert printed.value == 0.467
    status = "ok" if mean else "timeout"
    assert verdict(printed, Ours(mean, sd, status, "run")) == expected


def test_verdict_with_two_combined_standard_deviations():
    printed = find_cell("deepcac_table2_auprc", dataset="Diabetes", method="KM-Z", k="2")
    assert (printed.value, printed.sd) == (0.528, 0.011)
    # 2 sqrt(0.011^2 + 0.0132^2) = 0.03437
    assert verdict(printed, Ours(0.5620, 0.0132, "ok", "run")) == "agree"
    assert verdict(printed, Ours(0.5630, 0.0132, "ok", "run")) == "differ"
