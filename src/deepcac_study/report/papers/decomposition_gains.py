"""Gains of class decomposition, with printed ones; and whether to cluster rows or classes."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from deepcac.pages.figures import PALETTE, Figure
from deepcac.pages.forest import ENDS, Forest, Mark
from deepcac.pages.tables import Table, text_row
from deepcac.pages.wording import four, p_text
from deepcac_study.catalogue.methods import ARM_NAMES, ROWS, bases, classifiers
from deepcac_study.catalogue.methods import label as method_label
from deepcac_study.papers.class_decomposition.gains import (
    decomposition_rows,
    p_values,
    printed_gains,
)
from deepcac_study.records.decompositions import (
    BASES,
    EVERY_BASE,
    PRINTED_BASE,
    DecompositionRecord,
)
from deepcac_study.records.runs import Run, Runs
from deepcac_study.report.declarations import declared_forest, declared_table
from deepcac_study.report.papers.drawings import boundary_figures, merging_figure
from deepcac_study.report.runs.comparisons import (
    METRICS,
    ROW_PAIRS,
    Bootstraps,
    Pairs,
    arm_pairs,
    arms_of,
    family_effects,
    usable,
)
from deepcac_study.report.runs.effects import effects_table

Records = Sequence[DecompositionRecord]
_SHOWN = ("f1", "auroc")
# First less second, as `arm_pairs` takes them.
_PAIRS = (
    *((arm, "") for arm in ("skm", "cd", "cdk")),
    *((arm, "km") for arm in ("skm", "cd", "cdk")),
    *((arm, "cac") for arm in ("cd", "cdk")),
)


def gains_tables(records: Records, name: str = "decomposition_gains") -> list[Table]:
    """Return the table of gains, a row for each data set and base; [] without a record."""
    if not records:
        return []
    by_protocol = {
        protocol: [record for record in records if record.protocol == protocol]
        for protocol in ("sound", "as_published")
    }
    rows = [
        text_row(*_cells(dataset, base, by_protocol))
        for dataset in dict.fromkeys(record.dataset for record in records)
        for base in _bases(records, dataset)
    ]
    return [declared_table("decomposition_gains", rows, name=name)]


def _bases(records: Records, dataset: str) -> list[str]:
    """Return the base classifiers that any record of a data set has."""
    there = {base for record in records if record.dataset == dataset for base in record.bases}
    return [base for base in EVERY_BASE if base in there]


def _printed(base: str) -> dict[str, float]:
    """Return the printed gains by data set id; those of linear machines serve both our kinds."""
    return printed_gains(PRINTED_BASE.get(base, base))


def _cells(dataset: str, base: str, by_protocol: dict[str, list[DecompositionRecord]]) -> list[str]:
    """Return the cells of one row; a dash where a protocol has no record."""
    printed = _printed(base).get(dataset)
    cells = [dataset, EVERY_BASE[base], "–" if printed is None else f"{printed:+.2f}"]
    for protocol in ("as_published", "sound"):
        having = [record for record in by_protocol[protocol] if base in record.bases]
        by_dataset = {record.dataset: record for record in having}
        if dataset in by_dataset:
            p = p_values(pd.DataFrame(decomposition_rows(having)), base)[dataset]
            cells += [f"{by_dataset[dataset].gains(base).mean():+.2f}", _p(p)]
        else:
            cells += ["–", "–"]
    record = next(
        record
        for part in by_protocol.values()
        for record in part
        if record.dataset == dataset and base in record.bases
    )
    searched = record.rows(base, "greedy")
    every = record.values(base, "separate") - record.values(base, "alone")
    return [
        *cells,
        f"{every.mean():+.2f}",
        f"{record.n_clusters:.2f}",
        f"{sum(row['reverted'] for row in searched)} of {len(searched)}",
        f"{record.seconds('clustering') / len(searched):.2g}",
        f"{record.seconds(f'{base}_greedy') / len(searched):.2g}",
    ]


def _p(value: float) -> str:
    return f"{p_text(value)}{' *' if value < 0.01 else ''}" if np.isfinite(value) else "–"


def decomposition_figures(records: Records) -> list[Figure]:
    """Return the paper's Figures 1 to 4, and the gains of the sound records if any."""
    sound = [record for record in records if record.protocol == "sound"]
    return [*boundary_figures(), merging_figure(), *([_gains_figure(sound)] if sound else [])]


def _gains_figure(sound: Records) -> Figure:
    data = []
    for base, name in BASES.items():
        printed = _printed(base)
        for record in sound:
            test = record.corrected_test(base)
            printed_gain = printed.get(record.dataset, float("nan"))
            data.append((record.dataset, name, printed_gain, test.mean, test.low, test.high))
    columns = ["row", "panel", "printed", *ENDS]
    ours = pd.DataFrame(data, columns=columns)
    also = ours.assign(mark="printed", mean=ours["printed"], low=np.nan, high=np.nan)
    forest = Forest(
        points=pd.concat([ours.assign(mark="ours"), also], ignore_index=True),
        marks={
            "ours": Mark("o", "ours, corrected protocol", PALETTE[0]),
            "printed": Mark("x", "printed", PALETTE[1]),
        },
        panels={name: name for name in BASES.values()},
        labels={name: name for name in ours["row"]},
        unit="gain (points)",
    )
    return declared_forest("decomposition_gains", forest, across=2, data=data)


def rows_or_classes_tables(runs: Runs, bootstraps: Bootstraps) -> list[Table]:
    """Return tables of all arms' scores and comparisons; [] without arms of these papers."""
    effects = family_effects(_pairs(runs), bootstraps)
    if effects.empty:
        return []
    shown = [metric for metric in METRICS if metric in _SHOWN]
    tables = [
        effects_table(effects, metric, "rows_or_classes", "rows_or_classes_effects")
        for metric in shown
    ]
    return [_arm_scores(runs), *tables]


def _places(runs: Runs) -> Iterator[tuple[str, str, int]]:
    """Yield data set, classifier and k of runs with other arms than KM and CAC."""
    usual = set(ROWS) - {"skm"}
    for dataset in dict.fromkeys(run.dataset for run in usable(runs)):
        for base in bases():
            wanted = {f"{arm}_{base}" for arm in ARM_NAMES if arm not in usual}
            dataset_runs = runs.where(protocol="sound", dataset=dataset)
            yield from (
                (dataset, base, k)
                for k in sorted({r.k for r in dataset_runs if r.method in wanted})
            )


def _pairs(runs: Runs) -> Pairs:
    for dataset, base, k in _places(runs):
        # Naive Bayes is no base classifier of the CAC papers, so their table leaves it out.
        also = () if base in classifiers() else ROW_PAIRS
        yield from arm_pairs(arms_of(runs, dataset, base, k), (*also, *_PAIRS))


def _arm_scores(runs: Runs) -> Table:
    rows = []
    for dataset, base, k in _places(runs):
        arms = arms_of(runs, dataset, base, k)
        for metric in _SHOWN:
            scores = [_score(arms.get(arm), metric) for arm in ("", *ARM_NAMES)]
            rows.append(text_row(dataset, method_label(base), k, metric.upper(), *scores))
    return declared_table("rows_or_classes", rows, columns=("plain", *ARM_NAMES.values()))


def _score(run: Run | None, metric: str) -> str:
    if run is None:
        return "–"
    score = run.score(run.reported(metric, ""))
    return f"{four(score[0])} ± {four(score[1])}" if score else "–"
