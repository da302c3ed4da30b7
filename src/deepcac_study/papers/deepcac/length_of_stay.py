"""Our numbers for DeepCAC's case study on the length of stay (section 14, Tables 7 and 8)."""

from collections.abc import Sequence

import numpy as np

from deepcac.types import Array
from deepcac_study.catalogue.facts import facts
from deepcac_study.catalogue.protocol import protocol_folder
from deepcac_study.papers.agreement import Answers, Ours
from deepcac_study.papers.printed import PrintedCell
from deepcac_study.papers.score_table import Scores
from deepcac_study.records.studies import TOP

TABLE_7, TABLE_8 = "deepcac_table7_cluster_features", "deepcac_table8_important_features"
SUBJECT = ("cic_los", 3)  # what Tables 7 and 8 are about
SMALL_EFFECT = 0.2  # Cohen: a difference of means below it, in standard deviations, is negligible
_REMARKS = {
    TABLE_7: "cluster matched by size and classes; agrees within 0.2 sd of the feature",
    TABLE_8: "ours: place of the printed feature among the matched cluster's importances; "
    "agrees within the first ten",
}


def printed_shares() -> Array:
    """Return the share of all stays in each printed cluster and class, shape (3, 3)."""
    counts = {}
    for row in facts(TABLE_8):
        ratio = np.array([float(part) for part in row["class_ratio"].split(":")])
        counts[row["cluster"]] = float(row["cluster_size"]) * ratio / ratio.sum()
    shares = np.stack([counts[name] for name in sorted(counts)])
    return shares / shares.sum()


def printed_clusters() -> dict[tuple[str, int], Array]:
    """Return the printed clusters as a reference for `load_case_studies`."""
    return {SUBJECT: printed_shares()}


class ClusterTables(Answers):
    """Our numbers for the cells of Tables 7 and 8, from case studies of the same data set and k."""

    sources: Sequence[str] = tuple(_REMARKS)

    def __init__(self, scores: Scores) -> None:
        rows = scores.source("features")
        self._rows = rows[(rows["dataset"] == SUBJECT[0]) & (rows["k"] == SUBJECT[1])]

    def answer(self, cell: PrintedCell, protocol: str) -> Ours | None:
        """Return our value for a cell and whether it agrees, None without the study or feature.

        A mean agrees within `SMALL_EFFECT` standard deviations of its feature; as published, a
        missing value counts as the mean of all rows, as in the input of the program's networks.
        An important feature agrees if it is among the ten of our cluster.
        """
        place = cell.item.split()
        feature = cell.text if cell.source == TABLE_8 else place[1]
        study = self._rows[self._rows["protocol"] == protocol]
        if study.empty or feature not in set(study["feature"]):
            return None
        of_feature = study[study["feature"] == feature]
        cluster, path = int(place[0][1:]), study["path"].iloc[0]
        if cell.source == TABLE_8:
            importance = study[study["cluster"] == cluster].groupby("feature", sort=False)
            ranks = importance["importance"].mean().rank(ascending=False, method="first")
            return Ours(float(ranks[feature]), None, "ok", path, bool(ranks[feature] <= TOP))
        rows = of_feature[of_feature["cluster"] == cluster]
        values = rows["filled" if protocol == "as_published" else "mean"].dropna()
        away = abs(values.mean() - float(cell.text))
        near = bool(away <= SMALL_EFFECT * of_feature["sd"].mean())
        sd = float(values.std()) if len(values) > 1 else None
        return Ours(float(values.mean()), sd, "ok", path, near)

    def target(self, cell: PrintedCell) -> str:
        """Return the path of the case study that would decide a cell."""
        dataset, k = SUBJECT
        return f"results/case_study/{protocol_folder(cell.protocol)}{dataset}_k{k}.json"

    def remark(self, cell: PrintedCell) -> str:
        """Return a note on how clusters are matched and when a cell agrees."""
        return _REMARKS[cell.source]
