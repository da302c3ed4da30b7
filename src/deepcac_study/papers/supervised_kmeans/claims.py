"""The rules of all claims of Finley and Joachims (2008)."""

from deepcac_study.papers.rules.decisions import Rule, always, of_records, or_on_print
from deepcac_study.papers.supervised_kmeans import on_losses as losses
from deepcac_study.papers.supervised_kmeans.cluster_losses import LossRange, printed_losses
from deepcac_study.papers.supervised_kmeans.on_measurements import ON_THEORY, ON_TIMES
from deepcac_study.records.reader import Findings

_LEARNT = ("iterative", "spectral")
_ALL = (*_LEARNT, "pair", "none")
_WEBKB, _SYNTH = losses.CLAIMED, ("synth_pairs",)
# Data sets, methods and judge.
_ON_LOSSES: dict[str, tuple[tuple[str, ...], tuple[str, ...], losses.Judge]] = {
    "SKM-01": ((*_WEBKB, *_SYNTH), _ALL, losses.learning_wins),
    "SKM-02": (_WEBKB, _ALL, losses.learning_wins),
    "SKM-05": (_SYNTH, (*_LEARNT, "pair"), losses.inconclusive),
    "SKM-06": (_SYNTH, _ALL, losses.none_is_poor),
    "SKM-07": (_WEBKB, _LEARNT, losses.no_winner),
    "SKM-10": (_WEBKB, _LEARNT, losses.links_help(0.0, _LEARNT)),
    "SKM-11": (_WEBKB, ("iterative",), losses.links_help(10.0, ("iterative",))),
    "SKM-21": ((*_WEBKB, *_SYNTH), _LEARNT, losses.neither_always),
}
_ON_PRINT = {
    "SKM-03": losses.dramatic,
    "SKM-04": losses.pair_once,
    "SKM-08": losses.synth,
    "SKM-09": losses.ranks,
    "SKM-29": losses.index,
}


def rules(found: Findings) -> dict[str, Rule]:
    """Return the rules by claim id.

    Claims on News rest on WebKB and Synth alone, as the News clusterings were never published.
    """
    runs = found.clusterings
    by_id = {name: losses.on_losses(runs, *asked) for name, asked in _ON_LOSSES.items()}
    for name, judge in _ON_PRINT.items():
        by_id[name] = always(judge, "on print alone, whatever was run")
    for record, file, judges in (
        (runs.times, "times", ON_TIMES),
        (runs.checks, "checks", ON_THEORY),
    ):
        for name, of_one in judges.items():
            by_id[name] = of_records(
                [record] if record else [],
                lambda records, of_one=of_one: of_one(records[0]),  # type: ignore[misc]
                needs=f"results/skmeans/{file}.json",
            )
    by_id["SKM-06"] = or_on_print(by_id["SKM-06"], _poor_on_print)
    return by_id


def _poor_on_print() -> tuple[str, str]:
    printed = {name: LossRange.known(own) for name, own in printed_losses("SYNTH").items()}
    return losses.none_is_poor({"print": printed})
