"""Networks as the judge fits them: with or without clusters, and SubtypeClassifier."""

import warnings
from functools import partial

import numpy as np
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning

from deepcac.judging.learners import Predict, clipped
from deepcac.judging.resamples import Resample, Rows
from deepcac.judging.spaces import Values
from deepcac.nn.base import DeepClassifier
from deepcac.nn.deepcac import DeepCACClassifier
from deepcac.nn.dmnn import DMNNClassifier
from deepcac.nn.expertnet import ExpertNetClassifier
from deepcac.nn.fitting import data
from deepcac.nn.fitting.pretrain import pretrain
from deepcac.nn.fnn import FNNClassifier
from deepcac.nn.grasp import GRASPClassifier
from deepcac.nn.km_z import KMZClassifier
from deepcac.nn.layers.networks import AnyAutoencoder
from deepcac.subtyping.backbone import FittedNetworks, fit_networks
from deepcac.subtyping.boosted import Trees, grow_trees
from deepcac.subtyping.crossfit import Cases, deal_cases
from deepcac.subtyping.subtype_classifier import SubtypeClassifier
from deepcac.types import Array

# Many small networks, and what a record says of its device; a GPU would give other digits.
DEVICE = "cpu"


def network(
    estimator: type[DeepClassifier], values: Values, train: Rows, validation: Rows, sample: Resample
) -> Predict:
    """Fit a network, stopped by its validation AUPRC.

    Its autoencoder is pre-trained on all training rows, also where the network is that of one
    cluster, once a resample and width.
    """
    clip = values["clip"]
    settings = {name: value for name, value in values.items() if name != "clip"}
    latent = settings["hidden"] // 2
    model = estimator(
        **settings,
        latent=latent,
        random_state=sample.seed,
        device=DEVICE,
        n_threads=1,
        preprocess=None,
    )
    with warnings.catch_warnings():
        # A trial counts by its validation score, whatever ended it.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(
            clipped(train, clip),
            train.y,
            validation=(clipped(validation, clip), validation.y),
            pretrained=_autoencoder(
                sample, settings["hidden"], latent, clip, train.scaled.shape[1]
            ),
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
expertnet = partial(network, ExpertNetClassifier)
grasp = partial(network, GRASPClassifier)


def _autoencoder(
    sample: Resample, hidden: int, latent: int, clip: float | None, width: int
) -> AnyAutoencoder | None:
    """Return the autoencoder of all training rows; None where rows have columns of their own."""
    if width != sample.train.scaled.shape[1]:
        return None
    key = ("autoencoder", hidden, clip)
    if key not in sample.shared:
        device = data.find_device(DEVICE)
        with data.session(device, sample.seed, 1):
            train, validation = (
                data.as_inputs(clipped(rows, clip), None, device)
                for rows in (sample.train, sample.validation)
            )
            sample.shared[key], _ = pretrain(train, validation, hidden, latent)
    return sample.shared[key]


def subtypes(
    values: Values, train: Rows, validation: Rows, sample: Resample, *, boosting: bool = False
) -> Predict:
    """Fit on the training rows alone; it stops by folds of its own."""
    model = SubtypeClassifier(
        **values, boosting=boosting, random_state=sample.seed, device=DEVICE, n_threads=1
    )
    cases = shared_cases(sample, model.folds)
    networks = shared_networks(sample, cases, model)
    trees = shared_trees(sample, cases) if boosting else None
    model.fit(train.raw, train.y, groups=train.unit, networks=networks, trees=trees)

    def predict(rows: Rows) -> Array:
        return model.predict_proba(rows.raw)

    return predict


subtypes_gbm = partial(subtypes, boosting=True)


def bag(values: Values, train: Rows, validation: Rows, sample: Resample) -> Predict:
    """Take the boosted trees of `subtypes_gbm` alone: the mean log odds of a model a fold."""
    trees = shared_trees(sample, shared_cases(sample, SubtypeClassifier().folds))

    def predict(rows: Rows) -> Array:
        outputs = trees.folds.outputs(rows.raw)
        if outputs.shape[1] == 1:
            outputs = np.hstack([np.zeros_like(outputs), outputs])
        answer: Array = softmax(outputs, axis=1)
        return answer

    return predict


def shared_cases(sample: Resample, n_folds: int) -> Cases:
    """Return the training rows in folds, those of a patient in one."""
    key = ("cases", n_folds)
    if key not in sample.shared:
        rows = sample.train
        sample.shared[key] = deal_cases(rows.raw, rows.y, n_folds, sample.seed, groups=rows.unit)
    return sample.shared[key]


def shared_networks(sample: Resample, cases: Cases, model: SubtypeClassifier) -> FittedNetworks:
    """Return the networks of the training rows, fitted once a resample and their settings."""
    settings = model.network_settings()
    key = ("networks", model.folds, settings)
    if key not in sample.shared:
        device = data.find_device(DEVICE)
        with data.session(device, sample.seed, 1):
            sample.shared[key] = fit_networks(cases, settings, device)
    return sample.shared[key]


def shared_trees(sample: Resample, cases: Cases) -> Trees:
    """Return the boosted trees of the training rows, grown once a resample."""
    key = ("trees", int(cases.fold.max()) + 1)
    if key not in sample.shared:
        sample.shared[key] = grow_trees(cases, sample.n_classes, sample.seed, 1)
    return sample.shared[key]
