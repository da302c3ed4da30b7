"""Building of the whole report: pages, tables, figures, ledger and claims."""

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
    """Files of a finished workflow besides the records; all are optional.

    Attributes
    ----------
    cohorts, features : Path
        Folders of cohort flows, and of sound features for the pages of subtypes.
    truth : iterable of path-like
        Files of planted subtypes of generated cohorts.
    inputs
        As in `deepcac_study.records.runs.load`.
    """

    cohorts: Path | None = None
    features: Path | None = None
    truth: Iterable[str | os.PathLike[str]] = ()
    inputs: Mapping[str, Mapping[str, Any]] | None = None


@dataclass(frozen=True)
class ShippedRecords:
    """Shipped records, and the shipped tables that replace their score files.

    Attributes
    ----------
    tables : Path
        Folder of the shipped tables, with curves, bootstrap intervals and pages of subtypes of
        shipped runs, which have no score files.
    unscored
        As in `deepcac_study.records.runs.load`.
    made_from : str
        Origin of the records, if they are not from runs here.
    """

    tables: Path | None = None
    unscored: Collection[str] = ()
    made_from: str = ""

    @property
    def fallback(self) -> Path | None:
        """The folder of tables for runs without score files."""
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
    """Write the whole report from finished work; nothing is fitted.

    Parameters
    ----------
    paths : iterable of path-like
        Records and tables below ``results``, in any order (`deepcac_study.records.reader.by_kind`).
        Score files are read from next to the records. Any subset gives a valid report.
    registry_dir : path-like
    out_dir : path-like
        Receives ``index.html``, ``pages/``, ``ledger.csv``, ``claims.csv``, ``summary.csv``,
        ``tables/`` and ``figures/``.
    data : BesideRecords
    shipped : ShippedRecords
    resamples, threads : int
        Resamples of the bootstrap; processes that draw figures.

    Raises
    ------
    DataError
        A record or score file is damaged, or does not fit its path or its inputs.
    """
    registry, root, files = Path(registry_dir), Path(out_dir).absolute().parents[1], list(paths)
    findings = read(
        files, root, inputs=data.inputs, references=printed_clusters(), unscored=shipped.unscored
    )
    files_by_kind = by_kind(files)
    tables = shipped.fallback
    judgement = load_judgement(files_by_kind[JUDGED])
    clinical = load_clinical(files_by_kind["clinical"], tables)
    uses = data_use(
        findings,
        judgement.rows["dataset"] if judgement else (),
        map(read_json, files_by_kind[TABLES]),
        clinical.tasks if clinical else None,
    )
    bootstraps = Bootstraps(resamples, shipped_bootstraps(tables) if tables else {})
    material = Material(
        **vars(findings),
        judgement=judgement,
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
    """Return the pages of subtypes of the runs here, else the shipped ones."""
    pages = list(subtype_pages(material.runs, registry, material.features_dir))
    return pages or (list(shipped_pages(shipped)) if shipped else [])


def _write(
    material: Material,
    subtypes: Sequence[SubtypePage],
    out: Path,
    bootstraps: Bootstraps,
    threads: int,
) -> None:
    """Decide every printed cell and claim, and write all pages, tables and figures."""
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
