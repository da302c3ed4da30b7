"""What the data sets are: titles, licences, sizes, and how each cohort came about."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from deepcac.errors import ConfigError
from deepcac.report.ledger import class_shares
from deepcac.report.records import Run, Runs


@dataclass(frozen=True)
class CohortStep:
    """One step of a cohort's flow and the rows that are left after it."""

    step: str
    rows: int


@dataclass(frozen=True)
class DataSet:
    """One data set as the report shows it.

    Attributes
    ----------
    id, source, title, label, note : str
        From the registry.
    licence, citation, homepage : str
        Of the source.
    restricted : bool
        Whether access must be asked for.
    rows, features, shares : str
        From its sound run; empty before one is made.
    cohort : tuple of CohortStep
        Empty where no flow was written.
    """

    id: str
    source: str
    title: str
    label: str
    note: str
    licence: str
    citation: str
    homepage: str
    restricted: bool
    rows: str = ""
    features: str = ""
    shares: str = ""
    cohort: tuple[CohortStep, ...] = field(default=())


def data_sets(registry: Path, runs: Runs, tidy: Path | None = None) -> list[DataSet]:
    """Read the registry and add what runs and cohort files say.

    Parameters
    ----------
    registry : Path
        Folder of one YAML a source; may be absent.
    runs : Runs
        For rows, features and class shares.
    tidy : Path, optional
        Folder that holds ``{source}/cohort_{dataset}.json``.

    Raises
    ------
    ConfigError
        A registry file is not a mapping.
    """
    found = []
    for file in sorted(registry.glob("*.yaml")) if registry.is_dir() else ():
        source = yaml.safe_load(file.read_text(encoding="utf-8"))
        if not isinstance(source, dict):
            raise ConfigError(f"{file}: holds no mapping; see config/README.md")
        for name, entry in (source.get("datasets") or {}).items():
            found.append(_data_set(file.stem, source, name, entry or {}, runs, tidy))
    return sorted(found, key=lambda item: item.id)


def _data_set(
    source: str,
    about: dict[str, Any],
    name: str,
    entry: dict[str, Any],
    runs: Runs,
    tidy: Path | None,
) -> DataSet:
    own = runs.where(protocol="sound", dataset=name)
    record = own[0].record if own else {}
    return DataSet(
        id=name,
        source=source,
        title=str(entry.get("title") or about.get("title") or name),
        label=str(entry.get("label") or ""),
        note=str(entry.get("note") or ""),
        licence=str(about.get("licence") or ""),
        citation=str(about.get("citation") or ""),
        homepage=_web_address(about.get("homepage")),
        restricted=bool(about.get("restricted")),
        rows=_count(record.get("n_rows")),
        features=_count(record.get("n_features")),
        shares=_shares(own),
        cohort=_cohort(tidy / source / f"cohort_{name}.json") if tidy else (),
    )


def _web_address(value: object) -> str:
    """Return a link only if it is one: a registry file is not to place script links."""
    text = str(value or "")
    return text if text.startswith(("https://", "http://")) else ""


def _count(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else ""


def _shares(runs: Iterable[Run]) -> str:
    for run in runs:
        shares = class_shares(run) if run.splits else []
        if shares:
            return " : ".join(f"{100 * share:.1f} %" for share in shares)
    return ""


def _cohort(file: Path) -> tuple[CohortStep, ...]:
    if not file.exists():
        return ()
    steps = json.loads(file.read_text(encoding="utf-8"))
    return tuple(CohortStep(str(step["step"]), int(step["rows"])) for step in steps["steps"])
