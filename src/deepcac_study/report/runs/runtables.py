"""Tables of runs: scores, times, clusters and their stability."""

from collections.abc import Container, Iterable, Sequence
from itertools import combinations, zip_longest
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import adjusted_rand_score

from deepcac.pages.tables import Cell, Table, text_row
from deepcac_study.catalogue.methods import label as method_label
from deepcac_study.catalogue.protocol import SOUND
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.entry import Entry
from deepcac_study.papers.ledger import number
from deepcac_study.records.runs import Run
from deepcac_study.report.data.restricted_counts import SMALL, WITHHELD, few_rows
from deepcac_study.report.declarations import declared_table

_SHOWN_METRICS = ("f1", "f1_macro", "auroc", "auprc", "min_se_pp", "brier", "ece", "silhouette")
_SHOWN_FEATURES = 5
_HUGE = 1e3
PROTOCOLS = {
    SOUND.name: "corrected protocol",
    "as_published": "as published",
    "as_published_cv5": "as published, 5-fold",
    "as_published_v2": "as published, 5-fold, alphas of CAC v2",
}


def stability(run: Run) -> float | None:
    """Return the mean adjusted Rand index over pairs of splits, on common test rows.

    None without a score file, or if no two splits share rows.
    """
    table = run.scores(["row_id", "seed", "cluster"])
    if table is None:
        return None
    held = table.to_pandas().pivot(index="seed", columns="row_id", values="cluster").to_numpy()
    agreement = []
    for labels, other in combinations(held, 2):
        both = ~np.isnan(labels + other)
        if both.sum() > 1:
            agreement.append(adjusted_rand_score(labels[both], other[both]))
    return float(np.mean(agreement)) if agreement else None


def protocol_label(protocol: str) -> str:
    """Return the display name of a protocol; that of a single switch is its label."""
    return PROTOCOLS.get(protocol, f"switch {protocol}")


def run_label(run: Run) -> str:
    """Return a run's method with its number of clusters, if it has more than one."""
    return method_label(run.method) + (f", k = {run.k}" if run.k > 1 else "")


def runs_table(runs: Iterable[Run], ledger: Sequence[Entry], name: str = "runs") -> Table:
    """Return a table with a row per run, with printed numbers."""
    printed: dict[str, list[str]] = {}
    for entry in ledger:
        if entry.kind == "score" and entry.run and entry.printed:
            paper = PAPERS[entry.paper].label
            where = f"{paper} T{entry.table} {entry.item} {entry.printed}"
            printed.setdefault(entry.run, []).append(where)
    rows = []
    for run in runs:
        scores = (_score(run, metric) for metric in _SHOWN_METRICS)
        about = (*_name(run), run.status, run.record.get("n_rows"), len(run.splits))
        texts = text_row(*about, *scores, "; ".join(printed.get(run.path, ())))
        rows.append([*texts, Cell("json", link=run.path)])
    return declared_table("runs", rows, name=name, metrics=_SHOWN_METRICS)


def clusters_table(
    runs: Iterable[Run], name: str = "clusters", *, hidden: Container[str] = ()
) -> Table:
    """Return a table with a row per cluster of runs with k > 1: size, class mix, features.

    Data sets that are `hidden` are restricted: clusters with few patients of a class are withheld.
    """
    rows = []
    for run in runs:
        if run.k < 2 or not run.splits or not run.splits[0].get("clusters"):
            continue
        clusters = run.splits[0]["clusters"]
        agreement = stability(run)
        for cluster, described in enumerate(_described(run, SMALL if run.dataset in hidden else 0)):
            rows.append(
                text_row(
                    *_name(run),
                    cluster + 1,
                    *described,
                    number(clusters.get("polarisation")),
                    "collapsed" if clusters.get("collapsed") else "",
                    number(agreement),
                )
            )
    return declared_table("clusters", rows, name=name)


def _described(run: Run, few: int) -> list[tuple[object, ...]]:
    """Return each cluster's rows for training and test, class mix and features."""
    clusters = run.splits[0]["clusters"]
    counts = (clusters.get(f"sizes_{part}", []) for part in ("train", "test"))
    pairs: list[tuple[list[int], list[int]]] = list(zip_longest(*counts, fillvalue=[]))
    cells = [train + other for train, other in pairs]
    hidden: list[bool] = few_rows(cells, few).tolist() if cells else []
    return [
        (WITHHELD, WITHHELD, WITHHELD, "")
        if secret
        else (
            sum(train),
            sum(other) if other else "",
            class_mix(train),
            _features(clusters, cluster),
        )
        for cluster, ((train, other), secret) in enumerate(zip(pairs, hidden, strict=True))
    ]


def _name(run: Run) -> tuple[object, ...]:
    return run.dataset, method_label(run.method), run.k, protocol_label(run.protocol)


def _score(run: Run, metric: str) -> str:
    score = run.score(metric)
    if score is None:
        return ""
    return f"{score[0]:.3f} ± {score[1]:.3f}" if len(run.splits) > 1 else f"{score[0]:.3f}"


def class_mix(sizes: Sequence[int] | npt.NDArray[np.float64]) -> str:
    """Return the class shares as text, from the number of rows of each class."""
    total = sum(sizes)
    return " : ".join(f"{100 * size / total:.1f} %" for size in sizes) if total else "empty"


def _features(clusters: dict[str, Any], cluster: int) -> str:
    """Return the features that mark a cluster, with their effects."""
    features = [f for f in clusters.get("features", ()) if f.get("cluster") == cluster]
    return "; ".join(f"{f['feature']} ({_size(f['effect'])})" for f in features[:_SHOWN_FEATURES])


def _size(effect: float) -> str:
    """Format an effect size; a huge one comes from two constants and rounding."""
    return f"{effect:+.2f}" if abs(effect) < _HUGE else f"{'+' if effect > 0 else '−'}∞"


def alphas(run: Run) -> str:
    """Return the alphas of the splits as text: one value, or smallest and largest."""
    used = [split.get("hyperparameters", {}).get("alpha") for split in run.splits]
    alphas = sorted({alpha for alpha in used if alpha is not None})
    if not alphas:
        return ""
    return f"{alphas[0]:g}" if len(alphas) == 1 else f"{alphas[0]:g} to {alphas[-1]:g}"


def at_smallest_k(runs: Iterable[Run]) -> dict[tuple[str, str], Run]:
    """Return one run per method and data set: that with the smallest k above 1, else k = 1."""
    chosen: dict[tuple[str, str], Run] = {}
    for run in runs:
        present = chosen.get((run.method, run.dataset))
        if present is None or (present.k == 1 and run.k > 1):
            chosen[run.method, run.dataset] = run
    return chosen
