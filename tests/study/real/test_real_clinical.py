"""Clinical tables from the real raw files: the counts that the registry says, and a digest."""

import numpy as np
import pandas as pd
import pytest
from catalogued import REGISTRY
from described_tables import inferred, use_of
from mirrors import MIRROR

from deepcac.feature_matrix import read_features
from deepcac.judging.contenders import Contender
from deepcac.scoring.resampled_scores import AUROC, BRIER, RATIO
from deepcac.table.elsewhere.fold_trials import evaluate_fold
from deepcac.table.elsewhere.folds import external_rows
from deepcac.table.inference.labelled_table import read_labelled
from deepcac_study.catalogue.entries import file_names
from deepcac_study.catalogue.protocol import SOUND
from deepcac_study.features.clinical import write_breast_cancers
from deepcac_study.jobs.steps import build_features, transform
from deepcac_study.raw.fetch import fetch

pytestmark = [pytest.mark.real]

COHORTS = [name for name, entry in REGISTRY.datasets.items() if entry.counts]


def built(dataset, folder):
    entry = REGISTRY.dataset(dataset)
    source = REGISTRY.source(entry.source)
    for name, file in source.files.items():
        fetch(file, folder / "raw" / name, mirrors=[str(MIRROR)])
    raw = [str(folder / "raw" / name) for name in file_names(source.extract.reads)]
    tidy = [str(folder / "tidy" / name) for name in file_names(source.extract.writes)]
    transform(source.extract, raw, tidy)
    reads = [str(folder / "tidy" / name) for name in file_names(entry.features.reads)]
    build_features(entry.features, reads, folder / "f.parquet", protocol=SOUND, options={})
    return read_features(folder / "f.parquet")


@pytest.mark.parametrize("dataset", COHORTS)
def test_rows_and_events_are_those_of_the_registry(dataset, tmp_path):
    matrix = built(dataset, tmp_path)
    counts = REGISTRY.dataset(dataset).counts
    assert (len(matrix.label), int(matrix.label.sum())) == (counts.rows, counts.events)
    assert not np.isnan(matrix.X).all(axis=0).any()
    if dataset == "rotterdam_gbsg_5y":
        assert dict(zip(*np.unique(matrix.group, return_counts=True), strict=True)) == {
            "gbsg": 406,
            "rotterdam": 2856,
        }


def plain_chance(time, event, moment):
    """Return the share still followed just before a moment; events come before censorings."""
    chance = 1.0
    for now in np.unique(time[time < moment]):
        left = (time >= now).sum() - ((time == now) & event).sum()
        chance *= 1 - ((time == now) & ~event).sum() / max(left, 1)
    return chance


def test_rotterdam_to_gbsg_at_five_years_is_what_plain_loops_give(tmp_path, monkeypatch):
    """AUROC(t) of Uno and others, Brier(t) of Graf and others, observed over expected events."""
    built("rotterdam_gbsg_5y", tmp_path)
    write_breast_cancers(tmp_path / "tidy", tmp_path)
    roles = use_of("event", time="time", horizon=1826.0)
    table = read_labelled(inferred(tmp_path / "rotterdam.csv", roles))
    fold, _ = external_rows(table, [tmp_path / "gbsg.csv"], rows=20_000, seed=0)
    few = [Contender("lr"), Contender("lr", "km")]
    monkeypatch.setattr("deepcac.table.elsewhere.fold_trials.contenders", lambda: few)
    (judged,) = evaluate_fold(fold, 0, 2, 10_000)
    scores, whom = judged.model.scores, judged.model.patients
    gbsg = pd.read_csv(tmp_path / "gbsg.csv")
    time, event, risk = gbsg["time"].to_numpy(), gbsg["event"].to_numpy() == 1, whom.risk
    came = event & (time <= 1826)
    seen = came | (time >= 1826)
    chance = [plain_chance(time, event, min(moment, 1826)) for moment in time]
    weight = np.where(seen, 1 / np.array(chance), 0.0)
    pairs = weight[came][:, None] * weight[~came & seen]
    ahead = np.sign(risk[came][:, None] - risk[~came & seen]) / 2 + 0.5
    assert scores[AUROC].value == pytest.approx((pairs * ahead).sum() / pairs.sum(), abs=1e-9)
    assert scores[BRIER].value == pytest.approx((weight * (came - risk) ** 2).mean(), abs=1e-9)
    days = np.unique(time[came])
    free = np.prod([1 - (came & (time == day)).sum() / (time >= day).sum() for day in days])
    assert scores[RATIO].value == pytest.approx((1 - free) / risk.mean(), abs=1e-9)
    assert (len(table.features.label), len(gbsg), int(came.sum())) == (2982, 686, 285)
