"""Targets that nothing makes are refused with near names, before anything is planned."""

import difflib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from snakemake.cli import get_argument_parser

from deepcac.errors import ConfigError
from deepcac_study.catalogue.methods import methods
from deepcac_study.catalogue.protocol import Protocol, named_protocols
from deepcac_study.catalogue.record_kinds import JUDGED
from deepcac_study.catalogue.run_paths import runs_among
from deepcac_study.jobs.layout import Layout

_WITHOUT_K = re.compile(r"results/(?:[\w/]+/)?(?P<dataset>\w+)/(?P<method>\w+)\.json")
_ELSEWHERE = re.compile(r"results/(?P<folder>[\w/]+)/(?P<dataset>\w+)/\w+_k\d+\.json")
_JUDGED = f"results/{JUDGED}/"
_ROWS = re.compile(r"data/(?:features|splits)/(?P<variant>[\w/]+/)?(?P<dataset>\w+)\.parquet")
_PARTS = ("_nodes", "_columns", "_pairs")  # of a data set with features of pairs
_NAME = re.compile(r"[a-z][a-z_]*")
_NEAR = 0.8  # how alike a rule's name must be for a word to be taken for a slip


class Asked(NamedTuple):
    """What a call asks for by name."""

    targets: frozenset[str]
    forced: frozenset[str]  # to be made again

    @property
    def names(self) -> list[str]:
        """Both, in order."""
        return sorted(self.targets | self.forced)


def asked_by(command: Sequence[str]) -> Asked:
    """Return what a command line of Snakemake asks for by name.

    Snakemake tells its targets only after it has read the rules. A submitted job, and a program
    that uses Snakemake as a library, ask for nothing here, so that both read the same rules.
    """
    program = Path(command[0])
    if "snakemake" not in (program.name, program.parent.name):
        return Asked(frozenset(), frozenset())
    given, _ = get_argument_parser().parse_known_args(list(command[1:]))
    return Asked(frozenset(given.targets), frozenset(given.forcerun))


def run_records(targets: Iterable[str]) -> list[str]:
    """Return the records of runs among targets, those that are there."""
    return sorted(word for word in targets if any(runs_among([word])) and Path(word).is_file())


def check_targets(layout: Layout, targets: Iterable[str]) -> None:
    """Refuse files that nothing makes, such as runs of an unknown method.

    The `ConfigError` has near names, or what can be asked for instead.
    """
    for word in targets:
        for check in (_check_run, _check_folder, _check_rows, _check_number):
            check(layout, word)


def check_rules(targets: Iterable[str], rules: Iterable[str]) -> None:
    """Refuse targets that are no rule's name, but nearly one."""
    names = list(rules)
    for word in targets:
        if not _NAME.fullmatch(word) or word in names or Path(word).exists():
            continue
        near = difflib.get_close_matches(word, names, n=3, cutoff=_NEAR)
        if near:
            raise ConfigError(f"no target {word!r}; near names: {', '.join(near)}")


def _check_run(layout: Layout, word: str) -> None:
    for asked in runs_among([word]):
        if int(asked["k"]) < 1:
            example = word.replace(f"_k{asked['k']}.", "_k1.")
            raise ConfigError(f"k is {asked['k']}; the smallest number of clusters is 1: {example}")
        layout.run_inputs(**asked)


def _check_folder(layout: Layout, word: str) -> None:
    """Refuse a run in a folder of no protocol."""
    match = _ELSEWHERE.fullmatch(word)
    if not match or any(runs_among([word])) or match["dataset"] not in layout.registry.datasets:
        return
    near = difflib.get_close_matches(match["folder"], named_protocols(), n=1)
    if near:
        raise ConfigError(f"no protocol {match['folder']!r}; near names: {near[0]}")
    Protocol.from_folder(f"{match['folder']}/")


def _check_rows(layout: Layout, word: str) -> None:
    match = _ROWS.fullmatch(word)
    name, datasets = match["dataset"] if match else "", layout.registry.datasets
    of_pairs = any(name.removesuffix(part) in datasets for part in _PARTS if name.endswith(part))
    if name and not of_pairs:
        layout.registry.dataset(name)


def _check_number(layout: Layout, word: str) -> None:
    """Refuse the record of a known method on a known data set without its k."""
    match = _WITHOUT_K.fullmatch(word)
    if not match or word.startswith(_JUDGED) or match["method"] not in methods():
        return
    if match["dataset"] in layout.registry.datasets:
        k = 2 if methods()[match["method"]].clustered else 1
        raise ConfigError(f"{word}: no k; ask for {word.removesuffix('.json')}_k{k}.json")
