"""The rules that decide the claims of class decomposition."""

from collections.abc import Sequence

from deepcac_study.papers.class_decomposition import gain_rules as gains
from deepcac_study.papers.class_decomposition import search_rules as search
from deepcac_study.papers.class_decomposition.printed_gains import or_on_print
from deepcac_study.papers.findings import Findings
from deepcac_study.papers.ledger import Entry
from deepcac_study.papers.rules import Rule


def rules(found: Findings, ledger: Sequence[Entry]) -> dict[str, Rule]:
    """Return the rules by claim id."""
    on_table: dict[str, gains.Judge] = {
        "CDEC-01": gains.average_gain("nb", 4.56),
        "CDEC-02": gains.significant_gains("nb", 8),
        "CDEC-03": gains.average_gain("svm", 0.89),
        "CDEC-04": gains.same_but_two,
        "CDEC-05": gains.mild_drops,
        "CDEC-09": gains.bayes_more_than_linear,
        "CDEC-10": gains.seldom_lower,
    }
    on_runs: dict[str, gains.Judge] = {
        "CDEC-06": search.drops_after_gains,
        "CDEC-07": search.merged_back,
        "CDEC-08": search.clusters_of_a_class,
        "CDEC-13": search.merging_helps,
        "CDEC-15": search.shortcut,
        "CDEC-16": search.search_takes_longest,
        "CDEC-17": search.grows_with_clusters,
    }
    of_runs = gains.rules_of(found.decompositions, on_runs | on_table)
    return {
        **of_runs,
        **{name: or_on_print(of_runs[name], judge) for name, judge in on_table.items()},
        "CDEC-11": search.bias_and_variance(found.resampled),
        "CDEC-12": search.capacity(),
        "CDEC-14": search.configurations_bounded(),
    }
