"""The questions that the judge answers, each a family of comparisons."""

from collections.abc import Iterator
from typing import NamedTuple

from deepcac.judging.choice import CLUSTERED, DEFAULT, TUNED
from deepcac.judging.contenders import CAC, CELLS, DISTANCES, HASH, KM, Contender, parse_contender
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
QUESTIONS = (HELP, FORCED, SEPARATED, ANY, DEEP_HELP, BOOSTING, PRINTED, SUBTYPES, BAG, NEGATIVE)


def pairs(question: Question, present: list[str]) -> Iterator[tuple[str, str]]:
    """Yield contender and reference of each comparison, of those that have finished."""
    for name in present:
        one = parse_contender(name)
        for reference in _references(question, one):
            if reference in present:
                yield name, reference


def _references(question: Question, one: Contender) -> list[str]:
    if question in (HELP, FORCED):
        return [one.learner] if one.arm in (KM, CAC, DISTANCES) else []
    if question == SEPARATED:
        return [f"{KM}_{one.learner}"] if one.arm == CAC else []
    if question == ANY:
        wanted = one.arm in (KM, CAC)
        return [f"{control}_{one.learner}" for control in (CELLS, HASH)] if wanted else []
    if question == DEEP_HELP:
        return of_kind("network") if one.kind == "latent" else []
    if question == BOOSTING:  # of boosting itself `HELP` asks
        others = one.arm in (KM, CAC, DISTANCES) and one.kind != "boosting"
        return of_kind("boosting") if others or one.kind == "latent" else []
    if question == PRINTED:
        return of_kind("boosting") if one.kind == "latent" else []
    if question == SUBTYPES:
        rivals = ("boosting", "bagging", "network")
        return of_kind(*rivals) if one.kind == "subtypes" else []
    if question == BAG:
        return of_kind("boosting") if one.kind == "bagging" else []
    return [one.learner] if one.arm == HASH else []
