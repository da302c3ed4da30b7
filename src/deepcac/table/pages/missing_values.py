"""Whether the answer rests on how missing values are handled."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
from threadpoolctl import threadpool_limits

from deepcac.judging.contenders import KM, Contender
from deepcac.judging.fitting import fit_trial
from deepcac.judging.resamples import Resample, Rows
from deepcac.pages.sections import Block, Section
from deepcac.pages.tables import Table
from deepcac.preprocess import TableScaler
from deepcac.scoring.metrics import one_against_rest
from deepcac.scoring.statistics import corrected_t_test
from deepcac.table.budgeted_trials import (
    FEWEST_RESAMPLES,
    TableRun,
    Trials,
    linear,
    table_resamples,
)
from deepcac.table.columns.cells import plain
from deepcac.table.comparison_words import signed
from deepcac.table.inference.labelled_table import FEWEST_OF_A_CLASS, LabelledTable
from deepcac.table.reading.table_encoder import ABSENT
from deepcac.types import Array, Flags

HEAD = ("missing values", "AUROC", "minus the first", "k-means clusters minus none")
FLAGGED = "training median, with a flag (as everywhere on this page)"
NO_FLAGS = "training median, without a flag"
COMPLETE = "learnt from rows without a missing value"
Handle = Callable[[Resample], Resample]


def missing_section(table: LabelledTable, run: TableRun, trials: Trials) -> list[Block]:
    """Return a section with a line for each way to handle missing values; none where none is.

    Judged are logistic regression and the same in two k-means clusters, both with their defaults,
    on the same test rows of the first resamples of the comparison.
    """
    complete = complete_rows(table)
    if complete.all():
        return []
    flags = np.array([name.endswith(f"={ABSENT}") for name in table.features.names])
    options = {"unit": table.group, "follow": table.follow}
    samples = [
        next(table_resamples(table.features, 1, run.train_rows, first=seed, **options))
        for seed in trials.seeds[:FEWEST_RESAMPLES]
    ]
    ways: dict[str, Handle] = {
        FLAGGED: lambda sample: sample,
        NO_FLAGS: lambda sample: without_flags(sample, flags),
    }
    train = [complete[np.searchsorted(table.features.row_id, s.train.row_id)] for s in samples]
    enough = all(_enough(s, rows) for s, rows in zip(samples, train, strict=True))
    with threadpool_limits(1):
        scores = {name: [_aurocs(handle(s)) for s in samples] for name, handle in ways.items()}
        if enough:
            scores[COMPLETE] = [
                _aurocs(learnt_from(s, rows)) for s, rows in zip(samples, train, strict=True)
            ]
    share = trials.records[linear()].test_share
    rows = [
        _line(name, np.array(s), np.array(scores[FLAGGED]), share) for name, s in scores.items()
    ]
    few = " These are too few to learn from them only." * (not enough)
    note = (
        "Logistic regression with its defaults, and the same in two k-means clusters, on the same "
        f"test rows of {len(samples)} resamples, with corrected 95 % intervals. A difference from "
        "the first way says how much the answer rests on it. "
        f"{rough_share(float(complete.mean()))} of the rows have a value in every column that is "
        f"used.{few} Values are not imputed several times: for a prediction the flag keeps what a "
        "missing value itself tells, and all rows are judged by one rule that a new patient can "
        "have too."
    )
    title = "If missing values were handled otherwise"
    return [Section("handled", title, [note, Table.of_texts("missing-values", title, HEAD, rows)])]


def rough_share(share: float) -> str:
    """Return a share to ten percent, which tells of no few rows."""
    if not 0.05 < share < 0.95:
        return "At most 5 %" if share < 0.5 else "At least 95 %"
    return f"About {10 * round(10 * share)} %"


def complete_rows(table: LabelledTable) -> Flags:
    """Return which rows have a value in every column that is used."""
    complete = np.ones(len(table.features.label), dtype=np.bool_)
    for column in table.encoder.used:
        absent = pc.is_null(plain(table.rows[column.name]), nan_is_null=True)
        complete &= ~absent.to_numpy().astype(np.bool_)
    return complete


def without_flags(sample: Resample, flags: Flags) -> Resample:
    """Return a resample whose missing numbers are training medians, without any flag.

    `flags` are columns that tell whether a category has a value; they are set to 0.
    """
    scaler = TableScaler().fit(sample.train.raw)

    def filled(rows: Rows) -> Rows:
        values = np.where(np.isnan(rows.raw), scaler.median_, rows.raw)
        return replace(rows, raw=np.where(flags, 0.0, values))

    train, validation, test = map(filled, (sample.train, sample.validation, sample.test))
    return _scaled(Resample(train, validation, test, sample.n_classes, sample.seed))


def learnt_from(sample: Resample, rows: npt.NDArray[np.bool_]) -> Resample:
    """Return a resample that learns from some of its training rows, medians and scales too."""
    return _scaled(replace(sample, train=sample.train.take(rows), shared={}))


def _scaled(sample: Resample) -> Resample:
    """Return a resample that is scaled by its training rows."""
    scaler = TableScaler().fit(sample.train.raw)
    train, validation, test = (
        replace(part, scaled=scaler.transform(part.raw))
        for part in (sample.train, sample.validation, sample.test)
    )
    return Resample(train, validation, test, sample.n_classes, sample.seed)


def _enough(sample: Resample, rows: Flags) -> bool:
    counts = np.bincount(sample.train.y[rows], minlength=sample.n_classes)
    return bool(counts.min() >= FEWEST_OF_A_CLASS)


def _aurocs(sample: Resample) -> list[float]:
    """Return the AUROC on the test rows, without clusters and in two of them."""
    test, out = sample.test, []
    for contender in (Contender(linear()), Contender(linear(), KM)):
        values = contender.trials(1)[0] | ({"n_clusters": 2} if contender.arm else {})
        risk = np.asarray(fit_trial(contender, values, sample)(test))
        scores = one_against_rest(test.y, risk, sample.n_classes, "auroc", test.weight)
        out.append(float(scores.mean()))
    return out


def _line(name: str, scores: Array, first: Array, share: float) -> tuple[str, ...]:
    plain_scores, clustered = scores.T
    sizes = {"n_train": 1 - share, "n_test": share}
    cells = [f"{plain_scores.mean():.3f}"]
    for gap in (plain_scores - first[:, 0], clustered - plain_scores):
        test = corrected_t_test(gap, **sizes)
        span = f" ({signed(test.low, 4)} to {signed(test.high, 4)})" * (not np.isnan(test.low))
        cells.append(f"{signed(test.mean, 4)}{span}")
    return (name, cells[0], "" if name == FLAGGED else cells[1], cells[2])
