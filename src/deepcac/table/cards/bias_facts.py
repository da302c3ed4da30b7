"""What a tool can say of the questions about bias that PROBAST+AI asks."""

from deepcac.scoring.small_cells import FEW
from deepcac.table.reading.labelled_table import LabelledTable
from deepcac.table.reading.roles import Roles

_SEEN = (
    "Scores are of rows that neither a fit nor a choice of settings has seen; how the rows are "
    "parted is in 12a. No other place or time was tried."
)


def bias_facts(table: LabelledTable, roles: Roles) -> dict[str, list[str]]:
    """Return the lines of a card about bias that hold for any model of a table."""
    return {
        "bias_rows": [
            f"{len(table.features.label):,} of {table.total:,} rows of the file are used (see "
            "20a). No row was left out because a predictor is missing."
        ],
        "bias_leaks": [
            f"{len(table.leaks)} columns predict the label or the row almost perfectly: see 26."
            if table.leaks
            else "No column predicts the label or the row almost perfectly. This finds copies of "
            "the outcome, not values that were written with knowledge of it."
        ],
        "bias_label": [
            f"The label {roles.label!r} is no predictor."
            + (f" Nor is the follow-up time {roles.time!r}." if roles.time is not None else "")
        ],
        "bias_time": [
            "The table has no times, so the tool cannot tell."
            if table.follow is None
            else f"The horizon is {table.follow.horizon:g}, in the unit of {roles.time!r}."
        ],
        "bias_selection": ["No column was chosen by its relation to the outcome."],
        "bias_structure": [_rows(table), _censoring(table)],
        "bias_optimism": [_SEEN],
    }


def _rows(table: LabelledTable) -> str:
    if table.group is None:
        return "Every row is taken for another patient."
    return "The rows of a patient stay in one part of every resample."


def _censoring(table: LabelledTable) -> str:
    if table.follow is None:
        return "The outcome of every row is taken as known; nobody is taken as censored."
    lost = int((~table.follow.outcome_known).sum())
    rival = (
        "Competing events are no censoring: the risk is the cumulative incidence."
        if table.follow.other is not None
        else "No competing event was named."
    )
    share = 100 * lost / len(table.follow.time)
    whom = f"fewer than {FEW} patients" if 0 < lost < FEW else f"{share:.0f} % of the patients"
    return (
        f"Censoring: {whom} have an unknown outcome at the horizon; fits and scores "
        f"are weighted by the inverse chance of being followed. {rival}"
    )
