"""How many clusters cross-validation asks for, and what that choice is worth."""

import numpy as np

from deepcac.pages.tables import Table, text_row
from deepcac_study.catalogue.methods import label
from deepcac_study.experiments.finished import Runs
from deepcac_study.papers.cac_v1.claims import fold_scores, k_candidates
from deepcac_study.papers.ledger import number
from deepcac_study.papers.names import usual_k


def choice_table(runs: Runs) -> Table:
    """Return, for each data set and method with several k, the k of each split's best F1.

    Only the five folds inside a split's training part choose; the test rows are scored with the
    chosen k.
    """
    rows = []
    for candidates in k_candidates(runs):
        own = np.array([fold_scores(run) for run in candidates.values()])  # (k, split)
        test = np.array([run.per_split("f1") for run in candidates.values()])
        best = own.argmax(axis=0)  # the smallest k of equals
        ks = list(candidates)
        first = candidates[ks[0]]
        printed = usual_k("cac_v1", first.dataset, first.method)
        rows.append(
            text_row(
                first.dataset,
                label(first.method),
                ", ".join(
                    f"{k}: {number(score)}" for k, score in zip(ks, own.mean(1), strict=True)
                ),
                ", ".join(str(ks[i]) for i in best),
                number(float(np.take_along_axis(test, best[None], axis=0).mean())),
                printed,
                number(float(test[ks.index(printed)].mean())) if printed in ks else "",
                ", ".join(
                    f"{k}: {number(score)}" for k, score in zip(ks, test.mean(1), strict=True)
                ),
            )
        )
    return Table(
        id="k_choice",
        title="How many clusters does cross-validation ask for?",
        note="F1 of five folds inside each split's training part, with alpha chosen for each k in "
        "the same folds; the k of the highest F1 is the split's choice. CAC v1 (section 6.2) "
        "prints k = 2, and 3 on Credit, as the outcome of such a search. Sound protocol; means "
        "over the splits.",
        head=(
            *("data set", "method", "fold F1 by k", "chosen k by split", "test F1 of the choice"),
            *("printed k", "test F1 of the printed k", "test F1 by k"),
        ),
        rows=rows,
        n_labels=2,
    )
