"""The part of a comparison's page about subtypes: which clusters, how stable, what is in them."""

from functools import partial

import numpy as np
from sklearn.metrics import adjusted_rand_score

from deepcac.judging.contenders import CAC, KM
from deepcac.pages.sections import Block, Section
from deepcac.pages.tables import Table
from deepcac.scoring.small_cells import WITHHELD, Count, OfSome, Share
from deepcac.table.column_differences import DIFFERENCE_HEAD, DIFFERENCE_NOTE, difference_lines
from deepcac.table.found_subtypes import FoundClustering, Subtype, single_column
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.pages.own_figures import subtype_profile
from deepcac.table.pages.survival import survival_blocks

_WORDS = (
    (0.8, "stable"),
    (0.6, "moderately stable"),
    (-1.0, "unstable, so they are not described"),
)
_ALIKE = 0.99  # adjusted Rand index from which two clusterings are shown once
_HOW = (
    "Clusters of all rows, made again after the comparison: the number of clusters (and alpha of "
    "CAC) whose models were best on validation rows, the fewer clusters where two choices are as "
    "good. A subtype is a group of similar rows; it is no diagnosis, and a difference in outcome "
    "is no cause."
)


def subtype_section(table: LabelledTable, clusterings: list[FoundClustering]) -> Section:
    """Return the section on the clusterings; two that are nearly equal are shown once."""
    agreement = adjusted_rand_score(*(clustering.label for clustering in clusterings))
    shown = [clustering for clustering in clusterings if agreement < _ALIKE or clustering.arm == KM]
    nearly = "" if agreement == 1 else "nearly "
    alike = (
        f"The two clusterings agree with an adjusted Rand index of {agreement:z.2f}."
        if len(shown) > 1
        else f"CAC finds {nearly}the same clusters as k-means, so they are shown once."
    )
    sections = [_clustering(clustering, table) for clustering in shown]
    return Section("subtypes", "Subtypes", [f"{_HOW} {alike}", *sections])


def _described(clustering: FoundClustering) -> bool:
    """Tell whether a clustering comes again on other rows."""
    return clustering.stability >= _WORDS[1][0]


def _clustering(clustering: FoundClustering, table: LabelledTable) -> Section:
    way, arm = ("CAC" if clustering.arm == CAC else "k-means"), clustering.arm
    word = next(word for least, word in _WORDS if clustering.stability >= least)
    note = (
        f"We made these {len(clustering.subtypes)} clusters again on the training rows of "
        f"resamples; they agree with an adjusted Rand index of {clustering.stability:z.2f} "
        f"(1: always the same rows together, 0: chance): {word}. The models in them have a "
        "validation AUROC of "
        f"{clustering.validation:.3f}."
    )
    if arm == CAC:
        note += (
            f" CAC (alpha {clustering.alpha:g}) looks at the labels when it clusters, so outcomes "
            "here are not those that new rows of a subtype will have."
        )
    column = single_column(table, clustering.label)
    if column is not None:
        note += f" They are the column {column}: it tells every row's subtype."
    title = f"{len(clustering.subtypes)} subtypes by {way}"
    described = _description(clustering, table, title) if _described(clustering) else []
    return Section(f"subtypes-by-{arm}", title, [note, *described])


def _description(clustering: FoundClustering, table: LabelledTable, title: str) -> list[Block]:
    """Return what is in each subtype."""
    arm, names = clustering.arm, [f"subtype {s.number}" for s in clustering.subtypes]
    head = ("subtype", "what sets it apart", "rows", "share", *table.shown_classes)
    rows = [_subtype(subtype, len(clustering.label)) for subtype in clustering.subtypes]
    telling = [clustering.names[f] for f in clustering.telling]
    blocks: list[Block] = [
        Table.of_texts(f"subtypes-{arm}", title, head, rows, n_labels=2),
        partial(subtype_profile, clustering, table.shown_classes),
        *(survival_blocks(table.follow, clustering) if table.follow is not None else []),
        "The same features in their own units: the median in each subtype, of a level its share.",
        Table.of_texts(
            f"profile-{arm}", "Values", ("feature", *names), _values(clustering, table, telling)
        ),
    ]
    differences = difference_lines(table, clustering.label, names)
    if differences:
        title = "Standardised differences"
        blocks += [Table.of_texts(f"differences-{arm}", title, DIFFERENCE_HEAD, differences)]
        blocks += [DIFFERENCE_NOTE]
    return blocks


def _subtype(subtype: Subtype, n: int) -> tuple[str, ...]:
    size = (Count(subtype.size), Share(subtype.size, n))
    return (str(subtype.number), subtype.name, *size, *(rate.text for rate in subtype.rates))


def _values(
    clustering: FoundClustering, table: LabelledTable, names: list[str]
) -> list[tuple[str, ...]]:
    """Return the median of each number in each subtype, in its own unit; of a level its share.

    Of few values nothing is shown.
    """
    place = {name: j for j, name in enumerate(table.features.names)}
    lines = []
    for name in names:
        flag = name not in place  # a column of the table may itself be called ..._missing
        column = table.features.X[:, place[name.removesuffix("_missing") if flag else name]]
        column = np.isnan(column).astype(float) if flag else column
        level = flag or name in table.encoder.level_names
        cells = [
            column[(clustering.label == j) & ~np.isnan(column)]
            for j in range(len(clustering.subtypes))
        ]
        shown = [
            Share(int(part.sum()), len(part))
            if level
            else OfSome(_plain(float(np.median(part))), len(part))
            if len(part)
            else WITHHELD
            for part in cells
        ]
        lines.append((_spaced(name, table), *shown))
    return lines


def _plain(value: float) -> str:
    """Return a number without an exponent, with four digits or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _spaced(name: str, table: LabelledTable) -> str:
    return name.replace("=", " = ", 1) if name in table.encoder.level_names else name
