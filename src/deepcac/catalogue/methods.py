"""Method ids and what they are made of."""

import difflib
from dataclasses import dataclass

from deepcac.errors import ConfigError

# Methods by id, with the name that people use.
CLASSIFIERS = {
    "lr": "LR",
    "svm": "linear SVM",
    "lda": "LDA",
    "perceptron": "Perceptron",
    "rf": "Random forest",
    "knn": "k-NN",
    "sgd": "SGD",
    "ridge": "Ridge",
    "xgb": "XGBoost",
}
ALONE = {"nearest_centroid": "Nearest class centroid", "ec3": "EC3"}
DEEP = {
    "fnn": "FNN",
    "km_z": "KM-Z",
    "dcn_z": "DCN-Z",
    "idec_z": "IDEC-Z",
    "dmnn": "DMNN",
    "cac_dmnn": "CAC+DMNN",
    "ac_tpc": "AC-TPC",
    "grasp": "GRASP",
    "deepcac": "DeepCAC",
}
SEQUENCE = {
    "deepcac_ts": "DeepCAC (sequence)",
    "grasp_ts": "GRASP (sequence)",
    "ac_tpc_ts": "AC-TPC (sequence)",
}
_ARMS = {"km": "KM+", "cac": "CAC+"}

CAC_LR = "cac_lr"  # what the papers' figures on single fits of CAC are about
CENTROID_RULE = "nearest_centroid"  # what CAC is where the clusters are the classes
YARDSTICKS = ("fnn", "lr", "xgb")  # what a method with clusters should at least beat
WELL_KNOWN = ("lr", "km_lr", CAC_LR, "xgb", "fnn", "deepcac", "dmnn", "km_z")  # drawn first


@dataclass(frozen=True)
class Method:
    """A method id taken apart.

    Attributes
    ----------
    id : str
    family : {"cac", "deep"}
        Which adapter fits it and how its tasks are made (`prepare.Setting`).
    arm : {"base", "km", "cac", "deep"}
        The place in the papers' comparisons.
    classifier : str
        What the arm is built on: a base classifier of the CAC family, or the deep method.
    """

    id: str
    family: str
    arm: str
    classifier: str

    @property
    def clustered(self) -> bool:
        """Whether the number of clusters means anything to this method."""
        return self.arm != "base" and self.id != "fnn"

    @property
    def sequence(self) -> bool:
        """Whether it reads hourly sequences; all other methods read static features."""
        return self.id in SEQUENCE


def known_methods() -> tuple[str, ...]:
    """Return every method id."""
    clustered = [f"{arm}_{x}" for arm in _ARMS for x in CLASSIFIERS]
    return (*CLASSIFIERS, *ALONE, *clustered, *DEEP, *SEQUENCE)


def parse_method(name: str) -> Method:
    """Take a method id apart; an unknown one is a `ConfigError` that lists the known."""
    if name in DEEP or name in SEQUENCE:
        return Method(name, "deep", "deep", name)
    if name in CLASSIFIERS or name in ALONE:
        return Method(name, "cac", "base", name)
    arm, _, classifier = name.partition("_")
    if arm in _ARMS and classifier in CLASSIFIERS:
        return Method(name, "cac", arm, classifier)
    near = difflib.get_close_matches(name, known_methods(), n=3)
    hint = f"near names: {', '.join(near)}" if near else f"known: {', '.join(known_methods())}"
    raise ConfigError(f"unknown method {name!r}; {hint}")


def label(method: str) -> str:
    """Return a method id as people write it, for example ``CAC+LR`` for ``cac_lr``."""
    found = parse_method(method)
    known = CLASSIFIERS | ALONE | DEEP | SEQUENCE
    return _ARMS.get(found.arm, "") + known[found.classifier]
