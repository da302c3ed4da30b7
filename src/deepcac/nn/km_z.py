"""KM-Z: k-means on the latents of the pre-trained autoencoder, then local predictors."""

from dataclasses import dataclass

from deepcac.nn.clustered import CentroidClassifier


@dataclass(kw_only=True, eq=False, repr=False)
class KMZClassifier(CentroidClassifier):
    """Autoencoder, k-means on its latents, one local predictor per cluster.

    A rival in Srivastava et al. 2021, DeepCAC, section 8. Its parameters and attributes are those
    of `CentroidClassifier`.
    """
