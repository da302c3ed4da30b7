"""What a comparison could have seen, in one line, from its own resamples."""

import pandas as pd

from deepcac.judging.questions import HELP
from deepcac.scoring.equivalence import POWER


def one_line(comparisons: pd.DataFrame) -> str:
    """Return the gain by clusters that a comparison would have found; nothing is run for it.

    Parameters
    ----------
    comparisons : DataFrame
        Of `deepcac.judging.verdicts.verdicts`, as `Answer.table`.

    Returns
    -------
    str
        One sentence; empty where no clusters were chosen, so that nothing was compared.
    """
    own = comparisons[(comparisons["question"] == HELP.id) & (comparisons["metric"] == "auroc")]
    found = own["detectable"].dropna()
    if found.empty:
        return ""
    ends = dict.fromkeys(f"{value:.3f}" for value in (found.min(), found.max()))
    return (
        f"On this table a gain by clusters below {' to '.join(ends)} AUROC would probably not be "
        f"seen ({100 * POWER:.0f} % power, corrected for several comparisons)."
    )
