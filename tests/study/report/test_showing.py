"""`deepcac show`, as it is typed, on records that ship."""

from pathlib import Path

import pytest
from shipped import shipped_records
from typer.testing import CliRunner

from deepcac.command import whole_command
from deepcac.errors import DataError

ROOT = Path(__file__).parents[3]


@pytest.fixture
def shown(tmp_path):
    """Return a function that shows one record of a project."""
    (tmp_path / "config").symlink_to(ROOT / "config")

    def show(name):
        path = tmp_path / "results" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(shipped_records()[name])
        return CliRunner().invoke(whole_command(), ["show", str(path), "--project", str(tmp_path)])

    return show


@pytest.mark.parametrize(
    ("name", "printed", "ours"),
    [
        ("cic/deepcac_k3.json", "0.746", "0.7337"),
        ("as_published/cic/deepcac_k3.json", "0.746", "0.7539"),
    ],
)
def test_a_mean_over_the_classes_is_compared_with_a_mean_over_the_classes(
    shown, name, printed, ours
):
    """The AUPRC of the positive class alone is 0.50 and 0.56."""
    answer = shown(name)
    assert answer.exit_code == 0, answer.output
    (line,) = (text for text in answer.output.splitlines() if "AUPRC" in text and "Table 2" in text)
    assert printed in line
    assert ours in line


@pytest.mark.parametrize(
    "name", ["judge/tables/cic_ts.json", "judge/cic/lr.json", "theory/cic_k2.json"]
)
def test_a_record_that_is_no_run_ends_in_one_line(shown, name):
    answer = shown(name)
    assert isinstance(answer.exception, DataError)
    assert "\n" not in str(answer.exception)
    assert name in str(answer.exception)
