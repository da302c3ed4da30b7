"""Shipped records that stand for their runs, so that the workflow makes only what is missing."""

import atexit
import os
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path

from deepcac.errors import DataError
from deepcac.files.storage import read_json
from deepcac_study.catalogue.record_kinds import JUDGE_KINDS
from deepcac_study.catalogue.run_paths import runs_among
from deepcac_study.jobs.named_code import modules_of_record, never_entered
from deepcac_study.records.commits import missing_history
from deepcac_study.records.record import file_digest, scores_path
from deepcac_study.records.record_archive import LAID, MANIFEST, ManifestRow, manifest
from deepcac_study.sourcecode import unchanged_since

_MOST_NAMED = 10
# What made a record, by the beginning of its path; the first that fits counts.
_MAKERS = {
    **{kind.place: kind.maker for kind in JUDGE_KINDS},
    "judge/": "judge.trial_files",
    "theory/": "experiments.theory.theorems",
    "skmeans/": "experiments.relatives",
    "bias_variance/": "experiments.relatives.decomposition_runs",
    "decomposition/": "experiments.relatives.decomposition_runs",
    "as_published/decomposition/": "experiments.relatives.decomposition_runs",
    "case_study/": "experiments.case_study",
    "": "experiments.run",
}


class LaidRecords:
    """The shipped records in a folder of results, and which of them stand for their runs.

    Parameters
    ----------
    archive : path-like
        Folder of the shipped records.
    results : path-like
        Folder ``results`` of the run.
    which : str
        Which stand: ``none``; ``all``; or ``unchanged``, those whose code is as it was when they
        were made. One that is not among the results, or is another by now, never does.

    Raises
    ------
    DataError
        The archive is damaged.
    """

    def __init__(
        self, archive: str | os.PathLike[str], results: str | os.PathLike[str], which: str
    ) -> None:
        self._results, self._which = Path(results), which
        # An image of the workflow has no archive, and needs none.
        ships = which != "none" or (Path(archive) / MANIFEST).exists()
        self._rows = {f"results/{row.path}": row for row in manifest(archive)} if ships else {}

    @cached_property
    def _laid(self) -> frozenset[str]:
        """The paths of those that lie among the results as they shipped."""
        return frozenset(name for name, row in self._rows.items() if self._is_laid(row))

    @cached_property
    def standing(self) -> frozenset[str]:
        """The paths of those that stand for their runs; they begin with ``results/``."""
        if self._which in ("none", "all"):
            return self._laid if self._which == "all" else frozenset()
        same = cache(unchanged_since)  # a few commits made a thousand records
        rows = ((name, self._rows[name]) for name in self._laid)
        return frozenset(
            name
            for name, row in rows
            if same(
                row.commit,
                f"deepcac_study.{_maker(row.path)}",
                *modules_of_record(row.path),
                without=never_entered(row.path),
            )
        )

    @property
    def why(self) -> str:
        """One line on how many stand, and why others do not; empty for ``none``."""
        if self._which == "none":
            return ""
        summary = (
            f"shipped={self._which}: {len(self.standing)} of {len(self._rows)} shipped records"
        )
        absent, other = len(self._rows) - len(self._laid), len(self._laid - self.standing)
        parts = [f"{summary} stand for their runs"]
        if absent:
            parts.append(f"{absent} do not lie in {self._results}/ as they shipped (`make lay`)")
        if other:
            parts.append(f"{other} {missing_history() or 'were made by other code'}")
        return "; ".join(parts)

    def check(
        self, targets: Collection[str], forced: Collection[str], planned: Collection[str] = ()
    ) -> None:
        """Refuse records that must not be served: edited ones, and targets that other code made.

        Snakemake takes any file that is there for what its rule made. Looked at are all records in
        the places of shipped ones, those that are asked for by name, and those that are `planned`.
        A `DataError` names them; what is `forced` is made again, and passes.
        """
        named = {name for name in targets if name.startswith("results/") and name.endswith(".json")}
        edited = sorted(
            name
            for name in {*self._rows, *named, *planned} - self._laid - set(forced)
            if self._is_edited(name)
        )
        if edited:
            more = f" and {len(edited) - _MOST_NAMED} more" if len(edited) > _MOST_NAMED else ""
            raise DataError(
                f"{', '.join(edited[:_MOST_NAMED])}{more}: edited or damaged since it was made, or "
                "as an earlier release shipped it; delete it, and it is made again (or copied "
                "again by `make lay`)"
            )
        if self._which == "unchanged":
            stale = sorted((self._laid & named) - self.standing - set(forced))
            if stale:
                raise DataError(
                    f"{', '.join(stale)}: a shipped record that does not stand for its run (it "
                    f"{missing_history() or 'was made by other code'}); delete it, and the run is "
                    "made, or take it with shipped=all"
                )

    def renew(self, targets: Iterable[str]) -> None:
        """Give those that stand and are asked for by name the present time, until this call ends.

        Laid records have the time `LAID`, before all code, so that Snakemake makes again what does
        not stand. No other job asks for those that do.
        """
        named = self.standing.intersection(targets)
        now = time.time_ns()  # one for all: no input is newer than what is made from it
        for name in named:
            path = (self._results.parent / name).absolute()
            if path.stat().st_mtime <= LAID:
                os.utime(path, ns=(now, now))
                atexit.register(_age, path, path.stat().st_mtime_ns)

    def _is_laid(self, row: ManifestRow) -> bool:
        path = self._results / row.path
        return path.exists() and file_digest(path) == row.sha256

    def _is_edited(self, name: str) -> bool:
        """Say whether a file is no whole record, or a shipped one that is another by now."""
        path = self._results.parent / name
        if not path.exists():
            return False
        try:
            read_json(path)
        except DataError:
            return True
        # A run writes its scores beside its record; those of shipped ones do not ship.
        run = name in self._rows and any(runs_among([name]))
        return run and not scores_path(path).exists()


def _age(path: Path, renewed: int) -> None:
    """Give a laid record its own time again, unless it was made anew since."""
    with suppress(OSError):
        if path.stat().st_mtime_ns == renewed:
            os.utime(path, (LAID, LAID))


def _maker(path: str) -> str:
    return next(module for start, module in _MAKERS.items() if path.startswith(start))
