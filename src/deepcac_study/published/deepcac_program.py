"""The published DeepCAC program: each of its deviations as a subclass of a public estimator.

`published` combines those whose labels are on. D2, D5 and D14 concern the inputs and outputs of an
estimator, not how it learns, and are in
`deepcac_study.experiments.networks.deep_methods`, D18 in `deepcac_study.experiments.prepare`.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from deepcac.nn.base import DeepClassifier, Network, predict_in_chunks
from deepcac.nn.clustered import CentroidClassifier, CentroidNetwork
from deepcac.nn.dcn import DCNClassifier
from deepcac.nn.deepcac import DeepCACClassifier, DeepCACNetwork
from deepcac.nn.dmnn import CACDMNNClassifier, DMNNClassifier, DMNNNetwork
from deepcac.nn.fitting.data import TensorRows, in_chunks
from deepcac.nn.fitting.losses import mixture_cross_entropy, student_t, within
from deepcac.nn.fitting.stopping import Array, Measure, evaluate, macro_auprc
from deepcac.nn.fitting.training import Budget, TrainingStep
from deepcac.nn.idec import IDECClassifier
from deepcac.nn.km_z import KMZClassifier
from deepcac.nn.layers.centroids import move_online, one_hot
from deepcac.nn.layers.networks import Prediction, mean_error, mix
from deepcac.types import Ids

# Every counter restarts at 100 in each batch and steps by 1 / 100 first, which is a centroid that
# has seen 99 rows.
RESTARTED_COUNT = 99.0
FIRST_ROWS = 512  # the batch of DMNN's program: the only rows its experts see


def within_norm(z: Tensor, centroids: Tensor, membership: Tensor) -> Tensor:
    """Return sum_j ||Z_j - mu_j||_F / n_j, instead of the squares in equation 2."""
    size = membership.sum(dim=0)
    spread = (z - membership @ centroids).square().sum(dim=1) @ membership
    # The root has no gradient at 0, the value for an empty cluster or a single centred row.
    return (spread.clamp(min=1e-12).sqrt() * (size > 0) / size.clamp(min=1.0)).sum()


def farthest(z: Tensor, centroids: Tensor) -> Tensor:
    """Return the farthest centroid of each row."""
    return (centroids.square().sum(dim=1) - 2.0 * z @ centroids.T).argmax(dim=1)


def min_precision_specificity(y: Ids, score: Array) -> float:
    """Return the minimum of precision and specificity at argmax, averaged over the classes.

    The program calls it MINPSE, which is usually defined with sensitivity.
    """
    predicted = score.argmax(axis=1)
    lesser = [
        min(_share(y == c, predicted == c), _share(predicted != c, y != c))
        for c in range(score.shape[1])
    ]
    return float(np.mean(lesser))


def _share(property_: npt.NDArray[np.bool_], among: npt.NDArray[np.bool_]) -> float:
    """Return the share of `among` with the property, 0 of none."""
    return float(property_[among].mean()) if among.any() else 0.0


def _untrained(measure: Measure, network: Network, validation: TensorRows) -> float:
    """Return a measure of local predictors that are not trained yet."""
    return evaluate(measure, validation.y, predict_in_chunks(network, validation.x).logits)


class FixedClassVectors(DeepCACClassifier):
    """D6: the class vectors of the AM-softmax are neither normalised nor trained."""

    def _class_vectors(self, network: DeepCACNetwork) -> Tensor:
        return network.class_vectors

    def _learned(self, network: DeepCACNetwork) -> list[nn.Parameter]:
        """Return the autoencoder's parameters only."""
        return list(network.autoencoder.parameters())


class NormOverSize(DeepCACClassifier):
    """D8: mean error of a value, and the norm of a cluster's spread over its size."""

    def _error(self, network: DeepCACNetwork, x: Tensor, z: Tensor) -> Tensor:
        return mean_error(network.autoencoder, x, z)

    def _spread(self, network: DeepCACNetwork, z: Tensor, membership: Tensor) -> Tensor:
        return within_norm(z, network.centroids, membership)


