r"""How far CAC's weights can drift between renewals, derived so that a decision may wait.

A pass scores rows with weights that may be a few moves old. A decision taken with them is the
exact one if the score lies further from its threshold than the weights can have drifted. This
module bounds the drift of one move before it is made, so that a move costs a few additions and
not a renewal.

Let cluster j have n rows of M classes, class b with n_b rows and mean m_b; mean :math:`\mu`,
separation s, :math:`w_c = M m_c - \sum_b m_b`. For a row x of class c, with sign +1 to add and
-1 to remove, :math:`N = n + sign` (1 if the size does not weigh the separation), :math:`q = n_c +
sign`, :math:`K = \alpha N / q` and :math:`L = (M - 1) K / q`,

.. math:: \Gamma = a \|x-\mu\|^2 - sign\,\alpha s\,[sized] - sign\,2 K (x-m_c) \cdot w_c
          - L \|x-m_c\|^2, \quad |a| = n / (n + sign)

and, if class c has no row in j, :math:`a\|x-\mu\|^2 - \alpha s\,[sized] - \alpha N \sum_b
\|x-m_b\|^2`. A row of class a and norm r that enters or leaves j changes the terms by at most

- :math:`\|\Delta m_a\| \le \eta = (r + U_a) / q_a` and :math:`\|\Delta\mu\| \le (r + U) / (n-1)`,
- :math:`|\Delta|a|| \le 1 / (n-1)^2`,
- :math:`|\Delta s| \le 2 \eta \|w_a\| + (M-1) \eta^2`,
- :math:`|\Delta K| \le \alpha (n - n_c) / q_c^2` if a = c and :math:`\alpha / q_c` if not
  (without sizes :math:`\alpha / q_c^2` and 0),
- :math:`|\Delta L| \le (M-1) (|\Delta K| + [a=c] K / q_c) / q_c`,
- :math:`\|\Delta w_c\| \le (M-1) \eta` if a = c and :math:`\eta` if not,

where U bounds the norms of the means and q_a, n - 1 the counts from below. With z the norm of x,
the change of a product is at most the sum of the changes of its factors times the bounds of the
others, :math:`|\Delta \|x-\mu\|^2| \le \|\Delta\mu\| \cdot 2 (z + U)`, and :math:`(z+U)^2 \le (z+U)
(R+U)` for the largest norm R. Every bound then is :math:`(A + B r) (z + \rho)` for a fixed
:math:`\rho`, because :math:`z + U \le \max(1, U/\rho) (z + \rho)`: two rates for each (a, c, j).

The bounds must hold while the cluster changes. Each change of cell (a, j) costs max(1, r /
:math:`\rho`) of its allowance :math:`\beta n_a`, :math:`\beta = 1/16`. Within it counts change by
at most a share :math:`\beta`, and the mean by at most :math:`\beta (\rho + \|m_a\|) / (1-\beta)`,
since the rows that came and went have norms that sum to at most :math:`\beta n_a \rho`. A change
beyond the allowance (any, of a cell of fewer than 16 rows) renews weights and rates at once, and
so no bound is asked about a class that appears or disappears.
"""

from typing import Any

import numpy as np

from deepcac.cac.kernels.state import INVERSE, PRESENT, SIZE, State, compiled

ALLOWANCE = 1.0 / 16.0


@compiled()
def worn(j: int, left: Any, k: int) -> bool:
    """Return whether cluster j has used up the allowance of one of its cells."""
    used = False
    for cell in range(j, left.shape[0], k):
        used |= left[cell] < 0.0
    return used


@compiled(inline="always")
def least_divisor(count: float) -> float:
    """Return a lower bound of a count less one, for use as a divisor."""
    return max(count * (1.0 - ALLOWANCE) - 1.0, 1.0)


@compiled()
def mean_norm(a: int, j: int, state: State, spread: float) -> Any:
    """Return bounds of the norm of a class mean, and of how far the mean can move."""
    mine = state.scalars[j, INVERSE + a]
    if mine == 0.0:
        return 0.0, 0.0
    norm = np.sqrt(state.gram[j, a, a]) * mine
    wander = ALLOWANCE / (1.0 - ALLOWANCE) * (spread + norm)
    return norm + wander, wander


