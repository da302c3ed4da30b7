"""Sharing of finished files by DVC: which may be shared, one function to push, one to pull.

Features and splits have one pointer each, so that a rebuild can be compared with it. All other
files are listed in two pointers: `STAGES` for files that several runs use, `RESULTS` for records
and scores. These list no folders, because a folder may also hold files made from restricted data.

`Origins` decides what may be shared, by where every value came from, never by a name in a path.
"""

import logging
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from deepcac.errors import ConfigError, DataError
from deepcac_study.catalogue.registry import Registry
from deepcac_study.jobs.layout import Layout
from deepcac_study.jobs.pointers import (
    CACHE,
    Pointer,
    align_times,
    check_remote,
    check_share,
    commit_rebuilt,
    drop_outputs,
    dvc,
    find_pointers,
    read_pointers,
    write_pointer,
)
from deepcac_study.judge.study_files import StudyFiles

ALONE = ("data/features", "data/splits")  # folders where every file has its own pointer
STAGES, RESULTS = "data/stages.dvc", "results.dvc"
_SCORES, _STUDY = ".scores.parquet", (".json", ".features.parquet", ".plane.parquet")

_MOST_NAMED = 10

_log = logging.getLogger(__name__)


class Origins:
    """Traces the values of a file back through the jobs that make it.

    Open are raw files of open sources, feature files provided for open sources, and generated
    files. Every other file that no job makes is closed, and so is all that is made from it.

    `jobs` returns every job that could write a file, as the name of its rule and its inputs;
    `generators` are the rules that generate values without inputs.
    """

    def __init__(
        self,
        layout: Layout,
        jobs: Callable[[str], Iterable[tuple[str, Sequence[str]]]],
        generators: Collection[str],
    ) -> None:
        self._jobs, self._generators = jobs, generators
        sources = layout.registry.sources.values()
        free = [source for source in sources if not source.closed]
        raw = (f"{layout.raw_folder(source.id)}/{name}" for source in free for name in source.files)
        sets = (entry for source in free for entry in source.datasets.values())
        brought = (layout.feature_file("", entry.id) for entry in sets if entry.features is None)
        self._open = frozenset((*raw, *brought))
        given = (layout.config.get("restricted") or {}).values()
        self._folders = [Path(folder).resolve() for folder in given if folder]
        self._origins_of: dict[str, frozenset[str] | None] = {}

    def closed(self, file: str) -> str:
        """Return the closed origins of a file, joined by commas; empty if all of them are open.

        Files in a folder that is listed are not listed again.
        """
        origins = self._origins(file)
        names = {file} if origins is None else origins
        alone = (name for name in names if names.isdisjoint(map(str, Path(name).parents)))
        return ", ".join(sorted(alone))

    def _origins(self, file: str) -> frozenset[str] | None:
        """Return the closed origins of a file; None if there is no such file and no job for it."""
        if file not in self._origins_of:
            self._origins_of[file] = None  # what needs itself cannot be made
            self._origins_of[file] = self._traced(file)
        return self._origins_of[file]

    def _traced(self, file: str) -> frozenset[str] | None:
        """Return the closed files that `file` derives from; None if nothing can make it."""
        place = Path(file).resolve()
        if any(
            place.is_relative_to(folder) or folder.is_relative_to(place) for folder in self._folders
        ):
            return frozenset({file})
        if file in self._open:
            return frozenset()
        made = [self._of_job(rule, inputs) for rule, inputs in self._jobs(file)]
        possible = [origins for origins in made if origins is not None]
        if possible:
            return frozenset().union(*possible)
        return frozenset({file}) if place.exists() else None

    def _of_job(self, rule: str, inputs: Sequence[str]) -> frozenset[str] | None:
        """Return the closed origins of a job's inputs; None if one cannot be made."""
        if not inputs:
            return frozenset() if rule in self._generators else frozenset({f"rule {rule}"})
        parts = [self._origins(path) for path in inputs]
        traced = [part for part in parts if part is not None]
        return frozenset().union(*traced) if len(traced) == len(parts) else None


