"""Path signatures up to a given depth, their logarithm, and the usual augmentations of paths.

A signature is computed by iisignature or by a small numba kernel, which needs no compiler; both
give the same numbers (`test_signature.py` compares them with a plain reference).
"""

import importlib
from collections.abc import Callable
from itertools import product

import numpy as np

from deepcac.compilation import njit
from deepcac.errors import ConfigError
from deepcac.types import Array

_INSTALL = "pip install --no-build-isolation iisignature==0.24"


def signature(paths: Array, depth: int, backend: str = "iisignature") -> Array:
    """Return the signatures of piecewise linear paths, shape (n, d + d^2 + ... + d^depth).

    Paths are finite, of shape (n, length, d). Levels 1 to `depth` are concatenated; within a level,
    words are in lexicographic order. The backend is "iisignature", an optional package, or
    "numba". An unknown or missing one, and paths or depth out of range, are a `ConfigError`.
    """
    if paths.ndim != 3 or paths.shape[1] < 1 or paths.shape[2] < 1 or depth < 1:
        raise ConfigError(
            f"paths of shape {paths.shape} with depth {depth}: expected (n, length, d), depth >= 1"
        )
    if not np.isfinite(paths).all():
        raise ConfigError("a path holds NaN or infinity; fill or leave out such paths first")
    if backend not in _BACKENDS:
        raise ConfigError(f"unknown backend {backend!r}; known: {', '.join(_BACKENDS)}")
    if len(paths) == 0 or paths.shape[1] == 1:
        return np.zeros((len(paths), len(words(paths.shape[2], depth))))
    return _BACKENDS[backend](np.ascontiguousarray(paths, np.float64), depth)


def words(d: int, depth: int) -> list[tuple[int, ...]]:
    """Return the words over the letters 0..d-1 in the order of `signature`."""
    return [word for level in range(1, depth + 1) for word in product(range(d), repeat=level)]


def lyndon_words(d: int, depth: int) -> list[tuple[int, ...]]:
    """Return the Lyndon words (smaller than all their proper suffixes), in the same order."""
    return [w for w in words(d, depth) if all(w < w[i:] for i in range(1, len(w)))]


def log_signature(paths: Array, depth: int, backend: str = "iisignature") -> Array:
    """Return the log-signatures of paths at the Lyndon words; arguments as for `signature`.

    The entries at the Lyndon words determine the logarithm in the tensor algebra (Reizenstein and
    Graham 2020, "The iisignature library", section 3). So they are a complete set of independent
    coordinates, of shape (n, len(lyndon_words(d, depth))).
    """
    d = paths.shape[2]
    signatures = signature(paths, depth, backend)
    levels = _levels(signatures, d, depth)
    logarithm = [level.copy() for level in levels]
    power = levels
    for k in range(2, depth + 1):
        power = _multiply(power, levels)
        for total, term in zip(logarithm, power, strict=True):
            total += (-1) ** (k + 1) / k * term
    flat = np.concatenate(logarithm, axis=1)
    position = {word: j for j, word in enumerate(words(d, depth))}
    return flat[:, [position[word] for word in lyndon_words(d, depth)]]


def _levels(signatures: Array, d: int, depth: int) -> list[Array]:
    """Split rows into levels of shape (n, d^1), (n, d^2), ..."""
    ends = np.cumsum([d**level for level in range(1, depth + 1)])
    return np.split(signatures, ends[:-1], axis=1)


def _multiply(a: list[Array], b: list[Array]) -> list[Array]:
    """Multiply two truncated tensor series without constant terms."""
    result = [np.zeros_like(level) for level in a]
    for i, left in enumerate(a):
        for j, right in enumerate(b[: len(a) - i - 1]):
            outer = left[:, :, None] * right[:, None, :]
            result[i + j + 1] += outer.reshape(result[i + j + 1].shape)
    return result


def lead_lag(paths: Array) -> Array:
    """Return the lead-lag transform: (n, length, d) to (n, 2 length - 1, 2 d), lead first."""
    twice = np.repeat(paths, 2, axis=1)
    return np.concatenate([twice[:, 1:], twice[:, :-1]], axis=2)


def add_time(paths: Array, time: Array) -> Array:
    """Prepend `time` (n, length) to the channels of `paths`."""
    return np.concatenate([time[:, :, None], paths], axis=2)


def _by_iisignature(paths: Array, depth: int) -> Array:
    try:
        return importlib.import_module("iisignature").sig(paths, depth)
    except ImportError as error:
        raise ConfigError(
            f"signature backend 'iisignature' is not installed: `{_INSTALL}`, "
            "or choose the backend 'numba'"
        ) from error


@njit()
def _by_numba(paths: Array, depth: int) -> Array:
    """Return signatures as products of the increments' exponentials (Chen), by Horner's scheme."""
    n, length, d = paths.shape
    ends = np.zeros(depth + 1, np.int64)
    for level in range(1, depth + 1):
        ends[level] = ends[level - 1] + d**level
    result = np.zeros((n, ends[depth]))
    horner = np.empty(d**depth)
    for i in range(n):
        row = result[i]
        for t in range(1, length):
            step = paths[i, t] - paths[i, t - 1]
            for level in range(depth, 0, -1):
                # ((step / level + S1) step / (level - 1) + S2) ... + S_level, from the inside.
                size = 1
                horner[0] = 1.0
                for k in range(1, level + 1):
                    for u in range(size - 1, -1, -1):
                        value = horner[u] / (level - k + 1)
                        for j in range(d - 1, -1, -1):
                            horner[u * d + j] = value * step[j]
                    size *= d
                    for u in range(size):
                        horner[u] += row[ends[k - 1] + u]
                for u in range(size):
                    row[ends[level - 1] + u] = horner[u]
    return result


_BACKENDS: dict[str, Callable[[Array, int], Array]] = {
    "iisignature": _by_iisignature,
    "numba": _by_numba,
}
