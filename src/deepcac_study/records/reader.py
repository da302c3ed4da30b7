"""Reading of all finished work; the path of a file gives its kind."""

import os
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from deepcac_study.catalogue.record_kinds import JUDGE_FOLDERS, JUDGED, OTHERS, SECOND_RUNS
from deepcac_study.records.clusterings import Clusterings, load_clusterings
from deepcac_study.records.decompositions import (
    DecompositionRecord,
    ResampledRecord,
    load_decompositions,
)
from deepcac_study.records.runs import Runs, load
from deepcac_study.records.stored import load_stored
from deepcac_study.records.studies import CaseStudy, References, load_case_studies
from deepcac_study.records.sweep_tables import Sweeps, load_sweeps
from deepcac_study.records.theorem_checks import TheoryRecord

RUNS = "runs"
# Kinds by folder; a file in none of these is a run.
FOLDERS = (*OTHERS, *SECOND_RUNS, *JUDGE_FOLDERS, JUDGED)


@dataclass(frozen=True)
class Findings:
    """All finished work that was read; any part may be empty."""

    runs: Runs
    sweeps: Sweeps = field(default_factory=Sweeps)
    studies: Sequence[CaseStudy] = ()
    theory: Sequence[TheoryRecord] = ()
    decompositions: Sequence[DecompositionRecord] = ()
    resampled: Sequence[ResampledRecord] = ()
    clusterings: Clusterings = field(default_factory=Clusterings)


def by_kind(paths: Iterable[str | os.PathLike[str]]) -> dict[str, list[Path]]:
    """Return files by kind, a name of `FOLDERS` or ``runs``; every kind has a list."""
    files: dict[str, list[Path]] = defaultdict(list)
    for path in paths:
        folders = PurePath(path).parts[-2::-1]
        inside = folders[: folders.index("results")] if "results" in folders else folders
        files[next((name for name in FOLDERS if name in inside), RUNS)].append(Path(path))
    return files


def read(
    paths: Iterable[str | os.PathLike[str]],
    root: str | os.PathLike[str],
    *,
    inputs: Mapping[str, Mapping[str, Any]] | None = None,
    references: References | None = None,
    unscored: Container[str] = (),
) -> Findings:
    """Read the work that is compared with the papers; files of other kinds are ignored.

    Parameters
    ----------
    paths, root
        Records and tables, in any order; the folder that displayed paths are relative to.
    inputs, unscored
        As in `deepcac_study.records.runs.load`.
    references
        Clusters that a paper printed (`deepcac_study.records.studies.load_case_studies`).

    Raises
    ------
    DataError
        A file is damaged, or does not fit its path or its inputs.
    """
    files = by_kind(paths)
    decomposed = [*files["decomposition"], *files["bias_variance"]]
    return Findings(
        runs=load(files[RUNS], root, inputs, unscored),
        sweeps=load_sweeps(files["sweeps"]),
        studies=load_case_studies(files["case_study"], root, references),
        theory=load_stored(TheoryRecord, files["theory"], root),
        decompositions=load_decompositions(decomposed, root),
        resampled=load_stored(ResampledRecord, decomposed, root),
        clusterings=load_clusterings(files["skmeans"], root),
    )
