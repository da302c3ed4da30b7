import json

import numpy as np
import pyarrow as pa
import pytest

from deepcac.errors import DataError
from deepcac.files.storage import write_table
from deepcac_study.catalogue.protocol import Protocol, published_labels
from deepcac_study.catalogue.variables import category_field
from deepcac_study.experiments.relatives.decomposition_runs import (
    read_labelled,
    resample,
    write_bias_variance,
    write_decomposition,
)
from deepcac_study.experiments.relatives.repeated_runs import run_experiment
from deepcac_study.records.decompositions import ResampledRecord, load_decompositions
from deepcac_study.records.stored import load_stored

RUNS = 2


@pytest.fixture
def tidy(tmp_path):
    """A tidy table: class a at both ends of x, class b between them; one category."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 160)
    x = np.where(y == 0, 8.0 * rng.integers(0, 2, 160), 4.0) + rng.normal(scale=0.5, size=160)
    x[3] = np.nan
    fields = [
        pa.field("row_id", pa.int64()),
        pa.field("x", pa.float64()),
        category_field("colour", ("red", "blue")),
        category_field("class", ("a", "b")),
        pa.field("group", pa.string()),
    ]
    colour = rng.choice(["red", "blue"], 160).tolist()
    colour[5] = None
    columns = [range(160), x, colour, ["ab"[i] for i in y], ["train"] * 160]
    arrays = [
        pa.array(column, field.type, from_pandas=True)
        for column, field in zip(columns, fields, strict=True)
    ]
    path = tmp_path / "tidy.parquet"
    write_table(path, pa.table(arrays, schema=pa.schema(fields)))
    return path


def write(tmp_path, tidy, name="uci_vote", protocol=None):
    folder = "" if protocol is None else f"{protocol.name}/"
    out = tmp_path / f"results/{folder}decomposition/{name}.json"
    options = {} if protocol is None else {"variant": folder}
    write_decomposition(out, (tidy, "class"), dataset=name, runs=RUNS, **options)
    return out


def test_categories_keep_their_levels_and_ids_are_no_features(tidy):
    X, y = read_labelled(tidy, "class")
    assert list(X.columns) == ["x", "colour"]
    assert list(X["colour"].cat.categories) == ["red", "blue"]
    assert X["colour"].isna().sum() == X["x"].isna().sum() == 1
    assert set(y) == {"a", "b"}
    with pytest.raises(DataError, match="no column 'label'"):
        read_labelled(tidy, "label")


@pytest.mark.long
def test_a_record_holds_the_runs_and_can_be_repeated(tmp_path, tidy):
    path = write(tmp_path, tidy)
    (found,) = load_decompositions([path], tmp_path)
    assert found.path == "results/decomposition/uci_vote.json"
    assert (found.protocol, found.synthetic, found.n_classes) == ("sound", False, 2)
    rows = list(run_experiment(*read_labelled(tidy, "class"), runs=RUNS))
    wanted = {
        (base, arm): [100 * r.accuracy for r in rows if (r.base, r.arm) == (base, arm)]
        for base in ("nb", "svm")
        for arm in ("alone", "separate", "greedy")
    }
    for (base, arm), values in wanted.items():
        assert found.values(base, arm).tolist() == pytest.approx(values)
    assert found.gains("svm") == pytest.approx(
        np.subtract(wanted["svm", "greedy"], wanted["svm", "alone"])
    )
    assert found.n_clusters == np.mean([np.mean(r.n_clusters) for r in rows])
    times = found.record["machine"]["seconds"]
    assert set(times) == {"clustering", *(f"{base}_{arm}" for base, arm in wanted)}
    first = json.loads(path.read_text())
    again = json.loads(write(tmp_path, tidy).read_text())
    assert first.pop("machine").keys() == again.pop("machine").keys()
    assert first == again


def test_published_parts_are_drawn_plainly(tmp_path, tidy):
    published = Protocol(published_labels())
    paths = [write(tmp_path, tidy, protocol=published), write(tmp_path, tidy)]
    sound, plain = load_decompositions(paths, tmp_path)
    assert (sound.protocol, plain.protocol) == ("sound", "as_published")
    assert (sound.record["stratified"], plain.record["stratified"]) == (True, False)
    rows = run_experiment(*read_labelled(tidy, "class"), runs=RUNS, stratified=False)
    own = [100 * r.accuracy for r in rows if (r.base, r.arm) == ("nb", "greedy")]
    assert plain.values("nb", "greedy").tolist() == pytest.approx(own)


def test_an_edited_record_is_refused(tmp_path, tidy):
    path = write(tmp_path, tidy)
    record = json.loads(path.read_text())
    record["runs"][0]["accuracy"] = 0.123
    path.write_text(json.dumps(record))
    with pytest.raises(DataError, match=r"uci_vote\.json: edited or damaged"):
        load_decompositions([path], tmp_path)


def test_machines_one_against_rest_stand_beside_the_others(tmp_path, tidy):
    out = tmp_path / "results/decomposition/uci_vote.json"
    write_decomposition(out, (tidy, "class"), dataset="uci_vote", runs=1, against_rest=True)
    (found,) = load_decompositions([out], tmp_path)
    assert list(found.bases) == ["nb", "svm", "svm_rest"]
    # Of two classes one machine is all there is, the same both ways.
    assert found.values("svm_rest", "alone")[0] == pytest.approx(
        found.values("svm", "alone")[0], abs=5
    )
    (plain,) = load_decompositions([write(tmp_path, tidy, "uci_sick")], tmp_path)
    assert list(plain.bases) == ["nb", "svm"]


def test_bias_and_variance_add_up_and_are_no_run(tmp_path, tidy):
    out = tmp_path / "results/bias_variance/uci_vote.json"
    write_bias_variance(out, (tidy, "class"), dataset="uci_vote", samples=4)
    (found,) = load_stored(ResampledRecord, [out], tmp_path)
    assert load_decompositions([out], tmp_path) == []
    assert found.record["n_test"] == 40
    for arms in found.record["parts"].values():
        for part in arms.values():
            assert part["error"] == pytest.approx(part["bias"] + part["variance"])
    # The class at both ends is out of a linear machine's reach, which is bias.
    assert found.change("svm", "bias") < -20
    assert found.change("svm", "error") == pytest.approx(
        found.change("svm", "bias") + found.change("svm", "variance")
    )


def test_samples_share_their_test_rows(tidy):
    X, y = read_labelled(tidy, "class")
    found, again = resample(X, y, 3), resample(X, y, 2)
    assert {key: rows.shape for key, rows in found.predicted.items()} == {
        (base, arm): (3, len(found.truth))
        for base in ("nb", "svm")
        for arm in ("alone", "separate", "greedy")
    }
    assert np.array_equal(found.truth, again.truth)
    assert np.array_equal(found.predicted["nb", "alone"][:2], again.predicted["nb", "alone"])
