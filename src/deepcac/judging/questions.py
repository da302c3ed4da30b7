"""The questions that the judge answers, each a family of comparisons."""

from collections.abc import Callable, Iterator
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
    # What a contender is compared with
    references: Callable[[Contender], list[str]] = lambda contender: []


def _alone(contender: Contender) -> list[str]:
    return [contender.learner] if contender.clustered else []


def _boosting(*kinds: str) -> Callable[[Contender], list[str]]:
    return lambda contender: of_kind("boosting") if contender.kind in kinds else []


def _in_parts(*before: str) -> Callable[[Contender], list[str]]:
    """Return the learner's own groups that mean nothing, of a contender with a model in each."""
    return lambda one: [f"{name}_{one.learner}" for name in before] if one.in_parts else []


HELP = Question("help", "Do clusters help the same learner, tuned alike?", references=_alone)
FORCED = Question(
    "forced", "Do two clusters or more help, where one may not be chosen?", CLUSTERED,
    references=_alone,
)  # fmt: skip
ANY = Question(
    "any_partition", "Are clusters better than a partition that means nothing?",
    CLUSTERED, CLUSTERED, _in_parts(CELLS, HASH),
)  # fmt: skip
DEEP_HELP = Question(
    "deep", "Do clusters of latents help the network?",
    references=lambda one: of_kind("network") if one.kind == "latent" else [],
)  # fmt: skip
SEPARATED = Question(
    "cac", "Are CAC's clusters better than those of k-means?", CLUSTERED, CLUSTERED,
    lambda one: [f"{KM}_{one.learner}"] if one.arm == CAC else [],
)  # fmt: skip
BOOSTING = Question(
    "boosting", "Is another method with clusters ahead of tuned boosting?",
    # Of boosting itself `HELP` asks.
    references=lambda one: of_kind("boosting") * (
        one.kind == "latent" or (one.clustered and one.kind != "boosting")
    ),
)  # fmt: skip
PRINTED = Question(
    "printed", "Are networks with clusters, untuned, ahead of tuned boosting?", DEFAULT,
    references=_boosting("latent"),
)  # fmt: skip
BAG = Question(
    "bag", "Are boosted trees, bagged, ahead of tuned boosting?", references=_boosting("bagging")
)
NEGATIVE = Question(
    "negative_control", "Does a hash of the row number help, chosen alike?",
    references=lambda one: [one.learner] if one.arm == HASH else [],
)  # fmt: skip
SUBTYPES = Question(
    "subtypes", "Does a risk model with two subtypes or more cost anything?", CLUSTERED,
    references=lambda one: of_kind("boosting", "bagging", "network") * (one.kind == "subtypes"),
)  # fmt: skip
RANDOM = Question(
    "random", "Are clusters better than random groups, on average?", CLUSTERED, CLUSTERED,
    _in_parts(MEAN),
)  # fmt: skip
CHOSEN_RANDOM = Question(
    "chosen_random", "Are clusters better than the random groups that validation chooses?",
    CLUSTERED, CLUSTERED, _in_parts(BEST),
)  # fmt: skip
BENT = Question(
    "bent", "Are clusters better than splines in logistic regression?",
    references=lambda one: ["spline_lr"] * one.clustered,
)  # fmt: skip
RIVALS = Question(
    "rivals", "Are clusters better than products, lines in leaves, or experts?",
    references=lambda one: [name for name in BENT_OF if name != "spline_lr"] * one.clustered,
)  # fmt: skip
BEND = Question(
    "bend", "Do curves help the learner, without clusters?",
    references=lambda one: [BENT_OF[one.id]] if one.id in BENT_OF else [],
)  # fmt: skip
# Of clinical tasks (docs/archive/judge-plan.md), and those that decide whether clusters help.
CLINICAL = (HELP, FORCED, SEPARATED, RANDOM, CHOSEN_RANDOM, ANY, BENT, RIVALS, BEND)
DECISIVE = (HELP, RANDOM, BENT)
QUESTIONS = (HELP, FORCED, SEPARATED, ANY, DEEP_HELP, BOOSTING, PRINTED, SUBTYPES, BAG, NEGATIVE)


def pairs(question: Question, present: list[str]) -> Iterator[tuple[str, str]]:
    """Yield contender and reference of each comparison, of those that have finished."""
    for name in present:
        if name.startswith((*VIEWS, OFFERED)):  # views of another's record ask nothing
            continue
        for reference in question.references(parse_contender(name)):
            if reference in present:
                yield name, reference
