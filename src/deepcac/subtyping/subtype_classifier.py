"""SubtypeClassifier: a strong risk model, and subtypes by what raises the risk."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import Tags, check_consistent_length, column_or_1d
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted, check_random_state
from torch import Tensor

from deepcac.errors import CollapseWarning, ConfigError
from deepcac.files.saved_models import check_patients
from deepcac.html_summary import SummaryHTML
from deepcac.nn.fitting.data import find_device, session
from deepcac.nn.fitting.training import Budget
from deepcac.numeric_table import (
    check_classes,
    check_table,
    check_two_classes,
    check_weights,
    column_names,
)
from deepcac.sklearn_compat import Interval, StrOptions
from deepcac.subtyping.backbone import (
    Answers,
    FittedNetworks,
    NetworkSettings,
    fit_backbone,
    fit_networks,
)
from deepcac.subtyping.boosted import Trees, grow_trees
from deepcac.subtyping.crossfit import Cases, deal_cases
from deepcac.subtyping.gates import find_gates
from deepcac.subtyping.packed import full_logits
from deepcac.subtyping.subtype_answers import SubtypeAnswers
from deepcac.subtyping.subtype_file import read_subtypes, write_subtypes
from deepcac.subtyping.subtype_heads import Gain, fit_heads, held_out_gains, no_heads
from deepcac.subtyping.subtype_names import subtype_levels, subtype_names

ArrayLike = npt.ArrayLike

_COUNTS = ("n_clusters", "hidden", "batch_size", "max_epochs", "patience", "n_threads")
_COUNT = Interval(Integral, 1, None, closed="left")
_POSITIVE = Interval(Real, 0, None, closed="neither")
OUTCOME = 0.5  # agreement of subtypes and classes from which they are the outcome
_SHARE = Interval(Real, 0, 1, closed="left")


@dataclass(kw_only=True, eq=False, repr=False)
class SubtypeClassifier(SummaryHTML, SubtypeAnswers, ClassifierMixin, BaseEstimator):
    """A risk model whose subtypes are groups of patients with similar reasons for their risk.

    Several networks of one hidden layer are trained, each without one fold; boosted trees may join
    them. A logistic regression of their out-of-fold predictions gives the risk (the backbone).
    k-means on the contributions of the variables to the networks' log-odds gives the subtypes, with
    soft memberships. In each subtype a variable may count more or less than elsewhere (`heads_`),
    if this improves held-out rows. With one subtype the risk is that of the backbone.

    Parameters
    ----------
    n_clusters : int
        Number of subtypes; fewer if one would be smaller than `smallest`.
    boosting : bool
        Whether LightGBM joins the backbone.
    heads : {"auto"}, float or None
        Penalty of the heads, the changes by a subtype; "auto" takes the best on held-out rows, or
        no heads; None fits no heads.
    members, folds : int
        Networks, two or more, and folds of which each network leaves one out.
    hidden : int
        Units of a network's hidden layer.
    dropout, lr, weight_decay, batch_size, max_epochs, patience
        Settings of the networks' training.
    temperature : float
        Width of the gates; small values make memberships hard.
    smallest : float
        Smallest share of the rows that makes a subtype.
    device : str
        ``"auto"`` takes a GPU if there is one.
    n_threads : int
        Threads of torch, BLAS and LightGBM.
    random_state : int, RandomState or None
        Seed of every random choice.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    subtypes_ : ndarray of shape (n,)
        Subtype of each row of `fit`, from the lowest probability of the second class of
        `classes_` (0) to the highest.
    n_clusters_found_ : int
        Number of subtypes found.
    subtype_names_ : list of str
        Names of the subtypes, by the variables that distinguish them.
    heads_ : ndarray of shape (n_clusters_found_, d)
        Relative change of a variable's contribution in a subtype: 0.2 is 1.2 times.
    gains_ : list of Gain
        Gain in the log likelihood of held-out rows from heads of each penalty, with error.
    penalty_ : float or None
        The penalty used; None without heads.
    out_of_fold_ : ndarray of shape (n, n_classes)
        The backbone's out-of-fold probabilities of each row of `fit`.
    best_epoch_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from deepcac import SubtypeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SubtypeClassifier(n_clusters=2, max_epochs=5, random_state=0).fit(X, y)
    >>> model.predict_proba(X).shape, model.contributions(X).shape, model.weigh(X).shape
    ((569, 2), (569, 30), (569, 2))
    """

    n_clusters: int = 3
    boosting: bool = False
    heads: Literal["auto"] | float | None = "auto"
    members: int = 10
    folds: int = 5
    hidden: int = 64
    dropout: float = 0.5
    lr: float = 5e-4
    weight_decay: float = 1e-5
    batch_size: int = 256
    max_epochs: int = 100
    patience: int = 8
    temperature: float = 0.5
    smallest: float = 0.03
    device: str = "auto"
    n_threads: int = 1
    random_state: Any = None

    # No values of rows, so no pipeline can pass them on; `groups` can be requested.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"networks": UNUSED, "trees": UNUSED}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: [_COUNT] for name in _COUNTS},
        "members": [Interval(Integral, 2, None, closed="left")],
        "folds": [Interval(Integral, 2, None, closed="left")],
        "boosting": ["boolean"],
        "heads": [StrOptions({"auto"}), _POSITIVE, None],
        "lr": [_POSITIVE],
        "temperature": [_POSITIVE],
        "dropout": [_SHARE],
        "smallest": [_SHARE],
        "weight_decay": [Interval(Real, 0, None, closed="left")],
        "device": [str],
        "random_state": ["random_state"],
    }

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        networks: FittedNetworks | None = None,
        trees: Trees | None = None,
    ) -> Self:
        """Fit backbone, subtypes and heads.

        Parameters
        ----------
        X : array of shape (n, d)
            Rows; NaN is missing.
        y : array of shape (n,)
            Class labels, at least two.
        sample_weight : array of shape (n,), optional
            Only ratios count. They do not affect the medians and ranks of the inputs.
        groups : array of shape (n,), optional
            Rows of one group, such as a patient, stay in one fold.
        networks, trees : FittedNetworks and Trees, optional
            From `fit_networks` and `grow_trees` for these rows, folds and seed, to share them
            between several fits.
        """
        self._validate_params()
        rows, labels = check_table(self, X, y, reset=True, missing=True)
        self.classes_, codes = check_classes(labels)
        check_two_classes(self.classes_)
        if len(rows) < self.n_clusters:
            raise ConfigError(f"n_clusters={self.n_clusters} exceeds the {len(rows)} rows")
        seed = self.random_state
        if not isinstance(seed, (int, np.integer)):
            seed = check_random_state(seed).randint(2**31 - 1)
        device = find_device(self.device)
        weights = check_weights(self, sample_weight, rows)
        n_folds = min(self.folds, self.members, len(rows))
        units = None if groups is None else column_or_1d(groups)
        check_consistent_length(rows, units)
        cases = deal_cases(rows, codes, n_folds, int(seed), groups=units, weights=weights)
        with session(device, int(seed), self.n_threads):
            self._fit(cases, int(seed), device, networks, trees)
        self.subtypes_ = self.assign(X)
        self._warn(codes)
        return self

    def _warn(self, codes: npt.NDArray[np.int64]) -> None:
        """Warn if networks were still improving, or if the subtypes are the classes."""
        if self.best_epoch_ == self.max_epochs:
            warnings.warn(
                f"the networks were still learning at max_epochs={self.max_epochs}; raise it",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.outcome_agreement_ = float(adjusted_rand_score(codes, self.subtypes_))
        if self.outcome_agreement_ > OUTCOME:
            warnings.warn(
                "the subtypes are the outcome under another name (adjusted Rand index "
                f"{self.outcome_agreement_:.2f}): they say who is at risk, not why",
                CollapseWarning,
                stacklevel=3,
            )

    def _fit(
        self,
        cases: Cases,
        seed: int,
        device: torch.device,
        networks: FittedNetworks | None,
        trees: Trees | None,
    ) -> None:
        """Fit the backbone, place the gates and fit the heads on its out-of-fold answers."""
        if trees is None and self.boosting:
            trees = grow_trees(cases, len(self.classes_), seed, self.n_threads)
        if networks is None:
            networks = fit_networks(cases, self.network_settings(), device)
        self._backbone, outside = fit_backbone(cases, networks, trees)
        self.best_epoch_ = self._backbone.best_epoch
        self.out_of_fold_ = full_logits(outside.logits).softmax(dim=1).cpu().numpy()
        points, risk = outside.parts.flatten(1).cpu().numpy(), self.out_of_fold_[:, 1]
        self._gates = find_gates(
            points, self.n_clusters, self.temperature, self.smallest, seed, risk, cases.weight
        )
        gates = torch.as_tensor(self._gates.weigh(points), device=device)
        self._fit_heads(outside, gates, *(torch.as_tensor(c, device=device) for c in cases[1:4]))
        self.n_clusters_found_ = gates.shape[1]
        mean = outside.parts.mean(dim=0).cpu().numpy()
        centres = self._gates.centres.reshape(-1, *mean.shape)
        levels = subtype_levels(cases.rows, self._gates.assign(points), self.n_clusters_found_)
        names = column_names(self)
        self.subtype_names_ = subtype_names(centres - mean, levels, names, self.classes_)

    def _fit_heads(
        self, outside: Answers, gates: Tensor, y: Tensor, fold: Tensor, weight: Tensor
    ) -> None:
        """Choose the penalty and fit the heads; with one subtype there are none."""
        self.gains_: list[Gain] = []
        self.penalty_: float | None = None
        if gates.shape[1] > 1 and isinstance(self.heads, str):
            self.gains_ = held_out_gains(*outside, gates, y, fold, weight)
            best = max(self.gains_, key=lambda gain: gain.mean)
            self.penalty_ = best.penalty if best.mean > best.error else None
        elif gates.shape[1] > 1 and self.heads is not None:
            self.penalty_ = float(self.heads)
        self._heads = no_heads(outside.parts, gates.shape[1])
        if self.penalty_ is not None:
            self._heads = fit_heads(*outside, gates, y, weight, self.penalty_)
        self.heads_ = self._heads.weight.cpu().numpy()

    def network_settings(self) -> NetworkSettings:
        """Return the settings of the backbone's networks."""
        budget = Budget(
            max_epochs=self.max_epochs,
            patience=self.patience,
            batch_size=self.batch_size,
            lr=self.lr,
            weight_decay=self.weight_decay,
        )
        return NetworkSettings(self.members, self.hidden, self.dropout, budget)

    def save(self, path: str | os.PathLike[str], *, small_clusters: bool = False) -> None:
        """Write the fitted estimator as safetensors, all else as JSON in the header.

        As `deepcac.save`, it refuses a cluster of fewer than eight rows but for `small_clusters`.
        """
        check_is_fitted(self, "heads_")
        check_patients(self, small_clusters=small_clusters)
        write_subtypes(path, self)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, device: str = "auto") -> Self:
        """Read an estimator that `save` wrote; nothing in the file is executed."""
        return read_subtypes(path, cls, device)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
