"""Supervised k-means: learning the similarity that k-means uses."""

from deepcac.papers.reference import Paper, PrintedTable, Reference

SUPERVISED_KMEANS = Paper(
    key="skmeans",
    folder="supervised_kmeans",
    label="Supervised k-means",
    reference=Reference(
        authors=("Thomas Finley", "Thorsten Joachims"),
        title="Supervised k-Means Clustering",
        year=2008,
        venue="Cornell eCommons 1813/11621",
    ),
    tables=(
        PrintedTable("skmeans_table1_datasets", "1", "data", "Data sets", "dataset", "item"),
        PrintedTable(
            "skmeans_table2_C",
            "2",
            "other",
            "Range of C",
            "dataset",
            "item",
            items=("C_low", "C_high"),
            setting=True,
        ),
        PrintedTable("skmeans_table3_loss", "3", "score", "Loss", "dataset note", "method"),
        PrintedTable(
            "skmeans_table4_wins",
            "4",
            "other",
            "Wins, ties and losses",
            "dataset",
            "item",
            items=("win", "tie", "lose", "W", "n_sr", "p_1tail"),
        ),
    ),
)
