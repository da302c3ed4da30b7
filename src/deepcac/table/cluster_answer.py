"""Does clustering help on this table? The verdicts, and what they say in a sentence."""

from collections.abc import Collection, Mapping, Sequence

import pandas as pd

from deepcac.judging.choice import TUNED, choose, open_to, simplest, validated
from deepcac.judging.contenders import parse_contender
from deepcac.judging.questions import (
    ANY,
    BEND,
    BENT,
    FORCED,
    HELP,
    NEGATIVE,
    QUESTIONS,
    Question,
)
from deepcac.judging.resample_scores import resample_scores
from deepcac.judging.verdicts import verdicts
from deepcac.scoring.equivalence import (
    BETTER,
    EQUIVALENT,
    LEVEL,
    NEVER,
    NOT_TESTED,
    TIED,
    UNDECIDED,
    WORSE,
)
from deepcac.scoring.margins import MARGIN, STRICT
from deepcac.scoring.small_cells import Count, Text
from deepcac.scoring.statistics import corrected_t_test
from deepcac.table.answer import (
    Answer,
    Line,
    ahead_sentence,
    arm_name,
    contender_name,
    gain,
    with_interval,
)
from deepcac.table.budgeted_trials import Trials, simplicity

FEWEST_EVENTS = 20  # rows of the rarest class; with fewer, five or less are tested at a time
ENOUGH_EVENTS = 100  # below, no firm no
TABLE_QUESTIONS = (*QUESTIONS, BEND, BENT)
_SPLINES = {
    BETTER: "Splines improve logistic regression: {gain}.",
    WORSE: "Splines make logistic regression worse: {gain}.",
    UNDECIDED: "Splines may make logistic regression better or worse: {gain}.",
}
_NO_CHANGE = "Splines neither improve logistic regression nor make it worse: {gain}."
_BEYOND_SPLINES = {
    BETTER: "Clusters are also ahead of splines: {gain}.",
    WORSE: "Splines do more than clusters: clusters minus splines {gain}.",
    UNDECIDED: "Splines may do as much without clusters: clusters minus splines {gain}.",
}
_AS_MUCH = "Splines do as much without clusters: clusters minus splines {gain}."
_SAME = "Splines have the same AUROC in every resample."


def rows_of(table: pd.DataFrame, question: Question) -> pd.DataFrame:
    """Return the comparisons in AUROC of a question."""
    return table[(table["question"] == question.id) & (table["metric"] == "auroc")]


def answer(
    trials: Trials, name: str, rarest: int, rare: str = "events", best: str | None = None
) -> Answer:
    """Compare the contenders of a table and put the outcome into words.

    `rarest` counts its rows of the rarest class, which are called `rare`. The answer is
    about the model without clusters called `best`, which the validation rows choose if none is
    given. They choose the clusters, too.
    """
    scores = resample_scores({name: trials.records})
    table = verdicts(scores, MARGIN, STRICT, TABLE_QUESTIONS)
    rows = rows_of(table, HELP)
    lines = rows.to_dict("records")
    compared = [*lines, *rows_of(table, BENT).to_dict("records")]
    references = {str(line["reference"]) for line in compared}
    clustered = first_line(trials, compared, best)
    best = clustered["reference"]
    verdict = _verdict(lines, best, trials.cut, rarest, excluded=gain_excluded(table))
    counts = {kind: int((rows["verdict"] == kind).sum()) for kind in _ORDER}
    helped = _helped(verdict, lines, best)
    ahead = _score_without(trials, best)
    sentence = _sentence(verdict, lines, best, ahead, helped, (rarest, rare), excluded_gain(table))
    by_chance = all(tuned_auroc(trials, name)[1] <= 0.5 for name in trials.records)
    if helped is None and verdict != TOO_FEW and by_chance:
        sentence = (
            "We found no model that ranks these patients better than chance, with clusters or "
            f"without: {contender_name(best)} has AUROC "
            f"{with_interval(tuned_auroc(trials, best), 3)}."
        )
    if trials.cut and verdict not in (CUT, TOO_FEW):
        whole = sentence
        sentence = Text.by(
            lambda rule: f"{rule.show(whole).removesuffix('.')}, from a part of the training rows."
        )
    splines = splines_sentence(table, helped) if verdict != TOO_FEW else ""
    bent = rows_of(table, BEND)
    told = zip(bent["contender"], bent["reference"], strict=True) if splines else ()
    passed_over = _passed_over(trials, best, references, () if helped else set(told))
    return Answer(
        sentence=sentence,
        details=[*filter(None, [passed_over]), _counted(counts), *_details(table, rows, counts)],
        verdict=verdict,
        table=table,
        numbers=first_numbers(trials, clustered, (rarest, rare), _change(clustered)),
        best=best,
        clustered=clustered["contender"],
        also=[splines] * bool(splines),
    )


