"""The one training loop: index batches over tensors that stay on the device, early stopping."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.optim.adam import adam

Report = Callable[[int, "Curve"], None]


def no_report(max_epochs: int, curve: "Curve") -> None:
    """Report nothing after an epoch."""


@dataclass(frozen=True)
class Budget:
    """Limits and settings of a training stage.

    Attributes
    ----------
    max_epochs : int
        Most passes over the training rows.
    patience : int
        Epochs without a better score before the stage ends.
    batch_size : int
        Rows per step.
    lr : float
        Adam's rate.
    weight_decay : float
        Weight of the squared parameters.
    restore : bool
        Whether to restore the parameters of the best epoch at the end.
    report : callable
        Called with `max_epochs` and the curve so far after each epoch.
    weight : Tensor of shape (n,) or None
        How often a row is drawn for a batch, relative to the others; None uses every row once per
        epoch. Drawing weights every term of every loss, whatever its form.
    """

    max_epochs: int
    patience: int
    batch_size: int
    lr: float
    weight_decay: float = 0.0
    restore: bool = True
    report: Report = no_report
    weight: Tensor | None = None

    def optimiser(self, parameters: list[nn.Parameter]) -> "Optimiser":
        """Return an optimiser of the parameters."""
        return Optimiser(parameters, self.lr, self.weight_decay)


class Optimiser:
    """Adam in torch's fused form, without the bookkeeping of `torch.optim.Adam` around it.

    Parameters
    ----------
    parameters : sequence of Parameter
    lr, weight_decay : float
        As in `Budget`.
    """

    def __init__(self, parameters: Sequence[Tensor], lr: float, weight_decay: float) -> None:
        self.parameters, self.lr, self.weight_decay = list(parameters), lr, weight_decay
        self.mean = [torch.zeros_like(p) for p in parameters]
        self.square = [torch.zeros_like(p) for p in parameters]
        self.count = [torch.zeros((), device=p.device) for p in parameters]

    def step(self, loss: Tensor) -> None:
        """Compute the gradients of a loss and update the parameters."""
        gradients = list(torch.autograd.grad(loss, self.parameters))
        with torch.no_grad():
            adam(
                self.parameters,
                gradients,
                self.mean,
                self.square,
                [],
                self.count,
                fused=True,
                amsgrad=False,
                beta1=0.9,
                beta2=0.999,
                lr=self.lr,
                weight_decay=self.weight_decay,
                eps=1e-8,
                maximize=False,
            )


@dataclass(frozen=True)
class TrainingStep:
    """A loss and the parameters that lower it.

    Attributes
    ----------
    loss : callable
        Row positions of a batch (a tensor of ids) to a scalar tensor.
    parameters : list of Parameter
        Parameters that the optimiser of this step updates; all others stay.
    """

    loss: Callable[[Tensor], Tensor]
    parameters: list[nn.Parameter]


@dataclass
class Curve:
    """Loss and score of each epoch of a stage.

    Attributes
    ----------
    loss, score : list of float
        Mean training loss, and the score that stops training (higher is better).
    best_epoch : int
        Epoch with the best score, from 1; 0 if none gave a finite score.
    diverged : bool
        Whether a loss or score was not finite.
    capped : bool
        Whether the stage ended at its most epochs while the score could still rise. False if the
        stage does not restore its best epoch, as it is then meant to run that long.
    """

    loss: list[float] = field(default_factory=list)
    score: list[float] = field(default_factory=list)
    best_epoch: int = 0
    diverged: bool = False
    capped: bool = False


def _nothing() -> None:
    """Do nothing, the default hook before an epoch."""
    return None


def _nothing_after(rows: Tensor) -> None:
    """Do nothing, the default hook after a batch."""
    return None


def batches(
    n: int, size: int, device: torch.device, weight: Tensor | None = None
) -> Iterator[Tensor]:
    """Return the rows 0..n-1 in random order, in batches whose sizes differ by at most one.

    With a `weight` (n,) a row occurs in proportion to its weight, rounded up or down at random
    (systematic sampling), so that the mean number of times over epochs is exact.
    """
    order = torch.randperm(n)
    if weight is not None:
        share = weight.double().cpu()
        share *= n / float(share.sum())
        ends = (share.cumsum(0) + torch.rand((), dtype=torch.float64)).floor().long().clamp_(max=n)
        ends[-1] = n
        order = torch.repeat_interleave(ends.diff(prepend=ends.new_zeros(1)))[order]
    return iter(order.to(device).tensor_split(math.ceil(n / size)))


def train(
    network: nn.Module,
    steps: list[TrainingStep],
    n_rows: int,
    score: Callable[[], float],
    budget: Budget,
    *,
    before_epoch: Callable[[], None] = _nothing,
    after_batch: Callable[[Tensor], None] = _nothing_after,
) -> Curve:
    """Train until the score no longer rises, then restore the best epoch.

    Parameters
    ----------
    network : Module
        Its parameters and buffers are changed in place.
    steps : list of TrainingStep
        Taken one after the other on every batch, each with an optimiser of its own.
    n_rows : int
        Training rows.
    score : callable
        Validation score after an epoch; higher is better.
    budget : Budget
    before_epoch, after_batch : callable
        Hooks besides the gradient steps; `after_batch` gets the row positions.

    Returns
    -------
    Curve
        A stage that diverges restores its best epoch so far, or the start.
    """
    device = next(network.parameters()).device
    optimisers = [budget.optimiser(step.parameters) for step in steps]
    curve = Curve()
    best, best_state = -math.inf, _snapshot(network)
    for epoch in range(1, budget.max_epochs + 1):
        before_epoch()
        network.train()
        total = torch.zeros((), device=device)
        for rows in batches(n_rows, budget.batch_size, device, budget.weight):
            for step, optimiser in zip(steps, optimisers, strict=True):
                loss = step.loss(rows)
                optimiser.step(loss)
                total += loss.detach()
            after_batch(rows)
        network.eval()
        curve.loss.append(float(total) / math.ceil(n_rows / budget.batch_size))
        curve.score.append(score() if math.isfinite(curve.loss[-1]) else math.nan)
        if not math.isfinite(curve.score[-1]):
            curve.diverged = True
            break
        if curve.score[-1] > best:
            best, best_state, curve.best_epoch = curve.score[-1], _snapshot(network), epoch
        budget.report(budget.max_epochs, curve)
        if epoch - curve.best_epoch >= budget.patience:
            break
    else:  # no break: the score could still rise
        curve.capped = budget.restore
    if budget.restore or curve.diverged:
        network.load_state_dict(best_state)
    return curve


def _snapshot(network: nn.Module) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in network.state_dict().items()}
