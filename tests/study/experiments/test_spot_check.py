"""A spot check: the draw, the comparison, the bound, and what a check writes."""

import csv
import json
import re
import shutil
from math import comb
from types import SimpleNamespace

import numpy as np
import pytest
from cpu_repeats import REPEATS, Gap, count_within, gaps, tolerances
from shipped import RESULTS, shipped_records

from deepcac.errors import ConfigError, DataError
from deepcac.files.storage import write_json
from deepcac.judging.trial_record import TrialRecord, to_content
from deepcac.judging.trial_scores import LOSSES, METRICS
from deepcac_study.jobs import spot_runs
from deepcac_study.records.record import summarise
from deepcac_study.records.record_archive import ManifestRow, pack
from deepcac_study.records.repeated_values import score_series
from deepcac_study.records.spot_check import (
    DIFFERENT,
    NUMBERS,
    SAME,
    WITHIN,
    at_most_different,
    compare_records,
    draw,
)
from deepcac_study.records.tolerances import LEAST, Family, read_tolerances, repeat_differences


def row(path, seconds=1.0):
    return ManifestRow(path, "", "", "", "", "cpu", seconds)


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


TOLERANCES = read_tolerances(RESULTS / "tolerances.csv")


def record(*auroc, processor="one", method="cac_lr", **more):
    splits = [
        {"seed": n, "n_train": 3000, "n_test": 90 + n}
        | {"metrics": {"auroc": x, "f1": 0.4}, "status": "ok"}
        for n, x in enumerate(auroc)
    ]
    return {
        "method": method,
        "protocol": "sound",
        "splits": splits,
        "summary": summarise(splits),
        "machine": {
            **{"processor": processor, "seconds": {"fit": 1.0}, "python": "3"},
            **{"versions": {"numpy": "2"}, "git_commit": "b" * 40},
        },
        **more,
    }


def verdict(shipped, again, path="cic/cac_lr_k2.json"):
    return compare_records(path, shipped, again, TOLERANCES).verdict


@pytest.mark.parametrize(
    ("again", "expected"),
    [
        (record(0.8, 0.82), SAME),
        (record(0.8, 0.82, processor="two"), SAME),
        (record(0.8, 0.82, scores="another digest"), NUMBERS),
        (record(0.8 + 1e-9, 0.82), WITHIN),
        (record(0.8, 0.8209), WITHIN),
        (record(0.8, 0.84), DIFFERENT),
        (record(0.8), DIFFERENT),
        (record(0.8, 0.82, n_rows=7), DIFFERENT),
        (record(0.8, 0.82, status="diverged"), DIFFERENT),
    ],
)
def test_a_classical_record_comes_back_or_not(again, expected):
    assert verdict(record(0.8, 0.82), again) == expected


def test_the_processor_that_a_record_names_changes_no_verdict():
    far = record(0.8, 0.84, processor="two")
    assert verdict(record(0.8, 0.82), far) == DIFFERENT
    assert verdict(record(0.8, 0.82, processor="three"), far) == DIFFERENT


def test_a_network_may_differ_by_a_part_of_its_deviation_over_the_splits():
    shipped = record(0.8, 0.82, 0.84, method="deepcac")
    assert verdict(shipped, record(0.805, 0.82, 0.84, method="deepcac")) == WITHIN
    # A deviation that the shipped record claims gives it no room: that of the repeat counts.
    wide = record(0.7, 0.82, 0.94, method="deepcac")
    assert verdict(wide, shipped) == DIFFERENT


def counted(f1):
    content = record(0.8, 0.82)
    content["splits"][0]["metrics"] |= {"f1": f1, "silhouette": f1}
    content["summary"] = summarise(content["splits"])
    return content