def _change(line: Line) -> str:
    """Return what the difference of the first screen is called."""
    contender = line["contender"]
    if parse_contender(contender).learner == line["reference"]:
        return f"Change by clusters ({arm_name(contender)})"
    return f"Change by {contender_name(contender)}"


def first_line(trials: Trials, lines: Sequence[Line], best: str | None = None) -> Line:
    """Return the comparison that the answer is about.

    Its reference is the model called `best`, or else the simplest one without clusters within one
    standard error of the best on the validation rows (`simplest`): logistic regression, then
    splines, then boosted trees. Its contender is the model with clusters that has the best mean on
    the validation rows.
    """
    if best is None:
        best = recommended(trials, {str(line["reference"]) for line in lines})
    return max(
        (line for line in lines if line["reference"] == best),
        key=lambda line: float(validated(trials.records, line["contender"]).mean()),
    )


def recommended(trials: Trials, names: Collection[str]) -> str:
    """Return the simplest of some models without clusters that is about as good as the best."""
    ordered = sorted(names, key=simplicity)
    share = trials.records[ordered[0]].test_share
    scores = [validated(trials.records, name) for name in ordered]
    return ordered[simplest(scores, share / (1 - share))]


def highest(trials: Trials, names: Collection[str]) -> str:
    """Return the model without clusters with the best mean on the validation rows."""
    return max(names, key=lambda name: float(validated(trials.records, name).mean()))


def _passed_over(
    trials: Trials, best: str, names: Collection[str], told: Collection[tuple[str, str]]
) -> str:
    """Say how much more another model scores, if one does on the validation rows.

    Nothing of pairs that are `told` already.
    """
    ahead = highest(trials, names)
    if ahead == best or (ahead, best) in told:
        return ""
    share = trials.records[ahead].test_share
    more, less = (
        choose(open_to(trials.records, name), TUNED, "auroc").scores for name in (ahead, best)
    )
    gap = corrected_t_test(more - less, n_train=1 - share, n_test=share)
    sentence = ahead_sentence(contender_name(ahead), contender_name(best), gap)
    return f"{sentence[0].upper()}{sentence[1:]}."


def gain_excluded(table: pd.DataFrame) -> bool:
    """Tell whether models of two clusters or more were tested, and none gains the margin."""
    rows = rows_of(table, FORCED)
    return len(rows) > 0 and bool((rows["p_gain_excluded_holm"] < LEVEL).all())


def excluded_gain(table: pd.DataFrame) -> str:
    """Say which gains in AUROC all intervals exclude, where clusters were chosen or forced."""
    rows = pd.concat([rows_of(table, HELP), rows_of(table, FORCED)])
    highest = float(rows["high"].max())
    if highest != highest:
        return "two clusters or more changed no score"
    return f"the 95 % intervals exclude a gain above {max(highest, 0.0):.3f} AUROC"


USE, WEAKER, LIKELY, OPEN, NO_GAIN, UNSEEN, CUT, FEW_EVENTS, TOO_FEW = VERDICTS = (
    *("gain", "gain of the weaker model", "gain likely", "undecided", "no gain", "none seen"),
    *("no gain, cut training set", "no gain, few events", "too few"),
)
_ORDER = (BETTER, WORSE, EQUIVALENT, UNDECIDED, NEVER, TIED)


