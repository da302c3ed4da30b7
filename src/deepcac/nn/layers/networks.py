"""Building blocks of the deep methods: autoencoders, local predictors, predictions."""

from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional


class Prediction(NamedTuple):
    """Prediction of a network for n rows.

    Attributes
    ----------
    latent : Tensor of shape (n, latent)
        Embedding.
    membership : Tensor of shape (n, k)
        Weight of each cluster; rows sum to 1.
    logits : Tensor of shape (n, n_classes)
        Decision values before any softmax.
    probability : Tensor of shape (n, n_classes)
        Class probabilities; rows sum to 1.
    """

    latent: Tensor
    membership: Tensor
    logits: Tensor
    probability: Tensor


def mix(latent: Tensor, membership: Tensor, logits: Tensor) -> Prediction:
    """Average the class scores of k predictors with the weights of the clusters.

    Parameters
    ----------
    latent : Tensor of shape (n, latent)
    membership : Tensor of shape (n, k)
    logits : Tensor of shape (n, k, n_classes)
        Each predictor's class scores for each row.
    """
    weight = membership.unsqueeze(2)
    return Prediction(
        latent,
        membership,
        (weight * logits).sum(dim=1),
        (weight * logits.softmax(dim=2)).sum(dim=1),
    )


def dense(*sizes: int, between: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    """Return linear layers of the given sizes with ReLU, or `between`, between them."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), between()]
    return nn.Sequential(*layers[:-1])


class Autoencoder(nn.Module):
    """Encoder d - hidden (ReLU) - latent (linear) and its mirror; the papers have 64-32-64.

    Parameters
    ----------
    n_features : int
        Columns d of the input.
    hidden, latent : int
        Layer sizes.
    between : type
        Activation after the hidden layers; ``nn.Identity`` makes a linear autoencoder.
    """

    def __init__(
        self,
        n_features: int,
        hidden: int = 64,
        latent: int = 32,
        between: type[nn.Module] = nn.ReLU,
    ) -> None:
        super().__init__()
        self.encoder = dense(n_features, hidden, latent, between=between)
        self.decoder = dense(latent, hidden, n_features, between=between)

    def encode(self, x: Tensor) -> Tensor:
        """Embed rows `x` (n, d) as (n, latent)."""
        return self.encoder(x)

    def encoding_parameters(self) -> list[nn.Parameter]:
        """Return what `encode` uses; the rest is the decoder's."""
        return list(self.encoder.parameters())

    def error(self, x: Tensor, z: Tensor) -> Tensor:
        """Return ||x - D(z)||^2 of each row, shape (n,)."""
        return functional.mse_loss(self.decoder(z), x, reduction="none").sum(dim=1)

    def entries(self, x: Tensor) -> Tensor:
        """Return the number of values of `x` that count in the reconstruction error."""
        return x.new_tensor(x.numel())


class SequenceAutoencoder(nn.Module):
    """LSTM encoder and decoder for hourly values and their mask.

    Rows are (steps, 2 variables): the values, 0 where missing, then the mask as 0 and 1. The
    encoder's last state gives the latent, which the decoder is fed at every step. Only measured
    values count in the error (Srivastava et al. 2021, DeepCAC, section 15).

    Parameters
    ----------
    n_variables : int
        Variables v; the input has 2 v columns.
    hidden, latent : int
        State size of both LSTMs, and size of the latent.
    """

    def __init__(self, n_variables: int, hidden: int = 64, latent: int = 32) -> None:
        super().__init__()
        self.n_variables = n_variables
        self.encoder = nn.LSTM(2 * n_variables, hidden, batch_first=True)
        self.to_latent = nn.Linear(hidden, latent)
        self.decoder = nn.LSTM(latent, hidden, batch_first=True)
        self.to_values = nn.Linear(hidden, n_variables)

    def encode(self, x: Tensor) -> Tensor:
        """Embed sequences `x` (n, steps, 2 v) as (n, latent)."""
        _, (state, _) = self.encoder(x)
        return self.to_latent(state[-1])

    def encoding_parameters(self) -> list[nn.Parameter]:
        """Return what `encode` uses; the rest is the decoder's."""
        return [*self.encoder.parameters(), *self.to_latent.parameters()]

    def error(self, x: Tensor, z: Tensor) -> Tensor:
        """Return the squared error of each row, summed over its measured values, shape (n,)."""
        values, mask = x.split(self.n_variables, dim=2)
        states, _ = self.decoder(z.unsqueeze(1).expand(-1, x.shape[1], -1))
        return (mask * (values - self.to_values(states)).square()).sum(dim=(1, 2))

    def entries(self, x: Tensor) -> Tensor:
        """Return the number of measured values of `x`."""
        return x[:, :, self.n_variables :].sum()


AnyAutoencoder = Autoencoder | SequenceAutoencoder


def mean_error(autoencoder: AnyAutoencoder, x: Tensor, z: Tensor) -> Tensor:
    """Return the mean squared error per value of reconstructing rows `x` from their latents."""
    return autoencoder.error(x, z).sum() / autoencoder.entries(x).clamp(min=1.0)


def autoencoder_for(shape: tuple[int, ...], hidden: int, latent: int) -> AnyAutoencoder:
    """Return an untrained autoencoder for rows of shape (d,) or (steps, 2 variables)."""
    if len(shape) == 1:
        return Autoencoder(shape[0], hidden, latent)
    return SequenceAutoencoder(shape[1] // 2, hidden, latent)


class LocalPredictors(nn.Module):
    """The k local networks latent - hidden (ReLU) - classes, computed together.

    All first layers are one matrix product and all second layers one batched product, so that
    no loop runs over the clusters.

    Parameters
    ----------
    k : int
        Number of predictors.
    latent, hidden, n_classes : int
        Layer sizes; the papers have 30 hidden units.
    dropout : float
        Share of hidden units that are left out in training.
    """

    def __init__(
        self, k: int, latent: int, hidden: int, n_classes: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.k = k
        self.dropout = nn.Dropout(dropout)
        self.first = nn.Linear(latent, k * hidden)
        bound = hidden**-0.5  # as nn.Linear(hidden, n_classes) would start
        self.weight = nn.Parameter(torch.empty(k, hidden, n_classes).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(k, n_classes).uniform_(-bound, bound))

    def member(self, j: int) -> tuple[Tensor, ...]:
        """Return the parameters of predictor `j`, as views of what is trained."""
        hidden = self.weight.shape[1]
        units = slice(j * hidden, (j + 1) * hidden)
        first = self.first.weight.data[units], self.first.bias.data[units]
        return *first, self.weight.data[j], self.bias.data[j]

    @torch.no_grad()
    def unscale(self, centre: Tensor, spread: Tensor) -> None:
        """Fold the scaling (z - centre) / spread of training into the weights, to apply to z."""
        self.first.weight.div_(spread)
        self.first.bias.sub_(self.first.weight @ centre)

    def forward(self, z: Tensor) -> Tensor:
        """Return the class scores of every predictor for rows `z` (n, latent): (n, k, classes)."""
        active = self.dropout(self.first(z).relu()).unflatten(1, (self.k, -1))
        return (active.transpose(0, 1) @ self.weight).transpose(0, 1) + self.bias
