"""A line about the fit above scikit-learn's HTML diagram of an estimator."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np


class SummaryHTML:
    """Mixin that puts a summary of the fit above the HTML diagram of an estimator.

    Before scikit-learn 1.7 there is only the diagram.
    """

    __slots__ = ()

    def _html_repr(self) -> str:
        diagram = super()._html_repr()  # type: ignore[misc]
        summary = self._summary()
        return f"<p>{escape(summary)}</p>{diagram}" if summary else diagram

    def _summary(self) -> str:
        """Return k, alpha and the cluster sizes as a sentence; empty before `fit`."""
        subtypes = getattr(self, "subtypes_", None)
        if subtypes is None:
            return ""
        alpha = getattr(self, "alpha_", getattr(self, "alpha", None))
        parts = [f"k = {len(np.unique(subtypes))}"]
        # An alpha in words was asked for, but not chosen.
        parts += [] if alpha is None or isinstance(alpha, str) else [f"alpha = {alpha:.3g}"]
        parts += [f"clusters of {sizes(subtypes)} rows"]
        if getattr(self, "collapsed_", False):
            parts += ["collapsed: the clusters are classes"]
        return f"{type(self).__name__}: " + "; ".join(parts)


def sizes(subtypes: Any) -> str:
    """Return the number of rows of each cluster as text."""
    return ", ".join(f"{size:,}" for size in np.bincount(subtypes))
