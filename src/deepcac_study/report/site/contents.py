"""Contents of the report: every table and figure, by page."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

import pandas as pd

from deepcac.pages.figures import Figure
from deepcac.pages.tables import Table
from deepcac_study.papers.claims import Claim
from deepcac_study.papers.entry import Entry
from deepcac_study.papers.summary import Count, summary
from deepcac_study.report.data.planted_truth import planted_figure, planted_table
from deepcac_study.report.data.source_notes import data_table
from deepcac_study.report.judge.clinical_forest import clinical_forests
from deepcac_study.report.judge.clinical_pages import clinical_tables
from deepcac_study.report.judge.judgement import judgement_figures, judgement_tables
from deepcac_study.report.papers.casetables import case_figure, case_tables
from deepcac_study.report.papers.decomposition_gains import (
    decomposition_figures,
    gains_tables,
    rows_or_classes_tables,
)
from deepcac_study.report.papers.drawings import schematic_figures
from deepcac_study.report.papers.learnt_clusterings import learning_figures, learning_tables
from deepcac_study.report.papers.ledger_tables import paper_tables, theory_tables
from deepcac_study.report.papers.training_curves import history_figures, sweep_figures
from deepcac_study.report.question_tables import question_tables
from deepcac_study.report.runs.comparisons import (
    METRICS,
    Bootstraps,
    clustering_effects,
    switch_effects,
)
from deepcac_study.report.runs.curves import curve_figures
from deepcac_study.report.runs.effects import (
    answer_table,
    choice_table,
    collapse_table,
    effect_forest,
    effects_table,
    printed_against_ours,
    switches_table,
    wins_table,
)
from deepcac_study.report.runs.runtables import clusters_table, runs_table
from deepcac_study.report.site.material import Material, generated_only, real_only
from deepcac_study.report.subtypes.subtype_figures import embedding_figures


@dataclass(frozen=True)
class Contents:
    """All tables and figures of the report."""

    material: Material
    ledger: Sequence[Entry]
    claims: Sequence[Claim]
    # Clusters against none, and one switch against none (`report.runs.comparisons`).
    effects: pd.DataFrame
    switched: pd.DataFrame
    counts: Sequence[Count]  # the numbers of the first page
    tables: dict[str, list[Table]]  # by page
    figures: dict[str, list[Figure]] = field(default_factory=dict)  # by page

    @property
    def all_figures(self) -> list[Figure]:
        """Every figure once."""
        return list(chain.from_iterable(self.figures.values()))


def contents(
    material: Material, ledger: Sequence[Entry], claims: Sequence[Claim], bootstraps: Bootstraps
) -> Contents:
    """Return every table and the specification of every figure; nothing is drawn yet."""
    effects = clustering_effects(material.real, bootstraps)
    switched = switch_effects(material.real)
    tables = _tables(material, ledger, effects, switched, bootstraps)
    figures: dict[str, list[Figure]] = {}
    for figure in _figures(material, ledger, effects):
        figures.setdefault(figure.section, []).append(figure)
    counts = summary(ledger, claims)
    return Contents(material, ledger, claims, effects, switched, counts, tables, figures)


def _tables(
    material: Material,
    ledger: Sequence[Entry],
    effects: pd.DataFrame,
    switched: pd.DataFrame,
    bootstraps: Bootstraps,
) -> dict[str, list[Table]]:
    real, studies = material.real, material.studies
    return {
        "judge": [*clinical_tables(material.clinical), *judgement_tables(material.judgement)],
        "papers": paper_tables(ledger),
        "questions": question_tables(material.sweeps),
        "clustering": [
            wins_table(real),
            answer_table(effects),
            *(effects_table(effects, metric) for metric in METRICS),
            collapse_table(real),
            choice_table(real),
        ],
        "switches": [switches_table(switched)],
        "runs": [runs_table(real, ledger)],
        "subtypes": [
            clusters_table(real, hidden=material.restricted),
            *case_tables(real_only(studies), ledger),
        ],
        "decomposition": [
            *gains_tables(real_only(material.decompositions)),
            *rows_or_classes_tables(real, bootstraps),
        ],
        "theory": theory_tables(real_only(material.theory)),
        "learning": learning_tables(material.clusterings),
        "data": [data_table(material.sources)],
        "own": _own_tables(material, bootstraps),
        "synthetic": _synthetic_tables(material),
    }


def _own_tables(material: Material, bootstraps: Bootstraps) -> list[Table]:
    """Return tables of the runs and comparisons on real data that no paper has."""
    if not len(material.unpublished):
        return []
    effects = clustering_effects(material.unpublished, bootstraps)
    compared = [effects_table(effects, metric, "own_clustering") for metric in METRICS]
    return [runs_table(material.unpublished, (), "own_runs"), *compared]


def _synthetic_tables(material: Material) -> list[Table]:
    tables = [
        *planted_table(material.planted),
        *case_tables(generated_only(material.studies), (), "synthetic_case"),
        *theory_tables(generated_only(material.theory), "synthetic_theory"),
        *gains_tables(generated_only(material.decompositions), "synthetic_decomposition"),
    ]
    if generated := generated_only(material.runs):
        runs = runs_table(generated, (), "synthetic_runs")
        tables = [runs, clusters_table(generated, "synthetic_clusters"), *tables]
    return tables


def _figures(material: Material, ledger: Sequence[Entry], effects: pd.DataFrame) -> list[Figure]:
    """Return every figure for which there are results."""
    figures = [
        printed_against_ours(ledger),
        effect_forest(effects),
        *clinical_forests(material.clinical),
        *judgement_figures(material.judgement),
        *schematic_figures(),
        *decomposition_figures(real_only(material.decompositions)),
        *curve_figures(material.runs, material.curves),
        *history_figures(material.runs),
        *sweep_figures(material.sweeps),
        *map(case_figure, material.studies),
        *embedding_figures(material.studies, material.restricted),
        *learning_figures(material.clusterings),
        planted_figure(material.planted, material.features_dir),
    ]
    return [figure for figure in figures if figure]
