"""The parts of SubtypeClassifier against plain references and hand-computed cases."""

import warnings
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from torch import nn

from deepcac.errors import CollapseWarning, DataError
from deepcac.nn.fitting.training import Budget
from deepcac.subtyping.backbone import contributions
from deepcac.subtyping.boosted import _fifth
from deepcac.subtyping.crossfit import (
    deal_cases,
    deal_folds,
    left_out,
    mean_outputs,
    train_crossfitted,
    unseen,
)
from deepcac.subtyping.gates import Gates, find_gates
from deepcac.subtyping.packed import PackedNetworks, cross_entropies, dropout, full_logits
from deepcac.subtyping.smooth_inputs import CLIP, SmoothInputs
from deepcac.subtyping.subtype_heads import Heads, fit_blend, fit_heads, held_out_gains


def alone(networks, member):
    """One member as torch's own layers."""
    layers = []
    for end in ("in", "out"):
        weight, bias = getattr(networks, f"weight_{end}"), getattr(networks, f"bias_{end}")
        one = nn.Linear(weight.shape[1], weight.shape[2])
        one.weight.data, one.bias.data = weight.data[member].T, bias.data[member, 0]
        layers += [one, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def test_packed_networks_are_networks_of_their_own():
    torch.manual_seed(0)
    networks, x = PackedNetworks(3, 5, 4, 2), torch.randn(7, 5)
    outputs = networks(x)
    for m in range(3):
        torch.testing.assert_close(outputs[m], alone(networks, m)(x))
    outputs[1].sum().backward()
    for parameter in networks.parameters():
        assert not parameter.grad[[0, 2]].any()
        assert parameter.grad[1].any()


def test_losses_are_those_of_torch():
    torch.manual_seed(0)
    y = torch.tensor([0, 1, 1])
    one, three = torch.randn(2, 3, 1), torch.randn(2, 3, 3)
    binary = nn.functional.binary_cross_entropy_with_logits(
        one.squeeze(2), y.float().expand(2, 3), reduction="none"
    )
    torch.testing.assert_close(cross_entropies(one, y), binary)
    torch.testing.assert_close(
        cross_entropies(three, y)[1], nn.functional.cross_entropy(three[1], y, reduction="none")
    )
    assert full_logits(one).shape == (2, 3, 2)


@given(st.integers(20, 60), st.integers(2, 5), st.integers(5, 8))
@settings(max_examples=20, deadline=None)
def test_every_row_is_left_out_by_some_and_seen_by_others(n, folds, members):
    y = np.arange(n) % 2
    fold = deal_folds(y, folds, 0)
    assert set(fold) == set(range(folds))
    assert np.ptp(np.bincount(fold)) <= 2
    found = left_out(torch.as_tensor(fold), members)
    np.testing.assert_array_equal(torch.cat([one.rows for one in found]).sort()[0], np.arange(n))
    for one in found:
        assert len(set(fold[one.rows.numpy()])) == 1
        assert 0 < len(range(members)[one.members]) < members
    own = unseen(lambda x, member: x[:, 0] + member.start, torch.arange(n).unsqueeze(1), found)
    np.testing.assert_array_equal(own, np.arange(n) + fold)


def test_units_are_left_out_by_their_share_and_the_mean_stays():
    torch.manual_seed(0)
    for share in (0.1, 0.5, 0.75):
        kept = dropout(torch.ones(300, 501), share)
        assert kept.unique().tolist() == pytest.approx([0.0, 1 / (1 - share)])
        assert float((kept == 0).double().mean()) == pytest.approx(share, abs=0.005)
        assert float(kept.double().mean()) == pytest.approx(1.0, abs=0.01)
    # Neighbours, which share a drawn number, do not know of each other.
    zero = (dropout(torch.ones(40_000, 4), 0.5) == 0).double()
    torch.testing.assert_close(torch.corrcoef(zero.T), torch.eye(4).double(), atol=0.03, rtol=0)


def test_dropout_is_for_training_alone():
    torch.manual_seed(0)
    networks, x = PackedNetworks(2, 3, 50, 1, 0.5), torch.randn(5, 3)
    assert (networks(x) != networks(x)).any()
    networks.eval()
    torch.testing.assert_close(networks(x), networks(x), rtol=0, atol=0)


def test_a_member_learns_nothing_from_the_fold_that_it_leaves_out():
    budget = Budget(max_epochs=1, patience=1, batch_size=8, lr=0.01)
    rng = np.random.default_rng(0)
    x = torch.as_tensor(rng.normal(size=(40, 3)), dtype=torch.float32)
    y = torch.as_tensor(rng.integers(0, 2, 40))
    fold = torch.arange(40) % 2
    folds = left_out(fold, 2)

    def fitted(labels):
        torch.manual_seed(1)
        networks = PackedNetworks(2, 3, 4, 1)
        train_crossfitted(networks, x, labels, folds, torch.ones(40), budget)
        return networks

    first, second = fitted(y), fitted(torch.where(fold == 0, 1 - y, y))
    torch.testing.assert_close(first.weight_in[0], second.weight_in[0], rtol=0, atol=0)
    assert (first.weight_in[1] != second.weight_in[1]).any()
    outside = unseen(partial(mean_outputs, first), x, folds)
    own = torch.where(fold.unsqueeze(1) == 0, first(x)[0], first(x)[1])
    torch.testing.assert_close(outside, own)


def test_contributions_of_a_line_are_its_terms():
    networks = PackedNetworks(2, 3, 2, 1)
    with torch.no_grad():  # relu(u) - relu(-u) = u, with u = x w
        w = torch.tensor([[1.0], [-2.0], [0.5]])
        networks.weight_in.copy_(torch.cat([w, -w], dim=1).expand(2, 3, 2))
        networks.weight_out.copy_(torch.tensor([[1.0], [-1.0]]).expand(2, 2, 1))
        networks.bias_in.zero_()
    x = torch.tensor([[1.0, 1.0, 4.0], [0.0, -1.0, 2.0]])
    parts = contributions(networks, x, torch.tensor([0, 2, 0]), 4)
    # Inputs 0 and 2 are of variable 0, input 1 of variable 2; variables 1 and 3 have none.
    torch.testing.assert_close(parts[:, 0], torch.tensor([[3.0, 0, -2, 0], [1.0, 0, 2, 0]]))


def test_contributions_are_integrated_gradients():
    torch.manual_seed(0)
    networks, x = PackedNetworks(4, 6, 16, 3), torch.randn(50, 6)
    x[0], x[:, 5] = 0.0, 0.0
    own = slice(1, 4, 2)
    parts = contributions(networks, x, torch.arange(6), 6, own)
    change = mean_outputs(networks, x, own) - mean_outputs(networks, torch.zeros_like(x), own)
    torch.testing.assert_close(parts.sum(dim=2), change, rtol=0, atol=1e-5)
    # Slow and plain: the mean gradient at many points of the path.
    total = torch.zeros(50, 6)
    for t in (torch.arange(1000) + 0.5) / 1000:
        here = (t * x).requires_grad_(True)
        total += torch.autograd.grad(networks(here, own).mean(dim=0)[:, 1].sum(), here)[0]
    torch.testing.assert_close(parts[:, 1], x * total / 1000, rtol=0, atol=2e-3)


def test_gates_by_hand():
    gates = Gates(np.array([[0.0], [4.0]]), 2.0, np.array([2.0]))
    found = gates.weigh(np.array([[2.0], [0.0]]))
    np.testing.assert_allclose(found[0], [0.5, 0.5])
    np.testing.assert_allclose(found[1], [1 / (1 + np.exp(-2)), 1 / (1 + np.exp(2))])


def test_a_tiny_subtype_is_not_kept_and_risk_orders_the_rest():
    points = np.r_[np.zeros((50, 1)), np.full((48, 1), 10.0), np.full((2, 1), 99.0)]
    risk = np.r_[np.full(50, 0.9), np.full(50, 0.1)]
    with pytest.warns(CollapseWarning, match="2 subtypes .* 3"):
        gates = find_gates(points, 3, 0.5, 0.05, 0, risk)
    np.testing.assert_allclose(gates.centres.ravel(), [10, 0], atol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(find_gates(points, 3, 0.5, 0.01, 0, risk).centres) == 3


def test_a_loud_column_does_not_decide_alone():
    rng = np.random.default_rng(4)
    group = rng.integers(0, 2, 500)
    told = group[:, None] + rng.normal(scale=0.05, size=(500, 3))
    points = np.column_stack([told, rng.normal(scale=1.5, size=500)])
    gates = find_gates(points, 2, 0.5, 0.0, 0, group.astype(float))
    np.testing.assert_array_equal(gates.assign(points), group)
    plain = KMeans(2, n_init=10, random_state=0).fit_predict(points)
    assert adjusted_rand_score(plain, group) < 0.5
    np.testing.assert_allclose(gates.scale, np.sqrt(points.std(axis=0)))
    constant = find_gates(np.c_[told, np.ones(500)], 2, 0.5, 0.0, 0, group.astype(float))
    assert constant.scale[3] == 1


def test_heads_are_a_ridge_logistic_regression():
    rng = np.random.default_rng(0)
    parts = torch.as_tensor(rng.normal(size=(200, 1, 3)))
    y = torch.as_tensor(rng.integers(0, 2, 200))
    gates, offset = torch.ones(200, 1, dtype=torch.float64), torch.zeros(200, 1).double()
    alike = torch.ones(200).double()
    found = fit_heads(offset, parts, gates, y, alike, 2.0)
    design = np.column_stack([parts[:, 0].numpy(), np.ones(200)])
    plain = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-8).fit(design, y)
    values = np.r_[found.weight.numpy().ravel(), found.bias.numpy().ravel()]
    np.testing.assert_allclose(values, plain.coef_[0], atol=1e-4)
    nothing = fit_heads(offset, parts, gates, y, alike, 1e9)
    assert max(nothing.weight.abs().max(), nothing.bias.abs().max()) < 1e-6


def test_heads_find_reversed_effects_and_none_where_there_are_none():
    rng = np.random.default_rng(1)
    n = 2000
    group, x = rng.integers(0, 2, n), rng.normal(size=n)
    parts = torch.as_tensor(x).reshape(n, 1, 1)
    gates = torch.as_tensor(np.eye(2)[group])
    fold, offset = torch.arange(n) % 5, torch.zeros(n, 1).double()
    risk = 1 / (1 + np.exp(-x * (2 * group - 1)))
    y = torch.as_tensor((rng.random(n) < risk).astype(np.int64))
    alike = torch.ones(n).double()
    best = max(held_out_gains(offset, parts, gates, y, fold, alike), key=lambda gain: gain.mean)
    assert best.mean > 5 * best.error
    heads = fit_heads(offset, parts, gates, y, alike, best.penalty)
    assert heads.weight[0] < -0.5 < 0.5 < heads.weight[1]
    noise = torch.as_tensor(rng.integers(0, 2, n))
    gains = held_out_gains(offset, parts, gates, noise, fold, alike)
    assert all(gain.mean < 3 * gain.error for gain in gains)


def test_a_row_that_weighs_two_is_two_rows():
    rng = np.random.default_rng(3)
    parts, logits = (torch.as_tensor(rng.normal(size=(60, 1, d))) for d in (3, 1))
    y, gates = torch.as_tensor(rng.integers(0, 2, 60)), torch.as_tensor(rng.random((60, 2)))
    weight = torch.as_tensor(rng.integers(0, 3, 60)).double()
    often = torch.repeat_interleave(torch.arange(60), weight.long())
    given = logits[:, 0], parts, gates, y
    weighed = fit_heads(*given, weight, 1.0)
    repeated = fit_heads(*(one[often] for one in given), torch.ones(len(often)), 1.0)
    torch.testing.assert_close(weighed, repeated, atol=1e-6, rtol=0)
    outputs = torch.stack([logits[:, 0], parts[:, :, 0]])
    weighed = fit_blend(outputs, y, weight)
    repeated = fit_blend(outputs[:, often], y[often], torch.ones(len(often)))
    torch.testing.assert_close(weighed, repeated, atol=1e-6, rtol=0)
    points, risk = rng.normal(size=(60, 2)), rng.random(60)
    gates = find_gates(points, 2, 0.5, 0.0, 0, risk, weight.numpy() / float(weight.mean()))
    again = find_gates(points[often], 2, 0.5, 0.0, 0, risk[often])
    np.testing.assert_allclose(gates.centres, again.centres)
    assert gates.width == pytest.approx(again.width)


def test_rows_of_a_patient_are_in_one_fold():
    patient = np.repeat(np.arange(30), 4)
    y = np.arange(120) % 2
    cases = deal_cases(np.zeros((120, 1)), y, 5, 0, groups=patient, weights=np.full(120, 7.0))
    assert all(len(set(cases.fold[patient == p])) == 1 for p in range(30))
    assert set(cases.fold) == set(range(5))
    np.testing.assert_array_equal(cases.weight, 1)
    few = deal_cases(np.zeros((8, 1)), y[:8], 5, 0, groups=patient[:8])
    assert set(few.fold) == {0, 1}  # as many folds as patients
    with pytest.raises(DataError, match="two groups"):
        deal_cases(np.zeros((4, 1)), y[:4], 5, 0, groups=patient[:4])


def test_whole_groups_stop_the_trees_of_two_folds():
    patient = np.repeat(np.arange(12), 3)
    rows = patient % 2 == 1
    stop = _fifth(rows, patient)
    assert np.unique(patient[rows & stop]).tolist() == [1, 11]
    assert np.unique(patient[rows & ~stop]).tolist() == [3, 5, 7, 9]
    assert np.flatnonzero(_fifth(rows, None)).tolist() == list(range(0, 36, 5))
    assert np.array_equal(_fifth(patient == 4, patient), _fifth(rows, None))


def test_no_heads_change_nothing():
    heads = Heads(torch.zeros(2, 3), torch.zeros(2, 1))
    assert not heads.change(torch.rand(4, 2), torch.rand(4, 1, 3)).any()


def test_the_blend_takes_the_better_backbone():
    rng = np.random.default_rng(2)
    x = rng.normal(size=1000)
    y = torch.as_tensor((rng.random(1000) < 1 / (1 + np.exp(-2 * x))).astype(np.int64))
    outputs = torch.as_tensor(np.stack([2 * x, rng.normal(size=1000)])[:, :, None])
    blend = fit_blend(outputs, y, torch.ones(1000))
    assert blend.weight[0] > 0.8
    assert abs(blend.weight[1]) < 0.2


def test_inputs_are_bounded_and_know_their_column():
    X = np.array([[1.0, 5, np.nan], [2, 5, 1], [3, 5, 2], [1e6, 5, 3]])
    inputs = SmoothInputs(X)
    rows = inputs.rows(np.array([[1e12, 5, np.nan]]), torch.device("cpu"))
    assert rows.abs().max() <= CLIP
    # Column 1 is constant; 0 and 2 scaled, the flag of 2, the ranks of 0 and 2.
    assert inputs.origin.tolist() == [0, 2, 2, 0, 2]
    again = SmoothInputs.of(inputs.tensors())
    torch.testing.assert_close(
        again.rows(X, torch.device("cpu")), inputs.rows(X, torch.device("cpu")), rtol=0, atol=0
    )


def test_columns_that_are_there_or_not_are_their_flags():
    X = np.array([[1.0, np.nan], [np.nan, 1], [1, np.nan], [np.nan, np.nan]])
    inputs = SmoothInputs(X)
    rows = inputs.rows(X, torch.device("cpu"))
    assert inputs.origin.tolist() == [0, 1]
    assert torch.equal(rows > 0, torch.as_tensor(np.isnan(X)))
    again = SmoothInputs.of(inputs.tensors())
    assert torch.equal(again.rows(X, torch.device("cpu")), rows)
