"""The documentation's tables of planted subtypes, from the snapshot of a run."""

from typing import Any

import pandas as pd

from deepcac.judging.questions import BOOSTING, HELP, NEGATIVE
from deepcac_study.judge.power import ORACLE, TOLD
from deepcac_study.report import snapshot
from deepcac_study.report.contender_names import contender_label
from deepcac_study.report.markdown import Tables, markdown_table, three


def planted(tables: Tables, learner: str) -> str:
    """Return what was found of planted subtypes by arms of a learner, by size and by their worth.

    With what a learner gains that is told them, and who else is ahead of the learner. Found by the
    study's rule, and in brackets by a test of its own.
    """
    table = tables[snapshot.POWER]
    asked = (ORACLE.id, HELP.id, NEGATIVE.id, BOOSTING.id)
    own = table[table["question"].isin(asked) & (table["reference"] == learner)]
    heads = {
        name: f"{_planted_name(name)} {'less ' * ahead}{contender_label(learner) * ahead}".strip()
        for question in asked
        for ahead in [question == BOOSTING.id]
        for name in own.loc[own["question"] == question, "contender"].unique()
    }
    rows = []
    for (n, strength), group in own.groupby(["rows", "strength"]):
        by_arm, gain = group.set_index("contender"), float(group["oracle_gain"].iloc[0])
        cells = (_found(by_arm.loc[name]) if name in by_arm.index else "" for name in heads)
        rows.append([f"{n:,.0f}", f"{strength:g}", three(gain), *cells])
    return markdown_table(("patients", "strength", "worth", *heads.values()), rows, n_labels=2)


def _planted_name(name: str) -> str:
    learner = name.removeprefix(TOLD)
    return contender_label(learner) + " told the subtypes" * (learner != name)


def _found(one: "pd.Series[Any]") -> str:
    cohorts = round(one["cohorts"])
    found, by_rule = (_times(one[way], cohorts) for way in ("detected", "detected_holm"))
    return f"{three(one['mean'], signed=True)}, {by_rule} of {cohorts} ({found})"


def _times(share: float, cohorts: int) -> str:
    """Return in how many cohorts; records that do not hold it are told by a dash."""
    return "–" if pd.isna(share) else f"{share * cohorts:.0f}"
