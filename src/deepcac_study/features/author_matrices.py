"""WebKB-N from its authors' matrices: items of four universities with node features."""

import numpy as np
import pyarrow as pa
from scipy import sparse

from deepcac_study.cohort import Flow, steps
from deepcac_study.features.pairwise import PairwiseData


def author_matrices(items: pa.Table, values: pa.Table) -> tuple[PairwiseData, Flow]:
    """Build the data set, and its flow, from the tables of `sources.svmdata.extract`.

    A column's name is its number in the authors' files, counted from 1.
    """
    column = values["column"].to_numpy().astype(np.int64)
    n, width = items.num_rows, int(column.max(initial=-1)) + 1
    place = (values["item"].to_numpy(), column)
    none = np.empty(0, dtype=np.int64)
    data = PairwiseData(
        row_id=items["item"].to_numpy().astype(np.int64),
        label=np.unique(items["cluster"].to_numpy(), return_inverse=True)[1].astype(np.int64),
        group=np.array(items["university"].to_pylist(), dtype=str),
        nodes=sparse.csr_array((values["value"].to_numpy(), place), shape=(n, width)),
        names=tuple(str(number) for number in range(1, width + 1)),
        first=none,
        second=none,
        marks=sparse.csr_array((0, 0)),
    )
    return data, steps({"items of the four universities": n})
