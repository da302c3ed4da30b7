"""`deepcac fit --bootstrap`: the whole choice of a model again, on patients drawn with replacement.

How much better a model looks on the patients that made it than on others (Harrell et al. 1996), and
how far the risk of a patient moves with the draw of patients (Riley and Collins 2023).
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from joblib import delayed
from matplotlib.figure import Figure as Canvas
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from deepcac.errors import DataError
from deepcac.files.output_files import StrPath
from deepcac.pages.figures import PALETTE, Figure
from deepcac.pages.sections import Section
from deepcac.pages.tables import Table
from deepcac.scoring.calibration import calibration, calibration_slope, log_odds
from deepcac.scoring.censored import auroc_at, brier_at
from deepcac.table.answer import Answer
from deepcac.table.budgeted_trials import TableRun, duration
from deepcac.table.choice_folds import Candidate, score_on_folds
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.pages.page_sections import Page, method_section, write_page
from deepcac.table.risk_model import DIRECTIONS, RefitSpread, RiskModel, fit_risk_model, patients
from deepcac.table.risk_model_choice import choice, settings
from deepcac.types import Array
from deepcac.worker_processes import workers

SCORES = {"auroc": "AUROC", "calibration_slope": "calibration slope", "brier": "Brier score"}
_SPAN = (2.5, 97.5)


class Refits(NamedTuple):
    """Models of other draws of the patients.

    Attributes
    ----------
    risk : ndarray of shape (r, n)
        Of every row of the table, by each refit.
    drawn, original : ndarray of shape (r, 3)
        `SCORES` of each refit on the rows that made it, and on the table.
    """

    risk: Array
    drawn: Array
    original: Array


@dataclass(frozen=True)
class Optimism:
    """What the refits say of a model.

    Attributes
    ----------
    scores : dict
        For each of `SCORES`: ``apparent``, ``optimism`` and ``corrected``.
    moves : float
        Mean absolute difference between a risk and that of the refits.
    band : ndarray of shape (g, 4)
        Groups of at least ten rows by risk: their mean risk, the ends between which 95 % of the
        refits' risks lie, and the mean absolute difference.
    """

    scores: dict[str, dict[str, float]]
    moves: float
    band: Array

    def to_dict(self, refits: int) -> dict[str, Any]:
        """Return what a model keeps."""
        return {"refits": refits, "scores": self.scores, "moves": round(self.moves, 5)}


def refit(
    table: LabelledTable,
    tried: Sequence[Candidate],
    n: int,
    seed: int,
    *,
    say: Callable[[str], None],
    jobs: int = 1,
) -> Refits:
    """Choose and fit a model anew on each of `n` draws of the patients.

    All rows of a patient are drawn together, and stay in one fold. The first refit tells how long
    all of them take. Draws in which too few patients have the event are left out.

    Raises
    ------
    DataError
        Hardly a draw can be fitted.
    """
    begin = time.monotonic()
    first = _refit(table, tried, 0, seed)
    seconds = (time.monotonic() - begin) * (n - 1) / jobs
    say(f"bootstrap: {n} refits of the whole choice, about {duration(max(seconds, 1))}")
    others = workers(jobs)(delayed(_refit)(table, tried, number, seed) for number in range(1, n))
    every = [draw for draw in (first, *others) if draw is not None]
    if len(every) < max(2, n // 2):
        raise DataError(
            f"--bootstrap {n}: only {len(every)} draws hold enough patients with the event"
        )
    risk, drawn, original = (np.array([draw[j] for draw in every]) for j in range(3))
    return Refits(risk, drawn, original)


def _refit(
    table: LabelledTable, tried: Sequence[Candidate], number: int, seed: int
) -> tuple[Array, Array, Array] | None:
    """Return risks of all rows, and scores on the drawn and on all rows, by a draw's own model."""
    drawn = _drawn(table, np.random.default_rng([seed, number, 101]))
    with threadpool_limits(1):
        try:
            scores = score_on_folds(drawn, tried, seed, nested=False)
        except DataError:
            return None
        taken = tried[choice(scores.every, tried)]
        model = fit_risk_model(drawn, settings(taken), seed)
        drawn_risk, risk = (model.answers(rows.features.X)[0][:, 1] for rows in (drawn, table))
    return risk, _scored(drawn, drawn_risk), _scored(table, risk)


def _drawn(table: LabelledTable, rng: np.random.Generator) -> LabelledTable:
    """Return a table of patients drawn with replacement; a patient's copies share a group."""
    features = table.features
    _, place = np.unique(patients(table), return_inverse=True)
    n = int(place.max()) + 1
    copies = np.bincount(rng.integers(0, n, n), minlength=n)[place]
    rows = np.repeat(np.arange(len(place)), copies)
    numbers = np.arange(1, len(rows) + 1)  # copies are rows of their own
    copied = replace(features, X=features.X[rows], label=features.label[rows], row_id=numbers)
    follow = None if table.follow is None else table.follow.take(rows)
    return replace(table, features=copied, group=place[rows], follow=follow)


def _scored(table: LabelledTable, risk: Array) -> Array:
    """Return `SCORES` of the risks of a table's rows; at a horizon weighted for censoring."""
    y, follow = table.features.label, table.follow
    if follow is not None:
        slope = calibration_slope(y, risk, follow.weights())
        return np.array([auroc_at(follow, risk), slope, brier_at(follow, risk)])
    fit = calibration(y, risk)
    return np.array([roc_auc_score(y, risk), fit.slope, fit.brier])


