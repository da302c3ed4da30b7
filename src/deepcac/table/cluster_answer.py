"""Does clustering help on this table? The verdicts, and what they say in a sentence."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from deepcac.judging.choice import TUNED, choose, open_to, simplest, validated
from deepcac.judging.questions import (
    ANY,
    BEND,
    BENT,
    FORCED,
    HELP,
    NEGATIVE,
    QUESTIONS,
    Question,
    pairs,
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
from deepcac.types import Array

FEWEST_EVENTS = 20  # rows of the rarest class; with fewer, five or less are tested at a time
ENOUGH_EVENTS = 100  # below, no firm no
TABLE_QUESTIONS = (*QUESTIONS, BEND, BENT)
_SPLINES = {
    BETTER: "Splines improve logistic regression: {gain}.",
    WORSE: "Splines make logistic regression worse: {gain}.",
    UNDECIDED: "Splines may make logistic regression better or worse: {gain}.",
    EQUIVALENT: "Splines neither improve logistic regression nor make it worse: {gain}.",
}
_BEYOND_SPLINES = {
    BETTER: "Clusters are also ahead of splines: {gain}.",
    WORSE: "Splines do more than clusters: clusters minus splines {gain}.",
    UNDECIDED: "Splines may do as much without clusters: clusters minus splines {gain}.",
    EQUIVALENT: "Splines do as much without clusters: clusters minus splines {gain}.",
}
_SAME = "Splines have the same AUROC in every resample."


@dataclass(frozen=True)
class Subject:
    """What is held against the same models without it.

    Attributes
    ----------
    what : str
    models : str
        The models that must use it.
    use : str
        The sentence on a gain, with its ``{model}`` and ``{gain}``.
    questions : tuple of Question
    paired : callable
        As `deepcac.judging.questions.pairs`.
    named, arm : callable
        Return a contender in words, and what sets it apart from its learner alone.
    """

    what: str = "clusters"
    models: str = "models in two clusters or more"
    use: str = "Use {model}: clusters help, {gain}."
    questions: tuple[Question, ...] = TABLE_QUESTIONS
    paired: Callable[[Question, list[str]], Iterator[tuple[str, str]]] = pairs
    named: Callable[[str], str] = contender_name
    arm: Callable[[str], str] = arm_name


CLUSTERS = Subject()


def rows_of(table: pd.DataFrame, question: Question) -> pd.DataFrame:
    """Return the comparisons in AUROC of a question."""
    return table[(table["question"] == question.id) & (table["metric"] == "auroc")]


def answer(
    trials: Trials,
    name: str,
    rarest: int,
    rare: str = "events",
    best: str | None = None,
    subject: Subject = CLUSTERS,
) -> Answer:
    """Compare the contenders of a table and put the outcome into words.

    `rarest` counts its rows of the rarest class, which are called `rare`. The answer is
    about the model without clusters called `best`, which the validation rows choose if none is
    given. They choose the clusters, too. Of another `subject` it says the same.
    """
    scores = resample_scores({name: trials.records})
    table = verdicts(scores, MARGIN, STRICT, subject.questions, subject.paired)
    rows = rows_of(table, HELP)
    lines = rows.to_dict("records")
    compared = [*lines, *rows_of(table, BENT).to_dict("records")]
    references = {str(line["reference"]) for line in compared}
    clustered = first_line(trials, compared, best)
    best = clustered["reference"]
    counts = {kind: int((rows["verdict"] == kind).sum()) for kind in _ORDER}
    excluded, excludes = _excluded_gain(table, subject)
    verdict, helped = _decided(lines, best, trials.cut, rarest, excluded=excluded)
    if helped is None:
        sentence = _no_gain(subject, verdict, lines, best, (rarest, rare), excludes)
    else:
        ahead = float(_tuned(trials, best).mean())
        sentence = _helping(subject, verdict, helped, lines, (best, ahead), rarest)
    by_chance = all(tuned_auroc(trials, name)[1] <= 0.5 for name in trials.records)
    if helped is None and verdict != TOO_FEW and by_chance:
        sentence = (
            f"We found no model that ranks these patients better than chance, with {subject.what} "
            f"or without: {contender_name(best)} has AUROC "
            f"{with_interval(tuned_auroc(trials, best), 3)}."
        )
    if trials.cut and verdict not in (CUT, TOO_FEW):
        whole = sentence
        sentence = Text.by(
            lambda rule: f"{rule.show(whole).removesuffix('.')}, from a part of the training rows."
        )
    splines = splines_sentence(table, helped) if verdict != TOO_FEW else ""
    bent = rows_of(table, BEND)
    pairs = zip(bent["contender"], bent["reference"], strict=True) if splines else ()
    passed_over = _validation_leader_gap(trials, best, references, () if helped else set(pairs))
    return Answer(
        sentence=sentence,
        details=[
            *filter(None, [passed_over]),
            _counted(counts, subject.what),
            *_details(table, rows, counts, subject.what),
        ],
        verdict=verdict,
        table=table,
        numbers=_numbers(trials, clustered, (rarest, rare), subject),
        best=best,
        clustered=clustered["contender"],
        also=[splines] * bool(splines),
    )


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


def _validation_leader_gap(
    trials: Trials, best: str, names: Collection[str], named: Collection[tuple[str, str]]
) -> str:
    """Describe the test gap to the model that leads on the validation rows, if another one does.

    Nothing of the pairs `named` elsewhere.
    """
    ahead = highest(trials, names)
    if ahead == best or (ahead, best) in named:
        return ""
    share = trials.records[ahead].test_share
    more, less = (_tuned(trials, name) for name in (ahead, best))
    gap = corrected_t_test(more - less, n_train=1 - share, n_test=share)
    sentence = ahead_sentence(contender_name(ahead), contender_name(best), gap)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _excluded_gain(table: pd.DataFrame, subject: Subject) -> tuple[bool, str]:
    """Return whether tests rule out the margin for forced clusters, and a phrase on the bound.

    And say which gains in AUROC all intervals exclude, where clusters were chosen or forced.
    """
    forced = rows_of(table, FORCED)
    excluded = len(forced) > 0 and bool((forced["p_gain_excluded_holm"] < LEVEL).all())
    highest = float(pd.concat([rows_of(table, HELP), forced])["high"].max())
    if highest != highest:
        return excluded, f"{subject.models} changed no score"
    ends = f"the 95 % intervals exclude a gain above {max(highest, 0.0):.3f} AUROC"
    return excluded, ends


USE, WEAKER, LIKELY, OPEN, NO_GAIN, UNSEEN, CUT, FEW_EVENTS, TOO_FEW = VERDICTS = (
    *("gain", "gain of the weaker model", "gain likely", "undecided", "no gain", "none seen"),
    *("no gain, cut training set", "no gain, few events", "too few"),
)
_ORDER = (BETTER, WORSE, EQUIVALENT, UNDECIDED, NEVER, TIED)


def _decided(
    lines: Sequence[Line], best: str, cut: bool, rarest: int, *, excluded: bool
) -> tuple[str, Line | None]:
    """Return the verdict, and of gains the one that is stated, the largest on the test rows.

    A firm no needs all training rows, enough events, and a test that excludes a gain: that clusters
    were never chosen tests nothing. A gain is likely that a test of its own shows, and that the
    correction takes away.
    """
    better = [row for row in lines if row["verdict"] == BETTER]
    undecided = [row for row in lines if row["verdict"] == UNDECIDED]
    ahead = [row for row in better if row["reference"] == best]
    likely = [row for row in undecided if row["low"] > 0]
    for verdict, gains in ((USE, ahead), (WEAKER, better), (LIKELY, likely)):
        if gains and rarest >= FEWEST_EVENTS:
            return verdict, max(gains, key=lambda row: float(row["mean"]))
    if rarest < FEWEST_EVENTS:
        return TOO_FEW, None
    if undecided:
        return OPEN, None
    if cut or rarest < ENOUGH_EVENTS:
        return CUT if cut else FEW_EVENTS, None
    return NO_GAIN if excluded else UNSEEN, None


def _no_gain(
    subject: Subject, verdict: str, lines: Sequence[Line], best: str, rare: tuple[int, str],
    excludes: str,
) -> str:  # fmt: skip
    """Return the sentence for a verdict without a gain."""
    words = {"model": contender_name(best), "what": subject.what, "models": subject.models}
    undecided = sum(row["verdict"] == UNDECIDED for row in lines)
    return Text.by(
        lambda rule: _NO[verdict].format(
            **words, excludes=excludes, undecided=undecided, n=len(lines),
            rarest=rule.show(Count(rare[0])), events=rare[1],
        )
    )  # fmt: skip


def _helping(
    subject: Subject, verdict: str, helped: Line, lines: Sequence[Line],
    best: tuple[str, float], rarest: int,
) -> str:  # fmt: skip
    """Return the sentence for a verdict with a gain; `best` is the best model without clusters."""
    (name, ahead), what = best, subject.what
    model, clustered = contender_name(name), subject.named(helped["contender"])
    if verdict == USE:
        return subject.use.format(model=clustered, gain=gain(helped))
    if verdict == LIKELY:
        likely = f"gain is likely but not certain: {clustered}, {gain(helped)}."
        behind = helped["reference"] != name and helped["score"] < ahead
        return f"Use {model} without {what}; elsewhere a {likely}" if behind else f"A {likely}"
    weaker = contender_name(helped["reference"])
    if helped["score"] >= ahead:
        scores = f"its AUROC is then {helped['score']:.3f}, that of {model} {ahead:.3f}"
        return f"{what.capitalize()} help {weaker}, {gain(helped)}; {scores}."
    words = [row["verdict"] for row in lines if row["reference"] == name]
    now = " for now" if UNDECIDED in words or rarest < ENOUGH_EVENTS else ""
    return f"Use {model} without {what}{now}; they help the weaker {weaker}, {gain(helped)}."


_NO = {
    TOO_FEW: "Too few {events} ({rarest}) to say whether {what} help.",
    OPEN: "Use {model} without {what} for now: we found no gain, and {undecided} of {n} "
    "comparisons are undecided.",
    NO_GAIN: f"Use {{model}} without {{what}}: on this table, {{models}} gain less than "
    f"{MARGIN:g} AUROC.",
    UNSEEN: "Use {model} without {what} for now: we found no gain; {excludes}.",
    CUT: "Use {model} without {what} for now: we found no gain with a part of the training rows.",
    FEW_EVENTS: "Use {model} without {what} for now: we found no gain, and there are only "
    "{rarest} {events}.",
}


def _numbers(
    trials: Trials, line: Line, rare: tuple[int, str], subject: Subject
) -> list[tuple[str, str]]:
    """Return the numbers of the first screen.

    `line` is the comparison whose reference is the best model; `rare` counts the rows of the
    rarest class, and says what they are.
    """
    best, contender = line["reference"], line["contender"]
    trained = Text("{}{}", Count(trials.trained_on), " (a part)" * trials.cut)
    change = f"{subject.what} ({subject.arm(contender)})"
    if not contender.endswith(f"_{best}"):
        change = subject.named(contender)
    return [
        (f"Best model without {subject.what}", contender_name(best)),
        ("Its AUROC", with_interval(tuned_auroc(trials, best), 3)),
        (f"Change by {change}", line["verdict"] if line["verdict"] in NOT_TESTED else gain(line)),
        ("Training rows", trained),
        (rare[1].capitalize(), Count(rare[0])),
    ]


def _tuned(trials: Trials, name: str) -> Array:
    """Return the test AUROC of a tuned contender in each resample."""
    return choose(open_to(trials.records, name), TUNED, "auroc").scores


def tuned_auroc(trials: Trials, name: str) -> tuple[float, float, float]:
    """Return the mean test AUROC of a tuned contender and its interval, NaN if nothing varies."""
    share = trials.records[name].test_share
    estimate = corrected_t_test(_tuned(trials, name), n_train=1 - share, n_test=share)
    return estimate.mean, max(estimate.low, 0.0), min(estimate.high, 1.0)


def _counted(counts: Mapping[str, int], what: str) -> str:
    """Count the verdicts of the models with clusters against the same without."""
    words = {
        BETTER: f"better with {what}",
        WORSE: f"worse with {what}",
        EQUIVALENT: f"no difference (within {MARGIN:g} AUROC)",
        UNDECIDED: "undecided",
        NEVER: f"{what} never chosen",
        TIED: f"{what} chosen without changing a score",
    }
    listed = ", ".join(
        f"{words[verdict]} in {counts[verdict]}" for verdict in _ORDER if counts[verdict]
    )
    return f"{sum(counts.values())} comparisons of models with and without {what}: {listed}."


def _details(
    table: pd.DataFrame, rows: pd.DataFrame, counts: Mapping[str, int], what: str
) -> list[str]:
    sentences = []
    if BETTER in rows_of(table, NEGATIVE)["verdict"].tolist():
        sentences.append(
            "Warning: groups that mean nothing seem to help; do not trust the gains on this page."
        )
    if counts[BETTER] and (meaningless := _controls_sentence(table, rows, what)):
        sentences.append(meaningless)
    return sentences


def _controls_sentence(table: pd.DataFrame, rows: pd.DataFrame, what: str) -> str:
    """Summarize how often the helpful clusters outperform control partitions."""
    helping = set(rows.loc[rows["verdict"] == BETTER, "contender"])
    controls = rows_of(table, ANY)
    controls = controls[controls["contender"].isin(helping)]
    if controls.empty:
        return ""
    won = int((controls["verdict"] == BETTER).sum())
    return (
        "Against partitions that mean nothing (a random one, a hash of the row) the "
        f"{what.removeprefix('the ')} that help are better in {won} of {len(controls)} comparisons."
    )


def splines_sentence(table: pd.DataFrame, helped: Line | None) -> str:
    """Compare splines with the clusters that help, or with the plain model if none do.

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
    texts = _SPLINES if helped is None else _BEYOND_SPLINES
    text = _SAME if line["verdict"] in NOT_TESTED else texts[line["verdict"]]
    return text.format(gain=gain(line))
