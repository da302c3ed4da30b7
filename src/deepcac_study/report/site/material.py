"""The material of a report."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from deepcac_study.papers.names import paper_datasets
from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Run, Runs
from deepcac_study.report.data.planted_truth import Found
from deepcac_study.report.data.source_notes import SourceNote
from deepcac_study.report.judge.clinical_forest import ClinicalJudgement
from deepcac_study.report.judge.judgement import Judgement
from deepcac_study.report.runs.curves import Curves, from_scores


@dataclass(frozen=True)
class Material(Findings):
    """All results that a report is made from."""

    sources: Sequence[SourceNote] = ()
    judgement: Judgement | None = None
    clinical: ClinicalJudgement | None = None
    planted: Sequence[Found] = ()
    features_dir: Path | None = None  # folder of the sound feature files
    made_from: str = ""  # where the records come from, if not from runs here
    curves: Callable[[Run], Curves | None] = from_scores  # finds the curves of a run

    @cached_property
    def real(self) -> Runs:
        """The runs on the papers' data."""
        return Runs(tuple(real_only(self.runs)))

    @cached_property
    def unpublished(self) -> Runs:
        """The runs on real data that no paper has, which do not count for the papers."""
        return Runs(tuple(run for run in self.runs if not run.synthetic and not _printed(run)))

    @cached_property
    def restricted(self) -> frozenset[str]:
        """The restricted data sets, whose rows may not be shown."""
        closed = (item for item in self.sources if item.source.closed)
        return frozenset(note.id for item in closed for note in item.sets if not note.generated)


def real_only(records: Iterable[Any]) -> list[Any]:
    """Return the records of the papers' data."""
    return [record for record in records if not record.synthetic and _printed(record)]


def generated_only(records: Iterable[Any]) -> list[Any]:
    """Return the records of synthetic cohorts."""
    return [record for record in records if record.synthetic]


def _printed(record: Any) -> bool:
    return record.record["dataset"] in paper_datasets()
