"""DeepCAC's case study on the length of stay (section 14): Tables 7 and 8, and the claims."""

from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from deepcac.catalogue.facts import facts
from deepcac.experiments.finished_studies import TOP, CaseStudy
from deepcac.papers.agreement import Ours
from deepcac.papers.evidence import NOT_RUN, PARTLY, Decision, Evidence
from deepcac.papers.printed import PrintedCell
from deepcac.papers.rules import Rule, by_share

Array = npt.NDArray[np.float64]
Checked = tuple[float, str]

TABLE_7, TABLE_8 = "deepcac_table7_cluster_features", "deepcac_table8_important_features"
SUBJECT = ("cic_los", 3)  # what Tables 7 and 8 are about
SMALL_EFFECT = 0.2  # Cohen: a difference of means below it, in standard deviations, is negligible
_NEAR = 0.02  # two scores that differ by no more are the same, where no spread is printed
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


def _by_protocol(studies: Iterable[CaseStudy]) -> dict[str, CaseStudy]:
    return {study.protocol: study for study in studies if study.subject == SUBJECT}


class ClusterTables:
    """What the case studies answer to the cells of Tables 7 and 8.

    Parameters
    ----------
    studies : iterable of CaseStudy
        Only those of the printed data set and k count, one a protocol.
    """

    sources = tuple(_REMARKS)

    def __init__(self, studies: Iterable[CaseStudy]) -> None:
        self._studies = _by_protocol(studies)

    def answer(self, cell: PrintedCell, protocol: str) -> Ours | None:
        """Return our value for a cell and whether it agrees, None without the study or feature.

        A mean agrees within `SMALL_EFFECT` standard deviations of its feature; as published, a
        missing value counts as the mean of all rows, because the program's networks see it so.
        An important feature agrees if it is among our cluster's ten.
        """
        study = self._studies.get(protocol)
        place = cell.item.split()
        feature = cell.text if cell.source == TABLE_8 else place[1]
        if study is None or feature not in study.separating.index:
            return None
        cluster = int(place[0][1:])
        if cell.source == TABLE_8:
            rank = study.importance[cluster].rank(ascending=False, method="first")[feature]
            return Ours(float(rank), None, "ok", study.path, bool(rank <= TOP))
        table = study.table
        own = table[(table["feature"] == feature) & (table["cluster"] == cluster)]
        values = own["filled" if protocol == "as_published" else "mean"]
        away = abs(values.mean() - float(cell.text))
        near = bool(away <= SMALL_EFFECT * study.separating["sd"][feature])
        sd = float(values.std(ddof=min(1, len(values) - 1)))
        return Ours(float(values.mean()), sd, "ok", study.path, near)

    def remark(self, cell: PrintedCell) -> str:
        """Say how clusters are matched and when a cell agrees."""
        return _REMARKS[cell.source]


def case_study_rules(studies: Iterable[CaseStudy]) -> dict[str, Rule]:
    """Return the rules by claim id; a rule looks at the study of its protocol."""
    known = _by_protocol(studies)
    checks = {"DCAC-41": _printed_scores, "DCAC-42": _shared_features, "DCAC-45": _mostly_own}
    return {name: _of_study(known, check) for name, check in checks.items()}


def _of_study(known: dict[str, CaseStudy], check: Callable[[CaseStudy], Checked]) -> Rule:
    def rule(evidence: Evidence) -> Decision:
        study = known.get(evidence.protocol)
        if study is None:
            return Decision(NOT_RUN, "no case study of cic_los with k = 3 yet")
        share, figures = check(study)
        verdict = PARTLY if share == 0.5 else by_share(share, 1.0)  # one of two is half right
        return Decision(verdict, figures, (study.path,))

    return rule


def _printed_scores(study: CaseStudy) -> Checked:
    """Compare the AUPRC of DeepCAC and of its students with the two printed ones."""
    near, texts = [], []
    for row in facts("deepcac_section14_student"):
        values = [split[row["item"]] for split in study.record["splits"]]
        mean = float(np.mean(values))
        spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        near.append(abs(mean - float(row["value"])) <= max(2 * spread, _NEAR))
        texts.append(f"{row['item']} {mean:.3f} ± {spread:.3f}")
    return float(np.mean(near)), ", ".join(texts)


def _shared_features(study: CaseStudy) -> Checked:
    """Count the features that are in all three lists of ten and in two, and look for PaO2."""
    within = Counter(name for j in range(study.k) for name in study.important(j + 1))
    by_count = Counter(within.values())
    right = [within["PaO2_last"] == study.k, by_count[3] == 1, by_count[2] == 2]
    common = ", ".join(name for name, count in within.items() if count == study.k) or "none"
    return float(np.mean(right)), f"in all three: {common}; in two: {by_count[2]}"


def _mostly_own(study: CaseStudy) -> Checked:
    """Say of how many clusters most of the ten features are in no other list."""
    lists = [study.important(j + 1) for j in range(study.k)]
    within = Counter(name for names in lists for name in names)
    own = [sum(within[name] == 1 for name in names) for names in lists]
    share = float(np.mean([count > TOP / 2 for count in own]))
    return share, f"features of one cluster alone: {', '.join(map(str, own))} of {TOP}"
