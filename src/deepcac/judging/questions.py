"""The questions that the judge answers, each a family of comparisons."""

from collections.abc import Iterator
from typing import NamedTuple

from deepcac.judging.choice import CLUSTERED, DEFAULT, OFFERED, TUNED
from deepcac.judging.contenders import (
    BENT_OF,
    CAC,
    CELLS,
    HASH,
    KM,
    Contender,
    parse_contender,
)
from deepcac.judging.random_partitions import BEST, MEAN, VIEWS
from deepcac.judging.spaces import of_kind


class Question(NamedTuple):
    """A family of comparisons that one correction covers."""

    id: str
    text: str
    # How the trial of either side is chosen (`choice.CHOICES`).
    choice: str = TUNED
    reference_choice: str = TUNED


HELP = Question("help", "Do clusters help the same learner, tuned alike?")
FORCED = Question(
    "forced", "Do two clusters or more help, where one may not be chosen?", choice=CLUSTERED
)
ANY = Question(
    "any_partition",
    "Are clusters better than a partition that means nothing?",
    choice=CLUSTERED,
    reference_choice=CLUSTERED,
)
DEEP_HELP = Question("deep", "Do clusters of latents help the network?")
SEPARATED = Question(
    "cac",
    "Are CAC's clusters better than those of k-means?",
    choice=CLUSTERED,
    reference_choice=CLUSTERED,
)
BOOSTING = Question("boosting", "Is another method with clusters ahead of tuned boosting?")
PRINTED = Question(
    "printed", "Are networks with clusters, untuned, ahead of tuned boosting?", choice=DEFAULT
)
BAG = Question("bag", "Are boosted trees, bagged, ahead of tuned boosting?")
NEGATIVE = Question("negative_control", "Does a hash of the row number help, chosen alike?")
SUBTYPES = Question(
    "subtypes", "Does a risk model with two subtypes or more cost anything?", choice=CLUSTERED
)
RANDOM = Question(
    "random",
    "Are clusters better than random groups, on average?",
    choice=CLUSTERED,
    reference_choice=CLUSTERED,
)
CHOSEN_RANDOM = Question(
    "chosen_random",
    "Are clusters better than the random groups that validation chooses?",
    choice=CLUSTERED,
    reference_choice=CLUSTERED,
)
BENT = Question("bent", "Are clusters better than splines in logistic regression?")
RIVALS = Question("rivals", "Are clusters better than products, lines in leaves, or experts?")
BEND = Question("bend", "Do curves help the learner, without clusters?")
# Of clinical tasks (docs/archive/judge-plan.md), and those that decide whether clusters help.
CLINICAL = (HELP, FORCED, SEPARATED, RANDOM, CHOSEN_RANDOM, ANY, BENT, RIVALS, BEND)
DECISIVE = (HELP, RANDOM, BENT)
_BENDING = (RANDOM, CHOSEN_RANDOM, BENT, RIVALS, BEND)
QUESTIONS = (HELP, FORCED, SEPARATED, ANY, DEEP_HELP, BOOSTING, PRINTED, SUBTYPES, BAG, NEGATIVE)


def pairs(question: Question, present: list[str]) -> Iterator[tuple[str, str]]:
    """Yield contender and reference of each comparison, of those that have finished."""
    for name in present:
        if name.startswith((*VIEWS, OFFERED)):  # views of another's record ask nothing
            continue
        contender = parse_contender(name)
        for reference in _references(question, contender):
            if reference in present:
                yield name, reference


def _references(question: Question, contender: Contender) -> list[str]:
    if question in (HELP, FORCED):
        return [contender.learner] if contender.clustered else []
    if question in _BENDING:
        return _bending(question, contender)
    if question == SEPARATED:
        return [f"{KM}_{contender.learner}"] if contender.arm == CAC else []
    if question == ANY:
        controls = (CELLS, HASH) if contender.in_parts else ()
        return [f"{control}_{contender.learner}" for control in controls]
    if question == DEEP_HELP:
        return of_kind("network") if contender.kind == "latent" else []
    if question == BOOSTING:  # of boosting itself `HELP` asks
        others = contender.clustered and contender.kind != "boosting"
        return of_kind("boosting") if others or contender.kind == "latent" else []
    if question == PRINTED:
        return of_kind("boosting") if contender.kind == "latent" else []
    if question == SUBTYPES:
        rivals = ("boosting", "bagging", "network")
        return of_kind(*rivals) if contender.kind == "subtypes" else []
    if question == BAG:
        return of_kind("boosting") if contender.kind == "bagging" else []
    return [contender.learner] if contender.arm == HASH else []


def _bending(question: Question, contender: Contender) -> list[str]:
    """Return the references of the questions about what bends a line without clusters."""
    if question == BEND:
        return [BENT_OF[contender.id]] if contender.id in BENT_OF else []
    if question in (RANDOM, CHOSEN_RANDOM):
        view = MEAN if question == RANDOM else BEST
        return [f"{view}_{contender.learner}"] if contender.in_parts else []
    if not contender.clustered:
        return []
    return ["spline_lr"] if question == BENT else [name for name in BENT_OF if name != "spline_lr"]
