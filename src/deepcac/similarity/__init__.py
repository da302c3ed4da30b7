"""Supervised k-means: learning the similarity that k-means uses (Finley and Joachims 2008)."""

from deepcac.similarity.class_metric import ClassMetric
from deepcac.similarity.clustering import delta, indicator, rand_loss
from deepcac.similarity.itemset import ItemSet
from deepcac.similarity.pair import PairSimilarity
from deepcac.similarity.published import published
from deepcac.similarity.reading import Reading
from deepcac.similarity.supervised import SupervisedKMeans
from deepcac.similarity.weighted import EqualWeights

__all__ = [
    "ClassMetric",
    "EqualWeights",
    "ItemSet",
    "PairSimilarity",
    "Reading",
    "SupervisedKMeans",
    "delta",
    "indicator",
    "published",
    "rand_loss",
]
