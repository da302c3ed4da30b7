"""Tables of effects: clustering against none, single switches, collapse, the choice of k."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from deepcac.pages.tables import Table, text_row
from deepcac.pages.wording import four, p_text
from deepcac_study.catalogue.methods import CENTROID_RULE
from deepcac_study.catalogue.methods import label as method_label
from deepcac_study.catalogue.protocol import switches
from deepcac_study.papers.names import usual_k
from deepcac_study.records.runs import Run, Runs
from deepcac_study.report.declarations import declared_table
from deepcac_study.report.runs.comparisons import METRICS, Difference
from deepcac_study.report.runs.runtables import alphas, protocol_label

_CAC_LABELS = ("CAC − KM", "CAC − plain", "KM − plain")
_SAME_SCORE = 0.005


def effects_table(
    effects: Sequence[Difference], metric: str, name: str = "clustering", kind: str = "clustering"
) -> Table:
    """Return comparisons by one metric, with the declaration of their kind."""
    rows = [
        text_row(
            *(row.first.dataset, method_label(row.second.method), row.first.k, row.label),
            *_effect(row),
            *(_interval(row.bootstrap), _reading(row)),
        )
        for row in effects
        if row.metric == metric
    ]
    return declared_table(kind, rows, name=name, metric=metric, upper=metric.upper())


def answer_table(effects: Sequence[Difference]) -> Table:
    """Count what the comparisons of `clustering_effects` say, by comparison and metric."""
    first = {label: place for place, label in enumerate(_CAC_LABELS)}  # then by name
    rows = []
    for label in sorted({row.label for row in effects}, key=lambda x: (first.get(x, 9), x)):
        compared = [row for row in effects if row.label == label]
        counts = (_counted([row for row in compared if row.metric == metric]) for metric in METRICS)
        rows.append(text_row(label, *counts))
    return declared_table("clustering_answer", rows, metrics=METRICS)


def _counted(rows: Sequence[Difference]) -> str:
    """Return in words how many rows show a difference."""
    if not rows:
        return ""
    readings = Counter(_reading(row) for row in rows)
    mean = four(float(np.mean([row.test.mean for row in rows])), signed=True)
    return f"{readings['better']} better, {readings['worse']} worse of {len(rows)}; mean {mean}"


def switches_table(effects: Sequence[Difference]) -> Table:
    """Return the effect of each switch by itself; a switch without runs has a row that says so."""
    rows = []
    for label, switch in switches().items():
        compared = [row for row in effects if row.first.protocol == label]
        lead = (label, switch.published, switch.touches)
        if not compared:
            rows.append(text_row(*lead, "", "", "", "not run", *[""] * 6))
        for row in compared:
            run = (row.first.dataset, method_label(row.first.method), row.first.k)
            rows.append(text_row(*lead, *run, row.metric, *_effect(row)))
    return declared_table("switches", rows, join=", ".join(METRICS))


def collapse_table(runs: Runs) -> Table:
    """Return every CAC+X beside the nearest class centroid, which needs no clusters at all.

    Where the clusters have become the classes, CAC is that rule and the base classifier has
    no say (one class each but for the row that the update keeps in place).
    """
    rows = []
    for run in runs.where(status="ok"):
        if not run.method.startswith("cac_") or run.k < 2 or not run.splits:
            continue
        centroid = runs.find(run.protocol, run.dataset, CENTROID_RULE, 1)
        f1, centred = run.score("f1"), centroid.score("f1") if centroid else None
        clusters = [split["clusters"] for split in run.splits]
        collapsed = sum(bool(entry["collapsed"]) for entry in clusters)
        same = f1 and centred and abs(f1[0] - centred[0]) <= _SAME_SCORE
        rows.append(
            text_row(
                run.dataset,
                method_label(run.method),
                run.k,
                protocol_label(run.protocol),
                alphas(run),
                four(float(np.mean([entry["polarisation"] for entry in clusters]))),
                f"{collapsed} of {len(clusters)}",
                four(f1[0]) if f1 else "",
                four(centred[0]) if centred else "",
                four(f1[0] - centred[0], signed=True) if f1 and centred else "",
                "same score" if same else "",
            )
        )
    return declared_table("collapse", rows, same_score=_SAME_SCORE)


def _effect(row: Difference) -> tuple[str, ...]:
    return (
        four(row.first_mean),
        four(row.second_mean),
        four(row.test.mean, signed=True),
        _interval((row.test.low, row.test.high)),
        p_text(row.test.p),
        p_text(row.p_holm),
    )


def _reading(row: Difference) -> str:
    if np.isnan(row.p_holm):
        return "nothing varies: no test"
    if row.p_holm >= 0.05:
        return "no evidence of a difference"
    return "better" if row.test.mean > 0 else "worse"


def _interval(bounds: tuple[float, float] | None) -> str:
    if bounds is None or not bounds[0] < bounds[1]:
        return ""
    return f"{four(bounds[0], signed=True)} to {four(bounds[1], signed=True)}"


def choice_table(runs: Runs) -> Table:
    """Return, for each data set and method with several k, the k of each split's best F1.

    Only the five folds inside a split's training part choose; the test rows are scored with the
    chosen k.
    """
    rows = []
    for candidates in _searched(runs):
        scores = np.array([run.fold_scores for run in candidates.values()])  # (k, split)
        test = np.array([run.per_split("f1") for run in candidates.values()])
        best = scores.argmax(axis=0)  # the smallest k of equals
        ks = list(candidates)
        first = candidates[ks[0]]
        printed = usual_k("cac_v1", first.dataset, first.method)
        rows.append(
            text_row(
                first.dataset,
                method_label(first.method),
                _by_k(ks, scores),
                ", ".join(str(ks[i]) for i in best),
                four(float(np.take_along_axis(test, best[None], axis=0).mean())),
                printed,
                four(float(test[ks.index(printed)].mean())) if printed in ks else "",
                _by_k(ks, test),
            )
        )
    return declared_table("k_choice", rows)


def _searched(runs: Runs) -> Iterator[dict[int, Run]]:
    """Yield the runs of one data set and method by k, where there are several to choose from."""
    by_method: dict[tuple[str, str], dict[int, Run]] = {}
    for run in runs.where(protocol="sound", status="ok"):
        if run.fold_scores:
            by_method.setdefault((run.dataset, run.method), {})[run.k] = run
    for candidates in by_method.values():
        if len(candidates) > 2:
            yield dict(sorted(candidates.items()))


def _by_k(ks: Sequence[int], scores: np.ndarray) -> str:
    return ", ".join(f"{k}: {four(x)}" for k, x in zip(ks, scores.mean(axis=1), strict=True))
