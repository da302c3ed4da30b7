import pytest
from paper_checks import verdicts
from report_runs import write_run


@pytest.mark.parametrize(
    ("sizes", "features", "expected"),
    [
        (
            [[9, 1, 1], [3, 3, 3], [1, 2, 9]],
            ["MechVentDuration", "UrineOutput_sum"],
            ("holds", "holds"),
        ),
        ([[9, 1, 1], [8, 3, 3], [7, 2, 6]], ["GCS_last", "UrineOutput_sum"], ("fails", "fails")),
    ],
)
def test_case_study_claims(tmp_path, sizes, features, expected):
    clusters = {
        "sizes_train": sizes,
        "sizes_test": sizes,
        "features": [
            {"cluster": 0, "feature": name, "effect": 1.0, "p": 0.01} for name in features
        ],
    }
    results = tmp_path / "results"
    run = write_run(results, "cic_los", "deepcac", 3, scores=False, clusters=clusters)
    found = verdicts([run], tmp_path)
    assert (found["DCAC-43"][0], found["DCAC-44"][0]) == expected
