"""The answer to a question about a table: the first screen of a page, and what it rests on."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pandas as pd

from deepcac.scoring.margins import MARGIN


@dataclass(frozen=True)
class Answer:
    """The answer to a question about a table.

    Attributes
    ----------
    sentence : str
        The answer in one sentence, which can be acted on.
    also : sequence of str
        What a reader must know beside it.
    numbers : sequence of (str, str)
        Those of the first screen: what each is, and its value.
    details : sequence of str
        What it rests on, a sentence each.
    warnings : sequence of str
        Why it may be wrong.
    verdict : str
        In one word.
    table : DataFrame
        Its comparisons (`deepcac.judging.verdicts.verdicts`); of `power` its `detection_curve`.
    margin : float
        Differences in AUROC up to this are negligible.
    best, clustered : str
        Ids of the best model without clusters, and of the best with them.
    """

    sentence: str
    also: Sequence[str] = ()
    numbers: Sequence[tuple[str, str]] = ()
    details: Sequence[str] = ()
    warnings: Sequence[str] = ()
    verdict: str = ""
    table: pd.DataFrame = field(default_factory=pd.DataFrame)
    margin: float = MARGIN
    best: str = ""
    clustered: str = ""
