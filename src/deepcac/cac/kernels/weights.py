r"""The weights of CAC's two changes of cost, and their renewal when clusters have changed.

Both changes of the cost, of adding a row x of class c to cluster j (Gamma+) and of removing it
(Gamma-), are affine in ||x||^2 and x:

.. math:: \Gamma = constant + factor \, \|x\|^2 + v \cdot x

where v is a combination of the class sums of cluster j. The three depend on (add or remove,
class, cluster) alone and change only when the cluster does. For any number of classes the
separation is the sum over pairs of present classes; with T the sum of the M class means,
:math:`\sum_{a<b} \|\mu_a-\mu_b\|^2 = M \sum_a \|\mu_a\|^2 - \|T\|^2`, and two classes are the
case M = 2.
"""

from typing import Any

import numpy as np

from deepcac.cac.kernels.drift import derive, worn
from deepcac.cac.kernels.state import (
    BASE,
    DRIFT,
    FRESH,
    INVERSE,
    PRESENT,
    PRODUCTS,
    REORDER,
    SCORED,
    SEPARATION,
    SIZE,
    SQUARES,
    SURE,
    TOTAL,
    State,
    compiled,
    refresh,
)

ADD, REMOVE = 0, 1
# A change of cost smaller than this share of its own terms is rounding, neither gain nor loss.
ROUNDING = 1e-12
# Unit of single precision; what it loses below its smallest number; what it holds for certain.
SINGLE, TINY, HUGE = 2.0**-24, 1e-30, 1e30


@compiled(inline="always")
def coefficients(
    gram: Any, scalars: Any, j: int, c: int, sign: int, alpha: float, sized: bool, share: Any
) -> Any:
    """Return the terms of one Gamma; `share` (C,) receives the coefficient of each class sum in v.

    Parameters
    ----------
    gram, scalars : ndarray
        As in `State`.
    j, c : int
        Cluster, and class of the row.
    sign : {1, -1}
        Add or remove.
    alpha : float
        Weight of the separation.
    sized : bool
        Whether the cluster's size multiplies its separation.

    Returns
    -------
    constant, factor : float
        The other two terms of the affine form.
    """
    n_classes = gram.shape[1]
    present, size, total = scalars[j, PRESENT], scalars[j, SIZE], scalars[j, TOTAL]
    if size == 0.0:
        share[:n_classes] = 0.0
        constant, factor = 0.0, 0.0
    else:
        inverse = 1.0 / (size + sign)
        factor = sign * size * inverse  # `within` changes by this times ||x - mu||^2
        constant = sign * total * inverse / size
        constant -= alpha * sign * scalars[j, SEPARATION] if sized else 0.0
        weight = alpha * (size + sign) if sized else alpha
        # The mean of class c moves by step (x - mu_c). If it had no row, it comes to be at x.
        mine = scalars[j, INVERSE + c]
        absent = mine == 0.0
        step = 1.0 if absent else sign * mine / (1.0 + sign * mine)
        pull = 2.0 * weight * step
        square = gram[j, c, c] * mine * mine
        lean = present * square  # becomes (M mu_c - T) . mu_c, with the M class means' sum T
        for b in range(n_classes):
            share[b] = pull * scalars[j, INVERSE + b] - 2.0 * sign * inverse
            lean -= gram[j, c, b] * mine * scalars[j, INVERSE + b]
        bend = weight * (present if absent else present - 1.0) * step * step
        share[c] -= (pull * present - 2.0 * bend) * mine
        constant += pull * lean - bend * square - (weight * scalars[j, SQUARES] if absent else 0.0)
        factor -= bend
    return constant, factor


@compiled(fastmath=REORDER)
def combine(sums: Any, share: Any, j: int, k: int, form: Any) -> Any:
    """Set v in `form` to the class sums of cluster j weighted by `share`.

    Returns
    -------
    changed, length : float
        Norms of the change of v, and of v.
    """
    changed, length = 0.0, 0.0
    if sums.shape[0] == 2 * k:
        first, second, share_first, share_second = sums[j], sums[k + j], share[0], share[1]
        for f in range(first.shape[0]):
            value = share_first * first[f] + share_second * second[f]
            changed += (value - form[f]) * (value - form[f])
            length += value * value
            form[f] = value
        return np.sqrt(changed), np.sqrt(length)
    for f in range(sums.shape[1]):
        value = 0.0
        for b in range(share.shape[0] - k):
            value += share[b] * sums[b * k + j, f]
        changed += (value - form[f]) * (value - form[f])
        length += value * value
        form[f] = value
    return np.sqrt(changed), np.sqrt(length)


