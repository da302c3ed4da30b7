"""The report: a small first page, pages beside it, tables, figures, ledger and claims."""

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from deepcac.pages import tables as tabular
from deepcac.pages.figures import drawn
from deepcac_study.experiments.finished import load
from deepcac_study.experiments.finished_clusterings import load_clusterings
from deepcac_study.experiments.finished_decompositions import load_decompositions, load_resampled
from deepcac_study.experiments.finished_studies import load_case_studies
from deepcac_study.experiments.finished_sweeps import load_sweeps
from deepcac_study.experiments.theorem_checks import load_theory
from deepcac_study.papers import claims as claim_book
from deepcac_study.papers import ledger as book
from deepcac_study.papers import summary as counting
from deepcac_study.papers.claims import Claim
from deepcac_study.papers.deepcac.length_of_stay import printed_clusters
from deepcac_study.papers.ledger import Entry
from deepcac_study.report.data.planted_truth import planted_against_found
from deepcac_study.report.data.profiles import load_profiles
from deepcac_study.report.data.source_notes import source_notes
from deepcac_study.report.judge.factorial_grid import load_factorials
from deepcac_study.report.judge.judgement import load_judgement
from deepcac_study.report.judge.published_divisions import load_divisions
from deepcac_study.report.site.contents import contents
from deepcac_study.report.site.material import Material
from deepcac_study.report.site.site import write_site
from deepcac_study.report.subtypes.subtype_worth import load_ablations
from deepcac_study.report.subtypes.subtypepages import subtype_pages


def build(
    run_paths: Iterable[str | os.PathLike[str]],
    registry_dir: str | os.PathLike[str],
    out_dir: str | os.PathLike[str],
    *,
    tidy_dir: str | os.PathLike[str] | None = None,
    features_dir: str | os.PathLike[str] | None = None,
    truth_paths: Iterable[str | os.PathLike[str]] = (),
    profile_paths: Iterable[str | os.PathLike[str]] = (),
    sweep_paths: Iterable[str | os.PathLike[str]] = (),
    case_paths: Iterable[str | os.PathLike[str]] = (),
    theory_paths: Iterable[str | os.PathLike[str]] = (),
    clustering_paths: Iterable[str | os.PathLike[str]] = (),
    decomposition_paths: Iterable[str | os.PathLike[str]] = (),
    judge_paths: Iterable[str | os.PathLike[str]] = (),
    factorial_paths: Iterable[str | os.PathLike[str]] = (),
    division_paths: Iterable[str | os.PathLike[str]] = (),
    ablation_paths: Iterable[str | os.PathLike[str]] = (),
    run_inputs: Mapping[str, Mapping[str, Any]] | None = None,
    resamples: int = 100,
    threads: int = 1,
) -> None:
    """Make the whole report from finished runs; nothing is fitted.

    Parameters
    ----------
    run_paths : iterable of path-like
        Run records; score files are looked for beside them. Any subset gives a valid report.
    registry_dir : path-like
        Folder of the data set registry, one YAML a source.
    out_dir : path-like
        Gets ``index.html``, ``pages/``, ``ledger.csv``, ``claims.csv``, ``summary.csv``,
        ``tables/`` and ``figures/``.
    tidy_dir : path-like, optional
        Folder of tidy data, for the cohort flows.
    features_dir : path-like, optional
        Folder of the sound feature files, for the pages of subtypes.
    truth_paths : iterable of path-like, optional
        Planted subtypes of generated cohorts.
    profile_paths : iterable of path-like, optional
        Profiles of the feature files (`deepcac_study.report.data.profiling`).
    sweep_paths : iterable of path-like, optional
        Tables of `deepcac_study.experiments.sweeps`, for the papers' curves.
    case_paths : iterable of path-like, optional
        Records of `deepcac_study.experiments.case_study`.
    theory_paths : iterable of path-like, optional
        Records of `deepcac_study.experiments.theorems`.
    clustering_paths : iterable of path-like, optional
        Records of supervised k-means (`deepcac_study.experiments.finished_clusterings`).
    decomposition_paths : iterable of path-like, optional
        Records of `deepcac_study.experiments.decomposition_runs` and `bias_variance_runs`.
    judge_paths : iterable of path-like, optional
        The two files of `deepcac_study.judge.judgement_files.write_judgement`.
    factorial_paths : iterable of path-like
        Tables of `deepcac_study.experiments.factorial`.
    division_paths : iterable of path-like
        Records of `deepcac_study.judge.public_protocols`.
    ablation_paths : iterable of path-like
        Records of `deepcac_study.judge.subtype_ablation`.
    run_inputs : mapping, optional
        What each run record must have been made from (`deepcac_study.experiments.finished.load`).
    resamples : int, optional
        Bootstrap resamples.
    threads : int, optional
        Processes that draw.

    Raises
    ------
    DataError
        A record or score file is damaged, is not of its place or of its inputs.
    """
    registry, root = Path(registry_dir), Path(out_dir).absolute().parents[1]
    found = Material(
        runs=(runs := load(run_paths, root, run_inputs)),
        sweeps=load_sweeps(sweep_paths),
        studies=load_case_studies(case_paths, root, printed_clusters()),
        theory=load_theory(theory_paths, root),
        clusterings=load_clusterings(clustering_paths, root),
        **_decomposed(decomposition_paths, root),
        profiles=(profiles := load_profiles(profile_paths)),
        judged=load_judgement(judge_paths),
        factorials=load_factorials(factorial_paths),
        divisions=load_divisions(division_paths),
        ablations=load_ablations(ablation_paths),
        sources=source_notes(registry, profiles, Path(tidy_dir) if tidy_dir else None),
        planted=planted_against_found(runs, registry, truth_paths),
        features_dir=Path(features_dir) if features_dir else None,
    )
    write_report(found, registry, Path(out_dir), resamples, threads)


def _decomposed(paths: Iterable[str | os.PathLike[str]], root: Path) -> dict[str, Any]:
    """Read both kinds of records of class decomposition, which lie together."""
    own = list(paths)
    found = load_decompositions(own, root), load_resampled(own, root)
    return dict(zip(("decompositions", "resampled"), found, strict=True))


def write_report(
    found: Material,
    registry: Path,
    out: Path,
    resamples: int,
    threads: int,
    kept: tuple[Sequence[Entry], Sequence[Claim]] | None = None,
) -> None:
    """Write everything that is shown; ledger and claims are decided here if none are kept."""
    ledger = kept[0] if kept else book.entries(found.findings)
    decided = kept[1] if kept else claim_book.claims(found.findings, ledger)
    book.write(out / "ledger.csv", ledger)
    claim_book.write(out / "claims.csv", decided)
    shown = contents(found, ledger, decided, resamples)
    counting.write(out / "summary.csv", shown.counts)
    subtypes = list(subtype_pages(found.runs, registry, found.features_dir))
    own = chain.from_iterable(page.tables for page in subtypes)
    pictures = (page.figure for page in subtypes if page.figure)
    with drawn([*shown.all_figures, *pictures], out / "figures", threads):
        for table in chain(chain.from_iterable(shown.tables.values()), own):
            tabular.write(table, out / "tables")
        write_site(shown, subtypes, out)
