"""Clusterings of a table that are worth a look: which, how stable, and what is in them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import stats
from sklearn.metrics import adjusted_rand_score

from deepcac.judging.contenders import CAC, KM
from deepcac.judging.partitions import part
from deepcac.judging.resamples import Resample, Rows, resamples
from deepcac.judging.trial_record import VALIDATION
from deepcac.preprocess import TableScaler
from deepcac.scoring.censored import observed_risk
from deepcac.scoring.equivalence import LEVEL
from deepcac.scoring.small_cells import FEW, OTHERS, OfSome, Rate
from deepcac.scoring.statistics import corrected_error, independent_rows
from deepcac.scoring.subtypes import distinguishing_features
from deepcac.table.budgeted_trials import Trials
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.reading.table_encoder import NUMBER, feature_names
from deepcac.types import Array, Ids

SHOWN = (KM, CAC)
STABILITY_RESAMPLES = 10
NOTABLE = 0.5  # standard deviations from the other rows: a medium effect (Cohen 1988)
NAMING = 3  # variables in a name
MOST_FEATURES = 15  # of a profile that is shown
TOO_FEW = f"fewer than {FEW} rows: too few to describe"


@dataclass(frozen=True)
class Subtype:
    """One cluster.

    Attributes
    ----------
    number : int
        From 1, the largest cluster first.
    name : str
        The variables that set it apart, such as "high age, low platelets".
    size : int
        Rows.
    rates : tuple of Rate, length n_classes
        Of each class; at a horizon the risk of the event (`observed_risk`), and its complement.
    """

    number: int
    name: str
    size: int
    rates: tuple[Rate, ...]


@dataclass(frozen=True)
class FoundClustering:
    """A clustering of all rows.

    Attributes
    ----------
    arm : {"km", "cac"}
    k : int
        Clusters asked for.
    alpha : float
        Of CAC.
    validation : float
        Mean validation AUROC of the models in these clusters.
    label : ndarray of shape (n,), int64
        Cluster of each row, 0 for the largest.
    subtypes : list of Subtype
    profile : ndarray of shape (found, q)
        Mean of each feature in each cluster, in standard deviations from the mean of all rows;
        NaN in a cluster of too few rows.
    names : tuple of str, length q
    stability : float
        Mean adjusted Rand index between this clustering and those of training parts.
    """

    arm: str
    k: int
    alpha: float
    validation: float
    label: Ids
    subtypes: list[Subtype]
    profile: Array
    names: tuple[str, ...]
    stability: float

    @property
    def telling(self) -> Ids:
        """The features with the largest distances of a subtype from all rows."""
        spread = np.abs(np.nan_to_num(self.profile)).max(axis=0)
        return np.argsort(-spread, kind="stable")[:MOST_FEATURES]


def shown_clusterings(table: LabelledTable, trials: Trials) -> list[FoundClustering]:
    """Return the k-means and the CAC clustering to show, the better one on validation rows first.

    Of the trials with two clusters or more the one with the best mean validation AUROC is looked
    for, over both learners; of those that it does not lead the one with the fewest clusters is
    taken (`fewest_clusters`).
    """
    clusterings = [_clustering(table, trials, arm) for arm in SHOWN]
    return sorted(clusterings, key=lambda clustering: -clustering.validation)


def fewest_clusters(scores: Array, clusters: Sequence[int], ratio: float) -> int:
    """Return the trial with the fewest clusters over which the best one does not lead.

    The best mean leads another where the paired difference over the lines of `scores` is above 0
    by a two-sided test at 5 %, whose error is corrected for training rows in common (Nadeau and
    Bengio 2003).

    Parameters
    ----------
    scores : ndarray of shape (resamples, trials)
    clusters : sequence of int
        Of each trial.
    ratio : float
        Rows that are scored in a resample by rows that are learnt from.
    """
    means = scores.mean(axis=0)
    lead = scores[:, [means.argmax()]] - scores
    error = np.array([corrected_error(gap, ratio) for gap in lead.T])
    shown = lead.mean(axis=0) > stats.t.ppf(1 - LEVEL / 2, len(scores) - 1) * error
    return min(np.flatnonzero(~shown).tolist(), key=lambda t: (clusters[t], -means[t]))


def _clustering(table: LabelledTable, trials: Trials, arm: str) -> FoundClustering:
    values, score = _chosen(trials, arm)
    k, alpha = int(values["n_clusters"]), float(values.get("alpha", 0.0))
    scaler = TableScaler().fit(table.features.X)
    X, y = table.features.X, table.features.label
    rows = Rows(X, scaler.transform(X), y, table.features.row_id)
    whole = Resample(rows, rows, rows, table.features.n_classes, trials.seeds[0])
    names = tuple(map(str, scaler.get_feature_names_out(np.array(table.features.names, object))))
    label = _by_size(part(whole, arm, k, alpha).train)
    return FoundClustering(
        arm=arm,
        k=k,
        alpha=alpha,
        validation=score,
        label=label,
        subtypes=_subtypes(rows.bounded, label, names, table),
        profile=np.array([_means(rows.scaled[label == j]) for j in np.unique(label)]),
        names=names,
        stability=_stability(table, trials, arm, (k, alpha), label),
    )


def _means(rows: Array) -> Array:
    return rows.mean(axis=0) if len(rows) >= FEW else np.full(rows.shape[1], np.nan)


def _chosen(trials: Trials, arm: str) -> tuple[dict[str, Any], float]:
    """Return the trial of an arm with the fewest clusters among the best, and its score."""
    records = [record for record in trials.records.values() if record.arm == arm]
    scores = np.mean([record.score(VALIDATION, "auroc") for record in records], axis=0)
    drawn, sizes = records[0].values, records[0].sizes[0]
    ratio = sizes["n_validation"] / sizes["n_train"]
    taken = fewest_clusters(scores, [values["n_clusters"] for values in drawn], ratio)
    return drawn[taken], float(scores.mean(axis=0)[taken])


def single_column(table: LabelledTable, label: Ids) -> str | None:
    """Return the column by which alone the clusters can be told apart, if there is one.

    A category whose levels are each in one cluster, or a number whose ranges do not overlap.
    """
    X, places = table.features.X, table.encoder.places
    for column in table.encoder.used:
        if column.kind == NUMBER:
            values = X[:, places[column.name]]
            if np.isnan(values).any():
                continue
            ends = sorted(
                (values[label == j].min(), values[label == j].max()) for j in np.unique(label)
            )
            if all(first[1] < second[0] for first, second in pairwise(ends)):
                return column.name
        elif names := feature_names(column):
            level = X[:, [places[name] for name in names]].argmax(axis=1)
            pairs = np.unique(np.column_stack([level, label]), axis=0)
            if len(pairs) == len(np.unique(pairs[:, 0])):
                return column.name
    return None


def _by_size(label: Ids) -> Ids:
    """Return clusters renumbered from the largest."""
    _, label, counts = np.unique(label, return_inverse=True, return_counts=True)
    return np.argsort(np.argsort(-counts, kind="stable"))[label]


def _stability(
    table: LabelledTable, trials: Trials, arm: str, values: tuple[int, float], label: Ids
) -> float:
    """Cluster the training part of resamples; compare all rows' clusters with `label`."""
    n = min(len(trials.seeds), STABILITY_RESAMPLES)
    drawn = resamples(table.features, n, trials.train_rows, first=trials.seeds[0], unit=table.group)
    agreement = []
    for sample in drawn:
        partition = part(sample, arm, *values)
        parts = (sample.train, sample.validation, sample.test)
        row_id = np.concatenate([rows.row_id for rows in parts])
        again = np.concatenate([partition.assign(rows) for rows in parts])
        whole = label[np.searchsorted(table.features.row_id, row_id)]
        agreement.append(adjusted_rand_score(whole, again))
    return float(np.mean(agreement))


