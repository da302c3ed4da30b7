"""How well the clusters of one run agree between splits."""

from itertools import combinations

import numpy as np
from sklearn.metrics import adjusted_rand_score

from deepcac_study.experiments.finished import Run

_NOT_HELD = -1


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
    seed_names, split = np.unique(seeds, return_inverse=True)
    row_ids, place = np.unique(rows, return_inverse=True)
    held = np.full((len(seed_names), len(row_ids)), _NOT_HELD)
    held[split, place] = cluster
    agreement = []
    for one, other in combinations(held, 2):
        both = (one != _NOT_HELD) & (other != _NOT_HELD)
        if both.sum() > 1:
            agreement.append(adjusted_rand_score(one[both], other[both]))
    return float(np.mean(agreement)) if agreement else None
