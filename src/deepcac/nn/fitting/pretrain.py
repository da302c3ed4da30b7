"""Pre-training of the autoencoders: once per data set, split and seed, shared by all methods."""

import os
from collections.abc import Callable
from typing import Any

from torch import Tensor

from deepcac.errors import DataError
from deepcac.nn.fitting.data import default_batch_size, in_chunks
from deepcac.nn.fitting.training import (
    Budget,
    Curve,
    Report,
    TrainingStep,
    no_report,
    train,
)
from deepcac.nn.layers.networks import AnyAutoencoder, autoencoder_for, mean_error
from deepcac.nn.persistence import read_tensors, write_tensors

HIDDEN, LATENT = 64, 32  # the papers' 64-32-64
LR = 2e-3
MAX_EPOCHS, MAX_EPOCHS_SEQUENCE = 100, 30
PATIENCE = 5


def most_epochs(x: Tensor) -> int:
    """Return the papers' limit of epochs for autoencoders of static rows, or of sequences."""
    return MAX_EPOCHS_SEQUENCE if x.ndim == 3 else MAX_EPOCHS


def pretrain(
    x: Tensor,
    x_validation: Tensor,
    hidden: int = HIDDEN,
    latent: int = LATENT,
    max_epochs: int | None = None,
    report: Report = no_report,
    weight: Tensor | None = None,
    make: Callable[[], AnyAutoencoder] | None = None,
) -> tuple[AnyAutoencoder, Curve]:
    """Train an autoencoder until the validation error no longer falls.

    Parameters
    ----------
    x, x_validation : Tensor of shape (n, d) or (n, steps, 2 variables)
        Rows as `deepcac.nn.fitting.data.as_inputs` makes them.
    hidden, latent : int
        Layer sizes.
    max_epochs : int, optional
        Most epochs; None is `most_epochs`.
    report, weight
        As in `Budget`.
    make : callable, optional
        Factory of another autoencoder than that of `hidden` and `latent`.

    Returns
    -------
    (Autoencoder or SequenceAutoencoder, Curve)
        The loss is the mean squared error per value; the score is minus that of the validation
        rows. Random numbers come from torch's global generator.
    """
    made = make() if make else autoencoder_for(tuple(x.shape[1:]), hidden, latent)
    autoencoder = made.to(x.device)
    n_entries = autoencoder.entries(x_validation)

    def loss(rows: Tensor) -> Tensor:
        batch = x[rows]
        return mean_error(autoencoder, batch, autoencoder.encode(batch))

    def score() -> float:
        error = in_chunks(lambda v: autoencoder.error(v, autoencoder.encode(v)), x_validation)
        return -float(error.sum() / n_entries.clamp(min=1.0))

    batch_size = default_batch_size(len(x), x.ndim == 3)
    curve = train(
        autoencoder,
        [TrainingStep(loss, list(autoencoder.parameters()))],
        len(x),
        score,
        Budget(
            max_epochs or most_epochs(x), PATIENCE, batch_size, LR, report=report, weight=weight
        ),
    )
    return autoencoder, curve


def write_pretrained(
    path: str | os.PathLike[str], autoencoders: dict[int, AnyAutoencoder], note: dict[str, Any]
) -> None:
    """Write the autoencoders of all splits into one safetensors file.

    Parameters
    ----------
    path : path-like
    autoencoders : dict of int to autoencoder
        Autoencoders by the seed of their split.
    note : dict
        JSON-ready content of the header.
    """
    tensors = {
        f"{seed}/{name}": value
        for seed, autoencoder in autoencoders.items()
        for name, value in autoencoder.state_dict().items()
    }
    write_tensors(path, tensors, {**note, "seeds": list(autoencoders)})


def read_pretrained(
    path: str | os.PathLike[str], seed: int | None, shape: tuple[int, ...]
) -> AnyAutoencoder:
    """Read the autoencoder of one split.

    Parameters
    ----------
    path : path-like
        A file that `write_pretrained` wrote.
    seed : int or None
        Seed of the split; None gives the first autoencoder in the file.
    shape : tuple of int
        Shape of a row: (d,) or (steps, 2 variables).

    Returns
    -------
    Autoencoder or SequenceAutoencoder
        On the CPU.

    Raises
    ------
    DataError
        The file is for other features, or lacks the seed.
    """
    note, tensors = read_tensors(path)
    chosen = note["seeds"][0] if seed is None else seed
    prefix = f"{chosen}/"
    state = {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}
    autoencoder = autoencoder_for(shape, HIDDEN, LATENT)
    try:
        autoencoder.load_state_dict(state)
    except RuntimeError as error:
        raise DataError(
            f"{path}: no autoencoder for split {chosen} and rows of shape {shape}; build it again"
        ) from error
    return autoencoder
