"""All finished work that the papers are compared with."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from deepcac.experiments.finished import Runs
from deepcac.experiments.finished_clusterings import Clusterings
from deepcac.experiments.finished_decompositions import DecompositionRecord, ResampledRecord
from deepcac.experiments.finished_studies import CaseStudy
from deepcac.experiments.finished_sweeps import Sweeps
from deepcac.experiments.theorem_checks import TheoryRecord


@dataclass(frozen=True)
class Findings:
    """What was found on real data; any part may be empty.

    Attributes
    ----------
    runs : Runs
    sweeps : Sweeps
    studies : sequence of CaseStudy
    theory : sequence of TheoryRecord
    decompositions : sequence of DecompositionRecord
    resampled : sequence of ResampledRecord
    clusterings : Clusterings
    """

    runs: Runs
    sweeps: Sweeps = field(default_factory=Sweeps)
    studies: Sequence[CaseStudy] = ()
    theory: Sequence[TheoryRecord] = ()
    decompositions: Sequence[DecompositionRecord] = ()
    resampled: Sequence[ResampledRecord] = ()
    clusterings: Clusterings = field(default_factory=Clusterings)
