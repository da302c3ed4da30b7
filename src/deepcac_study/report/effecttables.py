"""Tables of effects: clustering against none, single switches, collapse."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from deepcac.pages.tables import Cell, Table, text_row
from deepcac_study.catalogue.methods import CENTROID_RULE
from deepcac_study.catalogue.methods import label as method_label
from deepcac_study.catalogue.protocol import switches
from deepcac_study.experiments.finished import Run, Runs
from deepcac_study.papers.ledger import number
from deepcac_study.report.comparisons import METRICS, Difference

_CAC_LABELS = ("CAC − KM", "CAC − plain", "KM − plain")
_SAME_SCORE = 0.005
_EQUAL = (
    "Equal features, class weights and splits in all arms of a learner (sound protocol). "
    "LR and XGBoost beside a network learn from its validation rows too, and are not compared "
    "with it by F1, as networks do not weigh classes."
)


def effects_table(
    effects: Sequence[Difference],
    metric: str,
    name: str = "clustering",
    title: str = "Does clustering help?",
    note: str = _EQUAL,
) -> Table:
    """Return the comparisons of `clustering_effects` by one metric."""
    rows = [
        [
            *text_row(row.first.dataset, method_label(row.second.method), row.first.k, row.label),
            *_effect(row),
            Cell(_interval(row.bootstrap)),
            Cell(_reading(row)),
        ]
        for row in effects
        if row.metric == metric
    ]
    return Table(
        id=f"{name}_{metric}",
        title=f"{title} {metric.upper()}",
        note=f"{note} Difference "
        "with the 95 % interval and p of the corrected resampled t-test (Nadeau and Bengio 2003), "
        "Holm-adjusted inside this table, for base classifiers and networks separately; paired "
        "bootstrap over test rows (normal interval). Multi-class data by the mean over classes.",
        head=(
            *("data set", "learner", "k", "comparison", "first", "second", "difference"),
            *("95 % interval", "p", "p (Holm)", "bootstrap 95 %", "reading"),
        ),
        rows=rows,
        n_labels=4,
        verdict="reading",
        filters=("reading", "data set", "learner", "comparison"),
    )


def answer_table(effects: Sequence[Difference]) -> Table:
    """Count what the comparisons of `clustering_effects` say, by comparison and metric."""
    labels = sorted({row.label for row in effects}, key=_order)
    rows = []
    for label in labels:
        own = [row for row in effects if row.label == label]
        counts = (_counted([row for row in own if row.metric == metric]) for metric in METRICS)
        rows.append(text_row(label, *counts))
    return Table(
        id="clustering_answer",
        title="Does clustering help? In one table",
        note="How many comparisons on the same features, class weights and splits show a "
        "difference, and its mean: p below 0.05 after Holm's correction inside the metric, for "
        "base classifiers and networks separately. Each comparison is under Does clustering help?",
        head=("comparison", *METRICS),
        rows=rows,
    )


def _counted(rows: Sequence[Difference]) -> str:
    """Return in words how many rows show a difference."""
    if not rows:
        return ""
    said = Counter(_reading(row) for row in rows)
    mean = number(float(np.mean([row.test.mean for row in rows])), signed=True)
    return f"{said['better']} better, {said['worse']} worse of {len(rows)}; mean {mean}"


def _order(label: str) -> tuple[int, str]:
    """Put the question of the CAC papers first, then the deep methods by name."""
    return (_CAC_LABELS.index(label) if label in _CAC_LABELS else len(_CAC_LABELS), label)


def switches_table(effects: Sequence[Difference]) -> Table:
    """Return the effect of each switch alone; a switch without runs has a row that says so."""
    rows = []
    for label, switch in switches().items():
        own = [row for row in effects if row.first.protocol == label]
        lead = (label, switch.published, switch.touches)
        if not own:
            rows.append([*text_row(*lead, "", "", "", "not run"), *text_row(*[""] * 6)])
        rows += [
            [
                *text_row(*lead, row.first.dataset, method_label(row.first.method), row.first.k),
                Cell(row.metric),
                *_effect(row),
            ]
            for row in own
        ]
    return Table(
        id="switches",
        title="What each switch does",
        note="One difference between a paper's text and its program, switched on alone, against "
        "the sound run. Difference with the 95 % interval of the corrected resampled t-test (none "
        "where the switch changes the test rows); "
        f"Holm over all rows of one metric ({', '.join(METRICS)}).",
        head=(
            *("switch", "the program", "printed tables it touches", "data set", "method", "k"),
            *("metric", "with", "without", "difference", "95 % interval", "p", "p (Holm)"),
        ),
        rows=rows,
        filters=("switch", "data set", "metric"),
    )


def collapse_table(runs: Runs) -> Table:
    """Return every CAC+X beside the nearest class centroid, which needs no clusters at all.

    Where the clusters have become the classes, CAC is that rule and the base classifier has
    no say (one class each but for the row that the update keeps in place).
    """
    rows = []
    for run, centroid in _cac_and_centroid(runs):
        f1, alone = run.score("f1"), centroid.score("f1") if centroid else None
        clusters = [split["clusters"] for split in run.splits]
        collapsed = sum(bool(entry["collapsed"]) for entry in clusters)
        same = f1 and alone and abs(f1[0] - alone[0]) <= _SAME_SCORE
        rows.append(
            text_row(
                run.dataset,
                method_label(run.method),
                run.k,
                run.protocol.replace("_", " "),
                _alphas(run),
                number(float(np.mean([entry["polarisation"] for entry in clusters]))),
                f"{collapsed} of {len(clusters)}",
                number(f1[0] if f1 else None),
                number(alone[0] if alone else None),
                number(f1[0] - alone[0], signed=True) if f1 and alone else "",
                "same score" if same else "",
            )
        )
    return Table(
        id="collapse",
        title="Have the clusters become the classes?",
        note="Purity: share of training rows in the majority class of their cluster, mean "
        "over the splits. Collapsed: above 0.99 while the data's own majority share is below "
        "0.95. Nearest centroid: scikit-learn's classifier without clusters, same features and "
        f"splits. Same score: F1 within {_SAME_SCORE}.",
        head=(
            *("data set", "method", "k", "protocol", "alpha", "purity", "collapsed splits"),
            *("F1", "F1 of nearest centroid", "difference", "reading"),
        ),
        rows=rows,
        n_labels=4,
        filters=("data set", "method", "protocol", "reading"),
    )


def _cac_and_centroid(runs: Runs) -> Iterator[tuple[Run, Run | None]]:
    for run in runs.where(status="ok"):
        if run.method.startswith("cac_") and run.k > 1 and run.splits:
            yield run, runs.find(run.protocol, run.dataset, CENTROID_RULE, 1)


def _alphas(run: Run) -> str:
    """Return the alphas of the splits: one value, or the smallest and the largest."""
    used = [split["hyperparameters"].get("alpha") for split in run.splits]
    alphas = sorted({alpha for alpha in used if alpha is not None})
    if not alphas:
        return ""
    return f"{alphas[0]:g}" if len(alphas) == 1 else f"{alphas[0]:g} to {alphas[-1]:g}"


def _effect(row: Difference) -> list[Cell]:
    return text_row(
        number(row.first_mean),
        number(row.second_mean),
        number(row.test.mean, signed=True),
        _interval((row.test.low, row.test.high)),
        p_text(row.test.p),
        p_text(row.p_holm),
    )


def _reading(row: Difference) -> str:
    if np.isnan(row.p_holm):
        return "nothing varies: no test"
    if row.p_holm >= 0.05:
        return "no difference shown"
    return "better" if row.test.mean > 0 else "worse"


def _interval(bounds: tuple[float, float] | None) -> str:
    if bounds is None or not bounds[0] < bounds[1]:
        return ""
    return f"{number(bounds[0], signed=True)} to {number(bounds[1], signed=True)}"


def p_text(value: float) -> str:
    """Return a p value as people write it; empty for NaN."""
    if np.isnan(value):
        return ""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
