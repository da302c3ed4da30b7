"""Which clusters of a class share a label: partitions, groups and their number."""

from collections.abc import Iterator, Sequence
from itertools import product
from math import comb, prod

Group = tuple[int, ...]
Partition = tuple[Group, ...]
Configuration = tuple[Partition, ...]


def separate(counts: Sequence[int]) -> Configuration:
    """Return the configuration without merges; `counts` are the clusters of each class."""
    return tuple(tuple((c,) for c in range(count)) for count in counts)


def whole(counts: Sequence[int]) -> Configuration:
    """Return the configuration of one group per class, that of the undecomposed classifier."""
    return tuple((tuple(range(count)),) for count in counts)


def with_merged(partition: Partition, sets: Sequence[frozenset[int]]) -> Partition:
    """Merge some disjoint sets of clusters of one class; the other groups lose those clusters.

    Groups are ordered by their first cluster.
    """
    taken = frozenset().union(*sets)
    rest = [tuple(c for c in group if c not in taken) for group in partition]
    merged = [tuple(sorted(clusters)) for clusters in sets]
    return tuple(sorted(group for group in rest + merged if group))


def partitions(count: int) -> Iterator[Partition]:
    """Yield every partition of the clusters 0 to count - 1, in a fixed order."""
    if count == 0:
        yield ()
        return
    last = count - 1
    for smaller in partitions(last):
        for i, group in enumerate(smaller):
            yield (*smaller[:i], (*group, last), *smaller[i + 1 :])
        yield (*smaller, (last,))


def configurations(counts: Sequence[int]) -> Iterator[Configuration]:
    """Yield every configuration; the last class changes fastest."""
    yield from product(*(tuple(partitions(count)) for count in counts))


def bell(count: int) -> int:
    """Return the number of partitions of `count` clusters, the Bell number."""
    numbers = [1]
    for n in range(count):
        numbers.append(sum(comb(n, i) * numbers[i] for i in range(n + 1)))
    return numbers[count]


def n_configurations(counts: Sequence[int]) -> int:
    """Return the number of configurations, a product of Bell numbers."""
    return prod(bell(count) for count in counts)
