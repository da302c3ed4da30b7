"""What the data sets are: titles, licences, sizes, and how each cohort came about."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from deepcac.errors import DataError
from deepcac.report.ledger import class_shares
from deepcac.report.records import Run, Runs
from deepcac.sources.registry import DataSet, Source, load_registry
from deepcac.storage import read_json


@dataclass(frozen=True)
class CohortStep:
    """One step of a cohort's flow and the rows that are left after it."""

    step: str
    rows: int


@dataclass(frozen=True)
class DataSetNote:
    """One data set as the report shows it.

    Attributes
    ----------
    source, entry : Source, DataSet
        From the registry.
    rows, features, missing, shares : str
        From its sound run; empty before one is made.
    cohort : tuple of CohortStep
        Empty where no flow was written.
    """

    source: Source
    entry: DataSet
    rows: str = ""
    features: str = ""
    missing: str = ""
    shares: str = ""
    cohort: tuple[CohortStep, ...] = ()


def data_sets(registry: Path, runs: Runs, tidy: Path | None = None) -> list[DataSetNote]:
    """Read the registry and add what runs and cohort files say.

    Parameters
    ----------
    registry : Path
        Folder of one YAML a source.
    runs : Runs
        For rows, features and class shares.
    tidy : Path, optional
        Folder that holds ``{source}/cohort_{dataset}.json``.

    Raises
    ------
    ConfigError
        A registry file is not valid.
    """
    sources = load_registry(registry).sources.values()
    found = [
        _note(source, entry, runs, tidy) for source in sources for entry in source.datasets.values()
    ]
    return sorted(found, key=lambda note: note.entry.id)


def _note(source: Source, entry: DataSet, runs: Runs, tidy: Path | None) -> DataSetNote:
    own = runs.where(protocol="sound", dataset=entry.id)
    record = own[0].record if own else {}
    return DataSetNote(
        source=source,
        entry=entry,
        rows=_count(record.get("n_rows")),
        features=_count(record.get("n_features")),
        missing=_percent(record.get("missing")),
        shares=_shares(own),
        cohort=_cohort(tidy / source.id / f"cohort_{entry.id}.json") if tidy else (),
    )


def _count(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else ""


def _percent(share: object) -> str:
    return f"{100 * share:.1f} %" if isinstance(share, float) else ""


def _shares(runs: Iterable[Run]) -> str:
    for run in runs:
        shares = class_shares(run) if run.splits else []
        if shares:
            return " : ".join(f"{100 * share:.1f} %" for share in shares)
    return ""


def _cohort(file: Path) -> tuple[CohortStep, ...]:
    """Read a cohort flow: the rows that are left after each step."""
    if not file.exists():
        return ()
    try:
        steps = read_json(file)["flow"]
        return tuple(CohortStep(str(step["step"]), int(step["rows"])) for step in steps)
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{file}: no cohort flow ({error!r}); build the features again") from error
