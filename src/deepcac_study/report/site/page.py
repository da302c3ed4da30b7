"""The report: a small first page, pages beside it, tables, figures, ledger and claims."""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from deepcac.files.csv_files import write_frame
from deepcac.files.storage import read_json
from deepcac.pages import tables as tabular
from deepcac.pages.figures import drawn
from deepcac_study.judge.study_files import TABLES
from deepcac_study.papers.claims import Claim, claims
from deepcac_study.papers.deepcac.length_of_stay import printed_clusters
from deepcac_study.papers.entry import Entry
from deepcac_study.papers.ledger import entries, write_rows
from deepcac_study.papers.summary import Count
from deepcac_study.records.reader import JUDGED, by_kind, read
from deepcac_study.report.data.planted_truth import planted_against_found
from deepcac_study.report.data.source_notes import data_use, source_notes
from deepcac_study.report.judge.clinical_forest import load_clinical
from deepcac_study.report.judge.judgement import load_judgement
from deepcac_study.report.runs.comparisons import Bootstraps
from deepcac_study.report.runs.curves import (
    BOOTSTRAPS,
    bootstrap_table,
    from_scores,
    shipped_bootstraps,
    shipped_curves,
)
from deepcac_study.report.site.contents import contents
from deepcac_study.report.site.material import Material
from deepcac_study.report.site.site import write_site
from deepcac_study.report.subtypes.shipped_subtypes import shipped_pages
from deepcac_study.report.subtypes.subtypepages import SubtypePage, subtype_pages


@dataclass(frozen=True)
class BesideRecords:
    """What lies beside the records of a finished workflow, as far as it is there.

    Attributes
    ----------
    cohorts, features : Path
        Cohort flows; sound features, for the pages of subtypes.
    truth : iterable of path-like
        Planted subtypes of generated cohorts.
    inputs
        As in `deepcac_study.records.runs.load`.
    """

    cohorts: Path | None = None
    features: Path | None = None
    truth: Iterable[str | os.PathLike[str]] = ()
    inputs: Mapping[str, Mapping[str, Any]] | None = None


@dataclass(frozen=True)
class ShippedRecords:
    """Which records ship with the project, and what stands for their score files.

    Attributes
    ----------
    tables : Path
        Folder of the tables that ship with the project: shipped records of runs, which have no
        score files, have their curves, bootstrap intervals and pages of subtypes.
    unscored
        As in `deepcac_study.records.runs.load`.
    made_from : str
        Where the records come from, if not from runs here.
    """

    tables: Path | None = None
    unscored: Collection[str] = ()
    made_from: str = ""

    @property
    def fallback(self) -> Path | None:
        """The folder of tables where runs have no score files."""
        return self.tables if self.unscored else None


def build(
    paths: Iterable[str | os.PathLike[str]],
    registry_dir: str | os.PathLike[str],
    out_dir: str | os.PathLike[str],
    *,
    data: BesideRecords = BesideRecords(),
    shipped: ShippedRecords = ShippedRecords(),
    resamples: int = 100,
    threads: int = 1,
) -> None:
    """Make the whole report from finished work; nothing is fitted.

    Parameters
    ----------
    paths : iterable of path-like
        Records and tables below ``results``, in any order (`deepcac_study.records.reader.by_kind`).
        Score files are looked for beside the runs. Any subset gives a valid report.
    registry_dir : path-like
    out_dir : path-like
        Gets ``index.html``, ``pages/``, ``ledger.csv``, ``claims.csv``, ``summary.csv``,
        ``tables/`` and ``figures/``.
    data : BesideRecords
    shipped : ShippedRecords
    resamples, threads : int
        Of the bootstrap; processes that draw.

    Raises
    ------
    DataError
        A record or score file is damaged, is not of its place or of its inputs.
    """
    registry, root, files = Path(registry_dir), Path(out_dir).absolute().parents[1], list(paths)
    findings = read(
        files, root, inputs=data.inputs, references=printed_clusters(), unscored=shipped.unscored
    )
    files_by_kind = by_kind(files)
    tables = shipped.fallback
    judged = load_judgement(files_by_kind[JUDGED])
    clinical = load_clinical(files_by_kind["clinical"])
    uses = data_use(
        findings,
        judged.rows["dataset"] if judged else (),
        map(read_json, files_by_kind[TABLES]),
        clinical.tasks if clinical else None,
    )
    bootstraps = Bootstraps(resamples, shipped_bootstraps(tables) if tables else {})
    material = Material(
        **vars(findings),
        judged=judged,
        clinical=clinical,
        sources=source_notes(registry, data.cohorts, uses),
        planted=planted_against_found(findings.runs, registry, data.truth),
        features_dir=data.features,
        made_from=shipped.made_from,
        curves=shipped_curves(tables) if tables else from_scores,
    )
    _write(material, _subtypes(material, registry, tables), Path(out_dir), bootstraps, threads)


def _subtypes(
    material: Material, registry: Path, shipped: str | os.PathLike[str] | None
) -> list[SubtypePage]:
    """Return the pages of subtypes: of the runs here, else those that ship."""
    pages = list(subtype_pages(material.runs, registry, material.features_dir))
    return pages or (list(shipped_pages(shipped)) if shipped else [])


def _write(
    material: Material,
    subtypes: Sequence[SubtypePage],
    out: Path,
    bootstraps: Bootstraps,
    threads: int,
) -> None:
    """Write everything that is shown; every printed cell and claim is decided here."""
    ledger = entries(material)
    decided = claims(material, ledger)
    write_rows(out / "ledger.csv", Entry, ledger)
    write_rows(out / "claims.csv", Claim, decided)
    shown = contents(material, ledger, decided, bootstraps)
    write_rows(out / "summary.csv", Count, shown.counts)
    write_frame(out / "tables" / f"{BOOTSTRAPS}.csv", bootstrap_table(shown.effects))
    subtype_tables = chain.from_iterable(page.tables for page in subtypes)
    pictures = (page.figure for page in subtypes if page.figure)
    with drawn([*shown.all_figures, *pictures], out / "figures", threads):
        for table in chain(chain.from_iterable(shown.tables.values()), subtype_tables):
            tabular.write(table, out / "tables")
        write_site(shown, subtypes, out)
