"""CAC v1: clustering-aware classification of classical classifiers and of DMNN."""

from deepcac_study.papers.reference import Paper, Reference

CAC_V1 = Paper(
    key="cac_v1",
    folder="cac_v1",
    label="CAC v1",
    reference=Reference(
        authors="Shivin Srivastava, Siddharth Bhatia, Lingxiao Huang, Jun Heng Lim, "
        "Kenji Kawaguchi, Vaibhav Rajan",
        title="Don't Just Divide; Polarize and Conquer!",
        year=2021,
    ),
    pictures=("clustering",),
)
