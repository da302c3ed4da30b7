"""WiDS Datathon 2020: from training_v2.csv to a typed table, checked against its 186 columns."""

import os
from dataclasses import replace

from deepcac.files.storage import write_table
from deepcac_study.catalogue.variables import read_variables
from deepcac_study.raw.delimited import read_delimited

RECORD, LABEL = "encounter_id", "hospital_death"


def extract(raw: str | os.PathLike[str], tidy: str | os.PathLike[str]) -> None:
    """Read all 186 columns of training_v2.csv into a typed parquet table, rows in file order.

    Ids are int64, numbers and the label float64, categories text; ``NA`` and blank are missing.
    Errors are those of `read_delimited`, without values, because the file is restricted.
    """
    # Which categories are ever missing is hearsay (docs/data.md), so none is refused for it.
    variables = [
        replace(variable, missing=True) if variable.kind == "category" else variable
        for variable in read_variables("wids")
    ]
    table = read_delimited(raw, variables, header=True, missing=("", "NA"), quote=False)
    write_table(tidy, table)
