"""Hospital death from the WiDS Datathon 2020 table: one-hot encoding to 241 columns.

DeepCAC prints 91,711 x 241. The numeric columns without the ids of stay and patient and the label
(175, with hospital_id and icu_id), the levels of the eight categories (60) and a column for the
missing values of each of the six categories that have them (6) make 241; the file has 91,713 rows.
"""

import os

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deepcac.errors import DataError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.files.storage import read_table
from deepcac_study.catalogue.variables import read_variables
from deepcac_study.cohort import Flow, steps
from deepcac_study.features.columns.encoding import indicators
from deepcac_study.sources.wids import LABEL, RECORD

# Death probabilities of the APACHE IVa score: -1 means "not computed".
PROBABILITIES = ("apache_4a_hospital_death_prob", "apache_4a_icu_death_prob")


def wid_mortality(tidy: str | os.PathLike[str]) -> tuple[FeatureMatrix, Flow]:
    """Encode the table, and return it with the cohort flow; columns do not depend on the values.

    The 241 columns are numbers in file order, NaN where missing, then ``{category}={level}`` and
    ``{category}=missing``. A table of which no row has a label (unlabeled.csv) is a `DataError`.
    """
    table = read_table(tidy)
    label = table[LABEL].to_numpy()
    labelled = ~np.isnan(label)
    flow = steps(
        {"encounters in the file": table.num_rows, "known hospital outcome": int(labelled.sum())}
    )
    if not labelled.any():
        raise DataError(f"{tidy}: no row has a {LABEL}; use training_v2.csv, not unlabeled.csv")
    encoded = _encoded(table)
    features = FeatureMatrix(
        row_id=table[RECORD].to_numpy()[labelled],
        label=label[labelled].astype(np.int64),
        X=np.column_stack(list(encoded.values()))[labelled],
        names=tuple(encoded),
    )
    return features, flow


def _encoded(table: pa.Table) -> dict[str, npt.NDArray[np.float64]]:
    """Return numbers, negative probabilities as NaN, then indicators of categories."""
    encoded: dict[str, npt.NDArray[np.float64]] = {}
    columns = read_variables("wids")
    for column in columns:
        if column.kind == "number":
            values = table[column.name].to_numpy().astype(float)
            absent = (values < 0) & (column.name in PROBABILITIES)
            encoded[column.name] = np.where(absent, np.nan, values)
    for column in columns:
        if column.kind == "category":
            texts = table[column.name].to_numpy()
            encoded |= indicators(column.name, texts, column.levels, missing=column.missing)
    return encoded
