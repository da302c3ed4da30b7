"""The format of data sets with features of pairs of rows: sparse parquet triplets.

Finley and Joachims 2008, section 6.

``{data set}.parquet`` has only row ids, labels and groups, in the format of every feature file, so
that splits and labels work as for any other data set. Next to it are ``{data set}_nodes.parquet``
(row_id, column, value), ``{data set}_columns.parquet`` (column, name) and
``{data set}_pairs.parquet`` (first, second, column): the active columns of each pair of rows.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from deepcac.errors import DataError
from deepcac.feature_matrix import FeatureMatrix, read_features, write_features
from deepcac.files.storage import read_table, write_table
from deepcac.types import Ids


@dataclass(frozen=True)
class PairwiseData:
    """Rows of example clusterings, with sparse features of rows and of row pairs.

    The n unique ids of rows ascend; `label` is each row's cluster, `group` its example clustering,
    and pairs never cross groups. `nodes`, of shape (n, N_n), are the node features `names`. `first`
    and `second`, of shape (m,), are positions of the pairs that have a feature, first < second,
    sorted; `marks`, of shape (m, c), has the active columns of each pair, 0 or 1. With `products` a
    column of `marks` is a region: its features are the componentwise product of the two rows' node
    features and a constant 1 (WebKB-L).
    """

    row_id: Ids
    label: Ids
    group: npt.NDArray[np.str_]
    nodes: sparse.csr_array
    names: tuple[str, ...]
    first: Ids
    second: Ids
    marks: sparse.csr_array
    products: bool = False

    def pair_features(self) -> sparse.csr_array:
        """Return the pair features of shape (m, N_p); N_p is c, or c (N_n + 1) with products."""
        if not self.products:
            return self.marks
        product = self.nodes[self.first].multiply(self.nodes[self.second])
        region = sparse.hstack([product, np.ones((len(self.first), 1))], format="csr")
        columns = [self.marks[:, [c]].multiply(region) for c in range(self.marks.shape[1])]
        return sparse.csr_array(sparse.hstack(columns, format="csr"))


def write_pairwise(path: str | os.PathLike[str], data: PairwiseData) -> None:
    """Write the four files of a data set; `path` is ``{data set}.parquet``."""
    empty = np.empty((len(data.row_id), 0))
    nodes = data.nodes.tocoo()
    order = np.lexsort((nodes.col, nodes.row))
    write_table(
        companion(path, "nodes"),
        pa.table(
            {
                "row_id": data.row_id[nodes.row[order]],
                "column": nodes.col[order].astype(np.int32),
                "value": nodes.data[order].astype(np.float64),
            }
        ),
    )
    names = pa.table(
        {
            "column": np.arange(len(data.names), dtype=np.int32),
            "name": pa.array(data.names, pa.string()),
        }
    )
    write_table(companion(path, "columns"), names)
    marks = data.marks.tocoo()
    order = np.lexsort((marks.col, marks.row))
    shape = {"columns": str(data.marks.shape[1]), "products": str(data.products)}
    pairs = pa.table(
        {
            "first": data.row_id[data.first[marks.row[order]]],
            "second": data.row_id[data.second[marks.row[order]]],
            "column": marks.col[order].astype(np.int32),
        }
    )
    write_table(companion(path, "pairs"), pairs.replace_schema_metadata(shape))
    write_features(path, FeatureMatrix(data.row_id, data.label, empty, (), data.group))


def read_pairwise(path: str | os.PathLike[str]) -> PairwiseData:
    """Read a data set that `write_pairwise` wrote."""
    rows = read_features(path)
    if rows.group is None:
        raise DataError(f"{path}: column 'group' is missing; build the file again")
    names = tuple(read_table(companion(path, "columns"))["name"].to_pylist())
    table = read_table(companion(path, "nodes"))
    place = (_positions(table["row_id"], rows.row_id, path), table["column"].to_numpy())
    nodes = sparse.csr_array(
        (table["value"].to_numpy(), place), shape=(len(rows.row_id), len(names))
    )
    pairs = read_table(companion(path, "pairs"))
    first = _positions(pairs["first"], rows.row_id, path)
    second = _positions(pairs["second"], rows.row_id, path)
    ends, pair = np.unique(np.stack([first, second]), axis=1, return_inverse=True)
    shape = pairs.schema.metadata
    marks = sparse.csr_array(
        (np.ones(len(pair)), (pair.ravel(), pairs["column"].to_numpy())),
        shape=(ends.shape[1], int(shape[b"columns"])),
    )
    products = shape[b"products"] == b"True"
    return PairwiseData(
        rows.row_id, rows.label, rows.group, nodes, names, ends[0], ends[1], marks, products
    )


def companion(path: str | os.PathLike[str], part: str) -> Path:
    """Return the path of the companion file ``{data set}_{part}.parquet``."""
    return Path(path).with_name(f"{Path(path).stem}_{part}.parquet")


def _positions(ids: pa.ChunkedArray, row_id: Ids, path: str | os.PathLike[str]) -> Ids:
    """Return the positions of ids in `row_id`; DataError for an unknown id."""
    wanted = ids.to_numpy().astype(np.int64)
    positions = np.searchsorted(row_id, wanted)
    if (positions == len(row_id)).any() or (row_id[positions] != wanted).any():
        raise DataError(f"{path}: a companion file names an unknown row; build the data set again")
    return positions.astype(np.int64)
