"""A spot check: the draw, the comparison, the bound, and what a check writes."""

import json
from math import comb
from types import SimpleNamespace

import pytest

from deepcac.errors import ConfigError, DataError
from deepcac.files.storage import write_json
from deepcac_study.jobs import spot_runs
from deepcac_study.records.record_archive import Row, pack
from deepcac_study.records.spot_check import (
    DIFFERENT,
    NEAR,
    NUMBERS,
    SAME,
    at_most_different,
    compare,
    draw,
)


def row(path, seconds=1.0):
    return Row(path, "", "", "", "", "cpu", seconds)


ROWS = [row(f"a/lr_k{k}.json", float(k)) for k in range(1, 41)]


def test_a_smaller_draw_is_the_beginning_of_a_larger_one_and_another_seed_is_another_draw():
    more, _ = draw(ROWS, 20, seed=3)
    assert draw(reversed(ROWS), 8, seed=3)[0] == more[:8]
    assert draw(ROWS, 20, seed=4)[0] != more
    assert len({one.path for one in more}) == 20


def test_every_record_is_drawn_as_often():
    count = dict.fromkeys([one.path for one in ROWS], 0)
    for seed in range(2000):
        for one in draw(ROWS, 10, seed)[0]:
            count[one.path] += 1
    assert max(abs(each - 500) for each in count.values()) < 5 * (2000 * 0.25 * 0.75) ** 0.5


def test_minutes_leave_out_the_longest_records():
    # The mean of 1 to 19 seconds is 10: six of them take a minute.
    drawn, population = draw(ROWS, 6, seed=0, minutes=1)
    assert [one.seconds for one in population] == list(range(1, 20))
    assert set(drawn) <= set(population)
    with pytest.raises(ConfigError, match="6 of 0 records"):
        draw(ROWS, 6, seed=0, minutes=0.01)
    with pytest.raises(ConfigError, match="41 of 40"):
        draw(ROWS, 41, seed=0)


def record(auroc, processor="one", method="cac_lr", **more):
    made = {"processor": processor, "seconds": {"fit": 1.0}}
    return {
        **{"method": method, "summary": {"auroc": {"mean": auroc, "sd": 0.1}}, "machine": made},
        **{"splits": [{"seconds": 3.0, "auroc": auroc}]},
        **more,
    }


@pytest.mark.parametrize(
    ("again", "verdict"),
    [
        (record(0.8), SAME),
        (record(0.8, "two"), SAME),
        (record(0.8, scores="another digest"), NUMBERS),
        (record(0.8000001), DIFFERENT),
        (record(0.8000001, "two"), NEAR),
        (record(0.7985, "two"), DIFFERENT),
    ],
)
def test_a_classical_record_comes_back_or_not(again, verdict):
    assert compare("cic/cac_lr_k2.json", record(0.8), again).verdict == verdict


def test_a_network_may_differ_by_more_between_processors_and_a_lost_score_is_a_difference():
    shipped = record(0.8, method="deepcac")
    assert compare("", shipped, record(0.785, "two", "deepcac")).verdict == NEAR
    assert compare("", shipped, record(0.785, "one", "deepcac")).verdict == DIFFERENT
    found = compare("", shipped, {**shipped, "summary": {}})
    assert (found.verdict, found.largest) == (DIFFERENT, float("inf"))


def test_a_record_without_known_scores_is_compared_by_all_its_numbers():
    shipped = {"gain": 0.1, "verdict": "better", "machine": {}}
    assert compare("", shipped, {**shipped, "machine": {"processor": "x"}}).verdict == SAME
    found = compare("", shipped, {**shipped, "gain": 0.2})
    assert (found.verdict, found.where) == (DIFFERENT, "gain")
    assert compare("", shipped, {**shipped, "verdict": "worse"}).verdict == NUMBERS


def test_the_bound_is_that_of_counting():
    """Of 12 records 5 were drawn: count the draws that show at most one of D."""

    def chance(bad):
        return sum(comb(bad, f) * comb(12 - bad, 5 - f) for f in (0, 1)) / comb(12, 5)

    largest = max(bad for bad in range(1, 9) if chance(bad) >= 0.05)
    assert at_most_different(12, 5, 1) == largest == 6
    assert at_most_different(12, 12, 0) == 0
    assert at_most_different(12, 12, 3) == 3


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project whose workflow makes every record that is asked for, as it is told to."""
    results, project = tmp_path / "made", tmp_path / "project"
    for k in range(1, 6):
        write_json(results / f"a/lr_k{k}.json", record(0.5 + k / 100, scores=f"{k}"))
    shipped = {p.relative_to(results).as_posix(): p.read_bytes() for p in results.rglob("*.json")}
    pack(shipped, project / "docs" / "results" / "records", lambda *_: True)
    told = SimpleNamespace(broken=set(), calls=[])

    def run(call):
        told.calls.append(call)
        for target in call[call.index("--") + 1 :]:
            path = target.removeprefix("results/")
            if told.broken and path.endswith(tuple(told.broken)):
                content = json.loads(shipped[path])
                content["summary"]["auroc"]["mean"] += 0.01
                write_json(tmp_path / "check" / target, content)
            else:
                (tmp_path / "check" / target).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / "check" / target).write_bytes(shipped[path])
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(spot_runs.subprocess, "run", run)
    monkeypatch.setattr(spot_runs, "check_commits", lambda commits: None)  # these have none
    return project, tmp_path / "check", told


def test_a_check_writes_its_page_and_asks_for_what_was_drawn_alone(project):
    root, folder, told = project
    spot_runs.spot_check(root, folder, 4, seed=7)
    page = (folder / "index.html").read_text()
    assert "4 of 4 records came back" in page
    assert f"no more than {at_most_different(5, 4, 0)} of the 5" in page
    lines = (folder / "spotcheck.csv").read_text().splitlines()
    assert len(lines) == 5
    (call,) = told.calls
    assert sorted(call[call.index("--") + 1 :]) == sorted(
        f"results/{line.split(',')[0]}" for line in lines[1:]
    )


def test_a_record_that_does_not_come_back_is_named_after_the_page_is_written(project):
    root, folder, told = project
    told.broken = {"lr_k3.json"}
    with pytest.raises(DataError, match=r"^a/lr_k3\.json: not as shipped"):
        spot_runs.spot_check(root, folder, 5, seed=7)
    page = (folder / "index.html").read_text()
    assert "4 of 5 records came back" in page
    assert "different" in page


def test_a_run_that_failed_is_not_made(project, monkeypatch):
    root, folder, _ = project
    monkeypatch.setattr(spot_runs.subprocess, "run", lambda call: SimpleNamespace(returncode=1))
    with pytest.raises(DataError, match="not as shipped"):
        spot_runs.spot_check(root, folder, 2, seed=0)
    assert (folder / "spotcheck.csv").read_text().count("not made") == 2
