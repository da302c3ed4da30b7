"""Shipped records used in place of their runs, so that the workflow makes only missing ones."""

import os
from collections.abc import Collection
from functools import cached_property
from pathlib import Path

from deepcac.errors import DataError
from deepcac.files.storage import read_json
from deepcac_study.catalogue.run_paths import runs_among
from deepcac_study.records.record import file_digest, scores_path
from deepcac_study.records.record_archive import MANIFEST, ManifestRow, manifest

_MOST_NAMED = 10


class LaidRecords:
    """The shipped records in a folder of results, and which of them replace their runs.

    Parameters
    ----------
    archive : path-like
        Folder of the shipped records.
    results : path-like
        Folder ``results`` of the run.
    which : str
        Which ones replace their runs: ``none`` or ``all``, if they are unchanged in the results.

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
        """Paths of the shipped records that are unchanged in the results."""
        return frozenset(name for name, row in self._rows.items() if self._is_laid(row))

    @cached_property
    def standing(self) -> frozenset[str]:
        """Paths, beginning with ``results/``, of the records that replace their runs."""
        return self._laid if self._which == "all" else frozenset()

    @property
    def why(self) -> str:
        """One line on how many records replace runs, and why not all; empty for ``none``."""
        if self._which == "none":
            return ""
        summary = (
            f"shipped={self._which}: {len(self.standing)} of {len(self._rows)} shipped records"
        )
        absent = len(self._rows) - len(self._laid)
        parts = [f"{summary} stand for their runs"]
        if absent:
            parts.append(f"{absent} do not lie in {self._results}/ as they shipped (`make lay`)")
        return "; ".join(parts)

    def check(self, planned: Collection[str]) -> None:
        """Raise `DataError` for edited records, which Snakemake would take for its rules' output.

        Checked are all records in the places of shipped ones, and those that are `planned`.
        """
        candidates = sorted({*self._rows, *planned} - self._laid)
        edited = [name for name in candidates if self._is_edited(name)]
        if edited:
            more = f" and {len(edited) - _MOST_NAMED} more" if len(edited) > _MOST_NAMED else ""
            raise DataError(
                f"{', '.join(edited[:_MOST_NAMED])}{more}: edited or damaged since it was made, or "
                "as an earlier release shipped it; delete it, and it is made again (or copied "
                "again by `make lay`)"
            )

    def _is_laid(self, row: ManifestRow) -> bool:
        path = self._results / row.path
        return path.exists() and file_digest(path) == row.sha256

    def _is_edited(self, name: str) -> bool:
        """Return whether a file is a damaged record, or differs from the shipped one."""
        path = self._results.parent / name
        if not path.exists():
            return False
        try:
            read_json(path)
        except DataError:
            return True
        # A run writes its scores next to its record; those of shipped ones do not ship.
        run = name in self._rows and any(runs_among([name]))
        return run and not scores_path(path).exists()
