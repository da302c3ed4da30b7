import json
import platform

import numpy as np
import pytest

from deepcac.errors import ConfigError, DataError
from deepcac.feature_matrix import FeatureMatrix, read_features, write_features
from deepcac.files.storage import read_json, read_table, write_json, write_table
from deepcac.task import Fitted, Task
from deepcac_study.catalogue.methods import methods, parse_method
from deepcac_study.catalogue.protocol import SOUND, Protocol, published_labels
from deepcac_study.experiments.run import RunFiles, run, split_entry
from deepcac_study.records import record as records
from deepcac_study.records.runs import Run, load
from deepcac_study.splits import make_splits, write_splits


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 4))
    y = (X[:, 0] + 0.5 * rng.normal(size=160) > 0).astype(np.int64)
    X[rng.random(X.shape) < 0.1] = np.nan
    features = FeatureMatrix(np.arange(160) * 3, y, X, tuple("abcd"))
    write_features(tmp_path / "f.parquet", features)
    write_splits(tmp_path / "s.parquet", make_splits(features.row_id, y, [0, 1]))
    return RunFiles(tmp_path / "f.parquet", tmp_path / "s.parquet")


def fit_one(files, method="lr", k=1):
    """Run one method and return its record's path."""
    path = files.features.parent / "toy" / f"{method}_k{k}.json"
    run(files, {path: (parse_method(method), k)}, dataset="toy", protocol=SOUND)
    return path


def test_features_come_back_as_written(tmp_path, files):
    features = read_features(files.features)
    write_features(tmp_path / "again.parquet", features)
    assert (tmp_path / "again.parquet").read_bytes() == files.features.read_bytes()
    assert np.isnan(features.X).any()


def test_a_run_scores_every_test_row_once_and_repeats_to_the_digest(files):
    path = fit_one(files)
    record = records.read_record(path)
    scores = records.scores_path(path).read_bytes()
    assert record["protocol"] == "sound"
    assert record["summary"]["auroc"]["mean"] > 0.7
    assert [split["n_test"] for split in record["splits"]] == [40, 40]
    assert record["machine"]["peak_memory_mb"] > 1
    assert record["machine"]["processor"] == records.processor()
    again = records.read_record(fit_one(files))
    assert again["digest"] == record["digest"]
    assert records.scores_path(path).read_bytes() == scores


def test_methods_that_share_a_job_have_the_records_of_their_own(files):
    folder = files.features.parent
    arms = (("km_lr", 2), ("km_lda", 3), ("km_rf", 2))
    asked = {folder / f"{name}.json": (parse_method(name), k) for name, k in arms}
    run(files, asked, dataset="toy", protocol=SOUND)
    for path, (method, k) in asked.items():
        alone = fit_one(files, method.id, k)
        assert records.read_record(path)["digest"] == records.read_record(alone)["digest"]
        assert records.scores_path(path).read_bytes() == records.scores_path(alone).read_bytes()


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("toy/svm_k1.json", {}),
        ("toy/lr_k2.json", {}),
        ("other/lr_k1.json", {}),
        ("as_published/toy/lr_k1.json", {}),
        ("toy/record.json", {}),
        ("toy/lr_k1.json", {"k": 4}),
        ("toy/lr_k1.json", {"protocol": "as_published"}),
        ("toy/lr_k1.json", {"switches": ["L1"]}),
    ],
)
def test_a_record_of_another_run_than_its_path_says_is_refused(files, place, said):
    record = read_json(fit_one(files))
    root = files.features.parent / "moved"
    records.write_record(root / "results" / place, {**record, **said})
    with pytest.raises(DataError, match=f"results/{place}: .*'lr, k = ") as caught:
        load([root / "results" / place], root)
    assert "\n" not in str(caught.value)


def test_a_named_protocol_may_have_had_a_switch_more_since_a_record(files):
    labels = sorted(published_labels())[1:]
    record = {**read_json(fit_one(files)), "protocol": "as_published", "switches": labels}
    root = files.features.parent / "older"
    place = root / "results" / "as_published/toy/lr_k1.json"
    records.write_record(place, record)
    (found,) = load([place], root)
    assert found.protocol == "as_published"
    records.write_record(place, {**record, "switches": ["CV5", *labels]})
    with pytest.raises(DataError, match="is the record of"):
        load([place], root)


@pytest.mark.parametrize("name", ["features", "splits"])
def test_a_record_of_other_inputs_than_are_here_is_refused(files, name):
    path, root = fit_one(files), files.features.parent
    inputs = {str(path): {"features": str(files.features), "splits": str(files.splits)}}
    assert len(load([path], root, inputs)) == 1
    changed = getattr(files, name)
    write_table(changed, read_table(changed).slice(1))
    with pytest.raises(DataError, match=f"lr_k1.json: made from other {name} than"):
        load([path], root, inputs)
    changed.unlink()
    assert len(load([path], root, inputs)) == 1


def test_scores_that_are_not_those_of_the_record_are_refused(files):
    (found,) = load([fit_one(files)], files.features.parent)
    assert found.scores(["seed", "p_1"]).num_rows == 80
    whole = read_table(found.scores_file)
    write_table(found.scores_file, whole.slice(1))
    with pytest.raises(DataError, match=r"lr_k1\.scores\.parquet: .*its record"):
        found.scores(["seed"])
    found.scores_file.unlink()
    with pytest.raises(DataError, match=r"lr_k1\.scores\.parquet: missing"):
        found.scores(["seed"])
    old = Run(found.path, {**found.record, "scores": None}, found.file)
    assert old.scores(["seed"]) is None