def shared_files(layout: Layout) -> list[str]:
    """Return every file that a configured workflow makes, except report, raw and tidy tables."""
    config, runs = layout.config, layout.all_runs() + layout.runs_beside()
    study = StudyFiles(config["judge"], layout.reachable)
    files = [
        *(*layout.feature_files(), *layout.split_files(), *layout.stage_files()),
        *(*_pairwise_parts(layout), *layout.cohort_files()),
        *layout.run_tables(),
        *(run.removesuffix(".json") + end for run in runs for end in (".json", _SCORES)),
        *(
            f"results/sweeps/{sweep}.parquet"
            for sweep in config["sweeps"] + config["sweeps_beside"]
        ),
        *(f"results/case_study/{case}{e}" for case in config["case_studies"] for e in _STUDY),
        *(f"results/theory/{name}.json" for name in config["theory"]),
        *(*layout.skmeans_files(), *layout.decomposition_files(), *study.files),
    ]
    return list(dict.fromkeys(files))


def _pairwise_parts(layout: Layout) -> list[str]:
    """Return the companion files of pairwise data sets."""
    pairwise = [name for name in layout.datasets() if layout.registry.dataset(name).pairwise]
    return [file for name in pairwise for file in layout.pair_files(name)]


def for_bucket(registry: Registry, folders: Mapping[str, str | None]) -> Registry:
    """Return the part of a registry that may be used where all outputs go to a bucket.

    Restricted sources stay only as models of their generated stand-ins; a folder configured for one
    is a `ConfigError`.
    """
    given = [name for name, folder in folders.items() if folder]
    if given:
        raise ConfigError(
            f"{given[0]} is restricted, and a bucket would get all outputs; run without one, or "
            f"take the folder out of the configuration, restricted: {{{given[0]}: null}}"
        )
    sources = registry.sources.items()
    return Registry(
        {id_: source for id_, source in sources if source.extract or not source.restricted}
    )


def pointed_files(root: str | os.PathLike[str]) -> list[str]:
    """Return the files that the project's pointers name, relative to its folder."""
    root = Path(root)
    return [str(pointer.target.relative_to(root)) for pointer in find_pointers(_places(root))]


def _places(root: Path) -> list[Path]:
    return [root / place for place in (*ALONE, STAGES, RESULTS) if (root / place).exists()]


def share(root: str | os.PathLike[str], files: Sequence[str], closed: Mapping[str, str]) -> None:
    """Write pointers to finished files of a project, and push them to its default DVC remote.

    Files that the pointers already name, from another configuration, are kept. `closed` has
    `Origins.closed` of each file and of all `pointed_files`. A file that is not known to be open,
    or differs from its pointer, is a `DataError`, and nothing is pushed.
    """
    root = Path(root)
    alone = {f"{file}.dvc": [file] for file in files if file.startswith(ALONE)}
    rest = [file for file in files if not file.startswith(ALONE)]
    groups = {
        STAGES: [file for file in rest if file.startswith("data/")],
        RESULTS: [file for file in rest if file.startswith("results/")],
    }
    wanted = alone | {pointer: members for pointer, members in groups.items() if members}
    check_share(root)
    _refuse_closed((*files, *pointed_files(root)), closed)
    _refuse_changed(root, alone)
    for pointer, members in wanted.items():
        path = root / pointer
        if pointer in groups or not path.exists():
            # What another configuration shared stays; `drop` takes it out.
            others = read_pointers(path) if path.exists() else []
            write_pointer(path, [root / file for file in members], others)
    commit_rebuilt(root, wanted)
    dvc(root, "push", *wanted)
    # A job shows warnings on the terminal; what is to be done next belongs there.
    _log.warning("%d files pushed; commit their %d pointers (*.dvc)", len(files), len(wanted))


