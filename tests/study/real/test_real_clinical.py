"""Clinical tables from the real raw files: the counts that the registry says, and a digest."""

import numpy as np
import pytest
from catalogued import REGISTRY
from mirrors import MIRROR

from deepcac.feature_matrix import read_features
from deepcac_study.catalogue.entries import file_names
from deepcac_study.catalogue.protocol import SOUND
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
