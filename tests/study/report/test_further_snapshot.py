"""The comparisons of transfer, scorecards and richer labels that a snapshot holds."""

from deepcac_study.report.kept.further_snapshot import further_rows


def test_nothing_that_has_not_run_has_rows(tmp_path):
    assert all(table.empty for table in further_rows(tmp_path).values())