def test_a_counted_score_may_differ_by_one_row_of_the_smallest_test_part():
    path = "cic/lr_k1.json"  # a linear classifier alone: the other scores hardly differ
    assert max(TOLERANCES[Family.LINES, "f1"]) < 1 / 90
    shipped = record(0.8, 0.82, method="lr")
    near, far = (counted(0.4 + rows / 90) | {"method": "lr"} for rows in (1, 1.1))
    assert verdict(shipped, near, path) == WITHIN
    assert verdict(shipped, far, path) == DIFFERENT


def test_a_silhouette_is_not_compared():
    again = counted(0.4)
    again["splits"][0]["metrics"]["silhouette"] = 0.9
    again["summary"] = summarise(again["splits"])
    assert verdict(counted(0.4), again) == NUMBERS


def chosen(alpha, auroc, **f1):
    """Return a record of two splits; in the first, alpha was chosen by its validation F1."""
    content = record(auroc, 0.82)
    traces = {name.replace("_", "."): value for name, value in f1.items()}
    for split, own in zip(content["splits"], (alpha, 0.5), strict=True):
        fitted = {"polarisation": 0.6 + own / 10, "n_clusters_found": 2, "collapsed": False}
        given = {"alpha": own, "alpha_f1": traces if own == alpha else {}}
        split["hyperparameters"] = given | fitted  # these three follow from the fit
    return content


def test_another_alpha_is_none_where_the_repeat_says_that_it_was_as_good():
    shipped = chosen(0.03, 0.8, **{"0_03": 0.501, "0_01": 0.5009})
    tie = chosen(0.01, 0.8008, **{"0_03": 0.5009, "0_01": 0.501})
    assert verdict(shipped, tie) == WITHIN
    assert verdict(shipped, chosen(0.01, 0.9, **{"0_03": 0.5009, "0_01": 0.501})) == DIFFERENT
    # What the shipped record says of its F1 gives it no room.
    clear = chosen(0.01, 0.805, **{"0_03": 0.4, "0_01": 0.501})
    found = compare_records("cic/cac_lr_k2.json", shipped, clear, TOLERANCES)
    assert (found.verdict, found.where) == (DIFFERENT, "splits.0.hyperparameters.alpha")
    # One training row of few is more than a thousandth.
    shipped = chosen(0.03, 0.8, **{"0_03": 0.501, "0_01": 0.4989})
    apart = chosen(0.01, 0.8008, **{"0_03": 0.4989, "0_01": 0.501})
    assert verdict(shipped, apart) == DIFFERENT
    apart["splits"][0]["n_train"] = shipped["splits"][0]["n_train"] = 400
    assert verdict(shipped, apart) == WITHIN


def test_a_forged_setting_is_found_though_no_score_moved():
    path = "cic/cac_lr_k2.json"
    content = json.loads(shipped_records()[path])
    content["splits"][0]["hyperparameters"]["alpha"] = 0.0
    assert verdict(content, json.loads(shipped_records()[path]), path) == DIFFERENT


def test_a_number_whose_name_is_that_of_a_fact_is_judged_and_not_exact():
    """The growth of CAC with k is a slope, and ``test`` of a risk bound is a loss."""
    path = "theory/cic_k2.json"
    content = json.loads(shipped_records()[path])
    near = json.loads(shipped_records()[path])
    near["growth"]["k"] += 1e-12
    assert verdict(content, near, path) == WITHIN
    near["risk"][0]["test"] += 0.5
    assert verdict(content, near, path) == DIFFERENT


def trials(*scores, **risks):
    """Return a judge record of one resample, from validation and test AUROC of each trial."""
    values = np.array(scores)[None, :, :, None]
    made = TrialRecord(
        contender="lr",
        arm="",
        learner="lr",
        values=[{"C": float(n)} for n, _ in enumerate(scores)],
        seeds=[0],
        sizes=[{"n_train": 9, "n_validation": 3, "n_test": 5}],
        scores=np.where([metric in LOSSES for metric in METRICS], 1 - values, values),
        seconds=np.zeros((1, len(scores))),
        risks=[{int(number): told for number, told in risks.items()}],
        about={"machine": {}},
    )
    return to_content(made)


