"""`deepcac show`, as it is typed, on records that ship."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from deepcac.command import whole_command
from deepcac.errors import DataError
from deepcac_study.records.record_archive import read

ROOT = Path(__file__).parents[3]
SHIPPED = read(ROOT / "docs" / "results" / "records")


@pytest.fixture
def project(tmp_path):
    (tmp_path / "config").symlink_to(ROOT / "config")
    return tmp_path


def shown(project, name):
    path = project / "results" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(SHIPPED[name])
    return CliRunner().invoke(whole_command(), ["show", str(path), "--project", str(project)])


@pytest.mark.parametrize(
    ("name", "printed", "ours"),
    [
        ("cic/deepcac_k3.json", "0.746", "0.7337"),
        ("as_published/cic/deepcac_k3.json", "0.746", "0.7539"),
    ],
)
def test_a_mean_over_the_classes_is_compared_with_a_mean_over_the_classes(
    project, name, printed, ours
):
    """The AUPRC of the positive class alone is 0.50 and 0.56."""
    answer = shown(project, name)
    assert answer.exit_code == 0, answer.output
    (line,) = (text for text in answer.output.splitlines() if "AUPRC" in text and "Table 2" in text)
    assert printed in line
    assert ours in line


@pytest.mark.parametrize(
    "name", ["judge/tables/cic_ts.json", "judge/cic/lr.json", "theory/cic_k2.json"]
)
def test_a_record_that_is_no_run_ends_in_one_line(project, name):
    answer = shown(project, name)
    assert isinstance(answer.exception, DataError)
    assert "\n" not in str(answer.exception)
    assert name in str(answer.exception)
