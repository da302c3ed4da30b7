"""What the published programs did to one data set alone, by data set id."""

from deepcac.catalogue.protocol import Protocol
from deepcac.catalogue.registry import DEMO

AM_SOFTMAX_WEIGHTS = {"diabetes": 50.0}  # D5, in the authors' logs; 5 elsewhere
SCALED_BY_SET = frozenset({"cic", "cic_los"})  # A4: sets a, b and c each on their own
NOT_SCALED = frozenset({"cic_los"})  # L3


def imitated(dataset: str) -> str:
    """Return the id of the data set that generated data (``demo_*``) stand for."""
    return dataset.removeprefix(DEMO)


def am_softmax_weight(dataset: str, protocol: Protocol) -> float | None:
    """Return the weight of DeepCAC's AM-softmax where the program took its own (D5)."""
    return AM_SOFTMAX_WEIGHTS.get(imitated(dataset)) if "D5" in protocol else None


def scaled_by_set(dataset: str) -> bool:
    """Tell whether the program standardised each set of the data on its own (A4)."""
    return imitated(dataset) in SCALED_BY_SET


def not_scaled(dataset: str, protocol: Protocol) -> bool:
    """Tell whether the newest public program left the features as they are (L3)."""
    return "L3" in protocol and imitated(dataset) in NOT_SCALED