def _subtypes(
    bounded: Array, label: Ids, names: tuple[str, ...], table: LabelledTable
) -> list[Subtype]:
    levels = table.encoder.level_names
    effects = distinguishing_features(bounded, label, names, top=NAMING)
    subtypes = []
    for j, rates in enumerate(outcome_rates(table, label)):
        phrases = [
            _effect_phrase(effect, levels)
            for effect in effects
            if effect["cluster"] == j and abs(effect["effect"]) >= NOTABLE
        ]
        name, size = ", ".join(phrases) or "no variable stands out", rates[0].rows
        subtypes.append(Subtype(j + 1, OfSome(name, size, instead=TOO_FEW), size, rates))
    return subtypes


def outcome_rates(table: LabelledTable, code: Ids) -> list[tuple[Rate, ...]]:
    """Return how often each class is in each group of the rows of a table.

    At a horizon that are the risk of the event (`observed_risk`) and its complement, which others
    see where no outcome is of few patients. `code`, shape (n,), has the groups from 0.
    """
    label, n_classes = table.features.label, table.features.n_classes
    rates = []
    for j, patients in enumerate(independent_rows(code, table.group).tolist()):
        counts = np.bincount(label[code == j], minlength=n_classes).tolist()
        every = [Rate(count, sum(counts), patients) for count in counts]
        if table.follow is not None:
            share, low, high = observed_risk(table.follow.take(code == j))
            risks = [(1 - share, 1 - high, 1 - low), (share, low, high)]
            few = bool(OTHERS.is_few(counts).any())
            every = [
                replace(rate, hidden=few, risk=risk)
                for rate, risk in zip(every, risks, strict=True)
            ]
        rates.append(tuple(every))
    return rates


def _effect_phrase(effect: dict[str, Any], levels: frozenset[str]) -> str:
    level = effect["feature"] in levels or effect["feature"].endswith("_missing")
    words = ("more", "fewer") if level else ("high", "low")
    return f"{words[effect['effect'] < 0]} {effect['feature'].replace('=', ' = ')}"
