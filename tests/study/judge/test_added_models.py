"""Clusters on top of splines, and further cohorts: families, what decides, and what is lacking."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from deepcac.errors import DataError
from deepcac.judging.contenders import parse_contender
from deepcac.judging.trial_record import TrialRecord
from deepcac.judging.trial_scores import METRICS
from deepcac.scoring.statistics import holm
from deepcac_study.catalogue.judge_plan import Clinical
from deepcac_study.judge.added_models import (
    TOGETHER,
    judge_by_place,
    judge_cohorts,
    judge_on_splines,
    judge_second_run,
    write_cohorts,
    write_on_splines,
)
from deepcac_study.judge.clinical_tasks import clinical_tables

RNG = np.random.default_rng(8)
KINDS = ("km", "cac", "dist", "ids", "soft")
PLANNED = [
    f"{arm}{learner}" for learner in ("lr", "lgbm") for arm in ("", *(f"{k}_" for k in KINDS))
]
PLANNED += ["cells_lr", "cells_lgbm", "spline_lr", "products_lr", "linear_lgbm", "moe"]
ON_SPLINES = ["km_spline_lr", "dist_spline_lr", "cells_spline_lr"]
NEW = ("new", "larger")
PLAN = Clinical.model_validate(
    {
        "datasets": ["a", "b", "apart"],
        "contenders": PLANNED,
        "apart": ["apart"],
        "added": {
            "datasets": [*NEW],
            "contenders": ["ebm"],
            "on_splines": ON_SPLINES,
            "families": [["larger", "a"]],
        },
    }
)


def record(name, gain):
    """Return a record of one trial in ten resamples, of which every score is about .7 + gain."""
    contender = parse_contender(name)
    mean = 0.7 + gain + 0.001 * RNG.normal(size=(10, 1, 1, 1))
    scores = np.broadcast_to(mean, (10, 1, 2, len(METRICS)))
    made = TrialRecord(
        name,
        contender.arm,
        contender.learner,
        values=[{"n_clusters": 2 if contender.arm else 1}],
        seeds=list(range(10)),
        sizes=[{"n_train": 56, "n_validation": 19, "n_test": 25}] * 10,
        scores=scores,
        seconds=np.ones((10, 1)),
        about={"n_rows": 100, "machine": {"seconds": {"total": 10.0}}},
    )
    if contender.arm != "cells":
        return made
    return replace(made, partitions=[{0: np.stack([own[0]] * 3)} for own in scores])


def stored(names, tasks=NEW, **gains):
    return {task: {name: record(name, gains.get(name, 0.0)) for name in names} for task in tasks}


def test_a_kind_on_splines_helps_if_it_beats_splines_and_splines_in_random_groups():
    names = ["spline_lr", *ON_SPLINES]
    gains = {"km_spline_lr": 0.05, "dist_spline_lr": 0.05, "cells_spline_lr": 0.03}
    table = judge_on_splines(stored(names, **gains), 0.005)
    assert table["helps"].all()
    assert set(table["contender"]) == {"km_spline_lr", "dist_spline_lr"}
    level = judge_on_splines(stored(names, **gains | {"cells_spline_lr": 0.05}), 0.005)
    assert not level["helps"].any()


def test_a_family_on_splines_is_all_kinds_and_tasks_of_a_question_and_metric():
    table = judge_on_splines(stored(["spline_lr", *ON_SPLINES], "abcd"), 0.005)
    rows = table[(table["question"] == "forced") & (table["metric"] == "auroc")]
    assert len(rows) == 2 * 4
    assert np.allclose(rows["p_holm"], holm(rows["p"].to_numpy()))


def test_a_cohort_is_helped_by_what_beats_the_learner_equal_random_groups_and_splines():
    names = [*PLANNED, "ebm"]
    gains = {"km_lr": 0.06, "dist_lr": 0.06, "cac_lr": 0.06, "spline_lr": 0.02, "cells_lr": 0.01}
    table = judge_cohorts(stored(names, **gains), 0.005)
    assert set(table.loc[table["helps"], "contender"]) == {"km_lr", "cac_lr", "dist_lr"}
    random = table[(table["question"] == "random") & (table["metric"] == "auroc")]
    assert set(random["reference"]) == {"each_of_cells_lr", "each_of_cells_lgbm"}
    own = random[random["reference"] == "each_of_cells_lr"]
    assert len(own) == 4
    assert np.allclose(own["p_holm"], holm(own["p"].to_numpy()))
    better = judge_cohorts(stored(names, **gains | {"cells_lr": 0.07}), 0.005)
    assert set(better.loc[better["helps"], "contender"]) == {"dist_lr"}


def test_cohorts_that_share_patients_are_one_and_the_plan_keeps_its_own():
    assert set(PLAN.poolings(added=True)["family"].values()) == {"larger", "b", "new", "apart"}
    assert PLAN.poolings(added=True)["larger"].keys() == {"larger", "b", "new", "apart"}
    assert PLAN.poolings()["family"] == {"a": "a", "b": "b", "apart": "apart"}


def test_a_second_run_is_judged_among_the_plans_tasks_and_stands_beside_the_first():
    names = ["lr", "km_lr", "spline_lr"]
    plan = PLAN.model_copy(update={"contenders": names})
    planned = stored(names, ("a", "b", "apart"))
    again = stored(names, ("a",), km_lr=0.05)
    table = judge_second_run(planned, again, plan, 0.005)
    assert {*table["dataset"]} == {"a", TOGETHER}
    one = table.query("metric == 'auroc' and question == 'help' and contender == 'km_lr'")
    (row,) = one[one["dataset"] == "a"].itertuples()
    assert row.verdict_planned != "better" == row.verdict_known
    assert row.mean_known - row.mean_planned == pytest.approx(0.05, abs=0.01)
    both = one[one["dataset"] == TOGETHER]
    assert sorted(both["pooling"]) == sorted(plan.poolings())
    assert (both["mean_known"] > both["mean_planned"]).all()
    # The planned side is what the plan's own table has.
    own = clinical_tables(planned, plan, 0.005)["verdicts"].query("dataset == 'a' and alpha == ''")
    merged = table.merge(own, on=["question", "metric", "contender", "reference", "dataset"])
    assert len(merged) == (table["dataset"] == "a").sum()
    assert (merged["verdict_planned"] == merged["verdict"]).all()


def test_held_out_places_are_compared_with_the_learner_and_splines_and_decide_nothing():
    names = [name for name in PLANNED if not name.startswith(("cells", "products", "moe"))]
    table = judge_by_place(stored(names, ("new",), km_lr=0.05), 0.005)
    assert "helps" not in table
    assert {*table["question"]} == {"help", "forced", "bent"}
    better = table.query("metric == 'auroc' and verdict == 'better'")
    assert {*better["contender"]} == {"km_lr"}


def test_half_a_family_is_not_shown(tmp_path):
    names = ["spline_lr", *ON_SPLINES]
    paths = [tmp_path / task / f"{name}.json" for task in ("a", "b", *NEW) for name in names]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.touch()
    (tmp_path / "new" / "dist_spline_lr.json").unlink()
    out = tmp_path / "verdicts.csv"
    with pytest.raises(DataError, match=r"1 of 16 records .* \(new/dist_spline_lr"):
        write_on_splines(out, out, paths, clinical=PLAN.model_dump(), strict=0.005)
    assert not out.exists()


def test_each_experiment_waits_for_its_own_records_only(tmp_path, monkeypatch):
    records = stored([*PLANNED, "ebm"], ("a", "b", *NEW))
    paths = [tmp_path / task / f"{name}.json" for task in records for name in records[task]]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.touch()

    def read(paths):
        chosen = {}
        for path in paths:
            chosen.setdefault(path.parent.name, {})[path.stem] = records[path.parent.name][
                path.stem
            ]
        return chosen

    monkeypatch.setattr("deepcac_study.judge.added_models.read_records", read)
    verdicts, pooled = tmp_path / "verdicts.csv", tmp_path / "pooled.csv"
    write_cohorts(verdicts, pooled, paths, clinical=PLAN.model_dump(), strict=0.005)
    assert set(pd.read_csv(verdicts)["dataset"]) == {*NEW}
    estimates = pd.read_csv(pooled).query("pooling == 'family'")
    assert set(estimates["tasks"]) == {4}
    assert set(estimates["cohorts"]) == {3}
