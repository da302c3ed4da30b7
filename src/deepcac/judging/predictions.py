"""Risks of patients on whom no model was fitted, with their outcomes: what every page scores."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from deepcac.judging.choice import TUNED, choose, open_to
from deepcac.judging.resamples import Resample
from deepcac.judging.trial_answers import TEST
from deepcac.judging.trial_record import TrialRecord
from deepcac.scoring.censored import FollowUp, joined, observed_risk
from deepcac.scoring.resampled_scores import Patients, patient_draws
from deepcac.types import Array, Flags, Ids

LOSS = "log_loss"  # chooses the trial, because it measures risks and not only ranks


@dataclass(frozen=True)
class Predictions:
    """Risks of one event, a line for each patient and part.

    A part is a resample, or a place that is left out: in it one model of each name gave the risks.

    Attributes
    ----------
    row : ndarray of shape (n,)
        Place of the patient in the table.
    unit : ndarray of shape (n,)
        Whose row it is.
    y : ndarray of shape (n,)
        1 where the event came.
    risk : dict of str to ndarray of shape (n,)
        By model.
    part : ndarray of shape (n,)
        Number of the part.
    follow : FollowUp or None
        At a horizon.
    """

    row: Ids
    unit: Ids
    y: Ids
    risk: dict[str, Array]
    part: Ids
    follow: FollowUp | None = None

    @classmethod
    def of_part(
        cls, row: Ids, unit: Any, y: Ids, risk: dict[str, Array], follow: FollowUp | None = None
    ) -> "Predictions":
        """Return those of one part; `unit` is None where each row is a patient."""
        unit = row if unit is None else np.asarray(unit)
        return cls(row, unit, y, risk, np.zeros(len(row), dtype=np.int64), follow)

    def of(self, model: str) -> Patients:
        """Return the patients with the risks of one model."""
        return Patients(self.y, self.risk[model], self.follow, self.part)

    def take(self, lines: Flags) -> "Predictions":
        """Return some of the lines."""
        return Predictions(
            self.row[lines],
            self.unit[lines],
            self.y[lines],
            {name: risk[lines] for name, risk in self.risk.items()},
            self.part[lines],
            None if self.follow is None else self.follow.take(lines),
        )

    def named(self, names: Mapping[str, str]) -> "Predictions":
        """Return the predictions of some models under other names.

        Of models with the same risks only the first is kept.
        """
        risk: dict[str, Array] = {}
        for model, name in names.items():
            if not any(np.array_equal(self.risk[model], other) for other in risk.values()):
                risk[name] = self.risk[model]
        return replace(self, risk=risk)

    @cached_property
    def draws(self) -> npt.NDArray[np.uint8]:
        """How often each line is in each draw of the patients, who come with all their lines."""
        return patient_draws(self.unit)

    @cached_property
    def share(self) -> float:
        """Share of patients with the event: at a horizon the estimated risk of it."""
        if self.follow is None:
            return float(self.y.mean())
        first = np.unique(self.row, return_index=True)[1]
        return observed_risk(self.follow.take(first))[0]

    @property
    def rows(self) -> int:
        """Different rows of the table."""
        return len(np.unique(self.row))

    @property
    def outcomes(self) -> Ids:
        """Different rows without and with the event, where that is known, shape (2,)."""
        labelled = slice(None) if self.follow is None else self.follow.outcome_known
        seen = np.unique(self.row[labelled], return_index=True)[1]
        return np.bincount(self.y[labelled][seen], minlength=2)


def predictions_of_choices(
    sample: Resample,
    records: Sequence[TrialRecord],
    row_id: Ids,
    follow: FollowUp | None,
) -> Predictions | None:
    """Return the risks of test patients by the trial that each contender chose.

    The records are those of one resample; a model with clusters may choose its learner's own trials
    (`deepcac.judging.choice.open_to`). None for three classes or more.

    Parameters
    ----------
    row_id : ndarray of shape (n,)
        Of the table's rows, ascending.
    follow : FollowUp or None
        Of the table's rows.
    """
    if sample.n_classes != 2:
        return None
    by_name = {record.contender: record for record in records}
    risk = {}
    for name, record in by_name.items():
        (trial,) = choose(open_to(by_name, name), TUNED, LOSS).trials
        clustered = trial < len(record.values)
        source = record if clustered else by_name[record.learner]
        number = trial if clustered else trial - len(record.values)
        risk[name] = source.answers[0].part(TEST).risk(number)
    test = sample.test
    row = np.searchsorted(row_id, test.row_id)
    follow = None if follow is None else follow.take(row)
    return Predictions.of_part(row, test.unit, test.y, risk, follow)


def stack(parts: Iterable[Predictions | None]) -> Predictions | None:
    """Return the predictions of several resamples or places, a part each; None without any."""
    present = [part for part in parts if part is not None]
    if not present:
        return None

    def every(name: str) -> Any:
        return np.concatenate([getattr(part, name) for part in present])

    return Predictions(
        every("row"),
        every("unit"),
        every("y"),
        {name: np.concatenate([part.risk[name] for part in present]) for name in present[0].risk},
        np.repeat(np.arange(len(present)), [len(part.y) for part in present]),
        joined([part.follow for part in present if part.follow is not None]),
    )