class BothTermsOff(DeepCACClassifier):
    """D9: alpha = 0 removes the within-cluster term as well."""

    def _spread(self, network: DeepCACNetwork, z: Tensor, membership: Tensor) -> Tensor:
        """Return the spread, zero when alpha is 0."""
        spread = super()._spread(network, z, membership)
        return spread if self.alpha else torch.zeros_like(spread)


class PooledStopping(CentroidClassifier):
    """D10: all local predictors stop together, by the score of all validation rows."""

    def _local_scores(self, y: Tensor, answer: Tensor, membership: Tensor) -> list[float]:
        return [evaluate(self._measure, y, answer)] * membership.shape[1]


class DeepCACStopping(PooledStopping, DeepCACClassifier):
    """D10: the validation loss stops the clustering, the AUPRC of all classes the rest."""

    _measure = staticmethod(macro_auprc)

    @torch.no_grad()
    def _clustering_score(
        self, network: Any, train_rows: TensorRows, validation: TensorRows
    ) -> float:
        return -float(self.loss(network, validation.x, validation.y))


class RestartedCounts(DeepCACClassifier):
    """D16: the counts of the running centroids restart in each batch."""

    def _move(
        self, network: CentroidNetwork, z: Tensor, membership: Tensor
    ) -> tuple[Tensor, Tensor]:
        restarted = torch.full_like(network.counts, RESTARTED_COUNT)
        return move_online(network.centroids, restarted, z, membership)