def _verdict(lines: Sequence[Line], best: str, cut: bool, rarest: int, *, excluded: bool) -> str:
    """Decide what the first line says.

    A firm no needs all training rows, enough events, and a test that excludes a gain: that clusters
    were never chosen tests nothing.
    """
    if rarest < FEWEST_EVENTS:
        return TOO_FEW
    better = [row for row in lines if row["verdict"] == BETTER]
    if better:
        return USE if any(row["reference"] == best for row in better) else WEAKER
    if _likely(lines):
        return LIKELY
    if any(row["verdict"] == UNDECIDED for row in lines):
        return OPEN
    if cut or rarest < ENOUGH_EVENTS:
        return CUT if cut else FEW_EVENTS
    return NO_GAIN if excluded else UNSEEN


def _likely(lines: Sequence[Line]) -> list[Line]:
    """Return the gains that a test of their own shows, and that the correction takes away."""
    return [row for row in lines if row["verdict"] == UNDECIDED and row["low"] > 0]


def _helped(verdict: str, lines: Sequence[Line], best: str) -> Line | None:
    """Return the gain that the sentence states, the largest on the test rows; None of none."""
    pool = _likely(lines) if verdict == LIKELY else []
    if verdict in (USE, WEAKER):
        pool = [row for row in lines if row["verdict"] == BETTER]
    if verdict == USE:
        pool = [row for row in pool if row["reference"] == best]
    return max(pool, key=lambda row: float(row["mean"]), default=None)


def _sentence(
    verdict: str,
    lines: Sequence[Line],
    best: str,
    ahead: float,
    helped: Line | None,
    rare: tuple[int, str],
    excludes: str,
) -> str:
    """Put the verdict into words; `ahead` is the AUROC of the best model without clusters."""
    model, (rarest, called) = contender_name(best), rare
    if verdict == TOO_FEW:
        return Text("Too few {} ({}) to say whether clusters help.", called, Count(rarest))
    if helped is not None:
        return _helping(verdict, helped, lines, (best, ahead), rarest)
    undecided = sum(row["verdict"] == UNDECIDED for row in lines)
    return Text.by(
        lambda rule: _NO[verdict].format(
            model=model, events=f"{rule.show(Count(rarest))} {called}", undecided=undecided,
            n=len(lines), excludes=excludes,
        )
    )  # fmt: skip


def _helping(
    verdict: str, helped: Line, lines: Sequence[Line], without: tuple[str, float], rarest: int
) -> str:
    """Say which clusters gain; `without` is the best model without them, and its AUROC."""
    best, ahead = without
    model, clustered = contender_name(best), contender_name(helped["contender"])
    if verdict == USE:
        return f"Use {clustered}: clusters help, {gain(helped)}."
    if verdict == LIKELY:
        likely = f"gain is likely but not certain: {clustered}, {gain(helped)}."
        behind = helped["reference"] != best and helped["score"] < ahead
        return f"Use {model} without clusters; elsewhere a {likely}" if behind else f"A {likely}"
    weaker = contender_name(helped["reference"])
    if helped["score"] >= ahead:
        scores = f"its AUROC is then {helped['score']:.3f}, that of {model} {ahead:.3f}"
        return f"Clusters help {weaker}, {gain(helped)}; {scores}."
    words = [row["verdict"] for row in lines if row["reference"] == best]
    now = " for now" if UNDECIDED in words or rarest < ENOUGH_EVENTS else ""
    return f"Use {model} without clusters{now}; they help the weaker {weaker}, {gain(helped)}."


def _score_without(trials: Trials, best: str) -> float:
    return float(choose(trials.records[best], TUNED, "auroc").scores.mean())


_NO = {
    OPEN: "Use {model} without clusters for now: we found no gain, and {undecided} of {n} "
    "comparisons are undecided.",
    NO_GAIN: "Use {model} without clusters: on this table, models in two clusters or more gain "
    f"less than {MARGIN:g} AUROC.",
    UNSEEN: "Use {model} without clusters for now: we found no gain; {excludes}.",
    CUT: "Use {model} without clusters for now: we found no gain with a part of the training rows.",
    FEW_EVENTS: "Use {model} without clusters for now: we found no gain, and there are only "
    "{events}.",
}