def _refuse_closed(files: Iterable[str], closed: Mapping[str, str]) -> None:
    """Raise DataError for a file made from a restricted source or not traced."""
    for file in files:
        origin = closed.get(file, "what was not traced")
        if origin:
            raise DataError(
                f"{file}: made from {origin}, which is restricted or of unknown origin; remove its "
                "pointer, nothing was pushed"
            )


def _refuse_changed(root: Path, pointers: Iterable[str]) -> None:
    """Raise DataError if a tracked file holds other bytes than its pointer."""
    for name in pointers:
        for pointer in read_pointers(root / name) if (root / name).exists() else ():
            if pointer.state() == "changed":
                raise DataError(
                    f"{pointer.target.relative_to(root)}: not the bytes of its pointer; build it "
                    "again, or remove its pointer if the change is meant; nothing was pushed"
                )


def _refuse_unsaved(root: Path, pointers: Iterable[Pointer]) -> None:
    """Raise DataError if a target holds other bytes than its pointer and no copy is saved."""
    unsaved = sorted(str(p.target.relative_to(root)) for p in pointers if p.unsaved(root / CACHE))
    if unsaved:
        more = f" and {len(unsaved) - _MOST_NAMED} more" if len(unsaved) > _MOST_NAMED else ""
        raise DataError(
            f"{', '.join(unsaved[:_MOST_NAMED])}{more}: here, but not the bytes of the pointer, as "
            "after a run with other seeds; delete or move what you do not need, or name what you "
            "want (python workflow/scripts/pointers.py pull FILE); nothing was pulled"
        )


def drop(root: str | os.PathLike[str], files: Sequence[str]) -> None:
    """Remove files from the pointers of a project; one that no pointer names is a `DataError`.

    The files themselves stay, here and in the remote.
    """
    root = Path(root)
    paths = dict.fromkeys(pointer.path for pointer in find_pointers(_places(root)))
    unnamed = drop_outputs(paths, [root / file for file in files])
    if unnamed:
        raise DataError(f"{unnamed[0].relative_to(root)}: no pointer of this project names it")


def pull(root: str | os.PathLike[str], targets: Sequence[str] = ()) -> tuple[int, list[Pointer]]:
    """Pull the files that the pointers name, verify their digests, and align their times.

    Targets are pointers or files of the project; by default all that its remote has. Returns the
    number of files that match their pointers, and the pointers of requested files that are missing.

    A `DataError`: a pointer is damaged or leads out of the project, or a pull would replace a
    different file that the cache lacks (then nothing was changed); the remote does not exist, DVC
    failed, a target is not available, or files arrived damaged; all of these are named, and their
    copies in the cache are deleted. Files of the project are never deleted.
    """
    root = Path(root)
    pointers = list(find_pointers(_places(root)))
    asked = {root / target for target in targets}
    unknown = asked - {path for p in pointers for path in (p.path, p.target)}
    if unknown:
        raise DataError(f"{min(unknown)}: no pointer of this project names it")
    # By name: what else lies here as a pointer is not read by DVC.
    every = dict.fromkeys(str(pointer.path.relative_to(root)) for pointer in pointers)
    chosen = [p for p in pointers if not asked or {p.path, p.target} & asked]
    if every:
        _refuse_unsaved(root, chosen)
        check_remote(root)
        dvc(root, "fetch", *(targets or every))
    states = {pointer: pointer.bring(root / CACHE) for pointer in chosen}
    align_times(p.target for p in pointers if (states.get(p) or p.state()) == "same")
    damaged = [pointer for pointer, state in states.items() if state == "damaged"]
    if damaged:
        names = (f"{p.target.relative_to(root)} ({p.object_name})" for p in damaged)
        raise DataError(
            f"{', '.join(names)}: came damaged from the DVC cache or remote and was removed; pull "
            "again; if it stays so, remove it in the remote and share it again from where it is "
            "whole"
        )
    absent = [pointer for pointer, state in states.items() if state == "absent"]
    if asked and absent:
        raise DataError(f"{absent[0].target.relative_to(root)}: not in the remote")
    return len(chosen) - len(absent), absent
