"""Wins, signed ranks and their p-value, as in Finley and Joachims (2008, Table 4)."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata, wilcoxon

ROUNDING = 1e-6


class SignedRanks(NamedTuple):
    """A comparison of two lists of losses.

    Attributes
    ----------
    win, tie, lose : int
        How often the first loss is lower, equal, higher.
    W : float
        Size of the sum of signed ranks; only so do the printed 30 of 18 and 15 of 5 make sense.
    n_sr : int
        Pairs that are no tie.
    p_1tail : float
        Wilcoxon's, for the side with the larger rank sum; 1 without a difference.
    """

    win: int
    tie: int
    lose: int
    W: float
    n_sr: int
    p_1tail: float

    def __str__(self) -> str:
        return (
            f"{self.win}-{self.tie}-{self.lose}, W {self.W:g}, n {self.n_sr}, p {self.p_1tail:.4f}"
        )


def signed_ranks(first: npt.ArrayLike, second: npt.ArrayLike) -> SignedRanks:
    """Compare two lists of losses pair by pair; lower is better."""
    gain = np.asarray(second, dtype=np.float64) - np.asarray(first, dtype=np.float64)
    gain = np.where(np.abs(gain) < ROUNDING, 0.0, gain)
    kept = np.round(gain[gain != 0], 6)
    total = float((np.sign(kept) * rankdata(np.abs(kept))).sum()) if len(kept) else 0.0
    p = 1.0
    if len(kept):
        p = float(wilcoxon(kept, alternative="greater" if total > 0 else "less").pvalue)
    wins, losses = int((gain > 0).sum()), int((gain < 0).sum())
    return SignedRanks(wins, len(gain) - wins - losses, losses, abs(total), len(kept), p)