@compiled()
def contrast(c: int, j: int, state: State, spread: float) -> float:
    """Return a bound of ||w_c||, the sum of the differences of mean c and the other means."""
    gram, scalars = state.gram, state.scalars
    present = scalars[j, PRESENT]
    square, wander = 0.0, 0.0
    for a in range(gram.shape[1]):
        mine = scalars[j, INVERSE + a] * ((present if a == c else 0.0) - 1.0)
        moved = mean_norm(a, j, state, spread)[1]
        wander += (present - 1.0) * moved if a == c else moved
        for b in range(gram.shape[1]):
            weight = (present if b == c else 0.0) - 1.0
            square += gram[j, a, b] * mine * scalars[j, INVERSE + b] * weight
    return np.sqrt(max(square, 0.0)) + wander


@compiled()
def derive(j: int, state: State, alpha: float, sized: bool, radius: float, spread: float) -> None:
    """Derive the rates of cluster j, and give its cells their allowances.

    Parameters
    ----------
    j : int
        Cluster, whose sums, products and counts are up to date.
    state : State
        Its `rates` and `left` are changed.
    alpha, sized, radius, spread
        As in `deepcac.cac.kernels.weights.renew`, which defines the units of the rates.
    """
    k, n_classes = state.gram.shape[0], state.gram.shape[1]
    largest = 0.0
    for b in range(n_classes):
        largest = max(largest, mean_norm(b, j, state, spread)[0])
        state.left[b * k + j] = ALLOWANCE * state.counts[b * k + j]
    for c in range(n_classes):
        for a in range(n_classes):
            if state.counts[a * k + j] == 0:
                continue  # its first row renews everything
            constant, by_mean, by_class = _terms(
                a, c, j, state, alpha, sized, (radius, spread, largest)
            )
            norm = mean_norm(a, j, state, spread)[0]
            rate = state.rates[a, c * k + j]
            rate[0] = (constant + by_mean * largest + by_class * norm) / radius
            rate[1] = (by_mean + by_class) / radius


@compiled()
def _terms(
    a: int,
    c: int,
    j: int,
    state: State,
    alpha: float,
    sized: bool,
    norms: tuple[float, float, float],
) -> Any:
    """Bound the drift of the forms of class c when a row of class a comes or goes.

    `norms` are radius and spread, as in `derive`, and the largest bound of a class mean.

    Returns
    -------
    constant, by_mean, by_class : float
        The last two are to be multiplied by r plus the bounds of ||mu|| and of ||m_a||; all are
        per (z + spread).
    """
    k, scalars, counts = state.gram.shape[0], state.scalars, state.counts
    radius, spread, largest = norms
    n, present, count = scalars[j, SIZE], scalars[j, PRESENT], float(counts[c * k + j])
    low_n, low_a, low_c = least_divisor(n), least_divisor(counts[a * k + j]), least_divisor(count)
    ratio = max(1.0, largest / spread)  # z + U <= ratio (z + spread)
    weight = alpha * (n * (1.0 + ALLOWANCE) + 1.0 if sized else 1.0)
    constant = ratio * (radius + largest) / (low_n * low_n)
    by_mean = 2.0 * ratio * (1.0 + 1.0 / low_n) / low_n
    by_class = 0.0
    if sized:
        eta = (radius + largest) / low_a
        twist = 2.0 * contrast(a, j, state, spread) + (present - 1.0) * eta
        by_class += alpha * twist / (low_a * spread)
    if count == 0.0:
        if sized:
            constant += alpha * present * ratio * (radius + largest)
        return constant, by_mean, by_class + 2.0 * weight * ratio / low_a
    pull = weight / low_c
    if a == c:
        change = alpha * ((n - count) * (1.0 + ALLOWANCE) if sized else 1.0) / (low_c * low_c)
        bend = (present - 1.0) * (change + pull / low_c) / low_c
        apart = contrast(c, j, state, spread)
        by_class += 2.0 * pull * (apart / spread + (present - 1.0) * ratio) / low_a
        by_class += 2.0 * (present - 1.0) * pull / low_c * ratio / low_a
    else:
        change = alpha / low_c if sized else 0.0
        bend = (present - 1.0) * change / low_c
        apart = contrast(c, j, state, spread)
        by_class += 2.0 * pull * ratio / low_a
    constant += 2.0 * change * ratio * apart + bend * ratio * (radius + largest)
    return constant, by_mean, by_class
