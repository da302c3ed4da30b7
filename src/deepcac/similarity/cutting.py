"""Algorithm 1 of Finley and Joachims (2008): add the most violated constraints until none is left.

Examples are numbered 0 to n - 1, each with its own slack. With n = 1 and constraints that are
means over the training set this is the one-slack form of Joachims, Finley and Yu (2009).
"""

import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from deepcac.similarity.workingset import WorkingSet
from deepcac.types import Floats


class Cut(NamedTuple):
    """What a separation oracle returns: z (N,) and the loss of its clustering."""

    normal: Floats
    loss: float


Separate = Callable[[int, Floats], Cut]


class Solution(NamedTuple):
    """What Algorithm 1 found.

    Attributes
    ----------
    weights : ndarray of shape (N,)
    slack : ndarray of shape (n,)
        Slack of each example, over the planes that were found.
    planes : WorkingSet
    gap : float
        Primal objective, with the violations that the oracle last found, minus the dual
        objective; at most C epsilon for an exact oracle, up to the precision of the QP solver.
    n_iter, n_cuts : int
        Passes over the examples, and planes added.
    converged : bool
    qp_seconds : float
    """

    weights: Floats
    slack: Floats
    planes: WorkingSet
    gap: float
    n_iter: int
    n_cuts: int
    converged: bool
    qp_seconds: float


def cutting_planes(
    separate: Separate, planes: WorkingSet, *, epsilon: float, max_iter: int
) -> Solution:
    """Train until no constraint is violated by more than epsilon beyond its example's slack.

    Parameters
    ----------
    separate : callable (example, weights) -> Cut
        Separation oracle.
    planes : WorkingSet
        Changed in place; may hold planes already.
    epsilon : float
        Precision, in the unit of the loss.
    max_iter : int
        Largest number of passes over the examples.
    """
    worst = np.zeros(planes.n_examples)
    seconds, n_cuts, converged, n_iter = 0.0, 0, False, 0
    while n_iter < max_iter and not converged:
        n_iter, converged = n_iter + 1, True
        for i in range(planes.n_examples):
            cut = separate(i, planes.weights)
            worst[i] = cut.loss - planes.weights @ cut.normal
            if worst[i] > planes.slack[i] + epsilon:
                planes.add(i, *cut)
                begin = time.perf_counter()
                planes.solve()
                seconds += time.perf_counter() - begin
                n_cuts, converged = n_cuts + 1, False
    if not converged:
        message = f"no end after {max_iter} passes; raise max_iter or epsilon, or lower C"
        warnings.warn(message, ConvergenceWarning, stacklevel=4)
    slack = planes.slack.copy()
    primal = 0.5 * planes.weights @ planes.weights + planes.cap * np.maximum(slack, worst).sum()
    gap = float(primal - planes.dual_objective)
    return Solution(planes.weights.copy(), slack, planes, gap, n_iter, n_cuts, converged, seconds)


def largest_number_of_cuts(
    n_examples: int, C: float, epsilon: float, max_loss: float, radius: float
) -> float:
    """Return a bound on the planes that Algorithm 1 adds (Tsochantaridis et al. 2005, theorem 18).

    Parameters
    ----------
    n_examples : int
        n.
    C, epsilon : float
        As in training.
    max_loss, radius : float
        Largest loss, and largest norm of a difference of two Psi.
    """
    return max(2 * n_examples * max_loss / epsilon, 8 * C * max_loss * radius**2 / epsilon**2)
