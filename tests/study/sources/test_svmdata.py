"""The authors' matrices, in a small hand-written copy of their format."""

import numpy as np
import pytest

from deepcac.errors import DataError
from deepcac.files.storage import read_table
from deepcac_study.features.author_matrices import author_matrices
from deepcac_study.features.pairwise import read_pairwise, write_pairwise
from deepcac_study.sources.svmdata import extract

FILES = {
    "cornell": "1 1:0.5 3:2\n2 2:1.25 # a comment\n1 3:1\n",
    "texas": "2 1:1\n4 5:0.75\n",
    "washington": "1 2:3\n2\n",
    "wisconsin": "4 1:1 2:1\n1 4:-1\n",
}


def tables(folder, files=FILES):
    raw = [folder / f"{name}.svmdata" for name in files]
    for path, text in zip(raw, files.values(), strict=True):
        path.write_text(text, encoding="ascii")
    tidy = [folder / "items.parquet", folder / "values.parquet"]
    extract(*raw, *tidy)
    return [read_table(path) for path in tidy]


def test_items_and_values_by_hand(tmp_path):
    data, flow = author_matrices(*tables(tmp_path))
    assert [len(name) for name in (data.row_id, data.names)] == [9, 5]
    assert data.group.tolist() == (
        ["cornell"] * 3 + ["texas"] * 2 + ["washington"] * 2 + ["wisconsin"] * 2
    )
    assert data.label.tolist() == [0, 1, 0, 1, 2, 0, 1, 2, 0]  # clusters 1, 2 and 4
    np.testing.assert_array_equal(
        data.nodes.toarray()[[0, 1, 4, 6, 8]],
        [[0.5, 0, 2, 0, 0], [0, 1.25, 0, 0, 0], [0, 0, 0, 0, 0.75], [0] * 5, [0, 0, 0, -1, 0]],
    )
    assert data.pair_features().shape == (0, 0)
    assert flow
    write_pairwise(tmp_path / "webkb_authors.parquet", data)
    again = read_pairwise(tmp_path / "webkb_authors.parquet")
    assert (again.nodes != data.nodes).nnz == 0


@pytest.mark.parametrize("text", ["", "1 one:2\n", "1.5 1:1\n", "\x00\n"])
def test_another_format_is_refused(tmp_path, text):
    with pytest.raises(DataError, match=r"texas\.svmdata"):
        tables(tmp_path, {**FILES, "texas": text})
    assert not (tmp_path / "items.parquet").exists()
