"""Parsing of the paths of run records, and patterns for wildcards of the workflow."""

import re
from collections.abc import Iterable, Iterator

from deepcac_study.catalogue.methods import DEEPCAC, KM_Z
from deepcac_study.catalogue.protocol import folder_pattern
from deepcac_study.catalogue.record_kinds import NO_RUNS

# What is repeated from several starts of the autoencoder: methods soundly, and with one switch on
# that changes neither features nor splits.
STARTED = {DEEPCAC: ("D4", "D6", "D8", "D10", "D16", "D18", "D19"), KM_Z: ("D19",)}


def started_runs(dataset: str, k: int | str) -> list[str]:
    """Return the paths of the runs that `start_sweep` reuses as the first of its starts."""
    return [
        f"results/{f'switches/{label}/' if label else ''}{dataset}/{method}_k{k}.json"
        for method, labels in STARTED.items()
        for label in ("", *labels)
    ]


def runs_among(paths: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield variant, dataset, method and k of the paths that are run records; skip others."""
    run = re.compile(
        rf"results/(?P<variant>{folder_pattern()})(?P<dataset>\w+)/"
        r"(?P<method>\w+)_k(?P<k>\d+)\.json"
    )
    for path in paths:
        match = run.fullmatch(path)
        if match and match["dataset"] not in NO_RUNS:
            yield match.groupdict()


def dataset_pattern() -> str:
    """Return a regular expression of data set ids that excludes folders of other records."""
    return f"(?!({'|'.join(NO_RUNS)})/)[a-z0-9_]+"
