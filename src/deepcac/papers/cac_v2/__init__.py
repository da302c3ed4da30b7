"""CAC v2: the same framework against EC3 and DMNN."""

from deepcac.papers.reference import Paper, PrintedTable, Reference

CAC_V2 = Paper(
    key="cac_v2",
    folder="cac_v2",
    label="CAC v2",
    reference=Reference(
        authors=(
            "Shivin Srivastava",
            "Siddharth Bhatia",
            "Lingxiao Huang",
            "Jun Heng Lim",
            "Kenji Kawaguchi",
            "Vaibhav Rajan",
        ),
        title="CAC: A Clustering Based Framework for Classification",
        year=2021,
    ),
    tables=(
        PrintedTable("cac_v2_table1_datasets", "1", "data", "Data sets", "dataset", "item"),
        PrintedTable("cac_v2_table2_f1", "2", "score", "F1", "dataset", "method", folds=True),
        PrintedTable("cac_v2_table3_auc", "3", "score", "AUC", "dataset", "method", folds=True),
        PrintedTable("cac_v2_table4_alpha", "4", "alpha", "Suitable alpha", "dataset", "method"),
    ),
)
