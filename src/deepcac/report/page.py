"""The report: one page that stands on its own, tables, figures, ledger and claims."""

import base64
import os
import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from deepcac.report import claims as claim_book
from deepcac.report import figures as drawing
from deepcac.report import ledger as book
from deepcac.report import tables as tabular
from deepcac.report.case_study import load_case_studies
from deepcac.report.casetables import case_figures, case_tables
from deepcac.report.comparisons import (
    METRICS,
    Bootstraps,
    Difference,
    clustering_effects,
    switch_effects,
)
from deepcac.report.curves import curve_figures
from deepcac.report.data import data_table, source_notes
from deepcac.report.effecttables import (
    collapse_table,
    effects_table,
    readings,
    switches_table,
)
from deepcac.report.figures import Figure
from deepcac.report.histories import history_figures
from deepcac.report.ledger import Entry
from deepcac.report.overview import effect_forest, printed_against_ours
from deepcac.report.papertables import paper_tables
from deepcac.report.printed import printed_cells
from deepcac.report.profiles import load_profiles, missingness_figures
from deepcac.report.records import Runs, load
from deepcac.report.runtables import clusters_table, runs_table, tally, times_table
from deepcac.report.schematics import schematic_figures
from deepcac.report.sweeps import load_sweeps, sweep_figures
from deepcac.report.tables import Table
from deepcac.report.theory import load_theory, theory_tables
from deepcac.storage import atomic_path


@dataclass(frozen=True)
class Drawn:
    """A figure and its picture as an address that needs no file."""

    figure: Figure
    address: str


def build(
    run_paths: Iterable[str | os.PathLike[str]],
    registry_dir: str | os.PathLike[str],
    out_dir: str | os.PathLike[str],
    *,
    tidy_dir: str | os.PathLike[str] | None = None,
    profile_paths: Iterable[str | os.PathLike[str]] = (),
    sweep_paths: Iterable[str | os.PathLike[str]] = (),
    case_paths: Iterable[str | os.PathLike[str]] = (),
    theory_paths: Iterable[str | os.PathLike[str]] = (),
    resamples: int = 400,
) -> None:
    """Make the whole report from finished runs; nothing is fitted.

    Parameters
    ----------
    run_paths : iterable of path-like
        Run records; score files are looked for beside them. Any subset gives a valid report.
    registry_dir : path-like
        Folder of the data set registry, one YAML a source.
    out_dir : path-like
        Gets ``index.html``, ``ledger.csv``, ``claims.csv``, ``tables/`` and ``figures/``.
    tidy_dir : path-like, optional
        Folder of tidy data, for the cohort flows.
    profile_paths : iterable of path-like, optional
        Profiles of the feature files (`deepcac.features.profile`).
    sweep_paths : iterable of path-like, optional
        Tables of `deepcac.evaluation.sweeps`, for the papers' curves.
    case_paths : iterable of path-like, optional
        Records of `deepcac.evaluation.case_study`.
    theory_paths : iterable of path-like, optional
        Records of `deepcac.evaluation.theory`.
    resamples : int, optional
        Bootstrap resamples.

    Raises
    ------
    DataError
        A run record or score file is damaged.
    """
    out = Path(out_dir)
    runs = load(run_paths, out.absolute().parents[1])
    real = Runs(tuple(run for run in runs if not run.synthetic))
    studies = load_case_studies(case_paths, out.absolute().parents[1])
    described = [study for study in studies if not study.synthetic]
    generated = [study for study in studies if study.synthetic]
    ledger = book.entries(printed_cells(), real, described)
    book.write(out / "ledger.csv", ledger)
    sweeps = load_sweeps(sweep_paths)
    profiles = load_profiles(profile_paths)
    sources = source_notes(Path(registry_dir), profiles, Path(tidy_dir) if tidy_dir else None)
    theory = load_theory(theory_paths, out.absolute().parents[1])
    proved = [record for record in theory if not record.synthetic]
    decided = claim_book.claims(real, ledger, sweeps, described, proved)
    claim_book.write(out / "claims.csv", decided)
    effects = clustering_effects(real, Bootstraps(resamples))
    tables = _tables(runs, real, ledger, effects) | {"data": [data_table(sources)]}
    tables["subtypes"] += case_tables(described, ledger)
    tables["synthetic"] += case_tables(generated, (), "synthetic_case")
    tables["theory"] = theory_tables(proved)
    tables["synthetic"] += theory_tables([r for r in theory if r.synthetic], "synthetic_theory")
    for table in (table for group in tables.values() for table in group):
        tabular.write(table, out / "tables")
    overview = (printed_against_ours(ledger), effect_forest(effects))
    figures = [
        *overview,
        *schematic_figures(),
        *curve_figures(runs),
        *history_figures(runs),
        *sweep_figures(sweeps),
        *missingness_figures(profiles),
        *case_figures(studies),
    ]
    drawn = _draw([figure for figure in figures if figure], out)
    page = (
        _environment()
        .get_template("index.html")
        .render(
            runs=runs,
            n_real=len(real),
            tally=tally(real),
            ledger=ledger,
            ledger_counts=book.counts([row for row in ledger if row.kind != "log"]),
            claims=decided,
            readings=readings(effects),
            claim_counts=claim_book.counts(decided),
            tables=tables,
            figures=drawn,
            sources=sources,
        )
    )
    with atomic_path(out / "index.html") as partial:
        partial.write_text(page, encoding="utf-8")


def _tables(
    runs: Runs, real: Runs, ledger: Sequence[Entry], effects: Sequence[Difference]
) -> dict[str, list[Table]]:
    """Return every table by the section that shows it."""
    return {
        "papers": paper_tables(ledger),
        "clustering": [*(effects_table(effects, m) for m in METRICS), collapse_table(real)],
        "switches": [switches_table(switch_effects(real))],
        "runs": [runs_table(real, ledger), times_table(real)],
        "subtypes": [clusters_table(real)],
        "synthetic": _synthetic_tables(runs),
    }


def _synthetic_tables(runs: Runs) -> list[Table]:
    generated = [run for run in runs if run.synthetic]
    if not generated:
        return []
    return [
        runs_table(generated, (), "synthetic_runs"),
        clusters_table(generated, "synthetic_clusters"),
    ]


def _draw(figures: Sequence[Figure], out: Path) -> dict[str, list[Drawn]]:
    """Write every figure; return them by section, with the SVG as a data address."""
    drawn: dict[str, list[Drawn]] = {}
    (out / "figures").mkdir(parents=True, exist_ok=True)
    for figure in figures:
        svg = drawing.write(figure, out / "figures")
        coded = base64.b64encode(svg.encode()).decode()
        picture = Drawn(figure, f"data:image/svg+xml;base64,{coded}")
        drawn.setdefault(figure.section, []).append(picture)
    return drawn


def _environment() -> Environment:
    loader = PackageLoader("deepcac.report", "templates")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Style and script are files of this package; everything else on the page is escaped.
    for name in ("style.css", "page.js"):
        text, _, _ = loader.get_source(environment, name)
        environment.globals[name.partition(".")[0]] = Markup(text)
    environment.filters["tone"] = _tone
    environment.filters["from_page"] = _from_page
    return environment


def _from_page(path: str) -> str:
    """Return the way from the page to a run, both given from the project's folder."""
    return posixpath.relpath(path, "results/report")


def _tone(verdict: str) -> str:
    """Return the CSS class of a verdict."""
    if verdict in ("agree", "holds", "better"):
        return "good"
    if verdict in ("differ", "fails", "worse", "diverged", "timeout"):
        return "bad"
    return "mixed" if verdict == "partly" else "quiet"