def test_every_trial_is_compared_and_a_tie_is_no_difference():
    path = "judge/cic/lr.json"
    shipped = trials((0.8, 0.7), (0.8 - 1e-9, 0.5))
    assert verdict(shipped, trials((0.8 - 1e-9, 0.7), (0.8, 0.5)), path) == WITHIN
    assert verdict(shipped, trials((0.8, 0.9), (0.8 - 1e-9, 0.5)), path) == DIFFERENT
    assert verdict(shipped, trials((0.8, 0.7), (0.8 - 1e-9, 0.9)), path) == DIFFERENT


def test_risks_of_another_trial_are_not_compared_and_those_of_one_are():
    path, scores = "judge/cic/lr.json", ((0.8, 0.7), (0.8 - 1e-9, 0.5))
    one = trials(*scores, **{"0": {"slope": 1.0, "net_benefit": [0.1, 0.2]}})
    other = trials(*scores, **{"1": {"slope": 9.0, "net_benefit": [0.1, 0.2]}})
    forged = trials(*scores, **{"0": {"slope": 1.5, "net_benefit": [0.1, 0.2]}})
    assert verdict(one, other, path) == NUMBERS
    assert verdict(one, forged, path) == DIFFERENT


@pytest.mark.long
def test_scores_in_random_partitions_are_compared_as_well():
    drawn = 0
    cells = sorted(path for path in shipped_records() if re.search(r"/cells_\w+\.json$", path))
    for path in cells:
        content = json.loads(shipped_records()[path])
        found = any("partitions" in series.place for series in score_series(content, content))
        assert found == ("partitions" in content["resamples"][0])
        drawn += found
    assert drawn > 10
    path = next(path for path in cells if path.startswith("judge/clinical/"))
    content, forged = (json.loads(shipped_records()[path]) for _ in range(2))
    partitions = forged["resamples"][0]["partitions"]
    number = min(partitions)
    partitions[number][3]["test"]["auroc"] += 1e-9
    assert verdict(forged, content, path) == WITHIN
    partitions[number][3]["test"]["auroc"] += 0.2
    assert verdict(forged, content, path) == DIFFERENT


def test_a_record_of_another_kind_is_compared_by_its_numbers():
    path, shipped = "judge/planted/lr_0.json", {"gain": 0.1, "verdict": "better", "machine": {}}
    assert verdict(shipped, {**shipped, "machine": {"processor": "x"}}, path) == SAME
    found = compare_records(path, shipped, {**shipped, "gain": 0.2}, TOLERANCES)
    assert (found.verdict, found.where) == (DIFFERENT, "gain, mean")
    found = compare_records(path, shipped, {**shipped, "verdict": "worse"}, TOLERANCES)
    assert (found.verdict, found.shipped, found.again) == (DIFFERENT, "better", "worse")
    assert verdict(shipped, {"verdict": "better", "machine": {}}, path) == DIFFERENT


def forged(path, how):
    content = json.loads(shipped_records()[path])
    auroc = [split["metrics"] for split in content["splits"]]
    if how == "one split":
        auroc[0]["auroc"] = 0.999
    elif how == "mean kept":
        for split, step in zip(auroc, (0.1, -0.1, 0.1, -0.1), strict=False):
            split["auroc"] += step
    elif how == "better":
        for split in auroc:
            split["auroc"] += 0.05
    content["summary"] = summarise(content["splits"])
    if how == "small deviation":
        content["summary"]["auroc"]["sd"] *= 0.1
        content["n_rows"] = 999999
    return content


@pytest.mark.parametrize("how", ["one split", "mean kept", "better", "small deviation"])
@pytest.mark.parametrize(
    "path",
    ["titanic/xgb_k1.json", "cic/cac_lr_k2.json", "cic/deepcac_k3.json", "magic/fnn_k1.json"],
)
def test_forged_records_are_found_when_they_are_drawn(path, how):
    assert (
        verdict(json.loads(shipped_records()[path]), json.loads(shipped_records()[path]), path)
        == SAME
    )
    assert verdict(forged(path, how), json.loads(shipped_records()[path]), path) == DIFFERENT