def first_numbers(
    trials: Trials, line: Line, rare: tuple[int, str], change: str, without: str = "clusters"
) -> list[tuple[str, str]]:
    """Return the numbers of the first screen.

    `line` is the comparison whose reference is the best model; `rare` counts the rows of the
    rarest class, and says what they are. `change` and `without` are what the difference is called,
    and what the best model goes without.
    """
    best = line["reference"]
    trained = Text("{}{}", Count(trials.trained_on), " (a part)" * trials.cut)
    return [
        (f"Best model without {without}", contender_name(best)),
        ("Its AUROC", with_interval(tuned_auroc(trials, best), 3)),
        (change, line["verdict"] if line["verdict"] in NOT_TESTED else gain(line)),
        ("Training rows", trained),
        (rare[1].capitalize(), Count(rare[0])),
    ]


def tuned_auroc(trials: Trials, name: str) -> tuple[float, float, float]:
    """Return the mean test AUROC of a tuned contender and its interval, NaN if nothing varies."""
    share = trials.records[name].test_share
    scores = choose(open_to(trials.records, name), TUNED, "auroc").scores
    estimate = corrected_t_test(scores, n_train=1 - share, n_test=share)
    return estimate.mean, max(estimate.low, 0.0), min(estimate.high, 1.0)


def _counted(counts: Mapping[str, int]) -> str:
    """Count the verdicts of the models with clusters against the same without."""
    words = {
        BETTER: "better with clusters",
        WORSE: "worse with clusters",
        EQUIVALENT: f"no difference (within {MARGIN:g} AUROC)",
        UNDECIDED: "undecided",
        NEVER: "clusters never chosen",
        TIED: "clusters chosen without changing a score",
    }
    listed = ", ".join(
        f"{words[verdict]} in {counts[verdict]}" for verdict in _ORDER if counts[verdict]
    )
    return f"{sum(counts.values())} comparisons of models with and without clusters: {listed}."


def _details(table: pd.DataFrame, rows: pd.DataFrame, counts: dict[str, int]) -> list[str]:
    sentences = []
    if BETTER in rows_of(table, NEGATIVE)["verdict"].tolist():
        sentences.append(
            "Warning: a hash of the row number, which knows nothing, seems to help; do not trust "
            "the gains on this page."
        )
    if counts[BETTER] and (meaningless := _beaten(table, rows)):
        sentences.append(meaningless)
    return sentences


def _beaten(table: pd.DataFrame, rows: pd.DataFrame) -> str:
    """Say whether the clusters that help beat a partition that means nothing."""
    helping = set(rows.loc[rows["verdict"] == BETTER, "contender"])
    controls = rows_of(table, ANY)
    controls = controls[controls["contender"].isin(helping)]
    if controls.empty:
        return ""
    won = int((controls["verdict"] == BETTER).sum())
    return (
        "Against partitions that mean nothing (a random one, a hash of the row) the clusters that "
        f"help are better in {won} of {len(controls)} comparisons."
    )


def splines_sentence(table: pd.DataFrame, helped: Line | None) -> str:
    """Say how logistic regression with splines compares with clusters that help, or without any.

    Parameters
    ----------
    table : DataFrame
        Of `deepcac.judging.verdicts.verdicts`, for one table.
    helped : mapping or None
        The comparison in which clusters gain, or are likely to; None if no clusters do.

    Returns
    -------
    str
        Empty if splines were not compared.
    """
    question = BEND if helped is None else BENT
    asked = rows_of(table, question)
    if helped is not None:
        asked = asked[asked["contender"] == helped["contender"]]
    if asked.empty:
        return ""
    (line,) = asked.to_dict("records")
    texts, otherwise = (_SPLINES, _NO_CHANGE) if helped is None else (_BEYOND_SPLINES, _AS_MUCH)
    text = _SAME if line["verdict"] in NOT_TESTED else texts.get(line["verdict"], otherwise)
    return text.format(gain=gain(line))