class RawLatents(CentroidClassifier):
    """D19: local predictors learn from latents of the length that the clustering gave them."""

    def _latent_scale(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean 0 and sd 1: the latents stay as they are."""
        return torch.zeros_like(z[0]), torch.ones_like(z[0])


class KMZStopping(PooledStopping, KMZClassifier):
    """D10: AUPRC of all classes, 50 epochs at most, and the parameters of the last one."""

    _measure = staticmethod(macro_auprc)

    def budget(self, n_rows: int) -> Budget:
        """Return a stage's budget."""
        return replace(super().budget(n_rows), max_epochs=50, restore=False)


class FarthestCentre(KMZClassifier):
    """D11: trained with the nearest centre, tested with the farthest."""

    def _answer(self, x: Tensor) -> Prediction:
        z, predictors = super()._answer(x).latent, self.network_.predictors
        wrong = one_hot(farthest(z, self.network_.centroids), predictors.k, z)
        return Prediction(*(value.detach() for value in mix(z, wrong, predictors(z))))


class DMNNStopping(DMNNClassifier):
    """D10: AUPRC of all classes, 10 epochs at most."""

    _measure = staticmethod(macro_auprc)

    def budget(self, n_rows: int) -> Budget:
        """Return a stage's budget."""
        return replace(super().budget(n_rows), max_epochs=10)


class FirstRowsOnly(DMNNClassifier):
    """D12: only the experts are trained, and on the first rows of the training part.

    Encoder and gate are fixed. Every batch has the embeddings and labels of the first rows, but the
    gates of its own rows.
    """

    def _mixture_step(
        self, network: DMNNNetwork, train_rows: TensorRows
    ) -> tuple[TrainingStep, Budget]:
        """Return a step whose loss pairs each batch's gates with the first rows."""
        z = in_chunks(network.autoencoder.encode, train_rows.x)
        gate = in_chunks(lambda rows: network.gate(rows).log_softmax(dim=1), z)

        def loss(rows: Tensor) -> Tensor:
            first, labels = z[: len(rows)], train_rows.y[: len(rows)]
            return mixture_cross_entropy(gate[rows], network.predictors(first), labels)

        step = TrainingStep(loss, list(network.predictors.parameters()))
        return step, replace(self.budget(len(z)), batch_size=FIRST_ROWS)


class SharedAutoencoder(DMNNClassifier):
    """D17: the encoder of DeepCAC, with ReLU between its layers, instead of a linear one."""

    _make_autoencoder = DeepClassifier._make_autoencoder
    _start = DeepClassifier._start


class StudentMixture(CentroidClassifier):
    """D13: predictions are averaged with Student's t weights instead of the nearest centre."""

    def _weigh(self) -> Callable[[Tensor, Tensor], Tensor]:
        return student_t


class ShrinkingCentres(StudentMixture, DCNClassifier):
    """D13: wrong sign and slice move DCN's centres towards zero.

    For each cluster j in turn, the program moves every centre from j on by that centre's sum over
    1 + its rows, at a rate given by the rows of j.
    """

    def _move(
        self, network: CentroidNetwork, z: Tensor, membership: Tensor
    ) -> tuple[Tensor, Tensor]:
        size = membership.sum(dim=0).unsqueeze(1)
        pull = membership.T @ z / (1.0 + size)
        rate = (1.0 / (100.0 + size)).cumsum(dim=0)
        return network.centroids - rate * pull, network.counts


class SquaresOverSize(DCNClassifier):
    """D8: mean error of a value, beta times squared distances over the cluster's size plus 1."""

    def loss(self, network: CentroidNetwork, x: Tensor) -> Tensor:
        """Return the loss of a batch."""
        z = network.autoencoder.encode(x)
        spread = within(z, network.centroids, network.membership(z.detach()), delta=2.0)
        return mean_error(network.autoencoder, x, z) + self.beta * spread


class DCNStopping(PooledStopping, DCNClassifier):
    """D10: precision and specificity, first of untrained predictors; 50 epochs at most."""

    _measure = staticmethod(min_precision_specificity)

    def _clustering_score(
        self, network: Any, train_rows: TensorRows, validation: TensorRows
    ) -> float:
        return _untrained(min_precision_specificity, network, validation)

    def budget(self, n_rows: int) -> Budget:
        """Return a stage's budget."""
        return replace(super().budget(n_rows), max_epochs=50)


class StillCentres(StudentMixture, IDECClassifier):
    """D13: IDEC's centres stay at those of k-means; targets are renewed every second epoch."""

    target_epochs = 2

    def _learned(self, network: CentroidNetwork) -> list[nn.Parameter]:
        """Return the autoencoder's parameters only."""
        return list(network.autoencoder.parameters())


class IDECStopping(PooledStopping, IDECClassifier):
    """D10: AUPRC of untrained predictors, then precision and specificity."""

    _measure = staticmethod(min_precision_specificity)

    def _clustering_score(
        self, network: Any, train_rows: TensorRows, validation: TensorRows
    ) -> float:
        return _untrained(macro_auprc, network, validation)


_DMNN: dict[str, type[DeepClassifier]] = {
    "D10": DMNNStopping,
    "D12": FirstRowsOnly,
    "D17": SharedAutoencoder,
}
DEVIATIONS: dict[type[DeepClassifier], dict[str, type[DeepClassifier]]] = {
    DeepCACClassifier: {
        "D6": FixedClassVectors,
        "D8": NormOverSize,
        "D9": BothTermsOff,
        "D10": DeepCACStopping,
        "D16": RestartedCounts,
        "D19": RawLatents,
    },
    KMZClassifier: {"D10": KMZStopping, "D11": FarthestCentre, "D19": RawLatents},
    DCNClassifier: {
        "D8": SquaresOverSize,
        "D10": DCNStopping,
        "D13": ShrinkingCentres,
        "D19": RawLatents,
    },
    IDECClassifier: {"D10": IDECStopping, "D13": StillCentres, "D19": RawLatents},
    DMNNClassifier: _DMNN,
    CACDMNNClassifier: _DMNN,
}


def published(estimator: type[DeepClassifier], labels: Collection[str]) -> type[DeepClassifier]:
    """Return a subclass of an estimator with the deviations of its program that are given.

    It has the same name and parameters; `estimator` itself is returned if nothing deviates.
    Labels (``catalogue/switches.csv``) that do not concern the estimator are ignored.
    """
    deviations = DEVIATIONS.get(estimator, {})
    chosen = tuple(deviation for label, deviation in deviations.items() if label in labels)
    return type(estimator.__name__, (*chosen, estimator), {}) if chosen else estimator
