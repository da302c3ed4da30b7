"""Table 1 of class decomposition: accuracies and gains from its records."""

from collections.abc import Sequence

import numpy as np

from deepcac_study.catalogue.protocol import SOUND, protocol_folder
from deepcac_study.experiments.finished_decompositions import DecompositionRecord
from deepcac_study.papers.agreement import Ours
from deepcac_study.papers.printed import PrintedCell

TABLE_1 = "classdecomp_table1_accuracy"

# Base classifier of each method of the table, and whether the cell is a gain.
_COLUMNS = {
    "nb": ("nb", False),
    "decomp_nb": ("nb", True),
    "linear_svm": ("svm", False),
    "decomp_linear_svm": ("svm", True),
}


class GainTable:
    """What answers the cells of Table 1.

    Parameters
    ----------
    records : sequence of DecompositionRecord
        On real data. As published the linear machines are one against rest, which is nearer to
        print on Vehicle and Vowel, wherever these were run.
    """

    sources: Sequence[str] = (TABLE_1,)

    def __init__(self, records: Sequence[DecompositionRecord]) -> None:
        self._records = {
            (one.protocol, one.dataset): one if one.protocol == SOUND.name else one.against_rest()
            for one in records
        }

    def answer(self, cell: PrintedCell, protocol: str) -> Ours | None:
        """Return mean and spread over the runs, in per cent or points; None without a record."""
        found = self._records.get((protocol, cell.dataset_id))
        if found is None:
            return None
        base, gain = _COLUMNS[cell.method_id]
        values = found.gains(base) if gain else found.values(base, "alone")
        sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
        return Ours(float(values.mean()), sd, "ok", found.path)

    def target(self, cell: PrintedCell) -> str:
        """Return the record that would decide a cell."""
        return f"results/{protocol_folder(cell.protocol)}decomposition/{cell.dataset_id}.json"

    def remark(self, cell: PrintedCell) -> str:
        """Return nothing: the printed remarks are enough."""
        return ""
