r"""A weight of the class separation under which clusters do not become classes: ``alpha="auto"``.

Not in the papers. In the cost :math:`\sum_j [W_j - \alpha n_j s_j]` the k-means clusters explain
:math:`T - W` of the sum of squares T around the mean. Clusters of one class with the last row of
another are paid about :math:`\alpha T`, since that row lies about as far from the class mean as
rows lie from their mean; so they are cheaper as soon as :math:`\alpha` is above the share
:math:`(T - W) / T` that k-means explains. The share falls with the number of columns: few clusters
explain little of many directions. `SHARE` of it is taken, divided by k - 1.
"""

from __future__ import annotations

from typing import Any

from deepcac.cac.cluster import Clustering, cluster
from deepcac.cac.collapse import collapsed
from deepcac.cac.kernels.rows import PreparedRows
from deepcac.types import Ints

# Measured on 20 draws of 2,000 x 20 with 15 % positive, as drawn and standardised, k from 2 to 5:
# with the whole share clusters collapse and AUROC falls by 0.024 to 0.047, with a tenth by 0.001 to
# 0.006, with a twentieth by 0.000 to 0.003.
SHARE = 0.05


def safe_clustering(
    rows: PreparedRows, y: Ints, labels: Ints, **options: Any
) -> tuple[float, Clustering]:
    """Return a weight that is safe for these rows, and the clusters that it gives.

    Parameters
    ----------
    rows, y, labels
        As in `cluster`; `labels` are those of k-means.
    **options
        Passed to `cluster`.

    Returns
    -------
    alpha : float
        0 if the clusters would still become classes in disguise.
    clustering : Clustering
    """
    start = cluster(rows, y, labels, 0.0, max_iter=0)
    mean = rows.X.mean(axis=0)
    total = rows.total - len(rows.X) * float((mean * mean).sum())  # around the mean
    share = 1.0 - start.within[0] / total if total > 0 else 0.0
    sizes = start.counts[-1].sum(axis=-1)
    sizes = sizes[sizes > 0]  # labels that are given may leave out a cluster
    cuts = max(len(sizes) - 1, 1)
    alpha = max(float(SHARE * share / cuts), 0.0)
    if options.get("separation") == "cluster":
        # The separation then lacks the size of the cluster, which is largest per row in the least.
        alpha *= float(sizes.min())
    clustering = cluster(rows, y, labels, alpha, **options)
    if collapsed(clustering.counts[-1]):
        return 0.0, cluster(rows, y, labels, 0.0, **options)
    return alpha, clustering
