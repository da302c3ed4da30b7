"""Are the groups of use? The verdicts, and what they say in a sentence."""

import numpy as np
import pandas as pd

from deepcac.judging.resample_scores import resample_scores
from deepcac.judging.verdicts import verdicts
from deepcac.scoring.equivalence import BETTER, EQUIVALENT, NEVER, TIED, UNDECIDED, WORSE
from deepcac.scoring.margins import MARGIN, STRICT
from deepcac.scoring.small_cells import Count, Text
from deepcac.table.answer import Answer, contender_name, signed
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
from deepcac.table.cluster_answer import (
    ENOUGH_EVENTS,
    FEWEST_EVENTS,
    excluded_gain,
    first_line,
    first_numbers,
    gain_excluded,
    rows_of,
)
from deepcac.table.findings.label_leaks import TELLS
from deepcac.table.pages.comparison_tables import Line

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


def answer_groups(
    trials: Trials,
    name: str,
    rare: tuple[int, str],
    assigned: Assignable,
    beyond: BeyondRisk,
) -> Answer:
    """Compare the models that are told the groups with the others; put the outcome into words.

    The trials are of `group_contenders`; `rare` counts the rows of the table's rarest class, and
    says what they are called.
    """
    scores = resample_scores({name: trials.records})
    table = verdicts(scores, MARGIN, STRICT, QUESTIONS, group_pairs)
    line = first_line(trials, rows_of(table, HELP).to_dict("records"))
    use = _use(table, rare, beyond, cut=trials.cut, best=line["reference"])
    return Answer(
        Text("{}.", use),
        also=[f"{_assignment(assigned)}."],
        numbers=first_numbers(trials, line, rare, "Change by the groups", "the groups"),
        details=[_scores(table), _risk(beyond), _assigned(assigned)],
        warnings=_warnings(table, beyond, assigned),
        table=table,
    )


def _use(
    table: pd.DataFrame, rare: tuple[int, str], beyond: BeyondRisk, *, cut: bool, best: str
) -> str:
    """Say whether the groups help; `best` is the model without them that validation rows choose.

    A firm no needs all training rows, enough events and a test that excludes a gain.
    """
    rows = rows_of(table, HELP)
    words = rows["verdict"].tolist()
    rarest, called = rare
    if rarest < FEWEST_EVENTS:
        return Text("Too few {} ({}) to say whether the groups help", called, Count(rarest))
    if beyond.alone >= TELLS:
        return (
            f"Do not use these groups to predict: by themselves they predict the label (AUROC "
            f"{beyond.alone:.2f} on held-out rows), so they were likely made from it"
        )
    if BETTER in words:
        return _gain(table, rows, best)
    if beyond.low > 0:
        return (
            "The groups say more about the outcome than the risk without them "
            f"({_log_loss(beyond)}), though no tuned model shows a gain in AUROC"
        )
    if UNDECIDED in words:
        n = words.count(UNDECIDED)
        return (
            f"We found no gain: {n} of {len(words)} comparisons of a tuned model with the groups "
            "and without are undecided"
        )
    if cut or rarest < ENOUGH_EVENTS:
        few = Text("{} {}", Count(rarest), called)
        origin = "a part of the training rows" if cut else few
        return Text("No gain by the groups was seen from {} ({})", origin, _counted(words))
    if not gain_excluded(table):
        return f"No gain by the groups was found ({_counted(words)}); {excluded_gain(table)}"
    return f"No: a tuned model does no better with the groups than without ({_counted(words)})"


def _counted(words: list[str]) -> str:
    parts = [f"{words.count(w)} {w}" for w in (EQUIVALENT, WORSE, NEVER, TIED) if w in words]
    return ", ".join(parts)


