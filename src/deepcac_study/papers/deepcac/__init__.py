"""DeepCAC: clusters of learned representations that are separable by class."""

from deepcac_study.papers.reference import Paper, Reference

DEEPCAC = Paper(
    key="deepcac",
    folder="deepcac",
    label="DeepCAC",
    reference=Reference(
        authors="Shivin Srivastava, Siddharth Bhatia, Lingxiao Huang, Jun Heng Lim, "
        "Kenji Kawaguchi, Vaibhav Rajan",
        title="Clustering Aware Classification for Risk Prediction & Subtyping in Clinical Data",
        year=2021,
    ),
    pictures=("factorial", "judge", "subtypes"),
)
