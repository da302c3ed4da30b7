"""CAC v1: clustering-aware classification of classical classifiers and of DMNN."""

from deepcac.papers.reference import Paper, PrintedTable, Reference

_SUMMARY = ("counts and averages", "method dataset", "item")

CAC_V1 = Paper(
    key="cac_v1",
    folder="cac_v1",
    label="CAC v1",
    reference=Reference(
        authors=(
            "Shivin Srivastava",
            "Siddharth Bhatia",
            "Lingxiao Huang",
            "Jun Heng Lim",
            "Kenji Kawaguchi",
            "Vaibhav Rajan",
        ),
        title="Don't Just Divide; Polarize and Conquer!",
        year=2021,
    ),
    tables=(
        PrintedTable(
            "cac_v1_table1_f1_heldout", "1", "score", "F1 on one held-out set", "method", "dataset"
        ),
        PrintedTable("cac_v1_table2_datasets", "2", "data", "Data sets", "dataset", "item"),
        PrintedTable("cac_v1_table3_alpha", "3", "alpha", "Tuned alpha", "method", "dataset"),
        PrintedTable(
            "cac_v1_table4_f1_cv5",
            "4",
            "score",
            "F1, 5-fold cross-validation",
            "method",
            "dataset",
            folds=True,
        ),
        PrintedTable(
            "cac_v1_table5_f1_heldout_5x",
            "5",
            "score",
            "F1, five runs on held-out data",
            "method",
            "dataset",
        ),
        PrintedTable("cac_v1_table1_f1_heldout_summary", "1", "summary", *_SUMMARY),
        PrintedTable("cac_v1_table4_f1_cv5_summary", "4", "summary", *_SUMMARY, folds=True),
        PrintedTable("cac_v1_table5_f1_heldout_5x_summary", "5", "summary", *_SUMMARY),
    ),
)
