"""Do clusters help in another place? A verdict a place, one over all, and a sentence."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from deepcac.scoring.equivalence import (
    BETTER,
    EQUIVALENT,
    NEVER,
    UNDECIDED,
    WORSE,
    Difference,
    measured,
    verdict,
)
from deepcac.scoring.margins import MARGIN
from deepcac.scoring.random_effects import Pooled, pool_sites
from deepcac.scoring.resampled_scores import RATIO, SLOPE, score_intervals
from deepcac.scoring.small_cells import Count, Text, join_texts
from deepcac.scoring.statistics import holm
from deepcac.table.answer import Answer, contender_name, signed
from deepcac.table.budgeted_trials import bent_line
from deepcac.table.cluster_answer import ENOUGH_EVENTS, FEWEST_EVENTS
from deepcac.table.elsewhere.fold_trials import BEST, WITHOUT, Compared, FoldResult
from deepcac.table.inference.labelled_table import rare_rows
from deepcac.table.pages.score_tables import Line

_SAME = 1e-9  # standard error below which both sides gave the same risks
_PART = ", from a part of the training rows"
_SAID = {
    BETTER: "they helped",
    EQUIVALENT: f"they changed nothing (within {MARGIN:g} AUROC)",
    WORSE: "they did harm",
    NEVER: "they gave the same risks",
    UNDECIDED: "it is undecided whether they help",
}


class Over(NamedTuple):
    """A comparison over places.

    Attributes
    ----------
    places : list of Line
        Differences in AUROC with their verdicts, adjusted by Holm 1979 over the places; `NEVER`
        where both sides gave the same risks.
    pooled : Pooled or None
        None of fewer than two places that can be compared.
    whole : Line or None
    """

    places: list[Line]
    pooled: Pooled | None
    whole: Line | None


def over_places(names: Sequence[str], compared: Sequence[Compared]) -> Over:
    """Decide a comparison in each place, and over all by random effects.

    `names` are those of the places, and `compared` has one entry each.
    """
    estimates = [
        measured(comparison.mean, comparison.error, np.inf, margin=MARGIN)
        for comparison in compared
    ]
    differs = np.array([comparison.error > _SAME for comparison in compared])
    p, same = (
        holm(np.where(differs, [getattr(estimate, name) for estimate in estimates], np.nan))
        for name in ("p", "p_equivalent")
    )
    places = [
        _line(name, estimate, verdict(estimate, p[j], same[j]) if differs[j] else NEVER)
        for j, (name, estimate) in enumerate(zip(names, estimates, strict=True))
    ]
    if differs.sum() < 2:
        return Over(places, None, None)
    differing = [comparison for comparison, flag in zip(compared, differs, strict=True) if flag]
    pooled = pool_sites(
        [comparison.mean for comparison in differing],
        [comparison.error for comparison in differing],
    )
    whole = measured(pooled.mean, pooled.error, pooled.freedom, margin=MARGIN)
    word = verdict(whole, whole.p, whole.p_equivalent)
    return Over(places, pooled, _line("all sites", whole, word)._replace(pooled=True))


def _line(name: str, gap: Difference, word: str) -> Line:
    return Line(name, gap.mean, gap.low, gap.high, word)


def compared_places(results: Sequence[FoldResult]) -> dict[str, Over]:
    """Return each comparison of `FoldResult` over all places."""
    names = [fold.name for fold in results]
    return {
        key: over_places(names, [fold.comparisons[key] for fold in results])
        for key in results[0].comparisons
    }


def answer_places(
    results: Sequence[FoldResult], comparisons: Mapping[str, Over], *, sites: bool
) -> Answer:
    """Describe the outcome over sites, or on a second table.

    `results` has one entry per site, or that of the second table.
    """
    totals = np.sum([fold.counts for fold in results], axis=0)
    best, events, rare = comparisons[BEST], int(totals.min()), rare_rows(totals)
    cut = any(fold.cut for fold in results)
    where = "the tested sites" if sites else results[0].name
    words = [place.verdict for place in best.places]
    phrases = [
        f"{f'in {words.count(word)} of {len(words)} sites' if sites else f'in {where}'} {text}"
        for word, text in _SAID.items()
        if word in words
    ]
    sentence = f"{_use(best, events, cut)}: {', '.join(phrases)}{_PART * cut}."
    if events < FEWEST_EVENTS:
        text = "Too few {} in {} to say whether clusters help: {}."
        sentence = Text(text, rare, where, Count(events))
    numbers = _numbers(
        results, best, "over all sites" if sites else f"in {where}", (rare, Count(events))
    )
    details = [*_details(results, best), *_bent_line(comparisons)]
    return Answer(sentence, numbers=numbers, details=details)


def overall(best: Over) -> Line | None:
    """Return the verdict on the one place, or over several; None where they are not pooled."""
    return best.places[0] if len(best.places) == 1 else best.whole


def _use(best: Over, events: int, cut: bool) -> str:
    """Describe what to do elsewhere; a firm no needs all training rows and enough events."""
    place = overall(best)
    word = UNDECIDED if place is None else place.verdict
    if word == BETTER:
        return "Clusters help elsewhere"
    firm = not cut and events >= ENOUGH_EVENTS and word != UNDECIDED
    return f"Use no clusters {'elsewhere' if firm else 'for now'}"


def _numbers(
    results: Sequence[FoldResult], best: Over, where: str, rare: tuple[str, str]
) -> list[tuple[str, str]]:
    """Return the numbers of the first screen."""
    names = list(dict.fromkeys(contender_name(fold.best) for fold in results))
    aurocs = [fold.auroc.value for fold in results]
    place, change = overall(best), "the same risks"
    if place is not None and place.verdict != NEVER:
        change = place.text
    elif any(entry.verdict != NEVER for entry in best.places):
        change = "not pooled: in all sites but one the same risks"
    return [
        ("Best model without clusters", " or ".join(names)),
        ("Its AUROC", _range([f"{min(aurocs):.3f}", f"{max(aurocs):.3f}"])),
        (f"Change by clusters, {where}", change),
        (
            "Training rows",
            _range([Count(f(fold.n_train for fold in results)) for f in (min, max)]),
        ),
        (f"{rare[0].capitalize()} in the test", rare[1]),
    ]


def _range(ends: list[str]) -> str:
    return join_texts(" to ", dict.fromkeys(ends))


def _details(results: Sequence[FoldResult], best: Over) -> list[str]:
    declined = sum(fold.declined for fold in results)
    where = f"in {declined} of {len(results)} sites" if len(results) > 1 else "here"
    names = sorted({contender_name(fold.best) for fold in results})
    aurocs = [fold.auroc.value for fold in results]
    span = _range([f"{min(aurocs):.3f}", f"{max(aurocs):.3f}"])
    sentences = [
        "Compared: the model with two clusters or more that the tuning rows like best, and the "
        "best one without clusters. Clusters are forced here; a free choice would have declined "
        f"them {where}."
        if declined
        else "Compared: the model with two clusters or more that the tuning rows like best, and "
        "the best one without clusters.",
        f"The best risk model without clusters ({' or '.join(names)}) has an AUROC of {span} "
        "on patients of a place that it has not seen.",
    ]
    if best.pooled is not None and not np.isnan(best.pooled.new_low):
        sentences.append(
            f"In a new site the difference is expected from {signed(best.pooled.new_low)} to "
            f"{signed(best.pooled.new_high)} (95 % prediction interval)."
        )
    return sentences + _calibration(results)


def _bent_line(comparisons: Mapping[str, Over]) -> list[str]:
    over = comparisons.get(bent_line())
    place = None if over is None else overall(over)
    if place is None or place.verdict == NEVER:
        return []
    return [
        "Logistic regression with splines, without clusters, minus logistic regression: "
        f"{place.text}, {place.verdict}."
    ]


def _calibration(results: Sequence[FoldResult]) -> list[str]:
    fold_scores = [
        score_intervals(fold.predictions.of(WITHOUT), fold.predictions.draws[:, :2])
        for fold in results
        if fold.predictions is not None
    ]
    if not fold_scores:
        return []
    ratios = [scores[RATIO].value for scores in fold_scores]
    if len(results) == 1:
        slope = fold_scores[0][SLOPE].value
        also = "" if np.isnan(slope) else f", calibration slope {slope:z.2f}"
        return [
            f"Observed / expected events {ratios[0]:.2f}{also} "
            "(1 is right). The answer uses the risks as they are; refitted risks are below."
        ]
    return [
        f"Observed / expected events go from {min(ratios):.2f} to {max(ratios):.2f} (1 is right)."
    ]
