"""How many patients a risk model of a table needs, and a study that validates it."""

from dataclasses import dataclass

import numpy as np

from deepcac.errors import ConfigError
from deepcac.pages.sections import Block, Section
from deepcac.pages.tables import Table
from deepcac.scoring.calibration import log_odds
from deepcac.scoring.censored import observed_risk
from deepcac.scoring.sample_size import EXPLAINED, SampleSize, r2_of_auroc, sample_size
from deepcac.scoring.small_cells import Share, Text
from deepcac.scoring.validation_size import ValidationSize, validation_size
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.reading.table_encoder import CATEGORY
from deepcac.types import Array


@dataclass(frozen=True)
class ModelNeed:
    """How many patients the risk model itself needs.

    Attributes
    ----------
    size : SampleSize
    sentence : str
        Whether the table has as many.
    note : str
        What was assumed.
    """

    size: SampleSize
    sentence: str
    note: str


def needed_patients(
    table: LabelledTable, r2: float | None = None, auroc: float | None = None
) -> ModelNeed:
    """Return what a risk model of all columns needs, for a label of two classes.

    `r2` is Cox and Snell's; that of a held-out `auroc` if None; without either 15 % of the largest.
    """
    parameters, share = candidate_parameters(table), float(table.features.label.mean())
    if table.follow is not None:
        share = observed_risk(table.follow)[0]
    origin = "as given"
    if r2 is None and auroc is not None:
        r2, origin = r2_of_auroc(auroc, share), f"that of its held-out AUROC of {auroc:.3f}"
    elif r2 is None:
        origin = f"assumed, {100 * EXPLAINED:.0f} % of the largest"
    size = sample_size(parameters, share, r2)
    # Rows of one patient are no further patients; of a sample the share of patients is that of all.
    patient_share = 1.0 if table.group is None else len(np.unique(table.group)) / len(table.group)
    enough = "has enough" if patient_share * table.total >= size.needed else "has too few"
    return ModelNeed(
        size,
        f"A risk model with all {parameters} candidate parameters needs at least "
        f"{size.needed:,} patients; this table {enough}.",
        Text(
            "Riley et al. 2020 (BMJ 368, m441), for {} candidate parameters, an outcome in {} and "
            "a Cox-Snell R2 of {:.3f} ({}). A number is one parameter, and one more where values "
            "are missing; a category one per level but the first.",
            *(parameters, Share(round(share * table.total), table.total), size.r2, origin),
        ),
    )


def candidate_parameters(table: LabelledTable) -> int:
    """Return the parameters of a linear model of the columns.

    A number has one, and another where values are missing; a category one per level but the first.
    """
    return sum(
        max(len(column.levels) - 1, 1) if column.kind == CATEGORY else 1 + (column.missing > 0)
        for column in table.encoder.used
    )


def study_size(risk: Array, auroc: float, threshold: float | None = None) -> ValidationSize | None:
    """Return what a study needs that validates a model of these held-out risks (n,).

    None for a model that ranks no better than chance.
    """
    try:
        return validation_size(log_odds(risk), auroc, threshold)
    except ConfigError:
        return None


def study_sentence(size: ValidationSize | None) -> str:
    """Describe how many patients a validation study needs."""
    if size is None:
        return "No validation study can be planned for a model that ranks no better than chance."
    return (
        f"A study that validates this model needs about {size.needed:,} patients, "
        f"{size.events:,} of them with the event."
    )


NO_EVIDENCE = (
    "We found no evidence that this model ranks patients, so it is too early to say how many "
    "patients it needs, or a study that validates it."
)
STUDY_NOTE = (
    "Riley et al. 2021 (Stat Med 40, 4230), as in pmvalsampsize: the 95 % intervals of observed / "
    "expected events, calibration slope, AUROC and standardised net benefit are 0.2, 0.2, 0.1 and "
    "0.2 wide. The risks of the study are taken to be like the held-out ones here, and to be right."
)


def study_rows(
    size: ValidationSize | None, threshold: float | None = None
) -> list[tuple[str, str]]:
    """Return the patients that each criterion of a validation study asks for.

    `threshold` is the one that the size is for.
    """
    if size is None:
        return []
    benefit = "no threshold" if size.benefit is None else f"{size.benefit:,}"
    if size.benefit == 0:  # a net benefit of 0 that nothing can change
        benefit = "nobody is treated"
    at = "" if threshold is None else f", treating from {100 * threshold:.3g} % on,"
    return [
        ("observed / expected events known within 0.1", f"{size.ratio:,}"),
        ("calibration slope known within 0.1", f"{size.slope:,}"),
        ("AUROC known within 0.05", f"{size.statistic:,}"),
        (f"standardised net benefit{at} known within 0.1", benefit),
    ]


HEAD = ("criterion", "patients needed")


def size_section(
    table: LabelledTable, risk: Array, auroc: tuple[float, float], threshold: float | None
) -> Section:
    """Return the section on the patients that a model needs, by its own score.

    Parameters
    ----------
    risk : ndarray of shape (n,)
        Of rows on which the model was not fitted.
    auroc : (float, float)
        Mean on such rows, and the lower end of its interval.
    threshold : float or None
        The lowest that is asked for, for the net benefit of the study.
    """
    mean, low = auroc
    blocks: list[Block] = [NO_EVIDENCE]
    if low > 0.5:
        need, study = needed_patients(table, auroc=mean), study_size(risk, mean, threshold)
        blocks = [need.sentence, study_sentence(study), *size_blocks(need, study, threshold)]
    return Section("sizes", "How many patients are needed", blocks)


def size_blocks(
    need: ModelNeed, study: ValidationSize | None, threshold: float | None = None
) -> list[Block]:
    """Return what the numbers of patients rest on: a table of the study's, and notes."""
    blocks: list[Block] = []
    if study is not None:
        title = "Sample size of a validation study"
        blocks = [Table.of_texts("study-size", title, HEAD, study_rows(study, threshold))]
    return [*blocks, need.note, STUDY_NOTE]


def criteria(size: SampleSize) -> list[tuple[str, str]]:
    """Return the patients that each criterion asks for, for the model itself."""
    error = "not defined above 30 parameters"
    return [
        ("overall risk known within 0.05", f"{size.overall:,}"),
        (
            "a patient's risk off by 0.05 on average",
            error if size.average_error is None else f"{size.average_error:,}",
        ),
        ("effects shrunk by 10 % at most", f"{size.shrinkage:,}"),
        ("R2 too good by 0.05 at most", f"{size.optimism:,}"),
    ]
