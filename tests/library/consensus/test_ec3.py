import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepcac.consensus import ec3
from deepcac.consensus.objective import Consensus, Weights, doubly_stochastic, membership
from deepcac.errors import DataError
from deepcac.task import Task
from deepcac_study.catalogue.methods import parse_method
from deepcac_study.catalogue.protocol import SOUND
from deepcac_study.experiments.cac_arms import fit_task
from deepcac_study.experiments.prepare import Setting


def dense_solution(K, votes, w):
    """Solve the whole linear system of both blocks, N x N matrices and all."""
    n = K.shape[0]
    r = doubly_stochastic(K)
    K = K.toarray()
    Kc = r[:, None] * (K @ K.T) * r[None, :]
    group_votes = (K.T @ votes) / K.sum(axis=0)[:, None]
    top = np.diag(w.alpha * K.sum(axis=1) + 2 * w.gamma)
    top = top + 2 * w.beta * (np.diag(Kc.sum(axis=1)) - Kc)
    system = np.block(
        [[top, -w.alpha * K], [-w.alpha * K.T, np.diag(w.alpha * K.sum(axis=0) + 2 * w.delta)]]
    )
    right = np.vstack([2 * w.gamma * votes, 2 * w.delta * group_votes])
    both = np.linalg.solve(system, right)
    return both[:n], both[n:]


def test_two_objects_by_hand():
    # One classifier calls object 0 class 0 and object 1 class 1; one cluster holds both.
    # Groups: {0}, {1}, {0, 1}. By symmetry F^o = [[a, 1-a], [1-a, a]], F^g of the cluster is
    # (1/2, 1/2), and of {0} it is (b, 1-b). K K^T = [[2, 1], [1, 2]], doubly stochastic after
    # division by 3, so K^c_01 = 1/3. With u = a - 1/2, v = b - 1/2 and all four weights 1:
    #   groups:   v (1 + 2) = u + 2/2           (alpha + 2 delta) v = alpha u + 2 delta / 2
    #   objects:  (alpha 2 + 2 gamma) u + 2 beta (1/3) (u - (-u)) = alpha v + 2 gamma / 2
    #             (4 + 4/3) u = v + 1
    # so 16 u = (u + 1) + 3, u = 4/15, v = 19/45.
    K = membership([np.array([0, 1]), np.array([0, 0])])
    assert K.toarray().tolist() == [[1, 0, 1], [0, 1, 1]]
    found = Consensus(K, np.eye(2), Weights(1.0, 1.0, 1.0, 1.0))
    for _ in range(60):
        found.step()
    a, b = 0.5 + 4 / 15, 0.5 + 19 / 45
    assert found.objects == pytest.approx(np.array([[a, 1 - a], [1 - a, a]]))
    assert found.groups == pytest.approx(np.array([[b, 1 - b], [1 - b, b], [0.5, 0.5]]))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(2, 4))
def test_descent_reaches_the_solution_of_the_whole_system(seed, n, classes):
    rng = np.random.default_rng(seed)
    answers = [rng.integers(0, classes, n) for _ in range(3)]
    clusters = [rng.integers(0, 3, n), rng.integers(-1, 2, n)]
    votes = np.mean([np.eye(classes)[a] for a in answers], axis=0)
    K = membership([*answers, *clusters])
    found = Consensus(K, votes)
    values = [found.value()]
    for _ in range(400):
        found.step()
        values.append(found.value())
    assert (np.diff(values) <= 1e-12).all()
    objects, groups = dense_solution(K, votes, Weights())
    assert found.objects == pytest.approx(objects, abs=1e-7)
    assert found.groups == pytest.approx(groups, abs=1e-7)
    assert found.objects.sum(axis=1) == pytest.approx(np.ones(n))
    assert found.objects.min() >= 0


def test_noise_belongs_to_no_group_and_empty_groups_are_left_out():
    K = membership([np.array([3, 3, 7]), np.array([-1, -1, -1])])
    assert K.toarray().tolist() == [[1, 0], [1, 0], [0, 1]]
    with pytest.raises(DataError, match="no group"):
        doubly_stochastic(membership([np.array([-1, 0])]))


def blobs(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 3)) + 3.0 * y[:, None], y


def blob_task():
    (X, y), (X_test, y_test) = blobs(200, 0), blobs(90, 1)
    return Task(X, y, X[:0], y[:0], X_test, y_test, 2, 1, 0)


def test_consensus_classifies():
    task = blob_task()
    fitted = fit_task(task, Setting("demo_cic", 1, SOUND, "cac"), parse_method("ec3"))
    assert fitted.status == "ok"
    assert (fitted.predicted == task.y_test).mean() > 0.95
    assert fitted.probability.sum(axis=1) == pytest.approx(np.ones(90))
    assert fitted.hyperparameters["class_weight"] == "balanced"


def test_a_spent_budget_is_a_timeout_and_no_result():
    fitted = ec3.fit_task(blob_task(), budget=-1.0)
    assert fitted.status == "timeout"
    assert (fitted.probability == 0.5).all()
