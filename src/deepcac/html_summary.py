"""What was found, in one line above scikit-learn's diagram of an estimator."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np


class SummaryHTML:
    """Mixin of an estimator that has `subtypes_` once it is fitted.

    Before scikit-learn 1.7 the diagram stands alone.
    """

    __slots__ = ()

    def _html_repr(self) -> str:
        diagram = super()._html_repr()  # type: ignore[misc]
        subtypes = getattr(self, "subtypes_", None)
        if subtypes is None:
            return diagram
        return f"<p>{escape(summary(self, subtypes))}</p>{diagram}"


def summary(model: Any, subtypes: Any) -> str:
    """Return k, alpha and the number of training rows of each cluster, in words."""
    sizes = np.bincount(subtypes)
    alpha = getattr(model, "alpha_", getattr(model, "alpha", None))
    alpha = None if isinstance(alpha, str) else alpha  # asked for, but not chosen
    parts = [f"k = {np.count_nonzero(sizes)}"]
    parts += [] if alpha is None else [f"alpha = {alpha:.3g}"]
    parts += ["clusters of " + ", ".join(f"{size:,}" for size in sizes) + " rows"]
    parts += ["collapsed: the clusters are classes"] if getattr(model, "collapsed_", False) else []
    return f"{type(model).__name__}: " + "; ".join(parts)
