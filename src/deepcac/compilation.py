"""Compiled functions: kept from process to process where numba finds a folder to keep them in."""

from collections.abc import Callable
from typing import Any

import numba


def njit(**options: Any) -> Callable[[Any], Any]:
    """Return `numba.njit` with these options, with its cache on disk where there can be one.

    Numba looks for a folder that can be written, in this order: ``NUMBA_CACHE_DIR``, the package's
    own, the user's cache folder. A user who has none of these, as in a container under a foreign
    user id, compiles anew in every process.
    """

    def compiled(function: Any) -> Any:
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:  # there is no such folder
            return numba.njit(**options)(function)

    return compiled
