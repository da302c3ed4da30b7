"""The table of what a workflow costs, on benchmark files made by hand."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HEAD = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"


@pytest.fixture(scope="module")
def cost():
    spec = importlib.util.spec_from_file_location("cost", ROOT / "benchmarks" / "cost.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write(folder: Path, name: str, *rows: tuple[object, object, object]) -> None:
    path = folder / "logs" / "benchmarks" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{s}\t0:00:01\t{rss}\t1\t1\t1\t0\t0\t99\t{cpu}\n" for s, rss, cpu in rows]
    path.write_text(HEAD + "".join(lines))


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, "runs/cic/table.tsv", (120, 500.5, 90))
    write(tmp_path, "runs/as_published/cic/table.tsv", (60, 700, 30))
    write(tmp_path, "runs/cic/cac_lr_k3.tsv", (10, 900, 6))
    write(tmp_path, "report.tsv", (30, 100, 24))
    write(tmp_path, "splits/cic.tsv", (1.5, "NA", "-"))
    write(tmp_path, "pretrain/cic.tsv", (600, 1, 600), (12, 250, 12))
    return tmp_path


def test_jobs_are_added_up_by_rule_the_dearest_first(cost, folder):
    found = cost.add_up(list(cost.read_jobs(folder / "logs" / "benchmarks")))
    assert [(each.rule, each.jobs, each.core_minutes) for each in found] == [
        ("runs, table", 2, 2.0),
        ("report", 1, 0.4),
        ("pretrain", 1, 0.2),  # the second of two times
        ("runs", 1, 0.1),
        ("splits", 1, 0.025),  # nobody looked at it: its wall time
    ]
    assert (found[0].longest, found[0].memory) == (2.0, 700.0)
    assert found[-1].memory == 0.0


def test_the_last_row_is_all_of_them(cost, folder):
    lines = cost.table(cost.add_up(list(cost.read_jobs(folder / "logs" / "benchmarks"))))
    assert lines.splitlines()[2] == "| runs, table | 2 | 2.0 | 73% | 2.0 | 700 |"
    assert lines.splitlines()[-1] == "| all | 6 | 2.7 | 100% | 2.0 | 900 |"


def test_a_quantity_that_grows_has_an_exponent(cost, monkeypatch):
    base = {"n": 10, "d": 2, "k": 2, "alphas": 1, "splits": 1}
    monkeypatch.setattr(cost, "tuned_run", lambda n, d, k, alphas, splits: n**2 * d / 100)
    lines = list(cost.growth(base, {"n": (10, 20, 40), "d": (1, 2)}))
    assert lines[1:] == [
        "| n | 10 20 40 | 2.00 8.00 32.00 | 2.00 |",
        "| d | 1 2 | 1.00 2.00 | 1.00 |",
    ]
