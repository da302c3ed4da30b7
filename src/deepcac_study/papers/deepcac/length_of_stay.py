"""DeepCAC's case study on the length of stay (section 14): Tables 7 and 8, and the claims."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from deepcac.types import Array
from deepcac_study.catalogue.facts import facts
from deepcac_study.catalogue.protocol import SOUND, protocol_folder
from deepcac_study.papers.agreement import WIDEST, Answers, Ours
from deepcac_study.papers.evidence import NOT_RUN, Decision, Evidence
from deepcac_study.papers.printed import PrintedCell
from deepcac_study.papers.rules.decisions import Rule, undecidable
from deepcac_study.papers.rules.truth import Truth, alike, together, unanimous
from deepcac_study.records.studies import TOP, CaseStudy
from deepcac_study.records.sweep_tables import by_split

Checked = tuple[Sequence[Truth], str]

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


def _by_protocol(studies: Iterable[CaseStudy]) -> dict[str, CaseStudy]:
    return {study.protocol: study for study in studies if study.subject == SUBJECT}


class ClusterTables(Answers):
    """What the case studies of the printed data set and k answer to the cells of Tables 7 and 8."""

    sources: Sequence[str] = tuple(_REMARKS)

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
        rows = table[(table["feature"] == feature) & (table["cluster"] == cluster)]
        values = rows["filled" if protocol == "as_published" else "mean"].dropna()
        away = abs(values.mean() - float(cell.text))
        near = bool(away <= SMALL_EFFECT * study.separating["sd"][feature])
        sd = float(values.std()) if len(values) > 1 else None
        return Ours(float(values.mean()), sd, "ok", study.path, near)

    def target(self, cell: PrintedCell) -> str:
        """Return the case study that would decide a cell."""
        dataset, k = SUBJECT
        return f"results/case_study/{protocol_folder(cell.protocol)}{dataset}_k{k}.json"

    def remark(self, cell: PrintedCell) -> str:
        """Say how clusters are matched and when a cell agrees."""
        return _REMARKS[cell.source]


def case_study_rules(studies: Iterable[CaseStudy]) -> dict[str, Rule]:
    """Return the rules by claim id; a rule looks at the study of its protocol."""
    by_protocol = _by_protocol(studies)
    checks = {
        "DCAC-41": _printed_scores,
        "DCAC-42": _shared_features,
        "DCAC-44": _ventilation_and_urine,
        "DCAC-45": _own_risk_factors,
    }
    study_rules = {name: _of_study(by_protocol, check) for name, check in checks.items()}
    return study_rules | {"DCAC-44": _on_printed_features(study_rules["DCAC-44"])}


def _on_printed_features(rule: Rule) -> Rule:
    """Return a rule on the features as published, of which a claim speaks.

    The sound ones have other columns, and what is missing is filled in otherwise.
    """
    elsewhere = undecidable(rule, "about the paper's features, and the sound ones are others")

    def decided(evidence: Evidence) -> Decision:
        return elsewhere(evidence) if evidence.protocol == SOUND.name else rule(evidence)

    return decided


def _of_study(by_protocol: dict[str, CaseStudy], check: Callable[[CaseStudy], Checked]) -> Rule:
    def rule(evidence: Evidence) -> Decision:
        study = by_protocol.get(evidence.protocol)
        if study is None:
            folder = f"results/case_study/{protocol_folder(evidence.protocol)}"
            return Decision(NOT_RUN, f"needs {folder}{SUBJECT[0]}_k{SUBJECT[1]}.json")
        answers, reason = check(study)
        return Decision(together(answers), reason, (study.path,))

    return rule


def _lists(part: pd.DataFrame) -> list[set[str]]:
    """Return the ten features that matter most to each cluster's risk model on one split."""
    lists = []
    for _, group in part.groupby("cluster"):
        used = group[group["importance"] > 0]
        lists.append(set(used.nlargest(TOP, "importance", keep="all")["feature"][:TOP]))
    return lists


def _printed_scores(study: CaseStudy) -> Checked:
    """Compare the AUPRC of DeepCAC and of its students with the two printed ones."""
    answers: list[Truth] = []
    texts = []
    for row in facts("deepcac_section14_student"):
        values = np.array([split[row["item"]] for split in study.record["splits"]])
        away = np.abs(values - float(row["value"]))
        near = bool(abs(values.mean() - float(row["value"])) <= WIDEST)
        answers.append(near if near or (away > WIDEST).all() else None)
        spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        texts.append(f"{row['item']} {values.mean():.3f} ± {spread:.3f}, printed {row['value']}")
    return answers, "; ".join(texts)


def _shared_features(study: CaseStudy) -> Checked:
    """Ask of each split: PaO2 in all three lists, alone there, and two features in two lists."""
    answers = []
    for part in by_split(study.table):
        within = Counter(name for names in _lists(part) for name in names)
        by_count = Counter(within.values())
        answers.append((within["PaO2_last"] == study.k, by_count[3] == 1, by_count[2] == 2))
    parts = list(zip(*answers, strict=True))
    words = ("PaO2_last in all three", "one in all three", "two in two")
    texts = [f"{name}: {sum(right)}" for name, right in zip(words, parts, strict=True)]
    return [unanimous(right) for right in parts], f"{', '.join(texts)} of {len(answers)} splits"


def _ventilation_and_urine(study: CaseStudy) -> Checked:
    """Ask whether both are among the ten features with the largest effects on test rows."""
    answers = []
    for part in by_split(study.table):
        effects = part.drop_duplicates("feature").nlargest(TOP, "effect")["feature"]
        answers.append(
            all(effects.str.startswith(name).any() for name in ("MechVent", "UrineOutput"))
        )
    reason = f"both among the {TOP} strongest on {sum(answers)} of {len(answers)} splits"
    return [unanimous(answers)], reason


def _own_risk_factors(study: CaseStudy) -> Checked:
    """Compare lists of different clusters with lists of one cluster on different splits.

    Lists differ by chance too: only if one cluster's lists share more than those of two clusters
    do, on every pair of splits, are the risk factors the clusters' own.
    """
    lists = [_lists(part) for part in by_split(study.table)]
    excess = []
    for first, other in combinations(lists, 2):
        shared = np.array([[len(a & b) for b in other] for a in first])
        k = len(shared)
        across = (shared.sum() - np.trace(shared)) / (k * (k - 1))
        excess.append(float(np.trace(shared) / k - across))
    if not excess:
        return [None], "one split: what splits have in common cannot be seen"
    right = [value > 0 for value in excess]
    reason = (
        f"a cluster's lists of {TOP} share {np.mean(excess):+.1f} features more across splits than "
        f"the lists of two clusters do; more on {sum(right)} of {len(right)} pairs of splits"
    )
    return [alike(right)], reason
