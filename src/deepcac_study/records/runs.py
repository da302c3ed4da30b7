"""Records of runs, found by protocol, data set, method and k."""

import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deepcac.errors import DataError
from deepcac.files.storage import read_table
from deepcac_study.catalogue.protocol import Protocol, named_protocols
from deepcac_study.catalogue.run_paths import runs_among
from deepcac_study.records.record import file_digest, read_record, scores_path
from deepcac_study.records.stored import Stored


@dataclass(frozen=True)
class Run(Stored):
    """One run record."""

    file: Path  # where it was read
    with_scores: bool = True  # whether its score file is looked for; shipped records have none

    @property
    def method(self) -> str:
        """Id of the method."""
        return str(self.record["method"])

    @property
    def k(self) -> int:
        """Number of clusters asked for."""
        return int(self.record["k"])

    @property
    def status(self) -> str:
        """``ok``, ``diverged`` or ``timeout``."""
        return str(self.record["status"])

    @property
    def synthetic(self) -> bool:
        """Whether the data were generated."""
        return bool(self.record.get("synthetic")) or self.dataset.startswith("demo_")

    @property
    def splits(self) -> list[dict[str, Any]]:
        """An entry for each split or seed."""
        return list(self.record["splits"])

    @property
    def scores_file(self) -> Path:
        """Path of the per-row test scores."""
        return scores_path(self.file)

    def scores(self, columns: Sequence[str]) -> pa.Table | None:
        """Read columns of the per-row test scores; None if the record has none.

        Raises
        ------
        DataError
            The file is missing, damaged or differs from the one written with the record.
        """
        if not self.with_scores:
            return None
        promised = self.record.get("scores")
        there = self.scores_file.exists()
        if promised is None and not there:
            return None
        if not there or file_digest(self.scores_file) != promised:
            state = "not the scores of its record" if there else "missing"
            raise DataError(f"{self.scores_file}: {state}; delete both and run it again")
        return read_table(self.scores_file, list(columns))

    @cached_property
    def metrics(self) -> list[str]:
        """Names of the metrics that every split has a value for."""
        first = self.splits[0]["metrics"] if self.splits else {}
        return [name for name in first if not np.isnan(self.per_split(name)).any()]

    def per_split(self, metric: str) -> npt.NDArray[np.float64]:
        """Return one value per split, NaN where there is none; empty without splits."""
        values = [split["metrics"].get(metric) for split in self.splits]
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

    def score(self, metric: str) -> tuple[float, float] | None:
        """Return mean and sample sd over the splits (sd 0 for one split), or None."""
        values = self.per_split(metric)
        if not len(values) or np.isnan(values).any():
            return None
        return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else 0.0

    @property
    def class_shares(self) -> list[float]:
        """The share of each class among the training and test rows of the first split."""
        clusters = (self.splits[0].get("clusters") or {}) if self.splits else {}
        sizes = [*clusters.get("sizes_train", []), *clusters.get("sizes_test", [])]
        if not sizes:
            return []
        counts = np.sum(sizes, axis=0)
        return [float(share) for share in counts / counts.sum()]

    @property
    def fold_scores(self) -> list[float]:
        """The cross-validated F1 of each split at its best alpha; empty if alpha was not tuned."""
        searched = [split.get("hyperparameters", {}).get("alpha_f1") for split in self.splits]
        return [max(by_alpha.values()) for by_alpha in searched] if all(searched) else []

    def reported(self, metric: str, paper: str) -> str:
        """Return the metric of this run that corresponds to a paper's number of this name.

        That is the mean over the classes for more than two classes, and for DeepCAC's scores
        with switch D1; else the score of the positive class.
        """
        macro = "D1" in self.record.get("switches", ())
        return reported(metric, paper, int(self.record.get("n_classes", 2)), macro=macro)


