"""The judge's answer in sentences."""

import pandas as pd

from deepcac.judging.verdicts import half_detect
from deepcac.scoring.equivalence import BETTER, EQUIVALENT, NEVER, UNDECIDED, WORSE
from deepcac_study.papers.ledger import number
from deepcac_study.report.judge.judge_figures import spoken
from deepcac_study.report.judge.judgement import Judgement, headline

# What follows "clusters"; the number comes last.
_SPOKEN = {
    BETTER: "improved the model in",
    WORSE: "made it worse in",
    EQUIVALENT: "made no difference in",
    NEVER: "were offered and never chosen in",
    UNDECIDED: "were inconclusive in",
}


def sentence(judged: Judgement | None, *, own: bool = False) -> str:
    """Return the answer in one sentence; nothing without such data.

    `own` asks for the real data that no paper has; they never count for the papers' answer.
    """
    rows = _asked(judged, own)
    if rows.empty:
        return ""
    counts = rows["verdict"].value_counts()
    many = len(rows) > 1
    told = [
        f"{words} {counts[name] if many else 'the one comparison'}"
        for name, words in _SPOKEN.items()
        if counts.get(name, 0)
    ]
    listed = " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told)
    return f"{verdict(rows)}: {f'of {len(rows)} comparisons, ' * many}clusters {listed}."


def basis(judged: Judgement | None, *, own: bool = False) -> str:
    """Say what the answer stands on: data, metric, margin and what could have been seen."""
    rows = _asked(judged, own)
    if judged is None or rows.empty:
        return ""
    names = rows["dataset"].unique()
    where = f"{len(names)} data sets" if len(names) > 1 else names[0]
    where += ", real data of no paper" * own
    half = half_detect(rows)
    seen = f" Half of the comparisons could have shown a difference of {number(half)}."
    return (
        f"By AUROC of tuned models on {where}; a difference up to "
        f"{number(judged.summary['margin'])} is negligible.{seen * (half == half)}"
    )


def _asked(judged: Judgement | None, own: bool) -> pd.DataFrame:
    if judged is None:
        return pd.DataFrame()
    return headline(judged.own if own else judged.real)


def verdict(rows: pd.DataFrame) -> str:
    """Return the answer in a few words, from the verdicts of comparisons with clusters."""
    counts = rows["verdict"].value_counts()
    helped, open_ = counts.get(BETTER, 0), counts.get(UNDECIDED, 0)
    if 2 * helped >= len(rows):
        return "Yes"
    if not helped:
        return "Not decided" if 2 * open_ > len(rows) else "Probably not"
    better = rows[rows["verdict"] == BETTER]
    models = [spoken(str(name)) for name in better["reference"].unique()]
    where = f"on {better['dataset'].nunique()} of {rows['dataset'].nunique()} data sets"
    return f"Only for {models[0]}, {where}" if len(models) == 1 else f"For some models, {where}"
