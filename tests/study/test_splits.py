import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepcac.errors import DataError
from deepcac.judging.draws import draw
from deepcac_study.catalogue.protocol import Protocol
from deepcac_study.splits import (
    PARTS,
    draw_holdout,
    holdout,
    make_splits,
    most_splits,
    read_splits,
    write_splits,
)


def labels(n: int, share: float = 0.2) -> np.ndarray:
    return (np.arange(n) % round(1 / share) == 0).astype(np.int64)


@given(n=st.integers(40, 400), seed=st.integers(0, 50))
def test_parts_are_57_18_25_and_keep_the_class_shares(n, seed):
    y = labels(n)
    part = draw(y, seed, stratified=True)
    sizes = np.bincount(part, minlength=len(PARTS))
    assert sizes[2] == int(np.ceil(n * 0.25))
    assert sizes[1] == int(np.ceil((n - sizes[2]) * 0.25))
    for p in range(3):
        assert abs(y[part == p].sum() - y.mean() * sizes[p]) < 1.5


def test_the_published_holdout_is_a_stratified_quarter():
    y = labels(400)
    part = holdout(y)
    assert part.sum() == 2 * 100  # a quarter is test, coded 2; nothing is validation
    assert abs(y[part == 2].sum() - y.sum() / 4) < 1
    np.testing.assert_array_equal(part, holdout(y))


def test_written_splits_come_back_by_row_id_and_refuse_other_rows(tmp_path):
    y = labels(80)
    ids = np.arange(80, dtype=np.int64) * 7
    write_splits(tmp_path / "s.parquet", make_splits(ids, y, [0, 3]))
    splits = read_splits(tmp_path / "s.parquet", ids)
    assert [split.seed for split in splits] == [0, 3]
    every = np.concatenate([splits[1].train, splits[1].validation, splits[1].test])
    assert sorted(every) == list(range(80))
    (published,) = read_splits(tmp_path / "s.parquet", ids, "holdout")
    assert published.seed == 108
    assert len(published.validation) == 0
    five = read_splits(tmp_path / "s.parquet", ids, "folds")
    assert sorted(np.concatenate([split.test for split in five])) == list(range(80))
    assert {int(y[split.test].sum()) for split in five} <= {3, 4}  # 16 positives in 5 folds
    with pytest.raises(DataError, match="row ids differ"):
        read_splits(tmp_path / "s.parquet", ids + 1)


def test_a_file_without_the_column_of_a_scheme_says_what_to_do(tmp_path):
    ids = np.arange(40, dtype=np.int64)
    whole = make_splits(ids, labels(40), [0])
    for name, scheme in (("row_id", "seeds"), ("fold", "folds"), ("holdout", "holdout")):
        write_splits(tmp_path / "s.parquet", whole.drop_columns(name))
        with pytest.raises(DataError, match=f"no column '{name}'"):
            read_splits(tmp_path / "s.parquet", ids, scheme)


def test_published_sequences_have_the_three_splits_of_the_paper():
    published = Protocol.from_folder("as_published/")
    assert most_splits(published, sequence=True) == 3
    assert most_splits(published, sequence=False) is None
    assert most_splits(Protocol(), sequence=True) is None


def test_splits_are_the_same_bytes_twice(tmp_path):
    ids, y = np.arange(200, dtype=np.int64), labels(200)
    for name in ("a", "b"):
        write_splits(tmp_path / name, make_splits(ids, y, [0, 1]))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("switched_on", [frozenset(), frozenset({"D3"})])
def test_classes_too_small_to_split_are_named(switched_on):
    ids, y = np.arange(40, dtype=np.int64), np.zeros(40, dtype=np.int64)
    with pytest.raises(DataError, match=r"only class \[0\]"):
        make_splits(ids, y, [0], Protocol(switched_on))
    y[:3] = 2
    with pytest.raises(DataError, match="class 2 has 3 rows"):
        make_splits(ids, y, [0], Protocol(switched_on))


def test_switch_d3_draws_without_strata():
    y = labels(60)
    ids = np.arange(60, dtype=np.int64)
    sound = make_splits(ids, y, [1])["split_1"].to_numpy()
    plain = make_splits(ids, y, [1], Protocol(frozenset({"D3"})))["split_1"].to_numpy()
    assert (sound != plain).any()
    published = make_splits(ids, y, [1], Protocol(frozenset({"D3"})), published_share=0.15)
    assert np.bincount(published["split_1"].to_numpy()).tolist() == [43, 8, 9]
    unchanged = make_splits(ids, y, [1], published_share=0.15)["split_1"].to_numpy()
    assert (unchanged == sound).all()


@pytest.mark.parametrize(
    ("y", "message"),
    [([0, 0, 0, 0, 0, 0, 0, 0], "only class"), ([0, 0, 0, 0, 0, 0, 1, 1], "has 2 rows")],
)
def test_labels_that_cannot_be_split_are_named(y, message):
    with pytest.raises(DataError, match=message):
        draw(np.array(y), 0, stratified=True)


def test_the_published_holdout_keeps_the_order_of_its_draw():
    y = np.repeat([0, 1], [60, 20])
    train, test = draw_holdout(y)
    assert train.tolist() != sorted(train)
    assert sorted(train) == np.flatnonzero(holdout(y) == 0).tolist()
    assert sorted(test) == np.flatnonzero(holdout(y) == 2).tolist()


@given(st.integers(120, 240), st.integers(0, 1000))
def test_rows_of_a_patient_stay_in_one_part(n, seed):
    rng = np.random.default_rng(seed)
    patient = rng.choice([f"p{i}" for i in range(n // 2)], n)
    y = (rng.random(n) < 0.25).astype(np.int64)  # enough patients with an event and without
    table = make_splits(np.arange(n), y, [0, 7], unit=patient)
    for name in ("split_0", "split_7", "holdout", "fold"):
        part = table[name].to_numpy()
        assert all(len(set(part[patient == one])) == 1 for one in set(patient))
        assert len(set(part)) == {"holdout": 2, "fold": 5}.get(name, 3)
    patients = len(set(patient))
    tested = len(set(patient[table["split_0"].to_numpy() == 2]))
    assert tested == int(np.ceil(patients / 4))


def test_patients_with_the_rarest_class_are_shared_out():
    patient = np.arange(600) // 3
    y = (patient % 5 == 0).astype(np.int64) * (np.arange(600) % 3 == 0)
    part = make_splits(np.arange(600), y, [0], unit=patient)["split_0"].to_numpy()
    events = [int(y[part == p].sum()) for p in range(3)]
    assert events == [22, 8, 10]  # of 40 patients with an event


def test_one_row_a_patient_is_the_split_of_rows():
    y = labels(120)
    ids = np.arange(120)
    alone, grouped = (make_splits(ids, y, [0, 1], unit=one) for one in (None, ids))
    assert alone.equals(grouped)
