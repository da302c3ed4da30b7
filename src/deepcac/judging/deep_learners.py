"""Networks as the judge fits them: with or without clusters in the latent space."""

from functools import partial

import numpy as np

from deepcac.judging.learners import Array, Predict, clipped
from deepcac.judging.resamples import Resample, Rows
from deepcac.judging.spaces import Values
from deepcac.nn.base import DeepClassifier
from deepcac.nn.deepcac import DeepCACClassifier
from deepcac.nn.dmnn import DMNNClassifier
from deepcac.nn.fitting import data
from deepcac.nn.fitting.pretrain import pretrain
from deepcac.nn.fnn import FNNClassifier
from deepcac.nn.grasp import GRASPClassifier
from deepcac.nn.km_z import KMZClassifier
from deepcac.nn.layers.networks import AnyAutoencoder


def network(
    estimator: type[DeepClassifier],
    values: Values,
    train: Rows,
    validation: Rows,
    sample: Resample,
) -> Predict:
    """Fit a network, stopped by its validation AUPRC.

    Its autoencoder is pre-trained on all training rows, also where the network is that of one
    cluster, once a resample and width.
    """
    clip = values["clip"]
    own = {name: value for name, value in values.items() if name != "clip"}
    latent = own["hidden"] // 2
    model = estimator(**own, latent=latent, random_state=sample.seed, n_threads=1, preprocess=None)
    model.fit(
        clipped(train, clip),
        train.y,
        X_val=clipped(validation, clip),
        y_val=validation.y,
        pretrained=_autoencoder(sample, own["hidden"], latent, clip, train.scaled.shape[1]),
    )

    def predict(rows: Rows) -> Array:
        scores = np.zeros((len(rows), sample.n_classes))
        scores[:, model.classes_] = model.predict_proba(clipped(rows, clip))
        return scores

    return predict


fnn = partial(network, FNNClassifier)
km_z = partial(network, KMZClassifier)
deepcac = partial(network, DeepCACClassifier)
dmnn = partial(network, DMNNClassifier)
grasp = partial(network, GRASPClassifier)


def _autoencoder(
    sample: Resample, hidden: int, latent: int, clip: float | None, width: int
) -> AnyAutoencoder | None:
    """Return the autoencoder of all training rows; None where rows have columns of their own."""
    if width != sample.train.scaled.shape[1]:
        return None
    key = ("autoencoder", hidden, clip)
    if key not in sample.shared:
        device = data.find_device("auto")
        with data.session(device, sample.seed, 1):
            train, validation = (
                data.as_inputs(clipped(rows, clip), None, device)
                for rows in (sample.train, sample.validation)
            )
            sample.shared[key], _ = pretrain(train, validation, hidden, latent)
    return sample.shared[key]
