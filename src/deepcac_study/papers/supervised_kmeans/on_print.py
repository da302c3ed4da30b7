"""Claims that the printed losses alone decide, by arithmetic."""

import numpy as np

from deepcac_study.papers.evidence import FAILS, HOLDS, PARTLY, Decision, Evidence
from deepcac_study.papers.rules import Rule
from deepcac_study.papers.supervised_kmeans.cluster_losses import printed_losses
from deepcac_study.papers.supervised_kmeans.signed_ranks import signed_ranks
from deepcac_study.simulate.synth_pairs import NOISE

_PRINTED_W = {"NEWS": 30.0, "WEBKB-N": 4.0}


def by_arithmetic(what: str) -> Rule:
    """Return the rule of one claim: ``dramatic``, ``pair_once``, ``synth``, ``ranks``, ``index``.

    Print alone decides, whatever was run.
    """
    judge = {
        "dramatic": _dramatic,
        "pair_once": _pair_once,
        "synth": _synth,
        "ranks": _ranks,
        "index": _index,
    }[what]

    def rule(evidence: Evidence) -> Decision:
        verdict, figures = judge()
        return Decision(verdict, f"on print alone, whatever was run: {figures}")

    return rule


def _dramatic() -> tuple[str, str]:
    """Ask whether learning takes a quarter of the loss away, wherever it is claimed to."""
    texts, least = [], 1.0
    for name in ("NEWS", "WEBKB-N"):
        means = {method: losses.mean() for method, losses in printed_losses(name).items()}
        learnt = max(means["iterative"], means["spectral"])
        least = min(least, 1 - learnt / min(means["pair"], means["none"]))
        texts.append(f"{name} " + ", ".join(f"{key} {value:.1f}" for key, value in means.items()))
    figures = f"{'; '.join(texts)}; the least gain is {least:.0%} of the loss"
    return (HOLDS if least >= 0.25 else PARTLY if least > 0 else FAILS), figures


def _pair_once() -> tuple[str, str]:
    losses = printed_losses("SYNTH")
    best = np.argmin([losses["iterative"], losses["spectral"], losses["pair"]], axis=0)
    won = (np.flatnonzero(best == 2) + 1).tolist()
    return (HOLDS if won == [3] else FAILS), f"Pair is best on {won} of clusterings 1 to 5"


def _synth() -> tuple[str, str]:
    losses = printed_losses("SYNTH")
    found = signed_ranks(losses["iterative"], losses["spectral"])
    right = (found.win, found.lose, found.W) == (5, 0, 15.0) and found.p_1tail <= 0.05
    return (HOLDS if right else FAILS), f"Iterative against Spectral {found}"


def _ranks() -> tuple[str, str]:
    """Recompute W from the printed losses, which are rounded."""
    texts, near = [], []
    for name, printed in _PRINTED_W.items():
        losses = printed_losses(name)
        found = signed_ranks(losses["iterative"], losses["spectral"])
        near.append(abs(found.W - printed) <= 1.0)
        texts.append(f"{name} {found}, printed W {printed:g}")
    return (HOLDS if all(near) else PARTLY if any(near) else FAILS), "; ".join(texts)


def _index(clusters: int = 5) -> tuple[str, str]:
    kept = 1 - NOISE * (1 - 1 / clusters)
    share = 100 * kept**2
    verdict = HOLDS if abs(share - 70.5) < 0.5 else FAILS
    return verdict, f"each index stays with probability {kept:.2f}, both with {share:.2f} %"
