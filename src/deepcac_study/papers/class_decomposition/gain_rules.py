"""Table 1 of class decomposition, and the claims on it: gains, and which are significant."""

from collections.abc import Callable, Sequence

import numpy as np

from deepcac.scoring.statistics import holm
from deepcac.types import Array
from deepcac_study.catalogue.facts import facts
from deepcac_study.catalogue.protocol import SOUND, protocol_folder
from deepcac_study.papers.agreement import Answers, Ours
from deepcac_study.papers.evidence import (
    FAILS,
    HOLDS,
    NOT_RUN,
    PARTLY,
    UNDECIDED,
    Decision,
    Evidence,
)
from deepcac_study.papers.names import printed_datasets
from deepcac_study.papers.printed import PrintedCell
from deepcac_study.papers.rules.asked import asked
from deepcac_study.papers.rules.decisions import Found, Rule
from deepcac_study.papers.rules.gain import Gain
from deepcac_study.papers.rules.truth import (
    Truth,
    by_share,
    counts_in_words,
    either_way,
    settled,
    together,
)
from deepcac_study.records.decompositions import BASES, DecompositionRecord

Records = Sequence[DecompositionRecord]
Judge = Callable[[Records], Found]

TABLE_1 = "classdecomp_table1_accuracy"
PRINT = "print"  # the protocol of printed numbers, which have no spread
LEVEL = 0.01  # of the paper's t-test
_ENOUGH = 0.75  # share of the table's data sets below which nothing is decided
_NEAR = 1.0  # points between two averages over the table
_SAME = 2.0  # points within which two accuracies are almost the same, as in the ledger
_APART = ("uci_vehicle", "uci_vowel")  # where the paper finds the linear gain significant
LINEAR = "svm"
PRINTED_AS = {"nb": "NB+decomposition", "svm": "linear SVM+decomposition"}


def of_runs(records: Records, judge: Judge) -> Rule:
    """Return the rule of a judge of the records of one protocol."""
    wanted = printed_datasets(TABLE_1)

    def rule(evidence: Evidence) -> Decision:
        chosen = [r for r in records if r.protocol == evidence.protocol and r.dataset in wanted]
        count = f"{len(chosen)} of {len(wanted)} data sets"
        if len(chosen) < _ENOUGH * len(wanted):
            target = f"results/{protocol_folder(evidence.protocol)}decomposition/*.json"
            return Decision(NOT_RUN, f"needs {target}; {count} have a record")
        verdict, figures = _by_machine(chosen, judge, evidence.protocol)
        if len(chosen) < len(wanted):
            figures = f"{figures}; on {count}"
        return Decision(verdict, figures, tuple(record.path for record in chosen))

    return rule


def _by_machine(records: Records, judge: Judge, protocol: str) -> Found:
    """Ask a judge about machines one against one and one against rest: print does not say which.

    As published these are one against rest (`GainTable`).
    """
    other = [record.against_rest() for record in records]
    rest, pairwise = judge(other), judge(records)
    if rest == pairwise:
        return rest
    if lacking := [record.dataset for record in other if LINEAR not in record.bases]:
        rest = (rest[0], f"{rest[1]}; {_listed(lacking)} lacks these machines")
    if protocol != SOUND.name:
        return rest
    figures = (
        f"one against one: {pairwise[0]}, {pairwise[1]} | one against rest: {rest[0]}, {rest[1]}"
    )
    return either_way((pairwise[0], rest[0])), figures


def printed_gains(base: str) -> list[float]:
    """Return the gains that Table 1 prints for a base classifier, in its order."""
    return [float(row["mean"]) for row in facts(TABLE_1) if row["method"] == PRINTED_AS[base]]


def mean_gains(records: Records, base: str) -> dict[str, float]:
    """Return the mean gain over the runs by data set."""
    return {record.dataset: float(record.gains(base).mean()) for record in _with(records, base)}


def _with(records: Records, base: str) -> Records:
    """Return the records that have a base classifier."""
    return [record for record in records if base in record.bases]


def p_values(records: Records, base: str) -> dict[str, float]:
    """Return p by data set, of records of one protocol.

    As published by Student's t-test on the gains; sound by the corrected one (Nadeau and Bengio
    2003), adjusted over the data sets (Holm 1979).
    """
    chosen = _with(records, base)
    if chosen and chosen[0].protocol == "sound":
        p = holm([record.corrected_test(base).p for record in chosen]).tolist()
    else:
        p = [record.plain_test(base).p for record in chosen]
    return {record.dataset: value for record, value in zip(chosen, p, strict=True)}


def significant(records: Records, base: str) -> list[str]:
    """Return the data sets whose gain, or loss, is significant at the paper's level."""
    return [name for name, p in p_values(records, base).items() if p < LEVEL]


def mean_gain(records: Records, base: str) -> Gain:
    """Return the gain averaged over the data sets, with its interval over the runs."""
    chosen = _with(records, base)
    return _over_runs(chosen, [record.gains(base) for record in chosen])


def _over_runs(records: Records, gains: Sequence[Array]) -> Gain:
    if records[0].protocol == PRINT:
        mean = float(np.mean(gains))
        return Gain(mean, mean, mean)
    return Gain.pooled(gains, _test_share(records[0]))


def _test_share(record: DecompositionRecord) -> float:
    shares = record.record["shares"]
    return float(shares["test"] / (shares["test"] + shares["train"]))


def _gains(records: Records, base: str) -> dict[str, Gain]:
    """Return the gain by data set, with its interval over the runs."""
    return {
        record.dataset: _over_runs([record], [record.gains(base)])
        for record in _with(records, base)
    }


