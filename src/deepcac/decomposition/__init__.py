"""Class decomposition via clustering (Vilalta, Achari & Eick 2003)."""

from deepcac.decomposition.classifier import ClassDecompositionClassifier
from deepcac.decomposition.mixtures.naive_bayes import MixedNaiveBayes
from deepcac.decomposition.smo import PairwiseLinearSVC

__all__ = ["ClassDecompositionClassifier", "MixedNaiveBayes", "PairwiseLinearSVC"]
