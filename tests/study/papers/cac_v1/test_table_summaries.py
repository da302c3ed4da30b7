import pytest

from deepcac_study.papers.cac_v1.table_summaries import summarise


def test_summary_formulas_on_printed_cells():
    # CAC v1, Table 1, Credit: 0.446 / 0.336 and the like; here a hand-made pair of rows.
    scores = [(0.2, 0.4, 0.5), (0.6, 0.6, 0.5)]
    assert summarise("best_count_cac", scores) == 1
    assert summarise("best_count_base", scores) == 1  # a tie goes to the first
    assert summarise("avg_up_f1_pct_vs_base", scores) == pytest.approx(25.0)
    assert summarise("avg_up_f1_pct_vs_km", scores) == pytest.approx(0.0)
