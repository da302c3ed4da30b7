"""How a risk model is made, and how well models made so do on rows that they have not seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from deepcac.errors import ConfigError, DataError
from deepcac.judging.choice import simplest
from deepcac.judging.contenders import CAC, KM, Contender
from deepcac.judging.predictions import Predictions
from deepcac.judging.resamples import OUTLIER
from deepcac.judging.spaces import Values, trials
from deepcac.scoring.censored import auroc_at
from deepcac.scoring.resampled_scores import (
    AUROC,
    INTERCEPT,
    RATIO,
    SLOPE,
    score_intervals,
)
from deepcac.scoring.small_cells import Count, Text
from deepcac.scoring.statistics import corrected_error, corrected_t_test
from deepcac.table.answer import ahead_sentence, contender_name
from deepcac.table.budgeted_trials import BOOSTERS, Say, bent_line, booster, linear, simplicity
from deepcac.table.choice_folds import (
    Candidate,
    FoldScores,
    Scores,
    score_on_folds,
)
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.sample_sizes import (
    NO_EVIDENCE,
    needed_patients,
    study_sentence,
    study_size,
)
from deepcac.types import Array

AUTO, PLAIN = "auto", "plain"
LINEAR, SPLINE, BOOSTED = linear(), "spline", "boosted"
LEARNERS = (AUTO, LINEAR, SPLINE, BOOSTED)
SUBTYPES = "subtypes"
MODEL = "the model"  # in predictions
_CLUSTERED = ("k-means", "CAC", SUBTYPES)
CLUSTERS, ALPHA = 2, 0.03  # where none are asked for
METHODS = {AUTO: "", PLAIN: "", "k-means": KM, "CAC": CAC, SUBTYPES: ""}
TRIALS = {linear(): 12, bent_line(): 6} | dict.fromkeys(BOOSTERS, 4)  # of a learner and arm
_WEIGHT = "class_weight"
_RULE = "the simplest model within one standard error of the best AUROC, each at its best log loss"
LEAST_SPREAD = 0.25  # log odds; of a risk by coefficients whose variances are the penalty's C
_OF_RISK = {
    INTERCEPT: "calibration_intercept",
    SLOPE: "calibration_slope",
    RATIO: "observed_by_expected",
}
EVENTS_A_CLUSTER = 20  # rows of the rarest class; with fewer a model of its own is noise


@dataclass(frozen=True)
class Ways:
    """What is asked of a model (`ways_asked`); the rest is chosen.

    Attributes
    ----------
    method : str
        Of `METHODS`.
    learner : str
        Of `LEARNERS`.
    clusters, alpha : int, float
        Of a method with clusters.
    """

    method: str = AUTO
    learner: str = AUTO
    clusters: int = CLUSTERS
    alpha: float = ALPHA


def chosen_method(
    table: LabelledTable, ways: Ways, seed: int, say: Say, jobs: int = 1
) -> dict[str, Any]:
    """Choose how a model is made, and score models that are chosen so on held-out rows.

    Parameters
    ----------
    table : LabelledTable
    ways : Ways
    seed : int
        Draws the folds.
    say : callable
        Called with lines on the progress.
    jobs : int
        Folds that are fitted at once.

    Returns
    -------
    dict
        What `settings` returns; ``chosen``, in words; ``passed_over`` (`passed_over`); ``rarest``,
        rows of the rarest class; ``held_out`` (`held_out`).

    Raises
    ------
    DataError
        More clusters are asked for than there are rows for.
    """
    tried = candidates(ways, table)
    say(f"choosing among {len(tried)} ways" if len(tried) > 1 else "testing on held-out rows")
    scores = score_on_folds(table, tried, seed, nested=len(tried) > 1, jobs=jobs)
    auroc, predictions = nested_answers(table, tried, scores)
    n_folds = len(auroc)
    tested = held_out(auroc, table.features.X.shape[0] / n_folds, 1 / (n_folds - 1), predictions)
    several = f"{len(tried)} trials were tested on {n_folds} folds"
    return {
        **settings(tried[choice(scores.every, tried)]),
        "chosen": f"{several}: {_RULE}" if len(tried) > 1 else "as asked for",
        "passed_over": passed_over(tried, scores),
        "rarest": table.rarest,
        "needs": _needs(table, predictions, tested),
        "held_out": tested,
        **_timed(table),
    }


def chosen_learner(table: LabelledTable, seed: int, jobs: int = 1) -> str:
    """Return the learner without clusters that `chosen_method` takes of those without.

    A comparison recommends it, so that `fit` makes what `compare` recommends: the same trials on
    the same folds, and the same rule.
    """
    tried = [candidate for candidate in candidates(Ways(), table) if candidate.k == 1]
    scores = score_on_folds(table, tried, seed, nested=False, jobs=jobs)
    return tried[choice(scores.every, tried)].learner


def _needs(
    table: LabelledTable, predictions: Predictions | None, tested: dict[str, Any]
) -> list[str]:
    """Describe the sample size that the model and its validation need; two classes only."""
    if predictions is None:
        return []
    if not tested["low"] > 0.5:
        return [NO_EVIDENCE]
    auroc = tested["auroc"]
    return [
        needed_patients(table, auroc=auroc).sentence,
        study_sentence(study_size(predictions.risk[MODEL], auroc)),
    ]


def settings(taken: Candidate) -> dict[str, Any]:
    """Return how a candidate is fitted, as a `RiskModel` keeps it."""
    method = {
        "learner": taken.learner, "arm": taken.arm, "n_clusters": taken.k,
        "alpha": taken.values.get("alpha", 0.0),
    }  # fmt: skip
    values = {name: v for name, v in taken.settings.items() if name != _WEIGHT}
    if taken.learner in BOOSTERS:
        return method | {"trees": values}
    return method | {"clip": OUTLIER} | values  # splines bend what lies inside


def _timed(table: LabelledTable) -> dict[str, Any]:
    """Return the horizon of a model, and whether competing events end follow-up before it."""
    if table.follow is None:
        return {}
    return {"horizon": table.follow.horizon, "competing": table.follow.other is not None}


def choice(scores: Scores, tried: Sequence[Candidate]) -> int:
    """Return the candidate that the scores on folds, a line per fold, choose.

    Each learner without clusters, and each number of clusters, has the trial with the best log
    loss: ranks say nothing of how large a risk is. Of these the simplest one within one standard
    error of the best is taken, by AUROC, as `compare` recommends one (`judging.choice.simplest`).
    """
    tuned = list(_tuned(scores, tried).values())
    # Rows of a fold by those learnt from: of n folds the other n - 1. Where one more fold is left
    # out to test the choice, there is no line of it either.
    ratio = 1 / (len(scores.auroc) - 1)
    return tuned[simplest([scores.auroc[:, t] for t in tuned], ratio)]


def _tuned(scores: Scores, tried: Sequence[Candidate]) -> dict[tuple[int, int], int]:
    """Return the trial with the best log loss of each number of clusters and learner.

    The simplest comes first: none has fewer clusters, or as many and a simpler learner.
    """
    means = scores.log_likelihood.mean(axis=0)
    models = [(candidate.k, simplicity(candidate.learner)) for candidate in tried]
    return {models[t]: t for t in sorted(range(len(tried)), key=lambda t: (models[t], means[t]))}


def passed_over(tried: Sequence[Candidate], scores: FoldScores) -> str:
    """Describe what the choice cost: how much more the best model scores, on nested folds.

    Where the best one is chosen, it is held against the simplest.
    """
    tuned = _tuned(scores.every, tried)
    if len(tuned) < 2:
        return ""
    simple = next(iter(tuned))
    ahead = max(tuned, key=lambda model: scores.every.auroc[:, tuned[model]].mean())
    chosen = {t: model for model, t in tuned.items()}[choice(scores.every, tried)]
    if ahead == simple:
        return f"no other model was ahead of {_model_name(tried[tuned[simple]])}"
    lower = simple if ahead == chosen else chosen
    gaps = [
        fold[inner[ahead]] - fold[inner[lower]]
        for fold, inside in zip(scores.every.auroc, scores.inside, strict=True)
        for inner in [_tuned(inside, tried)]
    ]
    gap = corrected_t_test(np.array(gaps), n_train=len(gaps) - 1, n_test=1)
    best, other = (_model_name(tried[tuned[model]]) for model in (ahead, lower))
    size = "less" if ahead != chosen else "more"
    return ahead_sentence(best, other, gap, f", by {size} than a standard error")


def _model_name(candidate: Candidate) -> str:
    name = contender_name(Contender(candidate.learner, candidate.arm).id)
    return f"{name}, {candidate.k} clusters" if candidate.k > 1 else name


def nested_answers(
    table: LabelledTable, tried: Sequence[Candidate], scores: FoldScores
) -> tuple[Array, Predictions | None]:
    """Return AUROC by fold and risks of chosen models; the choice for a fold has seen no row of it.

    Risks are those of `MODEL`, of two classes.
    """
    n_folds, follow, y = len(scores.every.auroc), table.follow, table.features.label
    chosen = np.array([choice(others, tried) for others in scores.inside] or [0] * n_folds)
    aurocs = scores.every.auroc[np.arange(n_folds), chosen]
    if table.features.n_classes > 2:
        return aurocs, None
    row = np.argsort(scores.fold, kind="stable")
    fold = scores.fold[row]
    risk = scores.risk[chosen[fold], row, 1]
    if follow is not None:
        follow, y = follow.take(row), follow.outcome
        aurocs = np.array(
            [auroc_at(follow.take(fold == j), risk[fold == j]) for j in range(n_folds)]
        )
    unit = row if table.group is None else table.group[row]
    return aurocs, Predictions(row, unit, y[row], {MODEL: risk}, fold, follow)


def ways_asked(method: str, learner: str, clusters: int | None, alpha: float | None) -> Ways:
    """Return what is asked for, with the usual number of clusters and weight of CAC.

    Raises
    ------
    ConfigError
        The method is not one of `METHODS`, or the learner not one of `LEARNERS`, or one has no use
        for what is asked for.
    """
    for what, name, names in (("method", method, METHODS), ("learner", learner, LEARNERS)):
        if name not in names:
            raise ConfigError(f"{what} {name!r}; use {', '.join(names)}")
    for option, value, users in (
        ("--clusters", clusters, _CLUSTERED),
        ("--alpha", alpha, ("CAC",)),
        ("--learner", None if learner == AUTO else learner, set(METHODS) - {SUBTYPES}),
    ):
        if value is not None and method not in users:
            ways = " or ".join(name for name in METHODS if name in users)
            raise ConfigError(
                f"{option} has no use with --method {method}; ask without it, or for --method "
                f"{ways}"
            )
    usual = ALPHA if alpha is None else alpha
    return Ways(method, learner, clusters or CLUSTERS, usual)


def check_events(clusters: int, rarest: int) -> None:
    """Refuse more clusters than the rows of the rarest class allow."""
    most = _most_clusters(rarest)
    if clusters > most:
        raise DataError(
            f"--clusters {clusters}: the rarest class has rows for {most} ({EVENTS_A_CLUSTER} a "
            "cluster); ask for fewer, or for --method plain"
        )


def _most_clusters(rarest: int) -> int:
    return max(1, rarest // EVENTS_A_CLUSTER)


def candidates(ways: Ways, table: LabelledTable) -> list[Candidate]:
    """Return the ways that a model is chosen from; `choice` says which is taken.

    Those are trials of the learners without clusters, and of logistic regression in k-means and
    CAC clusters, of which there are at most as many as have twenty rows of the rarest class each.
    Class weights are not tried: they would change the risks. Penalties are left out that take every
    risk to the mean: nobody can tell from a table whether the slope of such risks is 2 or 20. A
    method that is named leaves nothing to choose, and is logistic regression unless a learner is
    named.
    """
    rarest, least = table.rarest, LEAST_SPREAD**2 / table.features.X.shape[1]
    if ways.method == SUBTYPES:
        return [Candidate(SUBTYPES, {"n_clusters": ways.clusters})]
    named = {LINEAR: linear(), SPLINE: bent_line(), BOOSTED: booster()}
    learners = list(named.values()) if ways.learner == AUTO else [named[ways.learner]]
    if ways.method == AUTO:
        arms = [("", learner) for learner in learners]
        arms += [(arm, linear()) for arm in (KM, CAC) if linear() in learners]
        return [
            Candidate(arm, values, learner)
            for arm, learner in arms
            for values in _unweighted(Contender(learner, arm), least)
            if values.get("n_clusters", 1) <= _most_clusters(rarest)
        ]
    arm, values = METHODS[ways.method], trials(learners[0], 1)[0]
    if arm:
        check_events(ways.clusters, rarest)
        values |= {"n_clusters": ways.clusters} | ({"alpha": ways.alpha} if arm == CAC else {})
    return [Candidate(arm, values, learners[0])]


def _unweighted(contender: Contender, least: float) -> list[Values]:
    """Return trials without class weights, whose C is no less than a number."""
    drawn = contender.trials(2 * TRIALS[linear()])
    fit = [v for v in drawn if v[_WEIGHT] is None and v.get("C", least) >= least]
    return fit[: TRIALS[contender.learner]]


def held_out(
    auroc: Array, rows: float, ratio: float, predictions: Predictions | None
) -> dict[str, Any]:
    """Describe how models do on rows that neither they nor their choice have seen.

    Parameters
    ----------
    auroc : ndarray of shape (parts,)
        In folds or resamples.
    rows : float
        Of a part, on average.
    ratio : float
        Rows of a part by those that were learnt from.
    predictions : Predictions or None
        Risks by `MODEL`, of two classes.

    Returns
    -------
    dict
        ``auroc``, ``low`` and ``high`` (by drawing patients again; of three classes or more by
        Nadeau and Bengio 2003), ``rows`` tested at a time, and ``parts``; with two classes, of all
        risks together, ``calibration_intercept`` (of the risks as they are),
        ``calibration_slope`` and ``observed_by_expected``; with ``_low`` and ``_high`` behind each
        the ends of its 95 % interval over patients. Risks that rank perfectly, or are all equal,
        have no slope, and none of the three.
    """
    half = stats.t.ppf(0.975, len(auroc) - 1) * corrected_error(auroc, ratio)
    out: dict[str, Any] = {
        "auroc": auroc.mean(),
        "low": max(auroc.mean() - half, 0.0),
        "high": min(auroc.mean() + half, 1.0),
        "rows": rows,
        "parts": len(auroc),
    }
    if predictions is not None:
        # Five AUROCs tell their own spread too badly for an interval by it. Patients are drawn
        # again, and those of one fold are ranked among each other.
        scores = score_intervals(predictions.of(MODEL), predictions.draws)
        if not np.isnan(scores[AUROC].low):
            out |= {"low": scores[AUROC].low, "high": scores[AUROC].high}
        if not np.isnan([scores[key][:3] for key in _OF_RISK]).any():
            for key, name in _OF_RISK.items():
                score = scores[key]
                out |= {name: score.value, f"{name}_low": score.low, f"{name}_high": score.high}
    return {name: round(float(value), 4) for name, value in out.items()}


_ESTIMAND = (
    "the risk is that of the event by {horizon:g} in a world without other events; patients who "
    "left earlier count through those who were followed (inverse chance of censoring)",
    "the risk is that of the event coming first and by {horizon:g}, in a world in which the "
    "competing events do happen (cumulative incidence)",
)


def method_lines(method: dict[str, Any]) -> list[str]:
    """Return what a user should know of a chosen method, a line each; warnings last."""
    out, rarest = method["held_out"], method["rarest"]
    at = f" at {method['horizon']:g}" if "horizon" in method else ""
    span = f"{out['auroc']:.3f} ({out['low']:.3f} to {out['high']:.3f})"
    calibration = ""
    if "calibration_slope" in out:
        calibration = (
            "; calibration, with 95 % intervals over patients: intercept "
            f"{_span(out, 'calibration_intercept')} where 0 is right, slope "
            f"{_span(out, 'calibration_slope')} and observed / expected events "
            f"{_span(out, 'observed_by_expected')} where 1 is right"
        )
    lines: list[str] = [
        Text(
            "held-out AUROC{} {}, {:.0f} times on {} rows that neither the model nor its choice "
            "had seen{}",
            *(at, span, out["parts"], Count(round(out["rows"])), calibration),
        )
    ]
    if method.get("passed_over"):
        lines.append(method["passed_over"])
    if "bootstrap" in method:
        lines += _corrected(method["bootstrap"])
    lines += [Text("{} rows of the rarest class", Count(rarest)), *method.get("needs", ())]
    if "horizon" in method:
        lines.append(_ESTIMAND[bool(method["competing"])].format(horizon=method["horizon"]))
    if rarest < EVENTS_A_CLUSTER:
        lines.append(
            Text(
                "warning: {} rows of the rarest class are too few to fit a risk model or to tell "
                "how good it is",
                Count(rarest),
            )
        )
    if out["low"] <= 0.5:
        lines.append("warning: we found no evidence that this model ranks rows better than chance")
    return lines


def _span(out: dict[str, Any], name: str) -> str:
    return f"{out[name]:z.2f} ({out[f'{name}_low']:z.2f} to {out[f'{name}_high']:z.2f})"


def _corrected(refits: dict[str, Any]) -> list[str]:
    """Describe the refits of ``--bootstrap``, one line each."""
    spans = [
        f"{text} {score['corrected']:z.3f} (apparent {score['apparent']:z.3f}, optimism "
        f"{score['optimism']:z.3f})"
        for text, score in zip(("AUROC", "slope", "Brier"), refits["scores"].values(), strict=True)
    ]
    return [
        f"corrected for optimism by {refits['refits']} refits of the whole choice: "
        + "; ".join(spans),
        f"a patient's risk moves by {100 * refits['moves']:.1f} percentage points on average "
        "between the model and its refits",
    ]