def optimism(table: LabelledTable, model: RiskModel, refits: Refits) -> Optimism:
    """Return how far the apparent scores are too good, and how far risks move.

    A corrected score has no interval: on its own rows a refit's slope is about 1, and its AUROC
    too if columns are many, whatever the patients, so how these vary is no error.
    """
    risk = model.answers(table.features.X)[0][:, 1]
    apparent = _scored(table, risk)
    surplus = (refits.drawn - refits.original).mean(axis=0)
    columns = {"apparent": apparent, "optimism": surplus, "corrected": apparent - surplus}
    scores = {
        name: {kind: round(float(values[j]), 4) for kind, values in columns.items()}
        for j, name in enumerate(SCORES)
    }
    away = np.abs(refits.risk - risk).mean(axis=0)
    parts = np.array_split(np.argsort(risk, kind="stable"), max(1, min(20, len(risk) // 10)))
    band = [
        (
            risk[band_rows].mean(),
            *np.percentile(refits.risk[:, band_rows], _SPAN),
            away[band_rows].mean(),
        )
        for band_rows in parts
    ]
    return Optimism(scores, float(away.mean()), np.array(band))


def spread(table: LabelledTable, model: RiskModel, refits: Refits) -> RefitSpread:
    """Return how the log odds of refits vary, as a model keeps it to give new risks a range.

    The log odds of each refit are written as a linear function of what the model itself is linear
    in, cluster by cluster. Kept are the mean of these functions and the directions in which they
    differ most; what the functions leave, and the other directions, is one variance. No refit, and
    so nothing that depends on single patients, is kept.
    """
    design = model.design(table.features.X)
    odds = log_odds(refits.risk)
    coefficients, *_ = np.linalg.lstsq(design, odds.T, rcond=None)
    rest = float(((odds.T - design @ coefficients) ** 2).mean())
    centre = coefficients.mean(axis=1)
    _, sizes, directions = np.linalg.svd((coefficients.T - centre), full_matrices=False)
    scaled = sizes[:, None] * directions / np.sqrt(len(refits.risk) - 1)
    leading, others = scaled[:DIRECTIONS], scaled[DIRECTIONS:]
    rest += float(((design @ others.T) ** 2).sum(axis=1).mean()) if len(others) else 0.0
    return RefitSpread(centre, leading, rest)


_HEAD = ("score", "apparent", "optimism", "corrected")


def write_instability_page(
    path: StrPath,
    table: LabelledTable,
    model: str,
    optimism: Optimism,
    refits: int,
    run: TableRun,
) -> None:
    """Write the page; `model` is what the model is in words, `refits` how many there were."""
    auroc = optimism.scores["auroc"]
    answer = Answer(
        f"The AUROC is {auroc['corrected']:.3f} after correction for optimism "
        f"({auroc['apparent']:.3f} before). A patient's risk moves by "
        f"{100 * optimism.moves:.1f} percentage points on average from one draw of patients to "
        "another."
    )
    about = f"{table.name}; the event is {table.shown_classes[1]}; the model: {model}"
    method = [
        f"{refits} times patients were drawn with replacement, as many as there are. Each time "
        "the whole choice was made again on folds of these (copies of a patient share a fold), "
        "and the model was fitted anew.",
        "Optimism: Harrell, Lee and Mark 1996. Corrected scores have no interval. Instability: "
        "Riley and Collins 2023; groups of at least ten patients stand for single ones.",
    ]
    rows = [
        (text, *(f"{optimism.scores[name][kind]:z.3f}" for kind in _HEAD[1:]))
        for name, text in SCORES.items()
    ]
    sections = [
        Section("answer", "Answer", [instability_figure(optimism), about]),
        Section(
            "optimism",
            "Optimism",
            [
                "Apparent: on the patients that made the model. Optimism: how much better a refit "
                "looks on its own patients than on those of the table. Corrected: apparent less "
                "optimism.",
                Table.of_texts("optimism", "Optimism", _HEAD, rows),
            ],
        ),
        method_section(method, "How it was made"),
    ]
    title = f"How stable is the risk model of {table.name}?"
    write_page(path, Page(title, answer, sections, run.command), exact=run.exact)


def instability_figure(optimism: Optimism) -> Figure:
    """Draw between which ends the risks of refits lie, and how far they are off on average."""
    risk, low, high, away = optimism.band.T

    def draw(canvas: Canvas) -> None:
        axis = canvas.subplots()
        axis.axline((0, 0), slope=1, color="#888888", linewidth=0.8, linestyle=":")
        axis.fill_between(
            risk, low, high, color=PALETTE[0], alpha=0.2, linewidth=0, label="95 % of the refits"
        )
        axis.plot(risk, risk, color=PALETTE[0], marker="o", markersize=3, label="the model")
        axis.plot(risk, away, color=PALETTE[1], linestyle="--", label="mean absolute difference")
        axis.set(xlabel="risk by the model", ylabel="risk by refits", xlim=(0, None), ylim=(0, 1))
        axis.legend(loc="upper left")

    return Figure(
        id="instability",
        title="How far does a patient's risk move?",
        caption="Patients in groups of equal size by their risk: between which ends 95 % of the "
        "risks lie that refits on other samples of the patients give them.",
        size=(5.6, 4.4),
        draw=draw,
    )