def test_the_deviation_alone_is_held_against_the_splits():
    content = json.loads(shipped_records()["titanic/xgb_k1.json"])
    content["summary"]["auroc"]["sd"] *= 0.1
    found = compare_records(
        "titanic/xgb_k1.json",
        content,
        json.loads(shipped_records()["titanic/xgb_k1.json"]),
        TOLERANCES,
    )
    assert found.verdict == DIFFERENT
    assert found.where.startswith("summary.auroc.sd ")


@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.long)])
def test_every_kind_of_shipped_record_is_the_same_as_itself_and_has_scores_that_decide(every):
    """One record a folder."""
    by_folder = {path.rpartition("/")[0]: path for path in sorted(shipped_records())}
    for path in list(by_folder.values())[::every]:
        content = json.loads(shipped_records()[path])
        assert verdict(content, content, path) == SAME
        assert score_series(content, content), path


def test_what_has_other_parts_is_different_and_no_traceback():
    path = "judge/titanic/lr.json"
    content = json.loads(shipped_records()[path])
    for edit in (
        {"resamples": content["resamples"][:-1]},
        {"resamples": [{**content["resamples"][0], "trials": []}]},
        {"resamples": 3},
        {"trials": content["trials"][:-1]},
    ):
        assert verdict({**content, **edit}, content, path) == DIFFERENT


def measured():
    with open(RESULTS / REPEATS, encoding="utf-8") as file:
        return [Gap(*row[:4], *map(float, row[4:])) for row in list(csv.reader(file))[1:]]


def test_the_tolerances_are_those_of_the_measurement():
    found = measured()
    assert {one[:2]: one[3:] for one in tolerances(found)} == TOLERANCES
    assert {one.family for one in found} == set(Family)
    assert {one.record for one in found} <= shipped_records().keys()
    assert len({one.cpu for one in found}) >= 2


def test_the_rule_by_hand():
    sizes = [(0.01, 0.002), (0.03, 0.0001), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)]
    found = [Gap(str(n), "cpu", "trees", "auroc", *pair) for n, pair in enumerate(sizes)]
    found += [one._replace(metric="brier", split=0.0, mean=0.0) for one in found]
    found.append(Gap("0", "cpu", "trees", "f1", 0.0, 0.1))
    by_metric = {one.metric: one[2:] for one in tolerances(found)}
    assert by_metric["auroc"] == (5, 0.06, 0.004)
    assert by_metric["brier"] == (5, LEAST, LEAST)
    # Of one record and of none: as the family's furthest.
    assert by_metric["f1"] == (1, 0.06, 0.2)
    assert by_metric["log_loss"] == (0, 0.06, 0.2)


def test_the_count_of_repeats_within_is_that_of_the_tables():
    with open(RESULTS / "repeats_within.csv", encoding="utf-8") as file:
        lines = list(csv.reader(file))[1:]
    assert [list(map(str, row)) for row in count_within(shipped_records(), TOLERANCES)] == lines


