"""WiDS Datathon 2020: from training_v2.csv to a typed table, checked against its 186 columns."""

import os
from dataclasses import replace

from deepcac.files.storage import write_table
from deepcac_study.catalogue.variables import read_variables
from deepcac_study.raw.delimited import read_delimited

RECORD, LABEL = "encounter_id", "hospital_death"


def extract(raw: str | os.PathLike[str], tidy: str | os.PathLike[str]) -> None:
    """Read training_v2.csv into a typed parquet table, rows in file order.

    Parameters
    ----------
    raw : path-like
        The CSV file; ``NA`` and blank are missing.
    tidy : path-like
        Gets all 186 columns: ids as int64, numbers and the label as float64, categories as text.

    Raises
    ------
    DataError
        As of `read_delimited`; a value is never shown, for the file is restricted.
    """
    # Which categories are ever missing is hearsay (docs/wids.md), so none is refused for it.
    variables = [
        replace(variable, missing=True) if variable.kind == "category" else variable
        for variable in read_variables("wids")
    ]
    table = read_delimited(raw, variables, header=True, missing=("", "NA"), quote=False)
    write_table(tidy, table)
