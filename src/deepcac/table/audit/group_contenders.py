"""Models that know the group, and the partitions that the groups are compared with."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import euclidean_distances

from deepcac.judging import questions
from deepcac.judging.contenders import HASH, KM, Contender
from deepcac.judging.fitting import fit_trial, in_parts, learner_fit, with_columns
from deepcac.judging.learners import Predict
from deepcac.judging.partitions import Partition, part, standardised
from deepcac.judging.questions import Question
from deepcac.judging.resamples import Resample, Rows
from deepcac.judging.spaces import Values, trials
from deepcac.table.audit.group_column import Groups, assigner
from deepcac.table.budgeted_trials import booster, linear
from deepcac.types import Ids

# The groups; the groups, which for new rows are read from the other columns; groups of the same
# sizes drawn at random; cells around random rows, of these sizes as far as possible.
GIVEN, ASSIGNED, SHUFFLED, CELLS = "given", "assigned", "shuffled", "matched"
PARTITIONS = (GIVEN, ASSIGNED, SHUFFLED, CELLS, HASH, KM)
CONTROLS = (SHUFFLED, CELLS, HASH)
_STEPS = 300  # of the weights of cells
COLUMN, LOCAL = "column", "local"  # one more column per group; a model in each group

# The families of `judging.questions`, asked of groups; and two of groups alone.
HELP = questions.HELP._replace(text="Do the groups help the same model, tuned alike?")
NEW = Question("new", "Do they, where a new patient's group is read from the other columns?")
FORCED = questions.FORCED._replace(text="Do the groups help where they must be used?")
ANY = questions.ANY._replace(text="Are they better than groups that mean nothing?")
KMEANS = questions.SEPARATED._replace(
    id="kmeans", text="Are they better than k-means with as many groups?"
)
NEGATIVE = questions.NEGATIVE._replace(text="Do groups drawn at random help, chosen alike?")
QUESTIONS = (HELP, NEW, FORCED, ANY, KMEANS, NEGATIVE)


@dataclass(frozen=True)
class GroupContender(Contender):
    """A learner that may use a `k`-group label; `arm` is "partition-form", or empty without one."""

    k: int = 2

    def trials(self, n: int) -> list[Values]:
        """Return the learner's own draws, with the number of groups."""
        drawn = trials(self.learner, n)
        return [values | {"n_clusters": self.k} for values in drawn] if self.arm else drawn


def group_contenders(k: int) -> list[Contender]:
    """Return both learners without groups, and with each partition and form of `k` groups."""
    forms = [(linear(), COLUMN), (linear(), LOCAL), (booster(), COLUMN)]
    alone: list[Contender] = [GroupContender(linear()), GroupContender(booster())]
    return alone + [
        GroupContender(learner, f"{partition}-{form}", k)
        for learner, form in forms
        for partition in PARTITIONS
    ]


def parts_of(name: str) -> tuple[str, str, str]:
    """Return learner, partition and form of a contender's id; the last two may be empty."""
    arm, _, learner = name.rpartition("_")
    partition, _, form = arm.partition("-")
    return learner, partition, form


def group_pairs(question: Question, present: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the contenders of each comparison and their references."""
    asked = {NEW: ASSIGNED, NEGATIVE: SHUFFLED}.get(question, GIVEN)
    references = {ANY: CONTROLS, KMEANS: (KM,)}.get(question, ())
    for name in present:
        learner, partition, form = parts_of(name)
        if partition == asked:
            rivals = [f"{control}-{form}_{learner}" for control in references]
            yield from ((name, reference) for reference in rivals or [learner])


def fit_group(groups: Groups, contender: Contender, values: Values, sample: Resample) -> Predict:
    """Fit a trial of a `GroupContender`, as `fit_trial` fits those of others."""
    _, partition, form = parts_of(contender.id)
    if not partition:
        return fit_trial(contender, values, sample)
    if partition not in sample.shared:
        sample.shared[partition] = _partition(groups, partition, sample)
    train, assign = sample.shared[partition]
    fit, settings = learner_fit(contender.learner, values)
    if form == LOCAL:
        return in_parts(fit, settings, sample, Partition(train, assign), groups.k)
    # The groups of training rows are known; for others they may have to be read from the columns.
    measure = standardised(
        lambda rows: np.eye(groups.k)[train if rows is sample.train else assign(rows)],
        sample.train,
    )
    return with_columns(fit, settings, sample, measure)


def _partition(groups: Groups, name: str, sample: Resample) -> Partition:
    if name in (HASH, KM):
        return part(sample, name, groups.k, 0.0)
    groups = groups.shuffled(sample.seed) if name == SHUFFLED else groups
    train = groups.of(sample.train)
    if name == CELLS:
        return matched_cells(sample, np.bincount(train, minlength=groups.k))
    if name == ASSIGNED:
        return Partition(train, assigner(sample, train, groups.of(sample.validation)))
    return Partition(train, groups.of)


def matched_cells(sample: Resample, sizes: Ids) -> Partition:
    """Partition rows by a power diagram with random centres and approximately given cell sizes.

    A row goes to the least squared distance less the weight of the cell (a power diagram). The
    weights climb where a cell is too small, which ends at the sizes as far as ties allow
    (Aurenhammer, Hoffmann and Aronov 1998).

    Parameters
    ----------
    sample : Resample
    sizes : ndarray of shape (k,)
        Training rows that each cell should have.
    """
    X = sample.train.bounded
    rng = np.random.default_rng([sample.seed, len(sizes)])
    centres = X[rng.choice(len(X), len(sizes), replace=len(X) < len(sizes))]
    squared = euclidean_distances(X, centres, squared=True)
    weight, best, least = np.zeros(len(sizes)), np.zeros(len(sizes)), np.inf
    for step in range(_STEPS):
        label = (squared - weight).argmin(axis=1)
        lacking = (sizes - np.bincount(label, minlength=len(sizes))) / len(X)
        if np.abs(lacking).sum() < least:
            best, least = weight.copy(), np.abs(lacking).sum()
        weight += 2 * squared.std() / np.sqrt(1 + step) * lacking

    def assign(rows: Rows) -> Ids:
        away = euclidean_distances(rows.bounded, centres, squared=True)
        return np.asarray((away - best).argmin(axis=1), dtype=np.int64)

    return Partition(assign(sample.train), assign)
