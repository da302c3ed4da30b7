"""CAC v2: the same framework against EC3 and DMNN."""

from deepcac_study.papers.reference import Paper, Reference

CAC_V2 = Paper(
    key="cac_v2",
    folder="cac_v2",
    label="CAC v2",
    reference=Reference(
        authors="Shivin Srivastava, Siddharth Bhatia, Lingxiao Huang, Jun Heng Lim, "
        "Kenji Kawaguchi, Vaibhav Rajan",
        title="CAC: A Clustering Based Framework for Classification",
        year=2021,
    ),
    pictures=("clustering",),
)
