"""Tables and figures of the case studies: DeepCAC's Tables 7 and 8, with details."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure as Canvas

from deepcac.pages.drawing import draw_heat
from deepcac.pages.figures import PALETTE, Figure
from deepcac.pages.tables import Cell, Table, text_row
from deepcac.pages.wording import p_text
from deepcac_study.catalogue.facts import facts
from deepcac_study.papers.deepcac.length_of_stay import SUBJECT, TABLE_7, TABLE_8, printed_shares
from deepcac_study.papers.entry import Entry
from deepcac_study.records.studies import TOP, CaseStudy
from deepcac_study.report.declarations import declared_figure, declared_table
from deepcac_study.report.papers.ledger_tables import NOTE, entry_cell
from deepcac_study.report.runs.runtables import class_mix, protocol_label

_MATCHED = (
    "Clusters carry no order: those of every split are matched to the printed ones by the best "
    "assignment on sizes and classes"
)


def case_tables(
    studies: Sequence[CaseStudy], ledger: Sequence[Entry] = (), prefix: str = "case_study"
) -> list[Table]:
    """Return the tables of the case studies, with printed values and ours; [] without studies."""
    if not studies:
        return []
    published = any(study.subject == SUBJECT for study in studies)
    tables = [_clusters(studies, prefix, published)]
    if published:
        tables.append(_table7(ledger, prefix))
    return [
        *tables,
        _separating(studies, prefix),
        _important(studies, prefix, published),
        _models(studies, prefix, published),
    ]


def _label(study: CaseStudy) -> str:
    return f"{study.record['dataset']}, k = {study.k}, {protocol_label(study.protocol)}"


def _spread(values: Sequence[float] | npt.NDArray[np.float64], digits: int) -> str:
    mean, sd = np.mean(values), np.std(values, ddof=1) if len(values) > 1 else 0.0
    return f"{mean:.{digits}f} ± {sd:.{digits}f}"


def _clusters(studies: Sequence[CaseStudy], prefix: str, published: bool) -> Table:
    """Return sizes and class mixes per study and cluster, printed ones first."""
    rows = []
    if published:
        sizes = {row["cluster"]: row["cluster_size"] for row in facts(TABLE_8)}
        mixes = map(class_mix, printed_shares())
        rows = [
            text_row("printed", cluster, size, size, mix)
            for (cluster, size), mix in zip(sorted(sizes.items()), mixes, strict=True)
        ]
    for study in studies:
        for j in range(study.k):
            cluster_sizes = study.sizes[:, j]
            size, first = _spread(cluster_sizes.sum(axis=1), 0), int(cluster_sizes[0].sum())
            rows.append(
                text_row(
                    _label(study), f"C{j + 1}", first, size, class_mix(cluster_sizes.sum(axis=0))
                )
            )
    return declared_table("case_clusters", rows, prefix=prefix)


def _table7(ledger: Sequence[Entry], prefix: str) -> Table:
    entries = {e.item: e for e in ledger if (e.paper, e.table, e.kind) == ("deepcac", "7", "other")}
    features = dict.fromkeys(row["feature"] for row in facts(TABLE_7))
    clusters = sorted({row["cluster"] for row in facts(TABLE_7)})
    items = [[f"{cluster} {feature} mean" for cluster in clusters] for feature in features]
    rows = [
        [Cell(feature), *(entry_cell(entries[item]) for item in line)]
        for feature, line in zip(features, items, strict=True)
        if all(item in entries for item in line)
    ]
    return declared_table(
        "case_table7", rows, prefix=prefix, cells=NOTE.partition(" ✓")[0], clusters=clusters
    )


def _separating(studies: Sequence[CaseStudy], prefix: str) -> Table:
    k = max(study.k for study in studies)
    rows = []
    for study in studies:
        for place, name in enumerate(map(str, study.separating.index[:TOP])):
            means = [f"{study.means[j + 1][name]:.4g}" for j in range(study.k)]
            means += [""] * (k - study.k)
            effect = f"{study.separating['effect'][name]:.3f}"
            p = p_text(float(study.separating["p"][name]))
            rows.append(text_row(_label(study), place + 1, name, *means, effect, p))
    return declared_table(
        "case_separating", rows, prefix=prefix, columns=(f"C{j + 1}" for j in range(k))
    )


def _important(studies: Sequence[CaseStudy], prefix: str, published: bool) -> Table:
    """Return the top features per cluster, with the number of clusters that list each."""
    lists: dict[str, list[list[str]]] = {}
    if published:
        printed: dict[str, list[str]] = {}
        for row in facts(TABLE_8):
            printed.setdefault(row["cluster"], []).append(row["feature"])
        lists["printed"] = [printed[cluster] for cluster in sorted(printed)]
    for study in studies:
        lists[_label(study)] = [study.important(j + 1) for j in range(study.k)]
    rows = []
    for name, clusters in lists.items():
        within = Counter(feature for features in clusters for feature in features)
        for j, features in enumerate(clusters):
            texts = [f"{feature} ({within[feature]})" for feature in features]
            texts += [""] * (TOP - len(texts))
            shared = (
                sum(feature in features for feature in lists["printed"][j]) if published else ""
            )
            rows.append(text_row(name, f"C{j + 1}", shared, *texts))
    by_chance = TOP**2 / max(len(study.separating) for study in studies)
    return declared_table(
        "case_table8",
        rows,
        prefix=prefix,
        published=" (DeepCAC, Table 8)" if published else "",
        chance=f" Two lists of ten share {by_chance:.1f} by chance." if published else "",
        columns=map(str, range(1, TOP + 1)),
    )


def _models(studies: Sequence[CaseStudy], prefix: str, published: bool) -> Table:
    """Return AUPRC of network and student per study, and agreement of clusterings."""
    rows = []
    if published:
        printed = {row["item"]: row["value"] for row in facts("deepcac_section14_student")}
        rows.append(text_row("printed", printed["auprc"], printed["student_auprc"], *[""] * 5))
    for study in studies:
        splits, pairs = study.record["splits"], study.record["stability"]
        columns = [
            _spread([split[key] for split in splits], 3)
            for key in ("auprc", "student_auprc", "student_agrees")
        ]
        every = [pair["all"] for pair in pairs]
        span = f"{min(every):.2f} to {max(every):.2f}" if every else ""
        means = [
            f"{np.mean([pair[key] for pair in pairs]):.2f}" if pairs else ""
            for key in ("all", "test")
        ]
        same = f"{min(split['ari_to_run'] for split in splits):.2f}"
        rows.append(text_row(_label(study), *columns, means[0], span, means[1], same))
    return declared_table("case_models", rows, prefix=prefix)


def case_figure(study: CaseStudy) -> Figure:
    """Return the figure of cluster means and importances."""
    names = [str(name) for name in study.separating.index[:TOP]]
    by_feature = study.table.groupby("feature", sort=False)[["mean", "rows"]]
    centre = by_feature.apply(lambda part: (part["mean"] * part["rows"]).sum() / part["rows"].sum())
    away = study.means.sub(centre, axis=0).div(study.separating["sd"], axis=0)

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots(1, study.k + 1, width_ratios=[1.4, *[1] * study.k])
        columns = [f"C{j + 1}" for j in range(study.k)]
        signs: Any = {"ends": (-1.5, 1.5), "write": "{:+.2f}".format}
        image = draw_heat(axes[0], away.loc[names].to_numpy(), names, columns, **signs)
        canvas.colorbar(image, ax=axes[0], label="sd from the mean")
        for j, axis in enumerate(axes[1:]):
            top = study.important(j + 1)[::-1]
            axis.barh(top, study.importance.loc[top, j + 1], color=PALETTE[j % len(PALETTE)])
            axis.set_title(f"C{j + 1}: importance")
            axis.set_axisbelow(True)
            axis.tick_params(axis="y", labelsize=7)
            axis.grid(axis="y", visible=False)

    return declared_figure(
        "case_study",
        size=(4.2 + 2.7 * study.k, 3.4),
        draw=draw,
        data=[
            (name, j, *(float(of.loc[name, j]) for of in (study.means, away, study.importance)))
            for name in study.means.index
            for j in range(1, study.k + 1)
        ],
        protocol=study.protocol,
        name=study.name,
        label=_label(study),
        matched=f". {_MATCHED}." if study.subject == SUBJECT else ".",
        section="synthetic" if study.synthetic else "subtypes",
    )
