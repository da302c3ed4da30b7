"""Gains of class decomposition, ours and printed, with their significance."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from deepcac.scoring.statistics import corrected_t_test, holm
from deepcac.types import Array
from deepcac_study.catalogue.facts import facts
from deepcac_study.catalogue.protocol import SOUND, protocol_folder
from deepcac_study.papers.agreement import Answers, Ours
from deepcac_study.papers.names import names
from deepcac_study.papers.printed import PrintedCell
from deepcac_study.papers.score_table import Scores
from deepcac_study.records.decompositions import DecompositionRecord

TABLE_1 = "classdecomp_table1_accuracy"
PRINT = "print"  # the protocol of printed numbers, which have no spread
LEVEL = 0.01  # of the paper's t-test
LINEAR = "svm"
_PRINTED_AS = {"NB+decomposition": "nb", "linear SVM+decomposition": "svm"}


def decomposition_rows(records: Sequence[DecompositionRecord]) -> list[dict[str, Any]]:
    """Return rows with the gain of the search in points, one per run and base."""
    return [row for record in records for row in _runs(record)]


def _runs(record: DecompositionRecord) -> Iterator[dict[str, Any]]:
    """Yield a row per base and repeat: accuracy, gains, sizes and seconds."""
    clusters = [float(np.mean(row["n_clusters"])) for row in record.rows("nb", "alone")]
    shares, seconds = record.record["shares"], record.record["machine"]["seconds"]
    for base in record.bases:
        # Seconds of the linear search; machines one against rest are timed separately, if at all.
        search = seconds.get("svm_rest_greedy" if base == "svm_rest" else "", seconds["svm_greedy"])
        accuracy, gains = record.values(base, "alone"), record.gains(base)
        separate = record.gains(base, over="separate")
        validation = record.gains(base, name="validation_accuracy")
        for i, run in enumerate(record.rows(base, "greedy")):
            yield {
                "dataset": record.dataset,
                "protocol": record.protocol,
                "synthetic": float(record.synthetic),
                "path": record.path,
                "base": base,
                "seed": run["run"],
                "accuracy": accuracy[i],
                "gain": gains[i],
                "gain_over_separate": separate[i],
                "validation_gain": validation[i],
                "n_classes": record.n_classes,
                "clusters": clusters[i],
                "most_clusters": max(run["n_clusters"]),
                "whole": all(len(partition) == 1 for partition in run["configuration"]),
                "reverted": run["reverted"],
                "fits": run["fits"],
                "fits_if_all": run["fits_if_all"],
                "search_seconds": search,
                "clustering_seconds": seconds["clustering"],
                "train_share": shares["train"],
                "test_share": shares["test"],
            }


def printed_rows() -> Iterator[dict[str, Any]]:
    """Yield the gains that Table 1 prints; an asterisk marks those that are significant."""
    for row in facts(TABLE_1):
        if base := _PRINTED_AS.get(row["method"]):
            dataset = names()["dataset", row["paper"], row["dataset"]].id
            asterisk = "asterisk" in row["note"]
            place = {"dataset": dataset, "protocol": PRINT, "path": TABLE_1, "base": base}
            yield {**place, "gain": float(row["mean"]), "asterisk": asterisk}


def printed_gains(base: str) -> dict[str, float]:
    """Return the gains that Table 1 prints for a base classifier, by data set."""
    return {row["dataset"]: row["gain"] for row in printed_rows() if row["base"] == base}


def values_by_dataset(rows: pd.DataFrame, base: str, column: str = "gain") -> dict[str, Array]:
    """Return a quantity of the runs (runs,) of a base classifier, by data set."""
    groups = rows[rows["base"] == base].groupby("dataset", sort=False)
    return {str(name): part[column].to_numpy() for name, part in groups}


def against_rest(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with machines one against rest in place of the linear ones.

    With two classes both are the same machine; with more, a data set without machines one against
    rest has no linear machines.
    """
    rest = rows["dataset"].isin(rows.loc[rows["base"] == "svm_rest", "dataset"])
    pairwise = (rows["base"] == LINEAR) & (rest | (rows["n_classes"] > 2))
    return rows[~pairwise].replace({"base": {"svm_rest": LINEAR}})


def p_values(rows: pd.DataFrame, base: str) -> dict[str, float]:
    """Return the p value of the gain by data set, from rows of one protocol.

    As published it is that of Student's t-test, as if the runs shared no rows; sound that of the
    corrected test (Nadeau and Bengio 2003), adjusted over the data sets (Holm 1979). For printed
    rows only the asterisk is known: below the paper's level or not.
    """
    parts = dict(iter(rows[rows["base"] == base].groupby("dataset", sort=False)))
    p = [_p_value(part) for part in parts.values()]
    if (rows["protocol"] == SOUND.name).all() and p:
        p = holm(p).tolist()
    return {str(name): value for name, value in zip(parts, p, strict=True)}


def _p_value(part: pd.DataFrame) -> float:
    """Return the p of the gain; of print, half the level or 1 by its asterisk."""
    first = part.iloc[0]
    if first["protocol"] == PRINT:
        return LEVEL / 2 if first["asterisk"] else 1.0
    sound = first["protocol"] == SOUND.name
    train, test = (first["train_share"], first["test_share"]) if sound else (1.0, 0.0)
    return corrected_t_test(part["gain"].to_numpy(), n_train=train, n_test=test).p


# Base classifier and quantity of each method of the table.
_COLUMNS = {
    "nb": ("nb", "accuracy"),
    "decomp_nb": ("nb", "gain"),
    "linear_svm": (LINEAR, "accuracy"),
    "decomp_linear_svm": (LINEAR, "gain"),
}


class GainTable(Answers):
    """Our numbers for the cells of Table 1: mean and spread over the runs.

    As published the linear machines are one against rest where these were run, which is closer to
    the printed numbers on Vehicle and Vowel.
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
        """Return the path of the record that would decide a cell."""
        return f"results/{protocol_folder(cell.protocol)}decomposition/{cell.dataset_id}.json"
