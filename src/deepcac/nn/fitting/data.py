"""Rows as tensors on a device."""

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

from deepcac.errors import ConfigError, DataError
from deepcac.types import Flags

# Rows that a forward pass without gradients takes at once; caches hold those of sequences.
CHUNK, SEQUENCE_CHUNK = 8192, 512


@dataclass(frozen=True)
class TensorRows:
    """Labelled rows as tensors on one device.

    Attributes
    ----------
    x : Tensor of shape (n, d) or (n, steps, 2 variables), float32
        Features, or values and mask of sequences side by side.
    y : Tensor of shape (n,), int64
        Class ids, or other targets, such as clusters.
    weight : Tensor of shape (n,) or None
        How often a row is drawn, relative to the others; None if equally often.
    """

    x: Tensor
    y: Tensor
    weight: Tensor | None = None

    def __len__(self) -> int:
        return len(self.y)

    def batch(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return `x` and `y` of the rows at positions (b,)."""
        # Tables in less time than by brackets. Those keep the order of sequences in memory, on
        # which the last bits of an LSTM depend.
        x = self.x.index_select(0, rows) if self.x.ndim == 2 else self.x[rows]
        return x, self.y.index_select(0, rows)


def as_inputs(
    X: npt.NDArray[np.floating], mask: npt.NDArray[np.bool_] | None, device: torch.device
) -> Tensor:
    """Return features as a float32 tensor; sequences get their mask as further variables.

    Parameters
    ----------
    X : ndarray of shape (n, d) or (n, steps, variables)
    mask : ndarray of bool of the same shape, or None
        True where a sequence value was measured; None means everywhere. Values that were not
        measured are read as 0.
    device : torch.device
    """
    given = checked_mask(mask, X)
    if X.ndim == 2:
        return torch.from_numpy(np.array(X, dtype=np.float32)).to(device)
    measured = np.ones(X.shape, bool) if given is None else given
    values = np.where(measured, X, 0.0).astype(np.float32)
    both = np.concatenate([values, measured.astype(np.float32)], axis=2)
    return torch.from_numpy(both).to(device)


def checked_mask(mask: npt.ArrayLike | None, X: npt.NDArray[np.floating]) -> Flags | None:
    """Return a mask as an array, None without one; `DataError` unless it fits sequences `X`."""
    if mask is None:
        return None
    if X.ndim == 2:
        raise DataError("a mask belongs to sequences (n, steps, variables), not to a table")
    given = np.asarray(mask, bool)
    if given.shape != X.shape:
        raise DataError(f"mask has shape {given.shape}, the sequences have {X.shape}")
    return given


def default_batch_size(n: int, sequence: bool) -> int:
    """Return a power of two from 64 to 1024 (256 for sequences), for about 32 steps per epoch."""
    size = 2 ** round(math.log2(max(n / 32, 1)))
    return int(min(max(size, 64), 256 if sequence else 1024))


def in_chunks(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Apply a row-wise function without gradients, in chunks of rows that bound the memory."""
    with torch.no_grad():
        return torch.cat([function(part) for part in chunks(x)])


def chunks(x: Tensor) -> tuple[Tensor, ...]:
    """Split a table (n, d), or sequences (n, steps, 2 variables), into chunks of rows."""
    return x.split(SEQUENCE_CHUNK if x.ndim == 3 else CHUNK)


def find_device(name: str) -> torch.device:
    """Return the device for ``"auto"`` (a GPU if there is one), ``"cpu"``, ``"cuda"``, ..."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ConfigError(f"unknown device {name!r}; use 'auto', 'cpu' or 'cuda'") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ConfigError(f"device={name!r}: no GPU was found; use 'auto' or 'cpu'")
    return device


@contextmanager
def session(device: torch.device, seed: int, n_threads: int) -> Iterator[None]:
    """Seed torch and limit its threads inside the block, and restore both afterwards."""
    before = torch.get_num_threads()
    n_threads = min(n_threads, os.cpu_count() or 1)  # a million of them end the process
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices), threadpool_limits(n_threads):
        torch.manual_seed(seed)
        torch.set_num_threads(n_threads)
        try:
            yield
        finally:
            torch.set_num_threads(before)
