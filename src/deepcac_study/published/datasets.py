"""What the published programs did to one data set alone, by data set id."""

from deepcac_study.catalogue.registry import DEMO

AM_SOFTMAX_WEIGHTS = {"diabetes": 50.0}  # D5, in the authors' logs; 5 elsewhere
SCALED_BY_SET = frozenset({"cic", "cic_los"})  # A4: sets a, b and c each on their own
NOT_SCALED = frozenset({"cic_los"})  # L3, of the newest public program


def imitated(dataset: str) -> str:
    """Return the id of the data set that generated data (``demo_*``) stand for."""
    return dataset.removeprefix(DEMO)
