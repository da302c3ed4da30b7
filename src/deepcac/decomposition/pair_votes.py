"""Votes of pairs of groups; only those that involve the class that changes are recounted."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from deepcac.decomposition.configuration import Configuration
from deepcac.decomposition.discriminants import ClusterGroups, Name, class_of_group, group_names
from deepcac.decomposition.smo import PairMachines
from deepcac.types import Flags, Floats, Ints

Votes = npt.NDArray[np.int16]


class ByPairs:
    """Predictor that caches the votes among other classes, and fits each pair of groups once.

    Parameters
    ----------
    machines : PairMachines
    groups : Groups

    Attributes
    ----------
    fitted : int
        Machines.
    """

    def __init__(self, machines: PairMachines, groups: ClusterGroups) -> None:
        self._machines, self._groups, self.fitted = machines, groups, 0
        self._planes: dict[tuple[Name, Name], Floats] = {}
        self._rest: list[Name] = []  # groups of the other classes
        self._votes: Votes = np.empty((machines.n_new, 0), np.int16)  # among them, (m, rest)
        # Of a group of the class against them: where it wins, (m, rest), and how often, (m,).
        self._wins: dict[Name, tuple[Flags, Votes]] = {}

    def focus(self, configuration: Configuration, active: int) -> None:
        """Count the votes among the other classes, and drop those of the previous class."""
        names = group_names(configuration)
        votes = self._all_votes(names)
        present = set(names)
        self._planes = {pair: p for pair, p in self._planes.items() if present.issuperset(pair)}
        at = [i for i, name in enumerate(names) if name[0] != active]
        self._rest, self._wins = [names[i] for i in at], {}
        self._votes = votes[:, at]
        for name in names:
            if name[0] == active:
                self._votes -= ~self._against_rest(name)[0]

    def predict(self, configuration: Configuration) -> Ints:
        """Return the class of the group with the most votes, the first one on ties."""
        votes = self._all_votes(group_names(configuration))
        return class_of_group(configuration)[votes.argmax(axis=1)]

    def size(self, configuration: Configuration) -> int:
        """Return the number of pairs of groups."""
        n = len(group_names(configuration))
        return n * (n - 1) // 2

    def _all_votes(self, names: list[Name]) -> Votes:
        """Return the votes (m, len(names)), reusing those in focus if only their class differs."""
        unchanged = set(self._rest)
        changed = [name for name in names if name not in unchanged]
        if len(changed) + len(unchanged) != len(names) or len({j for j, _ in changed}) > 1:
            return self._among(names)
        rest, mine = self._votes.copy(), self._among(changed)
        for i, name in enumerate(changed):
            won, count = self._against_rest(name)
            rest += ~won
            mine[:, i] += count
        # The groups of a class stand together among the names.
        cut = names.index(changed[0]) if changed else 0
        return np.hstack([rest[:, :cut], mine, rest[:, cut:]])

    def _among(self, names: Sequence[Name]) -> Votes:
        """Return the votes of some groups against each other."""
        votes = np.zeros((self._machines.n_new, len(names)), np.int16)
        for i, name in enumerate(names[:-1]):
            won = self._against(name, names[i + 1 :])
            votes[:, i] += won.sum(axis=1, dtype=np.int16)
            votes[:, i + 1 :] += ~won
        return votes

    def _against_rest(self, name: Name) -> tuple[Flags, Votes]:
        """Return where a group wins against the rest, (m, rest), and how often, (m,)."""
        if name not in self._wins:
            won = self._against(name, self._rest)
            self._wins[name] = won, won.sum(axis=1, dtype=np.int16)
        return self._wins[name]

    def _against(self, name: Name, others: Sequence[Name]) -> Flags:
        """Return where a group wins against each of some others, (m, len(others))."""
        pairs = [(name, other) if name < other else (other, name) for other in others]
        missing = [i for i, pair in enumerate(pairs) if pair not in self._planes]
        first = np.array([name < other for other in others], dtype=bool)
        if missing:
            rows = self._groups.rows
            theirs = [rows(others[i]) for i in missing]
            planes = self._machines.planes(rows(name), theirs, first[missing])
            self._planes.update(zip((pairs[i] for i in missing), planes, strict=True))
            self.fitted += len(missing)
        return self._machines.sides([self._planes[pair] for pair in pairs]) == first
