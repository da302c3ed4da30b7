"""Compiled functions, cached on disk between processes where numba finds a writable folder."""

from collections.abc import Callable
from typing import Any

import numba


def njit(**options: Any) -> Callable[[Any], Any]:
    """Return `numba.njit` with these options, cached on disk if numba finds a writable folder.

    Numba tries, in this order, ``NUMBA_CACHE_DIR``, the package's folder and the user's cache
    folder. Where none of them can be written, as in a container under a foreign user id, every
    process compiles anew.
    """

    def compiled(function: Any) -> Any:
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:  # there is no such folder
            return numba.njit(**options)(function)

    return compiled
