"""Are the groups useful? The answer of `compare`, and more that concerns groups only."""

from dataclasses import replace

import pandas as pd

from deepcac.scoring.equivalence import BETTER
from deepcac.table.answer import Answer, contender_name, with_interval
from deepcac.table.audit.beyond_risk import BeyondRisk
from deepcac.table.audit.group_column import Assignable
from deepcac.table.audit.group_contenders import (
    ANY,
    CELLS,
    HELP,
    NEW,
    QUESTIONS,
    SHUFFLED,
    group_pairs,
    parts_of,
)
from deepcac.table.budgeted_trials import Trials
from deepcac.table.cluster_answer import TOO_FEW, Subject, answer, rows_of
from deepcac.table.findings.label_leaks import TELLS

READABLE, PARTLY = 0.8, 0.6  # adjusted Rand index with the groups that the columns give back
_FORMS = {"column": "with the group as columns", "local": "a model in each group"}
_PARTITIONS = {
    "given": "the groups",
    "assigned": "the groups, read from the columns",
    SHUFFLED: "random groups of these sizes",
    CELLS: "neighbours of random patients, of these sizes",
    "hash": "hash of the row",
    "km": "k-means with as many groups",
}


def model_name(name: str) -> str:
    """Return the name of a contender in words."""
    learner, partition, form = parts_of(name)
    if not partition:
        return contender_name(learner)
    return f"{contender_name(learner)}, {_PARTITIONS[partition]} ({_FORMS[form]})"


def form_name(name: str) -> str:
    """Return a description of how a contender uses the group label."""
    return _FORMS[parts_of(name)[2]]


GROUPS = Subject(
    what="the groups",
    models="models with the groups",
    use="The groups help: {model}, {gain}.",
    questions=QUESTIONS,
    paired=group_pairs,
    named=model_name,
    arm=form_name,
)


def answer_groups(
    name: str,
    rare: tuple[int, str],
    trials: Trials,
    assigned: Assignable,
    beyond: BeyondRisk,
) -> Answer:
    """Return the answer on whether models that use the groups outperform models without them.

    The trials are of `group_contenders`; `rare` counts the rows of the table's rarest class, and
    says what they are called.
    """
    answered = answer(trials, name, *rare, subject=GROUPS)
    more = (
        "The groups say more about the outcome than the risk without them."
        if beyond.low > 0
        else "We found no evidence that the groups say more than the risk of a model without them."
    )
    return replace(
        answered,
        sentence=_sentence(answered, beyond),
        also=[_assignment(assigned)],
        details=[*answered.details, more],
        warnings=_warnings(answered.table, beyond, assigned),
    )


def _sentence(answered: Answer, beyond: BeyondRisk) -> str:
    """Return the headline sentence: the comparison, or a caveat that overrides it."""
    gains = rows_of(answered.table, HELP)
    helped = gains.loc[gains["verdict"] == BETTER, "contender"]
    if answered.verdict == TOO_FEW:
        return answered.sentence
    if beyond.alone >= TELLS:
        return (
            f"Do not use these groups to predict: by themselves they predict the label (AUROC "
            f"{beyond.alone:.2f} on held-out rows), so they were likely made from it."
        )
    if helped.empty and beyond.low > 0:
        return (
            "The groups say more about the outcome than the risk without them (gain in log loss on "
            f"held-out rows {with_interval((beyond.gain, beyond.low, beyond.high), 4, sign=True)}"
            "), though no tuned model shows a gain in AUROC."
        )
    controls = rows_of(answered.table, ANY)
    against = controls[controls["contender"].isin(helped)]
    but = ""
    if len(helped) and not _still_helps(answered.table):
        but = "no gain once they are read from the other columns of a patient"
    elif not (against["verdict"] == BETTER).all():
        but = "no advantage over groups that mean nothing"
    if not but:
        return answered.sentence
    return f"{answered.sentence.removesuffix('.')}, but we found {but}."


def _still_helps(table: pd.DataFrame) -> bool:
    return BETTER in rows_of(table, NEW)["verdict"].tolist()


def _assignment(assigned: Assignable) -> str:
    how = "cannot be read" if assigned.agreement < PARTLY else "can be read"
    if PARTLY <= assigned.agreement < READABLE:
        how = "is often wrong if it is read"
    return f"The group of a new patient {how} from the other columns."


def _warnings(table: pd.DataFrame, beyond: BeyondRisk, assigned: Assignable) -> list[str]:
    sentences = []
    if TELLS > beyond.alone > beyond.auroc:
        sentences.append(
            f"The groups by themselves (AUROC {beyond.alone:.3f}) are ahead of the best model of "
            f"all other columns ({beyond.auroc:.3f}). Was the outcome known when they were made?"
        )
    elif beyond.alone < TELLS and beyond.low > 0 and assigned.agreement < PARTLY:
        sentences.append(
            "The groups say more about the outcome than all other columns do, and the other "
            "columns do not tell them. Either they hold a measurement that the table lacks, or the "
            "outcome was known when they were made."
        )
    helps = BETTER in rows_of(table, HELP)["verdict"].tolist()
    if helps and not _still_helps(table):
        sentences.append(
            "We found no gain once the groups of held-out rows are read from other columns. "
            "Either the groups hold a measurement that the table lacks, or they were made with "
            "the outcome, or with the rows that they are tested on."
        )
    return sentences
