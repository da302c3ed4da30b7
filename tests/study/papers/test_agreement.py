import pytest
from paper_checks import find_cell

from deepcac_study.papers.agreement import Ours, tolerance, verdict


@pytest.mark.parametrize(
    ("mean", "sd", "expected", "sound"),
    [
        (0.469, 0.0, "agree", "agree"),
        (0.472, None, "agree", "agree"),
        (0.473, None, "differ", "agree"),
        (0.4875, 0.0, "differ", "differ"),
        (None, None, "timeout", "timeout"),
    ],
)
def test_the_papers_own_split_asks_for_more(mean, sd, expected, sound):
    printed = find_cell("cac_v1_table1_f1_heldout", dataset="CIC", method="CAC+LR")
    assert printed.value == 0.467
    ours = Ours(mean, sd, "ok" if mean else "timeout", "run")
    assert verdict(printed, ours, "as_published") == expected
    assert verdict(printed, ours, "sound") == sound


def test_networks_of_the_first_paper_have_no_split_of_theirs():
    printed = find_cell("cac_v1_table1_f1_heldout", dataset="CIC", method="FNN")
    assert printed.protocol == "sound"
    assert tolerance(printed, None, "sound") == 0.02


def test_two_combined_standard_deviations_but_no_more_than_two_hundredths():
    printed = find_cell("deepcac_table2_auprc", dataset="Diabetes", method="IDEC-Z", k="2")
    assert (printed.value, printed.sd) == (0.553, 0.007)
    # 2 sqrt(0.007^2 + 0.001^2) = 0.01414
    assert verdict(printed, Ours(0.5671, 0.001, "ok", "run"), "as_published") == "agree"
    assert verdict(printed, Ours(0.5672, 0.001, "ok", "run"), "as_published") == "differ"
    assert tolerance(printed, 0.2, "as_published") == 0.02


@pytest.mark.parametrize(
    ("source", "where", "bound"),
    [
        ("skmeans_table3_loss", {"dataset": "SYNTH", "method": "Pair"}, 2.0),
        ("classdecomp_table1_accuracy", {"dataset": "Vote", "method": "NB"}, 2.0),
        ("cac_v1_table2_datasets", {"dataset": "CIC", "item": "maj"}, 0.02),
        ("cac_v1_table2_datasets", {"dataset": "CIC", "item": "n_features"}, 0.0),
    ],
)
def test_each_paper_has_its_own_unit(source, where, bound):
    from deepcac_study.papers.printed import printed_cells

    cells = [cell for cell in printed_cells() if cell.source == source]
    own = [c for c in cells if all(getattr(c, key) == value for key, value in where.items())]
    assert {tolerance(cell, 5.0, cell.protocol) for cell in own} == {bound}


def test_labels_that_nobody_can_rebuild_decide_nothing():
    score = find_cell("cac_v1_table1_f1_heldout", dataset="Titanic", method="LR")
    assert verdict(score, Ours(score.value, 0.0, "ok", "run"), "as_published") == (
        "data not rebuildable"
    )
    size = find_cell("cac_v1_table2_datasets", dataset="Titanic", item="n_instances")
    assert verdict(size, Ours(1309.0, None, "ok", "run"), "as_published") == "differ"
