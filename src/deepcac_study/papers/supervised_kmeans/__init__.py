"""Supervised k-means: learning the similarity that k-means uses."""

from deepcac_study.papers.reference import Paper, Reference

SUPERVISED_KMEANS = Paper(
    key="skmeans",
    folder="supervised_kmeans",
    label="Supervised k-means",
    reference=Reference(
        authors="Thomas Finley, Thorsten Joachims",
        title="Supervised k-Means Clustering",
        year=2008,
        venue="Cornell eCommons 1813/11621",
    ),
    pictures=("learning",),
)