@compiled()
def renew(state: State, alpha: float, sized: bool, radius: float, spread: float) -> None:
    """Renew the weights of clusters that changed, and with them drift, levels and rates.

    Drift and levels are in units of (norm + `spread`) * `radius`, in which a change of a form by
    (v, factor, constant) changes no score by more than ``max(||v|| + |factor| radius, |constant|
    / spread) / radius``, since ``||x|| <= radius``.

    Parameters
    ----------
    state : State
        Changed in place.
    alpha, sized
        As in `coefficients`.
    radius, spread : float
        As in `PreparedRows`.
    """
    k, n_classes, pending = state.gram.shape[0], state.gram.shape[1], state.pending
    waiting = FRESH
    for j in range(k):
        waiting = max(waiting, pending[j])
    if waiting == FRESH:
        return
    for j in range(k):
        if pending[j] == PRODUCTS:
            refresh(j, state.sums, state.counts, state.gram, state.scalars)
        if pending[j] != FRESH and worn(j, state.left, k):
            derive(j, state, alpha, sized, radius, spread)
    for c in range(n_classes):
        drifted, largest = 0.0, 0.0
        for way in (ADD, REMOVE):
            changed, size = 0.0, 0.0
            for j in range(k):
                form = state.forms[way, c * k + j]
                if pending[j] != FRESH and (way == ADD or state.counts[c * k + j] > 1):
                    share, sign = state.room[0], 1 - 2 * way
                    constant, factor = coefficients(
                        state.gram, state.scalars, j, c, sign, alpha, sized, share
                    )
                    moved, length = combine(state.sums, share, j, k, form)
                    changed = max(
                        changed, settle(form, constant, factor, moved, length, radius, spread)
                    )
                size = max(size, form[-1])
            drifted += changed
            largest += size
        # A row's change of cost is one Gamma- plus the least Gamma+.
        level = state.level[c]
        level[DRIFT] += drifted
        level[BASE] = 4.0 * ROUNDING * largest + TINY
        if not level[BASE] < HUGE:
            level[BASE] = np.inf  # single precision does not hold such weights: nothing is sure
        level[SURE] = level[BASE] + (level[DRIFT] - level[SCORED])
    round_off(state.forms, state.weights, state.bias, pending, radius, spread)
    for j in range(k):
        pending[j] = FRESH
    state.waits[:] = 0.0


@compiled(inline="always")
def settle(
    form: Any,
    constant: float,
    factor: float,
    moved: float,
    length: float,
    radius: float,
    spread: float,
) -> float:
    """Set the last terms of a form whose v is renewed; return a bound of its scores' change."""
    d = form.shape[0] - 3
    changed = moved + abs(factor - form[d]) * radius
    changed = max(changed, abs(constant - form[d + 1]) / spread)
    form[d], form[d + 1] = factor, constant
    form[d + 2] = max(length + abs(factor) * radius, abs(constant) / spread) / radius
    return changed / radius


@compiled()
def round_off(
    forms: Any, weights: Any, bias: Any, pending: Any, radius: float, spread: float
) -> None:
    r"""Write the changed forms in single precision, scaled as the blocks are, and their `bias`.

    With u the unit of single precision, D entries, and the few roundings around the sum, a score is
    off by at most :math:`(D + 8) u \sum |form| |row|`, whatever the order of the sum, and that sum
    by the magnitude of the form.
    """
    k, cells, width = pending.shape[0], forms.shape[1], weights.shape[1]
    error = (width + 8) * SINGLE
    for cell in range(cells):
        if pending[cell % k] == FRESH:
            continue
        add, remove = forms[ADD, cell], forms[REMOVE, cell]
        if k == 2:  # Gamma- and the only Gamma+ in one form
            other = forms[ADD, cell + 1 - 2 * (cell % 2)]
            scale_form(remove, other, 1.0, weights[cell], radius, spread)
            bias[cell] = error * (remove[-1] + other[-1]) + TINY
        else:
            scale_form(remove, remove, 0.0, weights[cell], radius, spread)
            scale_form(add, add, 0.0, weights[cells + cell], radius, spread)
            bias[cell], bias[cells + cell] = error * remove[-1] + TINY, error * add[-1] + TINY


@compiled(inline="always")
def scale_form(form: Any, other: Any, share: float, out: Any, radius: float, spread: float) -> None:
    """Write a form plus a multiple of another in single precision; zeros if it overflows."""
    d, scale = out.shape[0] - 2, 1.0 / radius
    scale = scale if form[-1] + share * other[-1] < HUGE else 0.0
    for f in range(d):
        out[f] = (form[f] + share * other[f]) * scale
    out[d] = (form[d] + share * other[d]) * (scale * radius)
    out[d + 1] = (form[d + 1] + share * other[d + 1]) * (scale / spread)
