"""The part of a page on how many patients a model needs, and a study that validates it."""

from deepcac.pages.sections import Block, Section
from deepcac.pages.tables import Table
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.sample_sizes import (
    NO_EVIDENCE,
    STUDY_NOTE,
    needed_patients,
    study_rows,
    study_sentence,
    study_size,
)
from deepcac.types import Array

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
    if not low > 0.5:
        return Section("sizes", "How many patients are needed", [NO_EVIDENCE])
    need, study = needed_patients(table, auroc=mean), study_size(risk, mean, threshold)
    blocks: list[Block] = [need.sentence, study_sentence(study)]
    if study is not None:
        title = "Sample size of a validation study"
        blocks.append(Table.of_texts("study-size", title, HEAD, study_rows(study, threshold)))
    return Section("sizes", "How many patients are needed", [*blocks, need.note, STUDY_NOTE])
