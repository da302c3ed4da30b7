"""What the published CAC program did otherwise than the text: class weights and seeds."""

from deepcac.linear.base_classifiers import IN_CLUSTERS
from deepcac_study.catalogue.protocol import Protocol

_BALANCED = frozenset({"lr"})  # the one classifier whose classes the program balanced


def class_weight(arm: str, classifier: str, protocol: Protocol) -> str | None:
    """Return the class weights of an arm; soundly those of the whole training part in all arms.

    A1 balances the classes of LR alone, anew inside each cluster, and of nothing else. W1
    balances inside each cluster too, but for every classifier.
    """
    clustered = arm in ("km", "cac")
    if "A1" in protocol:
        return IN_CLUSTERS if clustered and classifier in _BALANCED else None
    return IN_CLUSTERS if clustered and "W1" in protocol else "balanced"


def classifier_seed(seed: int, protocol: Protocol) -> int:
    """Return the random state of the base classifier; A14 has 0 for every split."""
    return 0 if "A14" in protocol else seed
