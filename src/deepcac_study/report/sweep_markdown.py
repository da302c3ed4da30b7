"""Tables of the documentation about sweeps, from the snapshot of a run."""

from collections.abc import Hashable, Mapping
from typing import Any

from deepcac_study.catalogue.methods import label as method_label
from deepcac_study.experiments.finished_sweeps import AM_SOFTMAX, CENTROIDS, NONE, PERMUTED
from deepcac_study.report.markdown import Tables, markdown_table, three
from deepcac_study.report.sweep_snapshot import SEPARATION, SOUND, STARTS

_SAID = {
    NONE: "no term",
    AM_SOFTMAX: "AM-softmax",
    CENTROIDS: "distance of means",
    PERMUTED: "the same, permuted labels",
}
Row = Mapping[Hashable, Any]


def separation(tables: Tables, datasets: str) -> str:
    """Return the share of the scatter between classes, training / test rows, and the AUPRC."""
    table, names = tables[SEPARATION], datasets.split(",")
    found = {(r["term"], r["alpha"], r["dataset"]): r for r in table.to_dict("records")}
    rows = [
        [
            _SAID[term],
            f"{alpha:g}" if alpha else "",
            *(cell for name in names for cell in _shares(found.get((term, alpha, name)))),
        ]
        for term, alpha in dict.fromkeys(key[:2] for key in found)
    ]
    head = [column for name in names for column in (name, "AUPRC", "length")]
    return markdown_table(("term", "alpha", *head), rows, n_labels=2)


def _shares(row: Row | None) -> tuple[str, str, str]:
    if row is None:
        return "", "", ""
    shown = three(row["auprc"], "{} +- ") + three(row["auprc_sd"])
    return f"{three(row['share'])} / {three(row['test_share'])}", shown, f"{row['length']:.2g}"


def limits(tables: Tables, datasets: str) -> str:
    """Return the weights from which longer latents pay: never, at the start, and on chance."""
    table, rows = tables[SEPARATION], []
    for name in datasets.split(","):
        own = table[(table["dataset"] == name) & table["term"].isin((CENTROIDS, PERMUTED))]
        terms = own.groupby("term").first()
        shown = [
            f"{terms[column][term]:.3g}"
            for term in (CENTROIDS, PERMUTED)
            for column in ("start_scaling", "start_batch_scaling")
            if term in terms.index
        ]
        rows.append([name, f"{own['limit'].iloc[0]:.2g}" if len(own) else "", *shown])
    head = ("beta p (1 - p)", "all rows", "batches", "permuted, all rows", "permuted, batches")
    return markdown_table(("data set", *head), [row for row in rows if len(row) == len(head) + 1])


def starts(tables: Tables, dataset: str) -> str:
    """Return what each switch does, beside what another start of the autoencoder does."""
    table = tables[STARTS]
    found = {
        (r["method"], r["switch"], r["metric"]): r
        for r in table[table["dataset"] == dataset].to_dict("records")
    }
    rows = [
        [
            f"{method_label(str(method))}, {'sound' if switch == SOUND else f'switch {switch}'}",
            *(cell for m in ("auroc", "auprc") for cell in _effect(found[method, switch, m])),
        ]
        for method, switch in dict.fromkeys(key[:2] for key in found)
    ]
    head = ("AUROC", "95 %", "between starts")
    return markdown_table(("", *head, "AUPRC", *head[1:]), rows)


def _effect(row: Row) -> tuple[str, str, str]:
    sound = row["switch"] == SOUND
    bounds = (three(row[name], signed=True) for name in ("low", "high"))
    return (
        three(row["mean"], signed=not sound),
        "" if sound else " to ".join(bounds),
        three(row["start_sd"]),
    )
