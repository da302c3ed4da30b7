"""Claims that are rows of a table: each paper's ``rules.csv``.

All rows of a claim must hold. Columns:

- rule: one of `RULES`;
- of: the printed table that names data sets and base classifiers (or is itself meant); else what
  the rule looks at: a kind of sweep, or the grid with ``even`` or ``rare`` positives;
- sets: the data sets, or those that are left out after a minus; empty for all of the table;
- first, second: methods, of which ``*`` stands for each base classifier, ``printed`` for all of
  the table and ``others`` for those that are not first; as many of both are compared one with one,
  else each with each. Or the name of a check;
- metric, k: as in `Arm`, several apart; without k the paper's own;
- share: the numbers that the claim names; how many comparisons it asks for is read from its words
  (`asked`);
- words: what to run where there is nothing, whose program it is, or what a gain is called.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.stats import wilcoxon

from deepcac.scoring.equivalence import LEVEL
from deepcac.scoring.statistics import holm
from deepcac_study.catalogue.facts import facts
from deepcac_study.catalogue.methods import classifiers, parse_method
from deepcac_study.papers.agreement import AGREE, DIFFER, LOST
from deepcac_study.papers.entry import Entry
from deepcac_study.papers.evidence import NOT_RUN, Arm, Decision, Evidence
from deepcac_study.papers.names import printed_datasets, printed_methods, restricted, usual_k
from deepcac_study.papers.rules import arm_rules, gain
from deepcac_study.papers.rules.asked import EVERY, Asked, asked
from deepcac_study.papers.rules.decisions import (
    PRINTED,
    Found,
    Rule,
    always,
    every,
    sound_only,
)
from deepcac_study.papers.rules.fit_rules import fit_rule
from deepcac_study.papers.rules.grid_rules import grid_rule
from deepcac_study.papers.rules.sweep_rules import sweep_rule
from deepcac_study.papers.rules.theorem_rules import theorem_rule
from deepcac_study.papers.rules.truth import Truth, counts_in_words, not_below, settled
from deepcac_study.records.reader import Findings


class Book(NamedTuple):
    """What rules look at: findings and ledger."""

    findings: Findings
    ledger: Sequence[Entry]


class Row(NamedTuple):
    """One row of a table of rules; the module says what the fields mean."""

    id: str
    rule: str
    of: str = ""
    sets: str = ""
    first: str = ""
    second: str = ""
    metric: str = ""
    k: str = ""
    share: str = ""
    words: str = ""


def table_rules(findings: Findings, ledger: Sequence[Entry]) -> dict[str, Rule]:
    """Return the rules of all tables by claim id."""
    papers = {claim["id"]: claim["paper"] for claim in facts("claims")}
    parts: dict[str, list[Rule]] = defaultdict(list)
    for row in (Row(**fact) for fact in facts("rules")):
        parts[row.id].append(RULES[row.rule](_Arms(papers[row.id], row), Book(findings, ledger)))
    return {name: group[0] if len(group) == 1 else every(*group) for name, group in parts.items()}


def base_classifiers(source: str) -> list[str]:
    """Return the base classifiers of a printed table of scores, in its order."""
    return [method for method in printed_methods(source) if method in classifiers()]


def cac_arm(
    paper: str, dataset: str, method: str, metric: str = "f1", *, folds: bool = False
) -> Arm:
    """Return an arm with the k that the paper uses."""
    return Arm(dataset, method, usual_k(paper, dataset, method), metric, paper, folds)


class _Arms:
    """The arms that a row of a table of rules names."""

    def __init__(self, paper: str, row: Row) -> None:
        self.paper, self.row = paper, row
        self.ks: list[int | None] = [int(k) for k in row.k.split()] or [None]

    @property
    def sets(self) -> list[str]:
        """The data sets."""
        chosen, printed = self.row.sets.split(), printed_datasets(self.row.of)
        if chosen and not chosen[0].startswith("-"):
            return chosen
        return [name for name in printed if f"-{name}" not in chosen]

    @property
    def metrics(self) -> list[str]:
        """The metrics."""
        return self.row.metric.split()

    @property
    def asked(self) -> Asked:
        """The share of comparisons that the claim asks for."""
        return asked(self.row.id)

    def methods(self, words: str) -> list[str]:
        """Return the methods that words name."""
        of = self.row.of
        if words == "others":
            return [name for name in printed_methods(of) if name not in self.row.first.split()]
        names = printed_methods(of) if words == "printed" else words.split()
        bases = base_classifiers(of) if "*" in words else []
        spread = ([n.replace("*", x) for x in bases] if "*" in n else [n] for n in names)
        return [name for group in spread for name in group]

    def arm(self, dataset: str, method: str, metric: str, k: int | None) -> Arm:
        """Return an arm; a method without sequences is run on the static features."""
        parsed = parse_method(method)
        dataset_id = dataset if parsed.sequence else dataset.removesuffix("_ts")
        if k is None:
            return cac_arm(self.paper, dataset_id, method, metric, folds="_cv5" in self.row.of)
        return Arm(dataset_id, method, k if parsed.clustered else 1, metric, self.paper)

    def arms_of(self, dataset: str, words: str) -> list[Arm]:
        """Return every arm of some methods on a data set, by the first metric."""
        metric = self.metrics[0]
        return [self.arm(dataset, m, metric, k) for m in self.methods(words) for k in self.ks]

    def compared(self) -> Iterator[tuple[str, tuple[Arm, Arm]]]:
        """Yield the data set and the arms of each comparison."""
        first, second = (self.methods(words) for words in (self.row.first, self.row.second))
        if len(first) != len(second):
            first, second = ([a for a in first for _ in second], second * len(first))
        for metric in self.metrics:
            for dataset in self.sets:
                for k in self.ks:
                    for method, other in zip(first, second, strict=True):
                        pair = (self.arm(dataset, name, metric, k) for name in (method, other))
                        yield dataset, (next(pair), next(pair))

    @property
    def pairs(self) -> list[tuple[Arm, Arm]]:
        """All comparisons."""
        return [pair for _, pair in self.compared()]

    @property
    def groups(self) -> dict[str, tuple[list[Arm], list[Arm]]]:
        """First and second arms by data set."""
        words = self.row.first, self.row.second
        return {
            name: (self.arms_of(name, words[0]), self.arms_of(name, words[1])) for name in self.sets
        }


def _counted(arms: _Arms, _: Book) -> Rule:
    return arm_rules.counted(arms.row.rule, arms.pairs, arms.asked)


def _significant(arms: _Arms, _: Book) -> Rule:
    """Read ``share`` as a level, then data sets and k to which it applies; 0.05 elsewhere."""
    level, *places = arms.row.share.split() or [""]
    asked = (place.split(":") for place in places)
    return arm_rules.significant(arms.pairs, {(name, int(k)): float(level) for name, k in asked})


def _best_is(arms: _Arms, _: Book) -> Rule:
    """Read ``first`` as the best method of each data set, with its k after a colon."""
    best = (entry.partition(":") for entry in arms.row.first.split())
    return arm_rules.best_is(
        {
            dataset: (
                arms.arms_of(dataset, arms.row.second),
                arms.arm(dataset, method, arms.metrics[0], int(k) if k else None),
            )
            for dataset, (method, _, k) in zip(arms.sets, best, strict=True)
        }
    )


def _best_counts(arms: _Arms, _: Book) -> Rule:
    """Read ``second`` as lists of rivals with a stroke between, ``share`` as counts by data set."""
    lists = [*arms.row.second.split(" | "), arms.row.first]
    rows = {
        name: list(zip(*(arms.arms_of(name, methods) for methods in lists), strict=True))
        for name in arms.sets
    }
    counts = dict(zip(arms.sets, map(int, arms.row.share.split()), strict=True))
    return arm_rules.best_counts(rows, counts)


def _gain(judge: Callable[..., gain.Judge]) -> Callable[[_Arms, Book], Rule]:
    """Read ``share`` as what the judge is given: numbers, or data sets with a number."""

    def rule(arms: _Arms, _: Book) -> Rule:
        given = [_number(text) for text in arms.row.share.split()]
        pairs = defaultdict(list)
        for dataset, pair in arms.compared():
            pairs[arms.row.words or dataset].append(pair)
        return gain.averages(pairs, judge(*given))

    return rule


def _number(text: str) -> object:
    name, colon, value = text.partition(":")
    if colon:
        return name, float(value)
    return name if name.isidentifier() else float(name)


def _program(arms: _Arms, _: Book) -> Rule:
    made = [arm for name in arms.sets for arm in arms.arms_of(name, arms.row.first)]
    return arm_rules.of_another_program(arms.row.words, made)


def _sweep(arms: _Arms, book: Book) -> Rule:
    row, tables = arms.row, getattr(book.findings.sweeps, arms.row.of)
    if row.k:
        tables = {key: table for key, table in tables.items() if key == (row.sets, int(row.k))}
    return sweep_rule(tables, row.first, row.words, arms.asked, column=row.metric)


def of_table(ledger: Sequence[Entry], paper: str, number: str) -> list[Entry]:
    """Return the entries of one printed table."""
    return [entry for entry in ledger if (entry.paper, entry.table) == (paper, number)]


def agrees(entries: Sequence[Entry]) -> Rule:
    """Return the rule "our numbers agree with the printed cells"; cells not run are open."""
    return _of_cells(
        entries, lambda entry: entry.sound_verdict == AGREE, lambda _: EVERY, "as printed"
    )


def alpha_at_most(limit: float, entries: Sequence[Entry], wanted: Asked) -> Rule:
    """Return the rule that tuned alphas lie between 0 and this: our own, and the printed ones."""
    words = f"at most {limit:g}"
    ours = _of_cells(
        entries, lambda entry: entry.sound is not None and 0 <= entry.sound <= limit, wanted, words
    )

    def on_print() -> Found:
        near: list[Truth] = [0 <= float(entry.printed) <= limit for entry in entries]
        return settled(near, wanted(len(near))), f"{counts_in_words(near)} printed alphas: {words}"

    return every(ours, always(on_print, PRINTED)) if entries else ours


def alpha_differs(entries: Sequence[Entry]) -> Rule:
    """Return the rule that tuned alphas of some two data sets differ, by Wilcoxon's signed ranks.

    The classifiers are the pairs; Holm's correction is over the pairs of data sets.
    """

    def rule(evidence: Evidence) -> Decision:
        alphas: dict[str, dict[str, float]] = defaultdict(dict)
        for entry in entries:
            if entry.sound is not None:
                alphas[entry.dataset][entry.method] = np.log(entry.sound)
        gaps = {
            f"{first} and {other}": [mine - alphas[other][x] for x, mine in alphas[first].items()]
            for first, other in combinations(alphas, 2)
            if alphas[first].keys() == alphas[other].keys()
        }
        if not gaps:
            return Decision(NOT_RUN, "needs tuned alphas of two data sets")
        p = holm([float(wilcoxon(gap).pvalue) if any(gap) else 1.0 for gap in gaps.values()])
        answer: Truth = True if min(p) < LEVEL else None if any(map(any, gaps.values())) else False
        figures = ", ".join(f"{name} p {value:.3f}" for name, value in zip(gaps, p, strict=True))
        runs = tuple(dict.fromkeys(entry.run for entry in entries if entry.sound is not None))
        return Decision(settled([answer]), f"tuned alphas differ between {figures}", runs)

    return sound_only(rule, "alphas are tuned")


def _of_cells(
    entries: Sequence[Entry], what: Callable[[Entry], bool], wanted: Asked, words: str
) -> Rule:
    """Return the rule that something is true of a share of the cells that open data can decide."""

    def rule(evidence: Evidence) -> Decision:
        closed = restricted().values()
        cells = [
            e
            for e in entries
            if e.sound_verdict != LOST and (e.sound is not None or e.needs not in closed)
        ]
        answers: list[Truth] = [
            what(e) if e.sound is not None and e.sound_verdict in (AGREE, DIFFER) else None
            for e in cells
        ]
        runs = tuple(dict.fromkeys(e.run for e in cells if e.run))
        if set(answers) <= {None}:
            needed = next((e.needs for e in cells if e.needs), "the runs behind the table")
            return Decision(NOT_RUN, f"needs {needed}")
        reason = f"{counts_in_words(answers)} tuned alphas: {words} ({len(entries)} in the table)"
        return Decision(settled(answers, wanted(len(answers))), reason, runs)

    return sound_only(rule, "alphas are tuned")


RULES: dict[str, Callable[[_Arms, Book], Rule]] = {
    **dict.fromkeys(arm_rules.COUNTED, _counted),
    "significant": _significant,
    "best above": lambda arms, _: arm_rules.maxima(arms.groups, arms.asked),
    "best not below": lambda arms, _: arm_rules.maxima(arms.groups, arms.asked, ask=not_below),
    "best is": _best_is,
    "best counts": _best_counts,
    "gain near": _gain(gain.near),
    "gains from to": _gain(gain.from_to),
    "gains within": _gain(gain.within),
    "gains positive": _gain(lambda: gain.all_positive),
    "gain largest": _gain(gain.largest),
    "another program": _program,
    "table agrees": lambda arms, book: agrees(of_table(book.ledger, arms.paper, arms.row.of)),
    "alpha at most": lambda arms, book: alpha_at_most(
        float(arms.row.share), of_table(book.ledger, arms.paper, arms.row.of), arms.asked
    ),
    "alpha differs": lambda arms, book: alpha_differs(
        of_table(book.ledger, arms.paper, arms.row.of)
    ),
    "sweep": _sweep,
    "grid": lambda arms, book: grid_rule(
        book.findings.sweeps.grid,
        arms.row.first,
        arms.metrics,
        arms.asked,
        rare=arms.row.of == "rare",
    ),
    "theorem": lambda arms, book: theorem_rule(book.findings.theory, arms.row.first),
    "fits": lambda arms, _: fit_rule(arms.row.first, arms.asked),
}
