"""Would a bent line do the same? Logistic regression with splines, beside clusters and without."""

import pandas as pd

from deepcac.judging.questions import BEND, BENT
from deepcac.scoring.equivalence import BETTER, NOT_TESTED, UNDECIDED, WORSE
from deepcac.table.comparison_words import Line, gain

_BENT_LINE = "a bent line (logistic regression with splines)"
_OF_CLUSTERS = {
    BETTER: "Clusters are also ahead of {line}: {gain}.",
    WORSE: "{Line} gives more, without clusters: clusters minus bent line {gain}.",
    UNDECIDED: "{Line} may give as much, without clusters: clusters minus bent line {gain}.",
}
_AS_MUCH = "{Line} gives as much, without clusters: clusters minus bent line {gain}."
_OF_A_LINE = {
    BETTER: "{Line} gives more than a straight one: {gain}.",
    WORSE: "{Line} gives less than a straight one: {gain}.",
    UNDECIDED: "We found no evidence that {line} gives more than a straight one: {gain}.",
}
_NO_MORE = "{Line} gives no more than a straight one: {gain}."
_SAME = "{Line} has the same AUROC in every resample."


def bent_line_sentence(table: pd.DataFrame, helped: Line | None) -> str:
    """Say what a bent line gives: beside clusters that seem to help, or beside a straight line.

    Parameters
    ----------
    table : DataFrame
        Of `deepcac.judging.verdicts.verdicts`, for one table.
    helped : mapping or None
        The comparison in which clusters gain, or are likely to; None if no clusters do.

    Returns
    -------
    str
        Empty if no bent line was judged.
    """
    question = BEND if helped is None else BENT
    asked = table[(table["question"] == question.id) & (table["metric"] == "auroc")]
    if helped is not None:
        asked = asked[asked["contender"] == helped["contender"]]
    if asked.empty:
        return ""
    (line,) = asked.to_dict("records")
    texts, otherwise = (_OF_A_LINE, _NO_MORE) if helped is None else (_OF_CLUSTERS, _AS_MUCH)
    text = _SAME if line["verdict"] in NOT_TESTED else texts.get(line["verdict"], otherwise)
    capital = _BENT_LINE[0].upper() + _BENT_LINE[1:]
    return text.format(line=_BENT_LINE, Line=capital, gain=gain(line))
