"""The documentation's tables and sentences of the judge's primary comparisons."""

from typing import Any

import pandas as pd

from deepcac.judging.contenders import parse_contender
from deepcac.judging.questions import FORCED
from deepcac.judging.resample_scores import LOSSES, METRICS
from deepcac.pages.tables import How, Table
from deepcac.pages.wording import four, people
from deepcac.scoring.equivalence import BETTER, LEVEL, WORSE
from deepcac_study.judge.primary import PARTS, SEPARATING, SEPARATING_KM
from deepcac_study.judge.tables.over_tables import MARGINS
from deepcac_study.report.judge.judge_figures import contender_label
from deepcac_study.report.kept.judge_docs import STYLES

_SPOKEN = {
    **{name: people(name) for name in METRICS},
    **dict(zip(LOSSES, ("log loss", "Brier"), strict=True)),
}
_MANY = 2  # data sets of a family


def headline(table: pd.DataFrame) -> str:
    """Return the answer of the whole study."""
    return f"{table['sentence'].iloc[0]}\n"


def primary(table: pd.DataFrame) -> Table:
    """Count what two clusters or more did, in families of one contender over the data sets."""
    forced = table[table["question"] == FORCED.id]
    families = forced.groupby(["contender", "metric"], sort=False).filter(
        lambda own: len(own) >= _MANY
    )

    def excluded(part: int) -> How:
        end = f"_{part}" if part > 1 else ""

        def cell(group: tuple[Any, pd.DataFrame]) -> str:
            alone, adjusted = (
                (group[1][f"p_excluded{way}{end}"] < LEVEL).sum() for way in ("", "_holm")
            )
            return f"{alone} ({adjusted})"

        return cell

    def given(verdict: str) -> How:
        return lambda group: ", ".join(group[1].loc[group[1]["verdict"] == verdict, "dataset"])

    columns: dict[str, How] = {
        "contender": lambda group: contender_label(group[0][0]),
        "metric": lambda group: _SPOKEN[group[0][1]],
        "data sets": lambda group: len(group[1]),
        "margin": lambda group: f"{MARGINS[group[0][1]]:g}",
        "gain excluded": excluded(PARTS[0]),
        "half of it": excluded(PARTS[1]),
        "a quarter": excluded(PARTS[2]),
        "better": given(BETTER),
        "worse": given(WORSE),
    }
    return Table.of(families.groupby(["contender", "metric"], sort=False), columns, n_labels=2)


def separating(table: pd.DataFrame, learner: str) -> Table:
    """Return CAC with a weight above 0 beside k-means and the learner, by data set and AUROC."""
    own = table[(table["metric"] == METRICS[0]) & table["contender"].map(_learner).eq(learner)]
    found = {
        (str(r["question"]), str(r["dataset"]), str(r["contender"])): r
        for r in own.to_dict("records")
    }
    name = f"cac_{learner}"

    def zero(dataset: str) -> str:
        row = found[FORCED.id, dataset, name]
        return f"{row['alpha_0']:.0f} of {row['resamples']}"

    def less(question: str) -> How:
        def cell(dataset: str) -> str:
            row = found.get((question, dataset, name))
            return four(row["mean"], STYLES[str(row["verdict"])], signed=True) if row else ""

        return cell

    columns: dict[str, How] = {
        "data set": str,
        "alpha = 0 chosen": zero,
        "CAC, chosen alpha, less alone": less(FORCED.id),
        "CAC, alpha > 0, less alone": less(SEPARATING.id),
        "CAC, alpha > 0, less k-means": less(SEPARATING_KM.id),
    }
    return Table.of(sorted({key[1] for key in found if key[2] == name}), columns)


def half_chosen(table: pd.DataFrame, learner: str) -> str:
    """Say in how many comparisons clusters were chosen in half of the resamples or more."""
    own = table[(table["question"] == "help") & (table["metric"] == METRICS[0])]
    own = own[own["reference"] == learner]
    often = own[2 * own["clustered"] >= own["resamples"]]
    counts = often["verdict"].value_counts()
    told = ", ".join(f"{count} {name}" for name, count in counts.items())
    return (
        f"Offered clusters, {contender_label(learner)} chose them in half of the resamples or more "
        f"in {len(often)} of {len(own)} comparisons ({told}); in the others it is mostly compared "
        "with itself.\n"
    )


def _learner(contender: str) -> str:
    return parse_contender(contender).learner
