"""Which way the configurations of a base classifier are evaluated."""

from typing import Any, Literal

from deepcac.decomposition.discriminants import (
    ByScore,
    ClusterGroups,
    OneAgainstRest,
    Predictor,
    Refit,
    Training,
)
from deepcac.decomposition.mixtures.naive_bayes import MixedNaiveBayes
from deepcac.decomposition.pair_votes import ByPairs
from deepcac.decomposition.smo import PairwiseLinearSVC

RefitMode = Literal["all", "one_class"]


def predictor(base: Any, data: Training, refit: RefitMode) -> Predictor:
    """Return what predicts the validation rows under each configuration.

    Parameters
    ----------
    base : estimator
        Unfitted.
    data : Training
    refit : {"all", "one_class"}
        As in `ClassDecompositionClassifier`.
    """
    if refit == "all":
        return Refit(base, data)
    groups = ClusterGroups(data.classes, data.clusters)
    if isinstance(base, PairwiseLinearSVC):
        return ByPairs(base.discriminants(data.X, data.X_validation), groups)
    if isinstance(base, MixedNaiveBayes):
        return ByScore(base.discriminants(data.X, data.X_validation, data.weights), groups)
    return ByScore(OneAgainstRest(base, data), groups)