def average_gain(base: str, claimed: float) -> Judge:
    """Return the judge of an average gain: positive, and near the claimed one."""

    def judge(records: Records) -> Found:
        ours = mean_gain(records, base)
        printed = float(np.mean(printed_gains(base)))
        return ours.near(claimed, _NEAR), f"{ours} points; printed column {printed:+.2f}"

    return judge


def increases(records: Records) -> Found:
    """Ask for an average gain of each base classifier whose interval is above 0."""
    gains = {name: mean_gain(records, base) for base, name in BASES.items()}
    figures = ", ".join(f"{name} {gain} points" for name, gain in gains.items())
    return together([gain.positive for gain in gains.values()]), figures


def significant_gains(base: str, claimed: int) -> Judge:
    """Return the judge of a number of significant gains."""

    def judge(records: Records) -> Found:
        gains = mean_gains(records, base)
        better = [name for name in significant(records, base) if gains[name] > 0]
        return by_share(len(better) / claimed, 1.0), f"{len(better)}: {_listed(better)}"

    return judge


def same_but_two(records: Records) -> Found:
    """Ask for linear gains on Vehicle and Vowel that are significant, and almost none elsewhere."""
    gains, sure = mean_gains(records, "svm"), significant(records, "svm")
    apart = {name: gains[name] for name in _APART if name in gains}
    two = all(gain > 0 and name in sure for name, gain in apart.items())
    far = [name for name, gain in gains.items() if name not in _APART and abs(gain) > _SAME]
    figures = ", ".join(
        f"{name} {gain:+.2f}{' *' if name in sure else ''}" for name, gain in apart.items()
    )
    figures += f"; more than {_SAME:g} points elsewhere: {_listed(far)}"
    verdict = HOLDS if two and not far else PARTLY if two or not far else FAILS
    return verdict, figures


def mild_drops(records: Records) -> Found:
    """Look for losses of the linear machines: significant ones, and those shown to be small.

    That a test finds nothing does not show that there is nothing.
    """
    sure = significant(records, "svm")
    drops = {name: gain for name, gain in _gains(records, "svm").items() if gain.mean < 0}
    if not drops:
        return FAILS, "no drop"
    grave = [name for name in drops if name in sure]
    mild: list[Truth] = [
        False if name in sure else True if gain.low > -_SAME else None
        for name, gain in drops.items()
    ]
    figures = f"{len(drops)} drops, significant: {_listed(grave)}; within {_SAME:g} points"
    return settled(mild, asked("CDEC-05")(len(mild))), f"{figures} {counts_in_words(mild)}"


def bayes_more_than_linear(records: Records) -> Found:
    """Ask for a larger average gain of naive Bayes, and for a small one of the linear machines."""
    nb, svm = (mean_gain(records, base) for base in ("nb", "svm"))
    both = _with(records, LINEAR)
    more = _over_runs(both, [record.gains("nb") - record.gains(LINEAR) for record in both])
    figures = f"naive Bayes {nb.mean:+.2f} points, linear {svm.mean:+.2f}, difference {more}"
    if more.positive is None:
        return UNDECIDED, figures
    little = nb.mean > _NEAR >= abs(svm.mean)
    return (HOLDS if little else PARTLY) if more.positive else FAILS, figures


def seldom_lower(records: Records) -> Found:
    """Ask for equal or higher accuracy on most data sets with both base classifiers."""
    verdicts, texts = [], []
    for base, name in (("nb", "naive Bayes"), ("svm", "linear")):
        answers = [_not_lower(gain) for gain in _gains(records, base).values()]
        verdicts.append(settled(answers, asked("CDEC-10")(len(answers))))
        texts.append(f"{name} {counts_in_words(answers)}")
    held = [None if v == UNDECIDED else v == HOLDS for v in verdicts]
    return together(held), f"equal or higher: {', '.join(texts)}"


def _not_lower(gain: Gain) -> Truth:
    """Say whether a gain is no loss: one of more than a point is excluded, or none is shown."""
    if gain.high < 0:
        return False
    return True if gain.low > -_NEAR else None


def _listed(names: Sequence[str]) -> str:
    return ", ".join(name.removeprefix("uci_") for name in names) or "none"


def _as_printed(record: DecompositionRecord) -> DecompositionRecord:
    rest = record.against_rest()
    return record if record.protocol == SOUND.name or LINEAR not in rest.bases else rest


# Base classifier of each method of the table, and whether the cell is a gain.
_COLUMNS = {
    "nb": ("nb", False),
    "decomp_nb": ("nb", True),
    "linear_svm": ("svm", False),
    "decomp_linear_svm": ("svm", True),
}


class GainTable(Answers):
    """What answers the cells of Table 1, from records of real data.

    As published the linear machines are one against rest, which is nearer to print on Vehicle and
    Vowel, wherever these were run.
    """

    sources: Sequence[str] = (TABLE_1,)

    def __init__(self, records: Sequence[DecompositionRecord]) -> None:
        self._records = {
            (record.protocol, record.dataset): _as_printed(record) for record in records
        }

    def answer(self, cell: PrintedCell, protocol: str) -> Ours | None:
        """Return mean and spread over the runs, in per cent or points; None without a record."""
        record = self._records.get((protocol, cell.dataset_id))
        if record is None:
            return None
        base, gain = _COLUMNS[cell.method_id]
        values = record.gains(base) if gain else record.values(base, "alone")
        sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
        return Ours(float(values.mean()), sd, "ok", record.path)

    def target(self, cell: PrintedCell) -> str:
        """Return the record that would decide a cell."""
        return f"results/{protocol_folder(cell.protocol)}decomposition/{cell.dataset_id}.json"
