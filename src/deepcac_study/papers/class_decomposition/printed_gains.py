"""The claims on Table 1 decided on its printed gains, by the rules of our records."""

import numpy as np
import numpy.typing as npt

from deepcac.scoring.statistics import Comparison
from deepcac_study.catalogue.facts import facts
from deepcac_study.experiments.finished_decompositions import DecompositionRecord
from deepcac_study.papers.class_decomposition.gain_rules import LEVEL, PRINT, PRINTED_AS, Judge
from deepcac_study.papers.class_decomposition.gain_table import TABLE_1
from deepcac_study.papers.evidence import NOT_RUN, Decision, Evidence
from deepcac_study.papers.names import names, printed_datasets
from deepcac_study.papers.rules import Rule


class PrintedRecord(DecompositionRecord):
    """The printed gains on one data set, in the place of a record of runs."""

    def gains(self, base: str, over: str = "", name: str = "") -> npt.NDArray[np.float64]:
        """Return the printed gain, shape (1,)."""
        return np.array([float(self.record[base]["mean"])])

    def plain_test(self, base: str) -> Comparison:
        """Return the printed gain with a p below the paper's level where it has an asterisk."""
        row = self.record[base]
        p = LEVEL / 2 if "asterisk" in row["note"] else 1.0
        return Comparison(float(row["mean"]), np.nan, np.nan, np.nan, p)


def printed_records() -> list[PrintedRecord]:
    """Return Table 1 as records."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    bases = {method: base for base, method in PRINTED_AS.items()}
    for row in facts(TABLE_1):
        if row["method"] in bases:
            dataset = names()["dataset", row["paper"], row["dataset"]].id
            found.setdefault(dataset, {})[bases[row["method"]]] = row
    about = {"protocol": PRINT, "shares": {"train": 0.5, "test": 0.25}}
    return [
        PrintedRecord(TABLE_1, {**about, "dataset": name, **found[name]})
        for name in printed_datasets(TABLE_1)
    ]


def or_on_print(rule: Rule, judge: Judge) -> Rule:
    """Return a rule of our records that print alone decides until there are enough of them."""

    def either(evidence: Evidence) -> Decision:
        found = rule(evidence)
        verdict, figures = judge(printed_records())
        if found.verdict == NOT_RUN:
            return Decision(verdict, f"on print: {figures}; our runs: {found.reason}")
        return Decision(found.verdict, f"{found.reason}; on print: {verdict}", found.runs)

    return either
