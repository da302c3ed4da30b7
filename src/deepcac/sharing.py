"""Sharing of finished files by DVC: what may leave, one call to push, one to pull.

Features and splits have a pointer each, so that a rebuild can be compared with it. Everything
else has two pointers that name each file: `STAGES` for what several runs use, `RESULTS` for
records and scores. They name no folder, because a folder may hold what is made from restricted
data as well.
"""

import logging
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from deepcac.catalogue.registry import DEMO, Registry
from deepcac.errors import DataError
from deepcac.judge.study_files import StudyFiles
from deepcac.layout import Layout
from deepcac.pointers import (
    CACHE,
    align_times,
    commit_rebuilt,
    dvc,
    find_pointers,
    read_pointers,
    write_pointer,
)

ALONE = ("data/features", "data/splits")  # folders where every file has a pointer of its own
STAGES, RESULTS = "data/stages.dvc", "results.dvc"
_SCORES, _STUDY = ".scores.parquet", (".json", ".features.parquet", ".plane.parquet")

_log = logging.getLogger(__name__)


def shared_files(layout: Layout) -> list[str]:
    """Return every file of a configured workflow that others may have, but for the report.

    Raw and tidy tables are not among them, nor is anything that is made from restricted data.
    """
    config, runs = layout.config, layout.all_runs()
    study = StudyFiles(config["judge"], layout.reachable)
    found = [
        *(*layout.feature_files(), *layout.split_files(), *layout.stage_files()),
        *(*_pairwise_parts(layout), *layout.cohort_files(), *layout.profile_files()),
        *(run.removesuffix(".json") + end for run in runs for end in (".json", _SCORES)),
        *(f"results/sweeps/{sweep}.parquet" for sweep in config["sweeps"]),
        *(f"results/case_study/{case}{e}" for case in config["case_studies"] for e in _STUDY),
        *(f"results/theory/{name}.json" for name in config["theory"]),
        *(f"results/factorial/{dataset}.parquet" for dataset in config["factorial"]),
        *(*layout.skmeans_files(), *layout.decomposition_files(), *study.files),
    ]
    named = restricted_parts(layout.registry, dict.fromkeys(found))
    return [file for file, restricted in named if not restricted]


def _pairwise_parts(layout: Layout) -> list[str]:
    """Return what pairwise data sets have beside their feature files."""
    entries = [layout.registry.dataset(name) for name in layout.datasets()]
    outputs = [layout.feature_outputs(e.source, e) for e in entries if e.pairwise]
    return [own[part] for own in outputs for part in ("nodes", "columns", "pairs")]


def restricted_parts(registry: Registry, files: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    """Yield each file with the restricted source or data set that its path names, or None.

    Generated cohorts (``demo_ards``, all of ``demo_mimic3/``) and open samples (``ards_demo``) are
    not restricted.
    """
    restricted: dict[str, bool] = {}
    for source in registry.sources.values():
        for name in (source.id, *source.datasets):
            restricted |= {name: source.restricted, DEMO + name: False}
    # The longest name at a place is meant: `ards_demo`, not `ards`.
    longest_first = "|".join(sorted(map(re.escape, restricted), key=len, reverse=True))
    known = re.compile(rf"(?<![a-z0-9])(?:{longest_first})(?![a-z0-9])")
    for file in files:
        names = known.findall(file)
        generated = any(name.startswith(DEMO) for name in names)
        yield file, next((name for name in names if restricted[name] and not generated), None)


def share(root: str | os.PathLike[str], files: Sequence[str], registry: Registry) -> None:
    """Point to finished files and push them to the default DVC remote.

    Parameters
    ----------
    root : path-like
        The project's folder, with a DVC remote.
    files : sequence of str
        What is shared (`shared_files`), relative to `root`.
    registry : Registry
        Says what is restricted.

    Raises
    ------
    DataError
        A file, or what a pointer here names, is made from restricted data; a file is not what its
        pointer says; DVC failed. Then nothing was pushed.
    """
    root = Path(root)
    alone = {f"{file}.dvc": [file] for file in files if file.startswith(ALONE)}
    rest = [file for file in files if not file.startswith(ALONE)]
    groups = {
        STAGES: [file for file in rest if file.startswith("data/")],
        RESULTS: [file for file in rest if file.startswith("results/")],
    }
    wanted = alone | {pointer: own for pointer, own in groups.items() if own}
    _refuse_restricted(root, files, registry)
    _refuse_changed(root, alone)
    for pointer, own in wanted.items():
        if pointer in groups or not (root / pointer).exists():
            write_pointer(root / pointer, [root / file for file in own])
    commit_rebuilt(root, wanted)
    dvc(root, "push", *wanted)
    _log.info("%d files pushed; commit their %d pointers (*.dvc)", len(files), len(wanted))


def _refuse_restricted(root: Path, files: Iterable[str], registry: Registry) -> None:
    places = [place for place in (*ALONE, STAGES, RESULTS) if (root / place).exists()]
    pointed = [str(p.target.relative_to(root)) for p in find_pointers(root / p for p in places)]
    for file, name in restricted_parts(registry, (*files, *pointed)):
        if name:
            raise DataError(
                f"{file}: made from {name}, which is restricted; remove its pointer, "
                "nothing was pushed"
            )


def _refuse_changed(root: Path, pointers: Iterable[str]) -> None:
    for name in pointers:
        for pointer in read_pointers(root / name) if (root / name).exists() else ():
            if pointer.state() == "changed":
                raise DataError(
                    f"{pointer.target.relative_to(root)}: not the bytes of its pointer; build it "
                    "again, or `dvc add` it if the change is meant; nothing was pushed"
                )


def pull(root: str | os.PathLike[str], targets: Sequence[str] = ()) -> tuple[int, int]:
    """Pull what the pointers name, check every byte, and give all of it one time.

    Parameters
    ----------
    root : path-like
        The project's folder, with a DVC remote.
    targets : sequence of str
        Pointers or files, relative to `root`. By default all that the remote has.

    Returns
    -------
    (int, int)
        How many files are here as their pointers say, and how many asked for are not here.

    Raises
    ------
    DataError
        DVC failed, a file named in `targets` cannot be had, or a file came damaged; its damaged
        copies here are removed.
    """
    root = Path(root)
    dvc(root, "pull", "--force", *(targets or ("--allow-missing",)))
    states = [
        (pointer, pointer.state())
        for pointer in find_pointers(root / place for place in (*ALONE, STAGES, RESULTS))
    ]
    asked = {root / target for target in targets}
    own = [(p, state) for p, state in states if not asked or {p.path, p.target} & asked]
    for pointer, state in own:
        if state == "changed":
            pointer.target.unlink()
            pointer.in_cache(root / CACHE).unlink(missing_ok=True)
            raise DataError(
                f"{pointer.target.relative_to(root)}: came damaged from the DVC cache or remote "
                "and was removed; pull again; if it stays so, remove it in the remote and share "
                "it again from where it is whole"
            )
    align_times([pointer.target for pointer, state in states if state == "same"])
    here = [state for _, state in own if state == "same"]
    return len(here), len(own) - len(here)
