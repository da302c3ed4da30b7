"""FNN: the encoder and one predictor, no clusters (Srivastava et al. 2021, CAC v1, section 6.2)."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from deepcac.nn.base import DeepClassifier, Network
from deepcac.nn.fitting.data import TensorRows
from deepcac.nn.fitting.training import TrainingStep, train
from deepcac.nn.layers.networks import AnyAutoencoder, LocalPredictors, Prediction, mix


class FNNNetwork(Network):
    """Encoder and predictor."""

    def __init__(self, autoencoder: AnyAutoencoder, predictor: LocalPredictors) -> None:
        super().__init__()
        self.autoencoder, self.predictor = autoencoder, predictor

    def predict(self, x: Tensor) -> Prediction:
        """Return the predictor's answer, with all rows in one cluster."""
        z = self.autoencoder.encode(x)
        return mix(z, torch.ones_like(z[:, :1]), self.predictor(z))


@dataclass(kw_only=True, eq=False, repr=False)
class FNNClassifier(DeepClassifier):
    """The pre-trained encoder with one predictor, trained together by cross-entropy.

    Its parameters and attributes are those of `DeepClassifier`.
    """

    def _build(self) -> FNNNetwork:
        return FNNNetwork(self._make_autoencoder(), self._make_predictors(1))

    def _train(self, network: FNNNetwork, train_rows: TensorRows, validation: TensorRows) -> None:
        def loss(rows: Tensor) -> Tensor:
            x, y = train_rows.batch(rows)
            logits = network.predictor(network.autoencoder.encode(x)).squeeze(1)
            return functional.cross_entropy(logits, y)

        learned = [*network.autoencoder.encoding_parameters(), *network.predictor.parameters()]
        with self._timed("train"):
            curve = train(
                network,
                [TrainingStep(loss, learned)],
                len(train_rows),
                lambda: self._score(network, validation),
                self.budget(len(train_rows)),
            )
            self._record("train", curve)