def test_an_edited_record_is_refused(files):
    path = fit_one(files)
    record = json.loads(path.read_text())
    record["summary"]["auroc"]["mean"] = 0.999
    path.write_text(json.dumps(record))
    with pytest.raises(DataError, match="edited"):
        records.read_record(path)
    write_json(path, {})
    with pytest.raises(DataError, match="run record"):
        records.read_record(path)


def test_a_failed_run_leaves_nothing_behind(files, monkeypatch):
    monkeypatch.setattr(
        records, "write_table", lambda *_: (_ for _ in ()).throw(OSError(28, "disk full"))
    )
    with pytest.raises(OSError, match="disk full"):
        fit_one(files)
    left = {path.name for path in files.features.parent.iterdir()}
    assert left == {"f.parquet", "s.parquet"}


def test_a_method_without_clusters_refuses_k(files):
    with pytest.raises(ConfigError, match="lr_k1"):
        fit_one(files, k=2)


def test_method_ids_parse_back():
    for name in methods():
        assert parse_method(name).id == name
    assert parse_method("km_z").family == "deep"
    assert parse_method("km_lr").arm == "km"
    with pytest.raises(ConfigError, match="unknown method 'cac_zz'"):
        parse_method("cac_zz")


def test_curves_with_nan_become_null():
    y = np.array([0, 1, 0, 1])
    X = np.arange(8.0).reshape(4, 2)
    task = Task(X, y, X[:0], y[:0], X, y, 2, 1, 0, names=("a", "b"))
    fitted = Fitted(np.eye(2)[y], y, y * 0, y * 0, {}, history={"loss": [1.0, float("nan")]})
    assert split_entry(task, fitted)["history"]["loss"] == [1.0, None]


def test_equal_clusters_in_another_space_have_their_own_silhouette():
    y = np.array([0, 0, 1, 1])
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    task = Task(X, y, X[:0], y[:0], X, y, 2, 2, 0, names=("a",))
    seen = {}
    silhouettes = []
    for space in (None, np.array([[0.0], [10.0], [1.0], [11.0]]), None):
        fitted = Fitted(np.eye(2)[y], y, y, y, {}, embedding_test=space)
        silhouettes.append(split_entry(task, fitted, seen)["metrics"]["silhouette"])
    # Row by row in X: own cluster 1 away, the other 10.5 or 9.5: 1 - 1/10.5 and 1 - 1/9.5.
    assert silhouettes[0] == pytest.approx(1 - (1 / 10.5 + 1 / 9.5) / 2)
    assert silhouettes[1] < 0
    assert silhouettes[2] == silhouettes[0]
    assert len(seen) == 2


def test_an_unfinished_split_has_no_score():
    y = np.array([0, 1, 0, 1])
    X = np.arange(8.0).reshape(4, 2)
    task = Task(X, y, X[:0], y[:0], X, y, 2, 1, 0, names=("a", "b"))
    fitted = Fitted(np.full((4, 2), 0.5), y, y * 0, y * 0, {}, status="timeout")
    entry = split_entry(task, fitted)
    assert entry["metrics"] == {}
    assert records.summarise([entry]) == {}
    finished = {"metrics": {"f1": 1.0}}
    assert records.summarise([finished, entry]) == {}


def test_summary_is_mean_and_sd_of_what_every_split_has():
    entries = [
        {"metrics": {"f1": 0.2, "auroc": None}},
        {"metrics": {"f1": 0.4, "auroc": 0.5}},
    ]
    summary = records.summarise(entries)
    assert summary.keys() == {"f1"}
    assert summary["f1"]["mean"] == pytest.approx(0.3)
    assert summary["f1"]["sd"] == pytest.approx(np.sqrt(0.02))


def test_protocols_by_folder():
    assert Protocol.from_folder("").name == "sound"
    published = Protocol.from_folder("as_published/")
    assert published.name == "as_published"
    assert "L1" in published
    assert "L3" not in published.labels, "the papers' numbers had standardised features"
    assert Protocol.from_folder("switches/L1/").labels == {"L1"}
    assert published.labels == published_labels()
    with pytest.raises(ConfigError, match="unknown switch 'Q9'"):
        Protocol.from_folder("switches/Q9/")
    with pytest.raises(ConfigError, match="no protocol"):
        Protocol.from_folder("elsewhere/")


def test_a_method_is_given_rows_of_its_kind(files):
    with pytest.raises(ConfigError, match="grasp_ts .*hourly.*toy .*static"):
        fit_one(files, "grasp_ts", k=2)
    with pytest.raises(ConfigError, match="ask for lr_k1, not k2"):
        fit_one(files, k=2)
    names = tuple(f"hr@{hour:02d}" for hour in range(4))
    static = read_features(files.features)
    write_features(files.features, FeatureMatrix(static.row_id, static.label, static.X, names))
    with pytest.raises(ConfigError, match="lr .*static.*toy .*hourly"):
        fit_one(files)
    assert not (files.features.parent / "toy").exists()


def test_a_processor_is_named_by_what_the_system_tells(tmp_path):
    info = tmp_path / "cpuinfo"
    one = "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: Some CPU @ 2.00GHz\n"
    info.write_text(f"{one}\n{one.replace('Some', 'Other')}\n")
    assert records.processor(info) == "Some CPU @ 2.00GHz, cpu family 6, model 143"
    info.write_text("processor : 0\nBogoMIPS : 50.00\n\n")  # one that gives no name
    assert records.processor(info) == platform.machine()
    assert records.processor(tmp_path / "none") in (platform.processor(), platform.machine())
