"""Claims about DeepCAC's case study on the length of stay (003_* section 14)."""

from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np

from deepcac.catalogue.facts import facts
from deepcac.papers.evidence import NOT_RUN, PARTLY, Decision, Evidence
from deepcac.papers.rules import Rule, graded
from deepcac.report.case_studies import TOP, CaseStudy

_NEAR = 0.02  # two scores that differ by no more are the same, where no spread is printed

Checked = tuple[float, str]


def case_study_rules(studies: Iterable[CaseStudy]) -> dict[str, Rule]:
    """Return the rules by claim id; a rule looks at the study of its protocol."""
    known = {study.protocol: study for study in studies if study.printed}
    checks = {"DCAC-41": _printed_scores, "DCAC-42": _shared_features, "DCAC-45": _mostly_own}
    return {name: _of_study(known, check) for name, check in checks.items()}


def _of_study(known: dict[str, CaseStudy], check: Callable[[CaseStudy], Checked]) -> Rule:
    def rule(evidence: Evidence) -> Decision:
        study = known.get(evidence.protocol)
        if study is None:
            return Decision(NOT_RUN, "no case study of cic_los with k = 3 yet")
        share, figures = check(study)
        verdict = PARTLY if share == 0.5 else graded(share, 1.0)  # one of two is half right
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
    """Count the features that stand in all three lists of ten and in two, and look for PaO2."""
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