def _gain(table: pd.DataFrame, rows: pd.DataFrame, best: str) -> str:
    """Say the largest gain of the best model; of another one where the best has none."""
    without = float(rows.loc[rows["reference"] == best, "reference_score"].iloc[0])
    helping = max(
        (row for row in rows.to_dict("records") if row["verdict"] == BETTER),
        key=lambda row: (row["reference"] == best, row["mean"]),
    )
    model = contender_name(parts_of(helping["contender"])[0])
    gain = f"{Line.of('', helping).text} for {model}"
    helped = set(rows.loc[rows["verdict"] == BETTER, "contender"])
    controls = rows_of(table, ANY)
    against = controls[controls["contender"].isin(helped)]
    if not _still_helps(table):
        return (
            f"The groups help, {gain}, but we found no gain once they are read from the other "
            "columns of a patient"
        )
    if not (against["verdict"] == BETTER).all():
        return f"The groups help, {gain}, but we found no advantage over groups that mean nothing"
    if helping["score"] < without:
        return (
            f"The groups help a weaker model, {gain}; without them the best model has {without:.3f}"
        )
    return f"Yes: the groups help, {gain}"


def _still_helps(table: pd.DataFrame) -> bool:
    return BETTER in rows_of(table, NEW)["verdict"].tolist()


def _assignment(assigned: Assignable) -> str:
    if assigned.agreement >= READABLE:
        return "The group of a new patient can be read from the other columns"
    if assigned.agreement >= PARTLY:
        return "The group of a new patient is often wrong if it is read from the other columns"
    return "The group of a new patient cannot be read from the other columns"


def _scores(table: pd.DataFrame) -> str:
    rows = rows_of(table, HELP)
    alone = dict(zip(rows["reference"], rows["reference_score"], strict=True))
    scores = ", ".join(f"{model_name(name)} {score:.3f}" for name, score in alone.items())
    gaps = rows["mean"]
    return (
        f"AUROC without the groups: {scores}. With them the differences go from "
        f"{signed(gaps.min())} to {signed(gaps.max())}; up to {MARGIN:g} is negligible."
    )


def _risk(beyond: BeyondRisk) -> str:
    more = (
        "The groups say more than the risk of a model without them"
        if beyond.low > 0
        else "We found no evidence that the groups say more than the risk of a model without them"
    )
    return (
        f"{more}: {_log_loss(beyond)}. "
        f"{100 * beyond.between:.0f} % of the variance of the risk lies between groups. AUROC: "
        f"only the groups {beyond.alone:.3f}, the model without them {beyond.auroc:.3f}."
    )


def _log_loss(beyond: BeyondRisk) -> str:
    return (
        f"gain in log loss on held-out rows {signed(beyond.gain, 4)}, "
        f"95 % interval {signed(beyond.low, 4)} to {signed(beyond.high, 4)}"
    )


def _assigned(assigned: Assignable) -> str:
    return (
        f"Read from the other columns, {100 * assigned.accuracy:.0f} % of held-out rows get their "
        f"group (naming the largest always: {100 * assigned.largest:.0f} %). The adjusted Rand "
        f"index is {assigned.agreement:z.2f} (1: all alike, 0: as by chance)."
    )


def _warnings(table: pd.DataFrame, beyond: BeyondRisk, assigned: Assignable) -> list[str]:
    sentences = []
    if beyond.alone >= TELLS:
        sentences.append(
            f"The groups by themselves rank held-out rows with an AUROC of {beyond.alone:.3f}. "
            "Groups that follow the outcome this closely were likely made with it."
        )
    elif beyond.alone > beyond.auroc:
        sentences.append(
            f"The groups by themselves (AUROC {beyond.alone:.3f}) are ahead of the best model of "
            f"all other columns ({beyond.auroc:.3f}). Was the outcome known when they were made?"
        )
    elif beyond.low > 0 and assigned.agreement < PARTLY:
        test = f"; chi2 {beyond.chi2:.0f} with {beyond.freedom} degrees of freedom"
        shown = _log_loss(beyond) + ("" if np.isnan(beyond.chi2) else test)
        sentences.append(
            f"The groups say more about the outcome than all other columns do ({shown}), and the "
            "other columns do not tell them. Either they hold a measurement that the table lacks, "
            "or the outcome was known when they were made."
        )
    helps = BETTER in rows_of(table, HELP)["verdict"].tolist()
    if helps and not _still_helps(table):
        sentences.append(
            "We found no gain once the groups of held-out rows are read from other columns. "
            "Either the groups hold a measurement that the table lacks, or they were made with "
            "the outcome, or with the rows that they are tested on."
        )
    return sentences
