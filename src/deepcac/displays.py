"""Pictures of fitted estimators, as scikit-learn's displays: `from_estimator`, then `plot`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.metrics import silhouette_samples
from sklearn.utils.validation import check_random_state

from deepcac.errors import ConfigError, DataError
from deepcac.numeric_table import residue
from deepcac.types import Flags, Floats

ArrayLike = npt.ArrayLike


def _pyplot() -> Any:
    """Import and return matplotlib's pyplot, only when something is drawn."""
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "pictures need matplotlib: pip install 'deepcac[plot]'", name="matplotlib"
        ) from error
    return plt


class _Display:
    """Axes and figure of a picture."""

    ax_: Any
    figure_: Any

    def _axes(self, ax: Any) -> Any:
        """Set `ax_` and `figure_`, new ones for None; return `ax_`."""
        self.ax_ = _pyplot().subplots(layout="constrained")[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        return self.ax_


class CostCurveDisplay(_Display):
    """Cost of CAC after each pass, with its two parts.

    Parameters
    ----------
    cost, within, separation : array-like of shape (passes + 1,)
        phi, D and S of Srivastava et al. 2021 (CAC v1, Remark 2), in squared units of the columns.
    alpha : float
        ``cost = within - alpha * separation``.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    """

    def __init__(
        self, cost: ArrayLike, within: ArrayLike, separation: ArrayLike, alpha: float
    ) -> None:
        self.cost = np.asarray(cost, dtype=np.float64)
        self.within = np.asarray(within, dtype=np.float64)
        self.separation = np.asarray(separation, dtype=np.float64)
        self.alpha = alpha

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the passes of a fitted `CACClassifier` or `CACClassifierCV`."""
        model = _last(estimator)
        if not hasattr(model, "cost_history_") or not hasattr(model, "alpha_"):
            raise ConfigError(f"{type(model).__name__} has no cost; fit a CACClassifier")
        curves = (model.cost_history_, model.within_history_, model.separation_history_)
        return cls(*curves, model.alpha_).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the curves on `ax`, or on new axes."""
        ax = self._axes(ax)
        passes = np.arange(len(self.cost))
        ax.plot(passes, self.within, marker=".", label="within the clusters, D")
        ax.plot(
            passes,
            self.alpha * self.separation,
            marker=".",
            label=f"class separation times {self.alpha:.3g}",
        )
        ax.plot(passes, self.cost, marker=".", label="cost: the first minus the second")
        ax.set(xlabel="pass over the rows", ylabel="sum of squares")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend()
        return self


class SubtypeProfileDisplay(_Display):
    """How each cluster differs from the others: standardised differences of the columns.

    Parameters
    ----------
    difference : array-like of shape (k, d)
        Mean of a cluster minus that of all other rows, over the deviation of all rows.
    names : sequence of str
        Names of the d columns.
    sizes : array-like of shape (k,)
        Rows of each cluster.
    shares : array-like of shape (k,) or None
        Share of the rows of each cluster in the class `positive`.
    positive : object
        Name of that class.
    cluster_ids : array-like of shape (k,), int, optional
        Which clusters these are; by default the first k.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    """

    def __init__(
        self,
        difference: ArrayLike,
        names: Sequence[str],
        sizes: ArrayLike,
        shares: ArrayLike | None = None,
        positive: Any = None,
        cluster_ids: ArrayLike | None = None,
    ) -> None:
        self.difference = np.asarray(difference, dtype=np.float64)
        given = np.arange(len(self.difference)) if cluster_ids is None else cluster_ids
        self.cluster_ids = np.asarray(given)
        self.names = list(names)
        self.sizes = np.asarray(sizes)
        self.shares = None if shares is None else np.asarray(shares, dtype=np.float64)
        self.positive = positive

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        feature_names: Sequence[str] | None = None,
        max_features: int = 12,
        ax: Any = None,
    ) -> Self:
        """Draw the clusters that a fitted estimator, or a pipeline's last step, assigns to rows.

        Parameters
        ----------
        estimator : estimator
            Has `assign`; the steps of a pipeline before it are applied to the rows first.
        X : array-like of shape (n, d)
            Rows as the estimator takes them; a DataFrame names the columns. Missing values are
            ignored.
        y : array-like of shape (n,), optional
            Classes, for the share of the last one.
        feature_names : sequence of str, optional
            Names of the columns, in place of those of `X`.
        max_features : int
            Columns with the largest differences.
        """
        columns = _columns(estimator, X, feature_names)
        labels = _last(estimator).assign(_before(estimator, X))
        ids, sizes = np.unique(labels, return_counts=True)
        difference = np.array([_difference(columns, labels == j) for j in ids])
        order = np.argsort(-np.abs(difference).max(axis=0), kind="stable")[:max_features]
        shares = positive = None
        if y is not None:
            positive = np.unique(y).tolist()[-1]
            shares = [float((np.asarray(y)[labels == j] == positive).mean()) for j in ids]
        names = [str(columns.columns[j]) for j in order]
        return cls(difference[:, order], names, sizes, shares, positive, ids).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw one point per column and cluster on `ax`, or on new axes."""
        ax = self._axes(ax)
        height = np.arange(len(self.names))[::-1]
        for j, difference in enumerate(self.difference):
            label = f"cluster {self.cluster_ids[j]}: {self.sizes[j]:,} rows"
            if self.shares is not None:
                label += f", {self.shares[j]:.1%} of class {self.positive}"
            ax.plot(difference, height, marker="osD^vPX*"[j % 8], linestyle="", label=label)
        ax.axvline(0.0, color="grey", linewidth=0.8)
        ax.set_yticks(height, self.names)
        ax.set(xlabel="difference from all other rows, in standard deviations")
        ax.margins(y=0.1)
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0))
        return self


class SilhouetteDisplay(_Display):
    """Silhouette of each row, sorted within its cluster.

    Parameters
    ----------
    values : array-like of shape (n,)
        From -1 (nearer to another cluster) to 1.
    labels : array-like of shape (n,)
        Cluster of each row.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    """

    def __init__(self, values: ArrayLike, labels: ArrayLike) -> None:
        self.values = np.asarray(values, dtype=np.float64)
        self.labels = np.asarray(labels)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        *,
        max_rows: int = 2000,
        random_state: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw the clusters of rows in the space where the estimator makes them.

        Parameters
        ----------
        estimator : estimator
            Has `assign`. Distances are those of the space in which it clusters: the latents, the
            contributions or the learnt metric.
        X : array-like of shape (n, d)
        max_rows : int
            Larger data are sampled, since the cost grows with the square of the rows.
        random_state : int, RandomState or None
            Seed of the sample.
        """
        rows, model = _before(estimator, X), _last(estimator)
        labels = model.assign(rows)
        if not 1 < len(np.unique(labels)) < len(labels):
            raise DataError("a silhouette needs at least two clusters, and fewer than rows")
        space = _clustered_space(model, rows)
        chosen = np.arange(len(labels))
        if len(chosen) > max_rows:
            order = check_random_state(random_state).permutation(chosen)
            # A row of every cluster comes first, so that a small one is drawn too.
            first = np.unique(labels[order], return_index=True)[1]
            chosen = np.concatenate([order[first], np.delete(order, first)])[:max_rows]
        return cls(silhouette_samples(space[chosen], labels[chosen]), labels[chosen]).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw one band per cluster on `ax`, or on new axes."""
        ax = self._axes(ax)
        start, middles = 0, []
        for j in np.unique(self.labels):
            values = np.sort(self.values[self.labels == j])
            height = np.arange(start, start + len(values))
            ax.fill_betweenx(height, 0.0, values, step="mid")
            middles.append((float(height.mean()), f"cluster {j}"))
            start += len(values) + max(len(self.values) // 50, 1)
        ax.set_yticks(*zip(*middles, strict=True))
        mean = self.values.mean()
        ax.axvline(mean, color="grey", linestyle="--", label=f"mean {mean:.2f}")
        ax.set(xlabel="silhouette of each row", xlim=(min(-0.1, self.values.min()), 1.0))
        ax.legend()
        return self


def _last(estimator: Any) -> Any:
    """Return the last step of a pipeline, or the estimator itself."""
    return estimator[-1] if hasattr(estimator, "steps") else estimator


def _before(estimator: Any, X: ArrayLike) -> Any:
    """Return rows as transformed by the steps of a pipeline before its last."""
    return estimator[:-1].transform(X) if hasattr(estimator, "steps") else X


def _clustered_space(model: Any, rows: Any) -> Floats:
    """Return rows in the space in which an estimator makes its clusters."""
    if hasattr(model, "embed"):
        return np.asarray(model.embed(rows))
    if hasattr(model, "contributions"):
        return np.asarray(model.transform(rows))
    values = np.asarray(rows, dtype=np.float64)
    metric = getattr(model, "metric_", None)
    return values if metric is None else np.asarray(metric.transform(values), dtype=np.float64)


def _columns(estimator: Any, X: ArrayLike, names: Sequence[str] | None) -> pd.DataFrame:
    """Return rows as named numeric columns; text as the steps of a pipeline encode it."""
    own = getattr(X, "columns", None)
    try:
        values = X.to_numpy(np.float64, na_value=np.nan) if hasattr(X, "to_numpy") else X
        rows = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        if not hasattr(estimator, "steps"):
            raise DataError("a column holds text; put what encodes it in a pipeline") from error
        encoded = _before(estimator, X)
        rows = np.asarray(encoded.toarray() if hasattr(encoded, "toarray") else encoded, np.float64)
        own = estimator[:-1].get_feature_names_out()
    given = own if names is None else names
    given = [f"column {j}" for j in range(rows.shape[1])] if given is None else list(given)
    if len(given) != rows.shape[1]:
        raise DataError(f"{len(given)} feature_names for {rows.shape[1]} columns")
    return pd.DataFrame(rows, columns=given)


def _difference(rows: pd.DataFrame, inside: Flags) -> Floats:
    """Return the standardised difference of each column; 0 where there is nothing to compare."""
    middle, spread = rows.mean().to_numpy(), rows.std(ddof=0).to_numpy()
    gap = (rows[inside].mean() - rows[~inside].mean()).to_numpy()
    varies = spread > residue(middle, spread, len(rows))
    return np.nan_to_num(np.divide(gap, spread, out=np.zeros_like(gap), where=varies))
