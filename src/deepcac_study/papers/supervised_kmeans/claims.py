"""The rules of all claims of Finley and Joachims (2008)."""

from collections.abc import Sequence

from deepcac_study.papers.findings import Findings
from deepcac_study.papers.ledger import Entry
from deepcac_study.papers.rules import Rule
from deepcac_study.papers.supervised_kmeans.cluster_losses import LossRange, printed_losses
from deepcac_study.papers.supervised_kmeans.on_losses import (
    CLAIMED,
    inconclusive,
    learning_wins,
    links_help,
    neither_always,
    no_winner,
    none_is_poor,
    on_losses,
    or_on_print,
)
from deepcac_study.papers.supervised_kmeans.on_print import by_arithmetic
from deepcac_study.papers.supervised_kmeans.on_theory import check_rules
from deepcac_study.papers.supervised_kmeans.on_times import time_rules

_LEARNT = ("iterative", "spectral")
_ALL = (*_LEARNT, "pair", "none")
_SYNTH = ("synth_pairs",)


def rules(found: Findings, ledger: Sequence[Entry]) -> dict[str, Rule]:
    """Return the rules by claim id.

    Claims on News rest on WebKB and Synth alone, as the News clusterings were never published.
    """
    runs = found.clusterings
    printed = {name: LossRange.known(own) for name, own in printed_losses("SYNTH").items()}
    return {
        "SKM-01": on_losses(runs, (*CLAIMED, *_SYNTH), _ALL, learning_wins),
        "SKM-02": on_losses(runs, CLAIMED, _ALL, learning_wins),
        "SKM-03": by_arithmetic("dramatic"),
        "SKM-04": by_arithmetic("pair_once"),
        "SKM-05": on_losses(runs, _SYNTH, (*_LEARNT, "pair"), inconclusive),
        "SKM-06": or_on_print(on_losses(runs, _SYNTH, _ALL, none_is_poor), printed, none_is_poor),
        "SKM-07": on_losses(runs, CLAIMED, _LEARNT, no_winner),
        "SKM-08": by_arithmetic("synth"),
        "SKM-09": by_arithmetic("ranks"),
        "SKM-10": on_losses(runs, CLAIMED, _LEARNT, links_help(0.0, _LEARNT)),
        "SKM-11": on_losses(runs, CLAIMED, ("iterative",), links_help(10.0, ("iterative",))),
        "SKM-21": on_losses(runs, (*CLAIMED, *_SYNTH), _LEARNT, neither_always),
        "SKM-29": by_arithmetic("index"),
        **time_rules(runs.times),
        **check_rules(runs.checks),
    }
