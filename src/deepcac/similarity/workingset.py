"""The working set of a structural SVM: cutting planes, and the quadratic program over them.

A cutting plane of example i is a vector z = Psi(x_i, y_i) - Psi(x_i, y) and a loss d; it asks for
<w, z> >= d - xi_i (Finley and Joachims 2008, optimization problem 1). The dual has one variable
a >= 0 for each plane,

    maximise  d a - 1/2 ||Z^T a||^2   where the a of one example sum to at most the cap C / n,

and w = Z^T a. With non-negative weights w is the positive part of Z^T a instead; with few features
the primal is solved then, with many the dual by Newton's method.
"""

import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from qpsolvers import Problem, solve_problem, solve_qp

from deepcac.errors import ConfigError
from deepcac.types import Floats, Ints

SECOND_SOLVER = "daqp"  # an active-set method: slower, but it ends where interior points give up
PRECISION = 1e-9  # of the quadratic program, whose losses are scaled to 1
NEWTON_STEPS = 50
FEW_FEATURES = 1000
# Shares of the largest dual variable: under the first a plane is inactive, and with changes below
# the second Newton's method has ended.
UNUSED, STILL = 1e-6, 1e-8


@dataclass
class WorkingSet:
    """Cutting planes of n examples, and the weights that are optimal for them.

    Parameters
    ----------
    n_examples, n_features : int
        n and N.
    cap : float
        C / n.
    nonnegative : bool
        Whether weights below 0 are forbidden.
    patience : int
        Solutions in a row in which a plane may be inactive before it is dropped.
    solver : str
        A solver of `qpsolvers`; where it fails, `SECOND_SOLVER` is tried.

    Attributes
    ----------
    weights : ndarray of shape (N,)
        Optimal weights; zeros without planes.
    slack : ndarray of shape (n,)
        Largest violation of an example's planes, at least 0.
    owner, losses, duals : ndarray of shape (planes,)
        Example, d and a of each plane.
    normals : ndarray of shape (planes, N)
        z of each plane.
    """

    n_examples: int
    n_features: int
    cap: float
    nonnegative: bool = False
    patience: int = 20
    solver: str = "piqp"
    owner: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    losses: Floats = field(default_factory=lambda: np.empty(0))
    duals: Floats = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        self.weights = np.zeros(self.n_features)
        self.slack = np.zeros(self.n_examples)
        self._room = np.empty((8, self.n_features))
        self._gram = np.empty((0, 0))
        self._idle = np.empty(0, dtype=np.int64)

    @property
    def normals(self) -> Floats:
        """Vector z of each plane."""
        return self._room[: len(self.owner)]

    @property
    def dual_objective(self) -> float:
        """Value of the dual, a lower bound of the primal over the same planes."""
        return float(self.losses @ self.duals - 0.5 * self.weights @ self.weights)

    def under(self, cap: float) -> "WorkingSet":
        """Return the same planes with the weights that are optimal under another cap.

        A plane holds whatever C is, so that training can go on from those of a smaller one.
        """
        other = copy.deepcopy(self)
        other.cap = cap
        other._idle[:] = 0
        if len(other.owner):
            other.solve()
        return other

    def add(self, example: int, normal: Floats, loss: float) -> None:
        """Add a plane; the weights change with the next `solve`."""
        size = len(self.owner)
        if size == len(self._room):
            self._room = np.concatenate([self._room, np.empty_like(self._room)])
        self._room[size] = normal
        products = self._room[: size + 1] @ normal
        gram = np.empty((size + 1, size + 1))
        gram[:size, :size] = self._gram
        gram[size] = gram[:, size] = products
        self._gram = gram
        self.owner = np.append(self.owner, example)
        self.losses = np.append(self.losses, loss)
        self.duals = np.append(self.duals, 0.0)
        self._idle = np.append(self._idle, 0)

    def solve(self) -> None:
        """Compute duals, weights and slack, and drop planes that have long been inactive."""
        if self.nonnegative and self.n_features <= FEW_FEATURES:
            self._primal()
        elif self.nonnegative:
            self._newton()
        else:
            self.duals = self._program(self._gram)
            self.weights = self.normals.T @ self.duals
        margins = self._gram @ self.duals
        if self.nonnegative:
            margins = self.normals @ self.weights
        self.slack[:] = 0.0
        np.maximum.at(self.slack, self.owner, self.losses - margins)
        self._idle = np.where(self.duals > UNUSED * self.duals.max(), 0, self._idle + 1)
        self._drop()

    def _program(self, gram: Floats) -> Floats:
        """Solve the dual for a Gram matrix, in units in which its numbers are near 1."""
        largest, size = float(self.losses.max()) or 1.0, float(np.diag(gram).max())
        unit = self.cap if self.cap * size <= largest else largest / size
        sums = np.zeros((self.n_examples, len(self.owner)))
        sums[self.owner, np.arange(len(self.owner))] = 1.0
        present = sums.any(axis=1)
        scaled_duals = self._ask(
            gram * (unit / largest),
            -self.losses / largest,
            sums[present],
            np.full(present.sum(), self.cap / unit),
        )
        duals = unit * np.clip(scaled_duals, 0.0, None)
        # The solver's duals may exceed the cap by its precision; scaled back, they are feasible.
        used = sums @ duals
        return duals * np.minimum(1.0, self.cap / np.maximum(used, self.cap))[self.owner]

    def _ask(self, P: Floats, q: Floats, G: Floats, h: Floats) -> Floats:
        """Minimise a P a / 2 + q a over a >= 0 with G a <= h, by the first solver that can."""
        for solver in dict.fromkeys((self.solver, SECOND_SOLVER)):
            solution = solve_qp(
                P, q, G=G, h=h, lb=np.zeros(len(q)), solver=solver, **_accuracy(solver)
            )
            if solution is not None:
                return solution
        raise ConfigError(
            f"{self.solver} and {SECOND_SOLVER} found no solution at C / n = {self.cap:g}; scale "
            "the features to a common size, or use a smaller C"
        )

    def _primal(self) -> None:
        """Solve for non-negative weights and slacks together, in units near 1."""
        n, N, planes = self.n_examples, self.n_features, len(self.owner)
        largest = float(self.losses.max()) or 1.0
        reach = float(np.linalg.norm(self.normals, axis=1).max()) or 1.0
        unit = min(np.sqrt(self.cap * largest), largest / reach)
        slack_columns = np.zeros((planes, n))
        slack_columns[np.arange(planes), self.owner] = 1.0
        problem = Problem(
            np.diag(np.repeat([unit**2 / (self.cap * largest), 0.0], [N, n])),
            np.repeat([0.0, 1.0], [N, n]),
            -np.hstack([self.normals * (unit / largest), slack_columns]),
            -self.losses / largest,
            lb=np.zeros(N + n),
        )
        solution = solve_problem(problem, self.solver, **_accuracy(self.solver))
        if solution.x is None or solution.z is None:
            raise ConfigError(f"{self.solver} found no weights at C / n = {self.cap:g}; lower C")
        self.weights = unit * np.clip(solution.x[:N], 0.0, None)
        self.duals = self.cap * np.clip(solution.z, 0.0, None)

    def _newton(self) -> None:
        """Maximise the dual of non-negative weights, which is quadratic in pieces.

        Each step solves the program of the piece at hand, and goes to the maximum between here
        and there.
        """
        for _ in range(NEWTON_STEPS):
            combined = self.normals.T @ self.duals
            piece = self.normals[:, combined > 0] if combined.any() else self.normals
            target = self._program(piece @ piece.T)
            step = self._line(combined, self.normals.T @ target, float(self.losses @ target))
            change = step * (target - self.duals)
            self.duals = self.duals + change
            if np.abs(change).max() <= STILL * self.duals.max():
                break
        self.weights = np.maximum(self.normals.T @ self.duals, 0.0)

    def _line(self, here: Floats, there: Floats, loss: float) -> float:
        """Return the share of the way where the slope of the dual is 0, by bisection."""
        way, gain = there - here, loss - self.losses @ self.duals
        low, high = 0.0, 1.0
        if gain >= np.maximum(there, 0.0) @ way:
            return 1.0
        for _ in range(60):  # halvings; a double has 53 bits
            middle = 0.5 * (low + high)
            if gain >= np.maximum(here + middle * way, 0.0) @ way:
                low = middle
            else:
                high = middle
        return low

    def _drop(self) -> None:
        """Drop the constraints that were idle for `patience` solutions."""
        active = np.flatnonzero(self._idle < self.patience)
        if len(active) == len(self.owner):
            return
        self._room[: len(active)] = self._room[active]
        self._gram = self._gram[np.ix_(active, active)]
        self.owner, self.losses = self.owner[active], self.losses[active]
        self.duals, self._idle = self.duals[active], self._idle[active]


def _accuracy(solver: str) -> dict[str, Any]:
    """Return the solver's options that set its tolerances to `PRECISION`."""
    if solver == "piqp":
        return {"eps_abs": PRECISION, "eps_rel": PRECISION}
    if solver == "daqp":
        return {"primal_tol": PRECISION, "dual_tol": PRECISION}
    return {}