def reported(metric: str, paper: str, n_classes: int, *, macro: bool) -> str:
    """Return the metric that corresponds to a paper's number of this name (`Run.reported`).

    `macro` is whether switch D1 is on.
    """
    several = n_classes > 2
    if metric in ("auroc", "auprc") and (several or (paper == "deepcac" and macro)):
        return f"{metric}_macro"
    return "f1_macro" if metric == "f1" and several else metric


@dataclass(frozen=True)
class Runs:
    """All runs of a report, in a fixed order."""

    items: tuple[Run, ...]  # sorted by protocol (sound first), data set, method and k
    _index: dict[tuple[str, str, str, int], Run] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for run in self.items:
            key = (run.protocol, run.dataset, run.method, run.k)
            if key in self._index:
                raise DataError(f"{run.path}: same run as {self._index[key].path}; remove one")
            self._index[key] = run

    def __iter__(self) -> Iterator[Run]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def find(self, protocol: str, dataset: str, method: str, k: int) -> Run | None:
        """Return one run, or None where it was not made."""
        return self._index.get((protocol, dataset, method, k))

    def where(self, **wanted: object) -> list[Run]:
        """Return the runs whose attributes (protocol, dataset, method, k, ...) equal `wanted`."""
        return [
            run
            for run in self.items
            if all(getattr(run, name) == value for name, value in wanted.items())
        ]


def load(
    paths: Iterable[str | os.PathLike[str]],
    root: str | os.PathLike[str],
    inputs: Mapping[str, Mapping[str, Any]] | None = None,
    unscored: Container[str] = (),
) -> Runs:
    """Read run records, given in any order; their paths are displayed relative to `root`.

    Parameters
    ----------
    inputs : mapping, optional
        The inputs that each record must have been made from, ``features`` and ``splits``, by its
        path. Inputs that do not exist are not compared.
    unscored : container of str
        Paths of shipped records, which have no score files.

    Raises
    ------
    DataError
        A file is no valid run record, is at the wrong path or was made from other inputs; or two
        are of the same run.
    """
    runs = [
        _read(Path(path), Path(root), path not in unscored)
        for path in sorted({str(path) for path in paths})
    ]
    digest = cache(file_digest)
    for run in runs:
        _check_inputs(run, (inputs or {}).get(str(run.file), {}), digest)
    runs.sort(
        key=lambda run: (run.protocol != "sound", run.protocol, run.dataset, run.method, run.k)
    )
    return Runs(tuple(runs))


def _read(file: Path, root: Path, with_scores: bool) -> Run:
    """Read a run; DataError if the file lies at the place of another run."""
    place = Path(os.path.relpath(file, root)).as_posix()
    run = Run(place, read_record(file), file, with_scores)
    ends = ("/".join(("results", *file.absolute().parts[-n:])) for n in (4, 3, 2))
    parts = next(runs_among(ends), None)
    asked = parts and (parts["dataset"], parts["method"], int(parts["k"]))
    if (
        not parts
        or asked != (run.dataset, run.method, run.k)
        or not _follows(run, parts["variant"])
    ):
        about = f"{run.method}, k = {run.k}, {run.protocol}, on {run.dataset}"
        raise DataError(f"{run.path}: is the record of {about!r}; delete it and run it again")
    return run


def _follows(run: Run, folder: str) -> bool:
    """Return whether a record fits a folder's protocol, or an older version of a named one."""
    asked, recorded = Protocol.from_folder(folder), Protocol(frozenset(run.record["switches"]))
    since = asked.name in named_protocols() and recorded.labels < asked.labels
    return run.protocol == asked.name and (recorded == asked or since)


def _check_inputs(run: Run, inputs: Mapping[str, Any], digest: Callable[[str], str]) -> None:
    """Raise DataError if features or splits here have another digest."""
    for name in ("features", "splits"):
        path = inputs.get(name)
        if path and Path(path).exists() and digest(path) != run.record["inputs"][name]:
            raise DataError(
                f"{run.path}: made from other {name} than {path}; delete it and run it again"
            )
