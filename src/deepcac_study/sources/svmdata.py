"""The original matrices of Finley and Joachims (2008): WebKB-N, one file per university.

The authors provide them for non-commercial use, so they are read from the user's copy. Lines are
assumed to be in the format of the authors' SVM-light: the cluster of an item, then ``column:value``
pairs, then an optional comment after ``#``.
"""

import os

import numpy as np
import pyarrow as pa
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from deepcac.errors import DataError
from deepcac.files.storage import write_table

StrPath = str | os.PathLike[str]


def extract(
    cornell: StrPath,
    texas: StrPath,
    washington: StrPath,
    wisconsin: StrPath,
    items: StrPath,
    values: StrPath,
) -> None:
    """Write the items and the values of the four files ``{university}.svmdata`` as two tables.

    `items` gets ``item`` (from 0), ``university``, ``cluster``; `values` gets ``item``, ``column``
    (from 0) and ``value`` of non-zero values. A missing, empty or malformed file is a `DataError`.
    """
    files = {"cornell": cornell, "texas": texas, "washington": washington, "wisconsin": wisconsin}
    by_university = {name: _read(path) for name, path in files.items()}
    width = max(matrix.shape[1] for matrix, _ in by_university.values())
    for matrix, _ in by_university.values():
        matrix.resize(matrix.shape[0], width)
    whole = sparse.coo_array(sparse.vstack([matrix for matrix, _ in by_university.values()]))
    clusters = np.concatenate([labels for _, labels in by_university.values()])
    names = [name for name, (_, labels) in by_university.items() for _ in labels]
    write_table(
        items, pa.table({"item": np.arange(len(names)), "university": names, "cluster": clusters})
    )
    order = np.lexsort((whole.col, whole.row))
    columns = {"item": whole.row.astype(np.int64), "column": whole.col, "value": whole.data}
    write_table(values, pa.table({name: column[order] for name, column in columns.items()}))


def _read(path: StrPath) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return rows and whole cluster numbers; DataError for other contents."""
    try:
        matrix, clusters = load_svmlight_file(os.fspath(path), dtype=np.float64)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: not readable in the format of SVM-light ({error})") from error
    if not len(clusters) or (clusters != clusters.astype(np.int64)).any():
        raise DataError(f"{path}: holds no item, or a cluster that is no whole number")
    return matrix, clusters.astype(np.int64)
