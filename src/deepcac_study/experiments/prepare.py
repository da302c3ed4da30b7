"""From a feature file and a split to the scaled task of a method."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deepcac.feature_matrix import FeatureMatrix
from deepcac.preprocess import SequenceScaler, TableScaler, cut_far
from deepcac.task import Task
from deepcac.types import Array
from deepcac_study.catalogue.protocol import Protocol
from deepcac_study.published.cac_program import Rows, published_scaling
from deepcac_study.splits import HOLDOUT_SEED, Split, draw_holdout


@dataclass(frozen=True)
class Setting:
    """Settings of a run: data set, protocol, family and number of clusters.

    The family "cac", CAC and its rivals, learns from training and validation rows together (the
    papers' 75 %, with cross-validation inside); "deep" methods stop early on the validation rows.
    """

    dataset: str
    k: int
    protocol: Protocol
    family: str


def make_task(features: FeatureMatrix, split: Split, setting: Setting) -> Task:
    """Scale one split for one family; "cac" trains on the validation rows too."""
    train, validation, test = rows = _parts(features, split, setting)
    names: tuple[str, ...] = ()
    masks: list[npt.NDArray[np.bool_] | None] = [None, None, None]
    if features.n_steps > 1:
        sequences = features.sequences()
        scaler = SequenceScaler.fit(sequences[train])
        scaled = [scaler.transform(sequences[part]) for part in rows]
        masks = [~np.isnan(sequences[part]) for part in rows]
    else:
        scaled, names = _scale(features, rows, setting)
    if _cut(setting.protocol, setting.family):
        scaled = [cut_far(part) for part in scaled]
    return Task(
        X_train=scaled[0],
        y_train=features.label[train],
        X_validation=scaled[1],
        y_validation=features.label[validation],
        X_test=scaled[2],
        y_test=features.label[test],
        n_classes=features.n_classes,
        k=setting.k,
        seed=split.seed,
        names=names,
        mask_train=masks[0],
        mask_validation=masks[1],
        mask_test=masks[2],
    )


def _cut(protocol: Protocol, family: str) -> bool:
    """Return whether inputs are clipped: those of networks, if they are standardised (L3)."""
    return family == "deep" and not protocol.labels & {"D18", "L3"}


def _parts(features: FeatureMatrix, split: Split, setting: Setting) -> Rows:
    """Return training, validation and test rows; without a network, validation joins training."""
    if setting.family == "deep":
        return split.train, split.validation, split.test
    merged = np.sort(np.concatenate([split.train, split.validation]))
    if "A14" in setting.protocol and split.seed == HOLDOUT_SEED:
        drawn, _ = draw_holdout(features.label)
        if np.array_equal(np.sort(drawn), merged):  # not where patients were kept together
            merged = drawn  # the same rows, in the published order
    return merged, split.validation[:0], split.test


def _scale(
    features: FeatureMatrix, rows: Rows, setting: Setting
) -> tuple[list[Array], tuple[str, ...]]:
    """Scale static features, soundly or as a published program did; return parts and names."""
    published = published_scaling(features, rows, setting.dataset, setting.family, setting.protocol)
    if published is not None:
        return published, features.names
    scaler = TableScaler().fit(features.X[rows[0]])
    return [scaler.transform(features.X[part]) for part in rows], tuple(
        scaler.get_feature_names_out(features.names)
    )
