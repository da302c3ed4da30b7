"""DeepCAC: clusters of learned representations that are separable by class."""

from deepcac.papers.reference import Paper, PrintedTable, Reference

_TABLE_7, _TABLE_8 = "deepcac_table7_cluster_features", "deepcac_table8_important_features"
_BY_K = ("dataset k", "method")
_BY_ITEM = ("item", "dataset")

DEEPCAC = Paper(
    key="deepcac",
    folder="deepcac",
    label="DeepCAC",
    reference=Reference(
        authors=(
            "Shivin Srivastava",
            "Siddharth Bhatia",
            "Lingxiao Huang",
            "Jun Heng Lim",
            "Kenji Kawaguchi",
            "Vaibhav Rajan",
        ),
        title="Clustering Aware Classification for Risk Prediction & Subtyping in Clinical Data",
        year=2021,
    ),
    tables=(
        PrintedTable("deepcac_table1_datasets", "1", "data", "Data sets", "dataset", "item"),
        PrintedTable("deepcac_table2_auprc", "2", "score", "AUPRC", *_BY_K),
        PrintedTable("deepcac_table3_ts_auprc", "3", "score", "AUPRC on time series", *_BY_K),
        PrintedTable("deepcac_table4_alpha", "4", "alpha", "Tuned alpha", "method", "dataset"),
        PrintedTable("deepcac_table5_f1", "5", "score", "F1 of CAC", "method", "dataset"),
        PrintedTable("deepcac_table6_auc", "6", "score", "AUC", *_BY_K),
        PrintedTable(
            _TABLE_7, "7", "other", "Features that differ by cluster", *_BY_ITEM, items=("mean",)
        ),
        PrintedTable(
            _TABLE_8,
            "8",
            "other",
            "Most important features by cluster",
            *_BY_ITEM,
            items=("feature",),
        ),
        PrintedTable("deepcac_table9_ts_auc", "9", "score", "AUC on time series", *_BY_K),
    ),
)
