"""From a table with missing values to bounded inputs of a network."""

from __future__ import annotations

import numpy as np
import torch
from sklearn.preprocessing import QuantileTransformer
from torch import Tensor

from deepcac.errors import DataError
from deepcac.files.saved_models import check_array
from deepcac.preprocess import TableScaler
from deepcac.types import Array

CLIP = 5.0  # standard deviations; what lies further moves nothing
QUANTILES = 64
_SPREAD = 12**0.5  # gives ranks in 0..1 unit variance


class SmoothInputs:
    """Each column twice, standardised and clipped, and as its rank; and a missingness flag.

    Ranks bound the effect of outliers and spread out crowded values; a network on both was better
    than one on either.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Training rows; NaN is missing.

    """

    def __init__(self, X: Array) -> None:
        self.scaler = TableScaler().fit(X)
        if not self.scaler.kept_.any():
            raise DataError("all columns of X are constant; there is nothing to learn from")
        n_quantiles = min(QUANTILES, len(X))
        self.ranks = QuantileTransformer(n_quantiles=n_quantiles, subsample=None)
        if self._n_measured:
            self.ranks.fit(self._measured(self.scaler.transform(X)))
        else:  # only flags vary, which have no ranks
            self.ranks.quantiles_ = np.empty((n_quantiles, 0))

    def rows(self, X: Array, device: torch.device) -> Tensor:
        """Return rows (n, d) as inputs (n, q); 0 is an average patient."""
        scaled = self.scaler.transform(X)
        both = [np.clip(scaled, -CLIP, CLIP)]
        if self._n_measured:
            both.append((self.ranks.transform(self._measured(scaled)) - 0.5) * _SPREAD)
        return torch.from_numpy(np.hstack(both)).to(device)

    @property
    def n_variables(self) -> int:
        """Number of columns of X."""
        return len(self.scaler.median_)

    @property
    def origin(self) -> Tensor:
        """Return the column of X behind each input, shape (q,), int64."""
        columns = np.concatenate([np.arange(self.n_variables), self.scaler.flagged_])[
            self.scaler.kept_
        ]
        return torch.from_numpy(np.concatenate([columns, columns[: self._n_measured]]))

    @property
    def _n_measured(self) -> int:
        """Number of columns of the scaler that are no flags."""
        return int(self.scaler.kept_[: self.n_variables].sum())

    def _measured(self, scaled: Array) -> Array:
        """Return the columns of values, without the indicators of missing ones."""
        return scaled[:, : self._n_measured]

    def tensors(self) -> dict[str, Tensor]:
        """Return the learnt arrays by name."""
        learnt = self.scaler.learnt() | {"quantiles_": self.ranks.quantiles_}
        return {name: torch.as_tensor(value) for name, value in learnt.items()}

    @classmethod
    def of(cls, tensors: dict[str, Tensor]) -> SmoothInputs:
        """Return the inputs with these learnt `tensors`."""
        inputs = cls.__new__(cls)
        arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
        inputs.scaler, inputs.ranks = TableScaler.of(arrays), QuantileTransformer()
        quantiles = arrays["quantiles_"]
        check_array("quantiles_", quantiles, (len(quantiles), inputs._n_measured))
        if not len(quantiles) or (np.diff(quantiles, axis=0) < 0).any():
            raise DataError("quantiles_ fall")
        inputs.ranks.__dict__.update(
            quantiles_=quantiles,
            references_=np.linspace(0, 1, len(quantiles)),
            n_quantiles_=len(quantiles),
            n_features_in_=quantiles.shape[1],
        )
        return inputs
