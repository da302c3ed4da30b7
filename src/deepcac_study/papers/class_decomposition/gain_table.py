"""What answers the cells of Table 1 of class decomposition."""

from collections.abc import Sequence

from deepcac_study.catalogue.protocol import SOUND, protocol_folder
from deepcac_study.papers.agreement import Answers, Ours
from deepcac_study.papers.class_decomposition.gains import LINEAR, TABLE_1, against_rest
from deepcac_study.papers.printed import PrintedCell
from deepcac_study.papers.score_table import Scores

# Base classifier and quantity of each method of the table.
_COLUMNS = {
    "nb": ("nb", "accuracy"),
    "decomp_nb": ("nb", "gain"),
    "linear_svm": (LINEAR, "accuracy"),
    "decomp_linear_svm": (LINEAR, "gain"),
}


class GainTable(Answers):
    """What answers the cells of Table 1: mean and spread over the runs.

    As published the linear machines are one against rest, which is nearer to print on Vehicle and
    Vowel, wherever these were run.
    """

    sources: Sequence[str] = (TABLE_1,)

    def __init__(self, scores: Scores) -> None:
        rows = scores.source("decomposition")
        self._rows = dict(iter(rows.groupby(["protocol", "dataset"]))) if len(rows) else {}

    def answer(self, cell: PrintedCell, protocol: str) -> Ours | None:
        """Return mean and spread over the runs, in per cent or points; None without a record."""
        rows = self._rows.get((protocol, cell.dataset_id))
        if rows is None:
            return None
        base, quantity = _COLUMNS[cell.method_id]
        rest = against_rest(rows)
        if protocol != SOUND.name and LINEAR in set(rest["base"]):
            rows = rest
        values = rows.loc[rows["base"] == base, quantity].to_numpy()
        sd = float(values.std(ddof=1)) if len(values) > 1 else None
        return Ours(float(values.mean()), sd, "ok", rows["path"].iloc[0])

    def target(self, cell: PrintedCell) -> str:
        """Return the record that would decide a cell."""
        return f"results/{protocol_folder(cell.protocol)}decomposition/{cell.dataset_id}.json"
