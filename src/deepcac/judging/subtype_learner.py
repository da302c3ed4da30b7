"""SubtypeClassifier as the judge fits it."""

from functools import partial

from deepcac.judging.learners import Array, Predict
from deepcac.judging.resamples import Resample, Rows
from deepcac.judging.spaces import Values
from deepcac.nn.fitting.data import find_device, session
from deepcac.subtyping.backbone import FittedNetworks, fit_networks
from deepcac.subtyping.boosted import Trees, grow_trees
from deepcac.subtyping.crossfit import Cases, deal_cases
from deepcac.subtyping.subtype_classifier import SubtypeClassifier


def subtypes(
    values: Values, train: Rows, validation: Rows, sample: Resample, *, boosting: bool = False
) -> Predict:
    """Fit on the training rows alone; it stops by folds of its own."""
    model = SubtypeClassifier(
        **values, boosting=boosting, random_state=sample.seed, device="cpu", n_threads=1
    )
    cases = shared_cases(sample, model.folds)
    networks = shared_networks(sample, cases, model)
    trees = shared_trees(sample, cases) if boosting else None
    model.fit(train.raw, train.y, groups=train.unit, networks=networks, trees=trees)

    def predict(rows: Rows) -> Array:
        return model.predict_proba(rows.raw)

    return predict


subtypes_gbm = partial(subtypes, boosting=True)


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
        device = find_device("cpu")
        with session(device, sample.seed, 1):
            sample.shared[key] = fit_networks(cases, settings, device)
    return sample.shared[key]


def shared_trees(sample: Resample, cases: Cases) -> Trees:
    """Return the boosted trees of the training rows, grown once a resample."""
    key = ("trees", int(cases.fold.max()) + 1)
    if key not in sample.shared:
        sample.shared[key] = grow_trees(cases, sample.n_classes, sample.seed, 1)
    return sample.shared[key]
