"""How well the clusters of one run agree between splits."""

from itertools import combinations

import numpy as np
from sklearn.metrics import adjusted_rand_score

from deepcac.experiments.finished import Run


def stability(run: Run) -> float | None:
    """Return the mean adjusted Rand index over pairs of splits.

    Each pair is compared on the test rows that both splits hold.

    Returns
    -------
    float or None
        None without a score file, or where no two splits share rows.
    """
    table = run.scores(["row_id", "seed", "cluster"])
    if table is None:
        return None
    rows, seeds, cluster = (table[name].to_numpy() for name in ("row_id", "seed", "cluster"))
    agreement = []
    for one, other in combinations(np.unique(seeds), 2):
        _, here, there = np.intersect1d(
            rows[seeds == one], rows[seeds == other], assume_unique=True, return_indices=True
        )
        if len(here) > 1:
            left, right = cluster[seeds == one][here], cluster[seeds == other][there]
            agreement.append(adjusted_rand_score(left, right))
    return float(np.mean(agreement)) if agreement else None
