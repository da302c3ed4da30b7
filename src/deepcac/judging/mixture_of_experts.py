"""A mixture of experts: k lines and a softmax gate, trained together."""

import torch
from torch import nn

from deepcac.judging.learners import Predict
from deepcac.judging.resamples import Resample, Rows
from deepcac.judging.spaces import Values
from deepcac.nn.fitting import data
from deepcac.nn.fitting.losses import mixture_cross_entropy
from deepcac.nn.fitting.stopping import evaluate, log_likelihood
from deepcac.nn.fitting.training import Budget, TrainingStep, train
from deepcac.types import Array

MAX_EPOCHS, PATIENCE = 200, 15


class LinearExperts(nn.Module):
    """k linear classifiers, weighed by a linear gate.

    Parameters
    ----------
    width, k, n_classes : int
        Features, experts and classes.
    """

    def __init__(self, width: int, k: int, n_classes: int) -> None:
        super().__init__()
        self.k, self.n_classes = k, n_classes
        self.gate = nn.Linear(width, k)
        self.experts = nn.Linear(width, k * n_classes)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the log weights (n, k) and the experts' logits (n, k, n_classes)."""
        logits = self.experts(x).view(-1, self.k, self.n_classes)
        return self.gate(x).log_softmax(dim=1), logits

    def log_probability(self, x: torch.Tensor) -> torch.Tensor:
        """Return log sum_j g_j p_j of shape (n, n_classes)."""
        gate, logits = self(x)
        return (gate.unsqueeze(2) + logits.log_softmax(dim=2)).logsumexp(dim=1)


def moe(values: Values, train_rows: Rows, validation: Rows, sample: Resample) -> Predict:
    """Fit `experts` lines and their gate on the scaled rows, stopped by the validation loss."""
    with data.session(torch.device("cpu"), sample.seed, 1):
        x, x_new = (_tensor(rows.bounded) for rows in (train_rows, validation))
        y, y_new = (torch.as_tensor(rows.y) for rows in (train_rows, validation))
        network = LinearExperts(x.shape[1], values["experts"], sample.n_classes)

        def loss(rows: torch.Tensor) -> torch.Tensor:
            gate, logits = network(x[rows])
            return mixture_cross_entropy(gate, logits, y[rows])

        def score() -> float:
            with torch.no_grad():
                return evaluate(log_likelihood, y_new, network.log_probability(x_new))

        budget = Budget(
            MAX_EPOCHS,
            PATIENCE,
            data.default_batch_size(len(x), False),
            values["lr"],
            values["weight_decay"],
        )
        train(network, [TrainingStep(loss, list(network.parameters()))], len(x), score, budget)
        network.eval()

    def predict(rows: Rows) -> Array:
        with torch.no_grad():
            answer = network.log_probability(_tensor(rows.bounded)).double().exp().numpy()
        return answer / answer.sum(axis=1, keepdims=True)

    return predict


def _tensor(X: Array) -> torch.Tensor:
    return torch.as_tensor(X, dtype=torch.float32)
