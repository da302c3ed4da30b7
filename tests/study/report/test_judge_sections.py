"""Names and colours of contenders."""

from deepcac_study.report.judge.judge_figures import contender_colour, contender_label


def test_contenders_have_names_for_people_and_old_ones_keep_theirs():
    names = ("lr", "km_lgbm", "subtypes", "a_contender_of_before")
    assert [contender_label(name) for name in names] == [
        *("LR", "LightGBM in k-means clusters", "Risk model with subtypes"),
        "a_contender_of_before",
    ]
    assert contender_colour("km_lr") == contender_colour("km_lgbm") != contender_colour("lr")
    assert contender_colour("a_contender_of_before", 1) != contender_colour("subtypes", 0)
