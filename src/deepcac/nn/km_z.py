"""KM-Z: k-means on the latents of the pre-trained autoencoder, then local predictors."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from deepcac.nn.base import predict_in_chunks
from deepcac.nn.centroids import farthest, one_hot
from deepcac.nn.clustered import CentroidClassifier
from deepcac.nn.networks import Prediction, mix
from deepcac.nn.stopping import StoppingRule, macro_auprc


@dataclass(kw_only=True, eq=False, repr=False)
class KMZClassifier(CentroidClassifier):
    """Autoencoder, k-means on its latents, one local predictor a cluster (003_* section 8).

    Its parameters and attributes are those of `CentroidClassifier`.
    """

    published_stopping: ClassVar[StoppingRule] = StoppingRule(
        measure=macro_auprc, max_epochs=50, restore=False
    )

    def _answer(self, x: Tensor) -> Prediction:
        answer = predict_in_chunks(self.network_, x)
        if "D11" not in self.protocol:
            return answer
        # The published program trains with the nearest centre and tests with the farthest.
        z, predictors = answer.latent, self.network_.predictors
        wrong = one_hot(farthest(z, self.network_.centroids), predictors.k, z)
        return Prediction(*(value.detach() for value in mix(z, wrong, predictors(z))))
