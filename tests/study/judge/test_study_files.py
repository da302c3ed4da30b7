"""The files of the study, by hand from a small configuration."""

import pytest

from deepcac.errors import ConfigError
from deepcac.judging.trials import Effort
from deepcac_study.judge.study_files import StudyFiles

JUDGE = {
    "clinical": {
        "datasets": ["rhc", "hidden"],
        "contenders": ["lr", "km_lr"],
        "also": [{"datasets": ["cic"], "contenders": ["fnn"]}],
        "partitions": 20,
        "added": {
            "datasets": ["gusto"],
            "contenders": ["ebm"],
            "on_splines": ["cells_spline_lr"],
            "known_then": {"rhc": {"without": ["edu"]}, "hidden": {}},
            "by_place": [{"datasets": ["gusto"], "contenders": ["lr"]}],
        },
    },
    "matches": [
        {"datasets": ["cic", "hidden"], "contenders": ["lr", "km_lr"]},
        {"datasets": ["cic"], "contenders": ["lr", "lgbm"]},
    ],
    "planted": [
        {"name": "lr", "strengths": [0.0, 0.5]},
        {
            **{"name": "lgbm", "strengths": [0.5]},
            **{"cohorts": 3, "rows": 500, "contenders": ["lgbm"]},
        },
    ],
    "by_size": {
        **{"sizes": {"cic": [400, 12_800], "hidden": [400]}, "strengths": [0, 1]},
        **{"draws": 5, "draws_large": 3, "large_rows": 12_800},
        **{"resamples": 10, "train_rows": 2000, "trials": 10},
    },
    "tables": {
        "datasets": ["cic_ts", "hidden"],
        "resamples_of": {"cic_ts": 3},
        **{"resamples": 10, "resamples_small": 20, "small_rows": 2000, "train_rows": 2000},
        **{"trials": 6, "network_trials": 1},
    },
}
STUDY = StudyFiles(JUDGE, lambda dataset: dataset != "hidden")


def test_a_contender_meets_a_data_set_once_and_hidden_data_never():
    assert STUDY.trials == [f"results/judge/cic/{name}.json" for name in ("lr", "km_lr", "lgbm")]


def test_answers_stand_beside_records_of_trials_alone():
    files = STUDY.files
    assert "results/judge/cic/lgbm.parquet" in files
    assert "results/judge/planted/lr_0.5.parquet" not in files
    assert len(files) == len(set(files))


def test_clinical_tasks_have_a_folder_and_an_effort_of_their_own():
    assert STUDY.clinical == [
        f"results/judge/clinical/{name}.json" for name in ("rhc/lr", "rhc/km_lr", "cic/fnn")
    ]
    effort = dict.fromkeys(Effort._fields[:6], 7)
    study = StudyFiles(JUDGE | effort, lambda dataset: True)
    usual = Effort(*[7] * 6, partitions=20, grid=True)
    assert Effort(**study.clinical_effort("rhc", "cells_lr")) == usual
    each = Effort(**study.clinical_effort("gusto", "cells_lr"))
    assert each == usual._replace(choose_in_each=True)
    once = Effort(**study.clinical_effort("gusto", "cells_spline_lr"))
    assert once == usual._replace(partitions=1)
    assert "results/judge/clinical/pooled.csv" in STUDY.files


def test_a_clinic_of_each_size_is_one_record_and_large_ones_are_fewer():
    places = [f"results/judge/by_size/cic_{rows}.json" for rows in (400, 12_800)]
    assert STUDY.by_size == places
    assert [STUDY.size_effort(rows)["draws"] for rows in (400, 12_800)] == [5, 3]
    effort = Effort(**STUDY.size_effort(400)["effort"])
    assert effort == Effort(10, 10, 0, 2000, 10, 1, grid=True)


def test_what_is_added_meets_in_the_same_folder_and_changes_no_planned_list():
    names = {
        name: sorted(f.split("/")[-1][:-5] for f in STUDY.added if f"/clinical/{name}/" in f)
        for name in ("rhc", "gusto", "known_then/rhc", "by_place/gusto")
    }
    assert names == {
        "rhc": ["cells_spline_lr"],
        "gusto": ["cells_spline_lr", "ebm", "km_lr", "lr"],
        "known_then/rhc": ["km_lr", "lr"],
        "by_place/gusto": ["lr"],
    }
    assert not set(STUDY.added) & set(STUDY.clinical)


def test_parts_of_the_positive_control_have_names():
    assert STUDY.planted == [
        f"results/judge/planted/{n}.json" for n in ("lr_0", "lr_0.5", "lgbm_0.5")
    ]
    assert STUDY.cohorts("lgbm") == {"cohorts": 3, "rows": 500, "contenders": ["lgbm"]}
    with pytest.raises(ConfigError, match="'rf' .*known: lr,"):
        STUDY.cohorts("rf")


def test_a_whole_table_is_one_record_and_may_have_fewer_resamples():
    assert STUDY.tables == ["results/judge/tables/cic_ts.json"]
    assert set(STUDY.tables) <= set(STUDY.files)
    few, usual = STUDY.table_effort("cic_ts"), STUDY.table_effort("cic")
    assert (few["resamples"], few["resamples_small"], few["trials"]) == (3, 3, 6)
    assert (usual["resamples"], usual["resamples_small"]) == (10, 20)
