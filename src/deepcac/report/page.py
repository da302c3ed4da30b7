"""The report: one page that needs no other file, tables, figures, ledger and claims."""

import base64
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from deepcac.atomic import atomic_path
from deepcac.experiments.finished import load
from deepcac.experiments.finished_clusterings import load_clusterings
from deepcac.experiments.finished_decompositions import (
    load_decompositions,
    load_resampled,
)
from deepcac.experiments.finished_studies import load_case_studies
from deepcac.experiments.finished_sweeps import load_sweeps
from deepcac.experiments.theorem_checks import load_theory
from deepcac.papers import claims as claim_book
from deepcac.papers import ledger as book
from deepcac.papers import summary as counting
from deepcac.papers.bibliography import PAPERS
from deepcac.papers.deepcac.length_of_stay import printed_clusters
from deepcac.papers.ledger import Entry
from deepcac.report import figures as drawing
from deepcac.report import tables as tabular
from deepcac.report.bounds_table import theory_tables
from deepcac.report.casetables import case_figures, case_tables
from deepcac.report.comparisons import (
    METRICS,
    Bootstraps,
    Difference,
    clustering_effects,
    switch_effects,
)
from deepcac.report.curves import curve_figures
from deepcac.report.decomposition_gains import decomposition_figures, gains_tables
from deepcac.report.effecttables import (
    answer_table,
    collapse_table,
    effects_table,
    switches_table,
)
from deepcac.report.figures import Figure
from deepcac.report.histories import history_figures
from deepcac.report.judgement import (
    judgement_figures,
    judgement_tables,
    load_judgement,
    sentence,
)
from deepcac.report.kchoice import choice_table
from deepcac.report.learnt_clusterings import learning_figures, learning_tables
from deepcac.report.material import Material, generated_only, real_only
from deepcac.report.overview import effect_forest, printed_against_ours
from deepcac.report.papertables import paper_tables
from deepcac.report.profiles import load_profiles, missingness_figures
from deepcac.report.rows_or_classes import rows_or_classes_tables
from deepcac.report.runtables import clusters_table, runs_table, tally, times_table
from deepcac.report.schematics import schematic_figures
from deepcac.report.source_notes import data_table, source_notes
from deepcac.report.sweep_curves import sweep_figures
from deepcac.report.tables import Table
from deepcac.report.templating import environment


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
    clustering_paths: Iterable[str | os.PathLike[str]] = (),
    decomposition_paths: Iterable[str | os.PathLike[str]] = (),
    judge_paths: Iterable[str | os.PathLike[str]] = (),
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
        Gets ``index.html``, ``ledger.csv``, ``claims.csv``, ``summary.csv``, ``tables/`` and
        ``figures/``.
    tidy_dir : path-like, optional
        Folder of tidy data, for the cohort flows.
    profile_paths : iterable of path-like, optional
        Profiles of the feature files (`deepcac.report.profiling`).
    sweep_paths : iterable of path-like, optional
        Tables of `deepcac.experiments.sweeps`, for the papers' curves.
    case_paths : iterable of path-like, optional
        Records of `deepcac.experiments.case_study`.
    theory_paths : iterable of path-like, optional
        Records of `deepcac.experiments.theorems`.
    clustering_paths : iterable of path-like, optional
        Records of supervised k-means (`deepcac.experiments.finished_clusterings`).
    decomposition_paths : iterable of path-like, optional
        Records of `deepcac.experiments.decomposition_runs` and `bias_variance_runs`.
    judge_paths : iterable of path-like, optional
        The two files of `deepcac.judge.verdicts.write_judgement`.
    resamples : int, optional
        Bootstrap resamples.

    Raises
    ------
    DataError
        A run record or score file is damaged.
    """
    out, root = Path(out_dir), Path(out_dir).absolute().parents[1]
    profiles = load_profiles(profile_paths)
    found = Material(
        runs=load(run_paths, root),
        sweeps=load_sweeps(sweep_paths),
        studies=load_case_studies(case_paths, root, printed_clusters()),
        theory=load_theory(theory_paths, root),
        clusterings=load_clusterings(clustering_paths, root),
        decompositions=load_decompositions(decomposition_paths, root),
        resampled=load_resampled(decomposition_paths, root),
        profiles=profiles,
        judged=load_judgement(judge_paths),
        sources=source_notes(Path(registry_dir), profiles, Path(tidy_dir) if tidy_dir else None),
    )
    ledger = book.entries(found.findings)
    book.write(out / "ledger.csv", ledger)
    decided = claim_book.claims(found.findings, ledger)
    claim_book.write(out / "claims.csv", decided)
    counting.write(out / "summary.csv", counting.summary(ledger, decided))
    bootstraps = Bootstraps(resamples)
    effects = clustering_effects(found.real, bootstraps)
    tables = _tables(found, ledger, effects, bootstraps)
    for table in chain.from_iterable(tables.values()):
        tabular.write(table, out / "tables")
    figures = _draw(_figures(found, ledger, effects), out)
    _write_page(out / "index.html", _render(found, ledger, decided, tables, figures))


def _write_page(path: Path, page: str) -> None:
    with atomic_path(path) as partial:
        partial.write_text(page, encoding="utf-8")


def _render(
    found: Material,
    ledger: Sequence[Entry],
    decided: Sequence[claim_book.Claim],
    tables: dict[str, list[Table]],
    drawn: dict[str, list[Drawn]],
) -> str:
    """Return the page."""
    template = environment().get_template("index.html")
    return template.render(
        runs=found.runs,
        answer=sentence(found.judged),
        n_real=len(found.real),
        tally=tally(found.real),
        ledger=ledger,
        ledger_counts=book.counts([row for row in ledger if row.kind != "log"]),
        claims=decided,
        claim_counts=claim_book.counts(decided),
        tables=tables,
        figures=drawn,
        sources=found.sources,
        papers=PAPERS.values(),
    )


def _tables(
    found: Material,
    ledger: Sequence[Entry],
    effects: Sequence[Difference],
    bootstraps: Bootstraps,
) -> dict[str, list[Table]]:
    """Return every table by the section that shows it."""
    real, studies = found.real, found.studies
    return {
        "answer": [answer_table(effects)],
        "judge": judgement_tables(found.judged),
        "papers": paper_tables(ledger),
        "clustering": [
            *(effects_table(effects, metric) for metric in METRICS),
            collapse_table(real),
            choice_table(real),
        ],
        "switches": [switches_table(switch_effects(real))],
        "runs": [runs_table(real, ledger), times_table(real)],
        "subtypes": [clusters_table(real), *case_tables(real_only(studies), ledger)],
        "decomposition": [
            *gains_tables(real_only(found.decompositions)),
            *rows_or_classes_tables(real, bootstraps),
        ],
        "theory": theory_tables(real_only(found.theory)),
        "learning": learning_tables(found.clusterings),
        "data": [data_table(found.sources)],
        "synthetic": _synthetic_tables(found),
    }


def _synthetic_tables(found: Material) -> list[Table]:
    tables = [
        *case_tables(generated_only(found.studies), (), "synthetic_case"),
        *theory_tables(generated_only(found.theory), "synthetic_theory"),
        *gains_tables(generated_only(found.decompositions), "synthetic_decomposition"),
    ]
    if generated := generated_only(found.runs):
        runs = runs_table(generated, (), "synthetic_runs")
        tables = [runs, clusters_table(generated, "synthetic_clusters"), *tables]
    return tables


def _figures(
    found: Material, ledger: Sequence[Entry], effects: Sequence[Difference]
) -> list[Figure]:
    """Return every figure that there is material for."""
    figures = [
        printed_against_ours(ledger),
        effect_forest(effects),
        *judgement_figures(found.judged),
        *schematic_figures(),
        *decomposition_figures(real_only(found.decompositions)),
        *curve_figures(found.runs),
        *history_figures(found.runs),
        *sweep_figures(found.sweeps),
        *missingness_figures(found.profiles),
        *case_figures(found.studies),
        *learning_figures(found.clusterings),
    ]
    return [figure for figure in figures if figure]


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
