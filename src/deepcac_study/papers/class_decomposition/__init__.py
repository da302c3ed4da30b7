"""Class decomposition: classes split into clusters before a simple classifier learns."""

from deepcac_study.papers.reference import Paper, Reference

CLASS_DECOMPOSITION = Paper(
    key="classdecomp",
    folder="class_decomposition",
    label="Class decomposition",
    reference=Reference(
        authors="Ricardo Vilalta, Murali-Krishna Achari, Christoph F. Eick",
        title="Class Decomposition Via Clustering: A New Framework For Low-Variance Classifiers",
        year=2003,
    ),
    pictures=("decomposition",),
)
