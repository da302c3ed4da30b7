"""The rules that decide the claims of class decomposition."""

import numpy as np
import numpy.typing as npt

from deepcac.scoring.statistics import Comparison
from deepcac_study.catalogue.facts import facts
from deepcac_study.papers.class_decomposition import gain_rules as gains
from deepcac_study.papers.class_decomposition import search_rules as search
from deepcac_study.papers.class_decomposition.gain_rules import TABLE_1
from deepcac_study.papers.names import names, printed_datasets
from deepcac_study.papers.rules.decisions import Rule, always, of_records, or_on_print
from deepcac_study.records.decompositions import DecompositionRecord
from deepcac_study.records.reader import Findings

_ON_TABLE: dict[str, gains.Judge] = {
    "CDEC-01": gains.average_gain("nb", 4.56),
    "CDEC-02": gains.significant_gains("nb", 8),
    "CDEC-03": gains.average_gain("svm", 0.89),
    "CDEC-04": gains.same_but_two,
    "CDEC-05": gains.mild_drops,
    "CDEC-09": gains.bayes_more_than_linear,
    "CDEC-10": gains.seldom_lower,
}
_ON_RUNS: dict[str, gains.Judge] = {
    "CDEC-06": search.drops_after_gains,
    "CDEC-07": search.merged_back,
    "CDEC-08": search.clusters_of_a_class,
    "CDEC-13": search.merging_helps,
    "CDEC-15": search.shortcut,
    "CDEC-16": search.search_takes_longest,
    "CDEC-17": search.grows_with_clusters,
}


def rules(found: Findings) -> dict[str, Rule]:
    """Return the rules by claim id."""
    ours = {n: gains.of_runs(found.decompositions, j) for n, j in (_ON_TABLE | _ON_RUNS).items()}
    printed = {
        name: or_on_print(ours[name], lambda judge=judge: judge(printed_records()))  # type: ignore[misc]
        for name, judge in _ON_TABLE.items()
    }
    return {
        **ours,
        **printed,
        "CDEC-11": of_records(
            found.resampled, search.bias_and_variance, needs="results/bias_variance"
        ),
        "CDEC-12": always(search.capacity, "theory"),
        "CDEC-14": always(search.configurations_bounded, "theory"),
    }


class PrintedRecord(DecompositionRecord):
    """The printed gains on one data set, in the place of a record of runs."""

    def gains(self, base: str, over: str = "", name: str = "") -> npt.NDArray[np.float64]:
        """Return the printed gain, shape (1,)."""
        return np.array([float(self.record[base]["mean"])])

    def plain_test(self, base: str) -> Comparison:
        """Return the printed gain with a p below the paper's level where it has an asterisk."""
        row = self.record[base]
        p = gains.LEVEL / 2 if "asterisk" in row["note"] else 1.0
        return Comparison(float(row["mean"]), np.nan, np.nan, np.nan, p)


def printed_records() -> list[PrintedRecord]:
    """Return Table 1 as records."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    bases = {method: base for base, method in gains.PRINTED_AS.items()}
    for row in facts(TABLE_1):
        if row["method"] in bases:
            dataset = names()["dataset", row["paper"], row["dataset"]].id
            found.setdefault(dataset, {})[bases[row["method"]]] = row
    about = {"protocol": gains.PRINT, "shares": {"train": 0.5, "test": 0.25}}
    return [
        PrintedRecord(TABLE_1, {**about, "dataset": name, **found[name]})
        for name in printed_datasets(TABLE_1)
    ]