def test_differences_by_hand():
    def gap(path, method, theirs, ours=(0.8, 0.9)):
        pair = (record(*values, method=method) for values in (ours, theirs))
        return next(g for g in gaps(path, "cpu", *pair) if g.metric == "auroc")

    assert gap("cic/lr_k1.json", "lr", (0.82, 0.9))[-2:] == pytest.approx((0.02, 0.01))
    deviation = 0.08 / 2**0.5
    assert gap("cic/deepcac_k2.json", "deepcac", (0.82, 0.9))[-2:] == pytest.approx(
        (0.02 / deviation, 0.01 / deviation), rel=5e-3
    )
    assert gap("cic/lda_k1.json", "lda", (0.82, 0.9)).family == Family.DISCRIMINANTS
    (split, mean) = repeat_differences("theory/cic_k2.json", {"loss": 110.0}, {"loss": 100.0})
    assert split.size / split.unit == mean.size / mean.unit == pytest.approx(0.1)
    (lost,) = repeat_differences("theory/cic_k2.json", {"loss": 110.0}, {"loss": None})
    assert lost.size == np.inf


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
        write_json(results / f"a/lr_k{k}.json", record(0.5 + k / 100, 0.6, scores=f"{k}"))
    shipped = {p.relative_to(results).as_posix(): p.read_bytes() for p in results.rglob("*.json")}
    pack(shipped, project / "docs" / "results" / "records", lambda *_: True)
    shutil.copy(RESULTS / "tolerances.csv", project / "docs" / "results")
    told = SimpleNamespace(broken=set(), calls=[])

    def run(call):
        told.calls.append(call)
        for target in call[call.index("--") + 1 :]:
            path = target.removeprefix("results/")
            if told.broken and path.endswith(tuple(told.broken)):
                content = json.loads(shipped[path])
                content["splits"][0]["metrics"]["auroc"] += 0.01
                content["summary"] = summarise(content["splits"])
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


def test_folders_of_raw_files_are_found_from_the_folder_of_the_check(project, monkeypatch):
    """The workflow that makes the records runs there, not where the configuration was written."""
    root, folder, told = project
    monkeypatch.chdir(root)
    monkeypatch.setenv("DEEPCAC_MIRROR", "../copies")
    places = {"mirrors": ["raw", "https://a.org/x"], "restricted": {"mimic3": "m", "wids": None}}
    places["signature_backend"] = "numba"
    spot_runs.spot_check(root, folder, 1, seed=7, places=places)
    (call,) = told.calls
    given = call[call.index("--configfile") + 1 : call.index("--cores")]
    assert given == [str(root / "config" / "config.yaml"), str(folder / "places.yaml")]
    assert json.loads((folder / "places.yaml").read_text()) == {
        "mirrors": [str(root / "raw"), "https://a.org/x", str(root.parent / "copies")],
        "restricted": {"mimic3": str(root / "m"), "wids": None},
        "signature_backend": "numba",
    }


def test_a_record_that_does_not_come_back_is_named_after_the_page_is_written(project):
    root, folder, told = project
    told.broken = {"lr_k3.json"}
    with pytest.raises(DataError, match=r"^a/lr_k3\.json: not as shipped"):
        spot_runs.spot_check(root, folder, 5, seed=7)
    page = (folder / "index.html").read_text()
    assert "4 of 5 records came back" in page
    lines = list(csv.DictReader((folder / "spotcheck.csv").read_text().splitlines()))
    assert lines[0]["record"] == "a/lr_k3.json"  # failures first
    assert [line["verdict"] for line in lines] == [DIFFERENT, *[SAME] * 4]
    assert (lines[0]["shipped"], lines[0]["again"]) == ("0.53", "0.54")
    assert float(lines[0]["of the tolerance"]) > 1
    assert page.index("a/lr_k3.json") < page.index("a/lr_k1.json")


def test_the_page_tells_what_made_both_sides_and_invents_no_digit(project):
    root, folder, _ = project
    spot_runs.spot_check(root, folder, 5, seed=7)
    page = (folder / "index.html").read_text()
    assert "b" * 40 in page
    assert all(text in page for text in ("numpy 2", "Made on "))
    assert "took 5 seconds" in page
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", page)
    assert {"0.51", "0.6"} & set(cells)
    assert not {"0.510000", "0.600000"} & set(cells)


def test_a_run_that_failed_is_not_made(project, monkeypatch):
    root, folder, _ = project
    monkeypatch.setattr(spot_runs.subprocess, "run", lambda call: SimpleNamespace(returncode=1))
    with pytest.raises(DataError, match=r"^a/\S+, a/\S+: .*ended with 1\)"):
        spot_runs.spot_check(root, folder, 2, seed=0)
    assert (folder / "spotcheck.csv").read_text().count("not made") == 2
