"""What the parameters of the deep classifiers may be; a name means the same in all of them."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from deepcac.sklearn_compat import Interval, StrOptions

_COUNTS = ("latent", "hidden", "local_hidden", "n_clusters", "max_epochs", "patience", "n_threads")
_WEIGHTS = ("alpha", "beta", "gamma", "l1", "l2", "m", "delta", "weight_decay")
_ABOVE_ZERO = ("lr", "s", "temperature")
_COUNT = Interval(Integral, 1, None, closed="left")

CONSTRAINTS: dict[str, list[Any]] = {
    **{name: [_COUNT] for name in _COUNTS},
    **{name: [Interval(Real, 0, None, closed="left")] for name in _WEIGHTS},
    **{name: [Interval(Real, 0, None, closed="neither")] for name in _ABOVE_ZERO},
    "pretrain_epochs": [_COUNT, None],
    "batch_size": [_COUNT, None],
    "dropout": [Interval(Real, 0, 1, closed="left")],
    "answer": [StrOptions({"logits", "probabilities"})],
    "assignment": [StrOptions({"hard", "soft"})],
    "preprocess": [StrOptions({"auto"}), None],
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "device": [str],
    "random_state": ["random_state"],
    "verbose": ["boolean", Integral],
}
