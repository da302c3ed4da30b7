"""The documentation's tables and sentences of the judge and of the classifier with subtypes."""

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from deepcac.judging.choice import CHOICES
from deepcac.judging.contenders import CAC, CELLS, DISTANCES, HASH, KM, parse_contender
from deepcac.judging.planted_outcomes import ORACLE
from deepcac.judging.questions import ANY, BOOSTING, FORCED, HELP, NEGATIVE, SUBTYPES, Question
from deepcac.judging.resample_scores import METRICS, clustered_scores
from deepcac.judging.spaces import of_kind
from deepcac.judging.verdicts import half_detect
from deepcac.pages.figures import verdicts_in
from deepcac.pages.tables import How, Table
from deepcac.pages.wording import Row, bounds, four, less, people, three
from deepcac.scoring.equivalence import BETTER, EQUIVALENT, LEVEL, NEVER, TIED, UNDECIDED, WORSE
from deepcac_study.report.judge.judge_figures import contender_label, spoken

STYLES = {
    **{BETTER: "**{}**", WORSE: "{} worse", EQUIVALENT: "{}", UNDECIDED: "*{}*"},
    **{NEVER: "–", TIED: "tied"},
}
_WAYS = dict(zip(CHOICES, ("default", "tuned", "k >= 2"), strict=True))
_WHO = ("contender", contender_label)


def scores(table: pd.DataFrame, dataset: str) -> Table:
    """Return every contender on one data set, the highest first."""
    columns = {
        f"{people(metric)} {way}": (f"{metric}_{choice}", four)
        for metric in METRICS
        for choice, way in _WAYS.items()
    }
    own = table[table["dataset"] == dataset].sort_values("auroc_tuned", ascending=False)
    own = own.reindex(columns=["contender", "trials", *(how[0] for how in columns.values())])
    return Table.of(own, {"contender": _WHO, **columns, "trials": "trials"})


def matrix(table: pd.DataFrame, metric: str) -> Table:
    """Return every contender on every data set, the best of each in bold.

    Tuned; those with clusters have two or more.
    """
    found = table.assign(shown=clustered_scores(table, metric))
    wide = found.pivot(index="contender", columns="dataset", values="shown")
    order = wide.rank(ascending=False).mean(axis=1).sort_values().index

    def score(dataset: str) -> How:
        best = wide[dataset].max()
        return dataset, lambda value: three(value, STYLES[BETTER] if value == best else "{}")

    columns = {"contender": _WHO, **{name: score(name) for name in wide.columns}}
    return Table.of(wide.loc[order].reset_index(), columns)


def clusters(table: pd.DataFrame, verdicts: pd.DataFrame, learner: str) -> Table:
    """Return what clusters add to a learner on every data set, and what the controls add.

    With what they add goes in how many resamples clusters were chosen at all.
    """
    alone = table.set_index(["dataset", "contender"])["auroc_tuned"]
    key = ["question", "contender", "reference"]
    found = {
        (*(str(row[name]) for name in key), str(row["dataset"])): row
        for row in _judged(verdicts).to_dict("records")
    }

    def added(question: Question, arm: str, reference: str = learner) -> Callable[[str], str]:
        pair = (question.id, f"{arm}_{learner}", reference)
        compared.add(pair)
        chosen = question in (HELP, NEGATIVE)
        return lambda dataset: _gain(found.get((*pair, dataset)), chosen=chosen)

    compared: set[tuple[str, str, str]] = set()
    columns: dict[str, How] = {
        "data set": str,
        f"{contender_label(learner)} alone": lambda dataset: three(alone[dataset, learner]),
        "+ CAC": added(HELP, CAC),
        "+ k-means": added(HELP, KM),
        "+ distances": added(HELP, DISTANCES),
        "CAC, k >= 2": added(FORCED, CAC),
        "CAC − random partition, k >= 2": added(ANY, CAC, f"{CELLS}_{learner}"),
        "+ hash": added(NEGATIVE, HASH),
    }
    return Table.of(sorted({place[3] for place in found if place[:3] in compared}), columns)


def counts(table: pd.DataFrame) -> Table:
    """Count how often each verdict was given, by question and learner."""
    own = _judged(table)
    own = own.assign(learner=own["contender"].map(_learner))
    columns: dict[str, How] = {
        "question": lambda group: str(group[0][0]).replace("_", " "),
        "learner": lambda group: contender_label(str(group[0][1])),
        "comparisons": lambda group: len(group[1]),
        **counted(verdicts_in(own["verdict"])),
        "detectable": lambda group: four(half_detect(group[1])),
    }
    return Table.of(own.groupby(["question", "learner"], sort=False), columns, n_labels=2)


def counted(verdicts: Iterable[str]) -> dict[str, How]:
    """Return columns that count verdicts in a group of comparisons, and its mean difference."""

    def given(verdict: str) -> How:
        return lambda group: (group[1]["verdict"] == verdict).sum()

    return {
        **{name: given(name) for name in verdicts},
        "mean difference": lambda group: four(group[1]["mean"].mean(), signed=True),
    }


def excluded(table: pd.DataFrame, learner: str) -> str:
    """Say how often a gain is excluded where two clusters or more had to be used, in sentences."""
    own = table[table["contender"].map(_learner) == learner]
    forced = {metric: _of(own, FORCED, metric) for metric in METRICS}
    margin = three(own["margin"].iloc[0])
    offered = _of(own, HELP, METRICS[0])
    (raw, held), (raw_prc, held_prc) = (
        ((one["better"] < LEVEL).sum(), (one["p_gain_excluded_holm"] < LEVEL).sum())
        for one in forced.values()
    )
    sentences = [
        f"When {spoken(learner)} had to use two clusters or more, a gain of {margin} AUROC or "
        f"more is excluded in {raw} of {len(forced[METRICS[0]])} comparisons ({held} after Holm's "
        "correction).",
        f"By AUPRC such a gain is excluded in {raw_prc} ({held_prc}).",
    ]
    never = (offered["verdict"] == NEVER).sum()
    if never:
        ends = f"{never} of {len(offered)} comparisons."
        sentences.append(f"Offered clusters, it chose none in {ends}")
    return " ".join(sentences) + "\n"


def planted(table: pd.DataFrame, learner: str) -> Table:
    """Return what was found of planted subtypes by arms of a learner, by size and by their worth.

    With what a learner gains that is told them, and who else is ahead of the learner. Found by the
    study's rule, and in brackets by a test of its own.
    """
    asked = (ORACLE.id, HELP.id, NEGATIVE.id, BOOSTING.id)
    own = table[table["question"].isin(asked) & (table["reference"] == learner)]

    def found(name: str) -> How:
        def cell(group: tuple[Any, pd.DataFrame]) -> str:
            arms = group[1][group[1]["contender"] == name]
            return "" if arms.empty else _found(arms.iloc[0])

        return cell

    columns: dict[str, How] = {
        "patients": lambda group: f"{group[0][0]:,.0f}",
        "strength": lambda group: f"{group[0][1]:g}",
        "worth": lambda group: three(group[1]["oracle_gain"].iloc[0]),
    }
    for question in asked:
        less = f" − {contender_label(learner)}" * (question == BOOSTING.id)
        for name in own.loc[own["question"] == question, "contender"].unique():
            columns[f"{contender_label(name)}{less}"] = found(name)
    return Table.of(own.groupby(["rows", "strength"]), columns, n_labels=2)


def _found(one: "pd.Series[Any]") -> str:
    cohorts = round(one["cohorts"])
    alone, by_rule = (f"{one[way] * cohorts:.0f}" for way in ("detected", "detected_holm"))
    return f"{three(one['mean'], signed=True)}, {by_rule} of {cohorts} ({alone})"


def subtypes(table: pd.DataFrame, contender: str) -> Table:
    """Return a classifier with two subtypes or more minus each rival, by the strict margin."""
    own = _judged(table)
    own = own[(own["question"] == SUBTYPES.id) & (own["contender"] == contender)]

    def ahead(rival: str) -> How:
        def cell(group: tuple[Any, pd.DataFrame]) -> str:
            found = group[1][group[1]["reference"] == rival].to_dict("records")
            return f"{_gain(found[0], 'verdict_strict')} {bounds(found[0])}" if found else ""

        return cell

    there = set(own["reference"])
    rivals = [name for name in of_kind("boosting", "network") if name in there]
    columns: dict[str, How] = {
        "data set": lambda group: group[0],
        "AUROC": lambda group: four(group[1]["score"].iloc[0]),
        **{f"− {contender_label(name)}": ahead(name) for name in rivals},
    }
    return Table.of(own.groupby("dataset"), columns)


def blends(table: pd.DataFrame) -> Table:
    """Return greedy blends of other contenders' trials, and the boosted classifier minus each."""
    found = {(row["dataset"], row["blend"]): row for row in table.to_dict("records")}

    def cell(name: str, write: Callable[[Row], str]) -> How:
        return lambda dataset: write(found[dataset, name]) if (dataset, name) in found else ""

    columns: list[tuple[str, How]] = [("data set", str)]
    for name in dict.fromkeys(table["blend"]):
        blended = " and ".join(map(contender_label, name.split("+")))
        columns.append((f"{blended}, blended", cell(name, lambda row: four(row["auroc"]))))
        columns.append(("subtypes − it", cell(name, less)))
    return Table.of(sorted(set(table["dataset"])), columns)


def _judged(table: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons by AUROC."""
    return table[table["metric"] == METRICS[0]]


def _of(own: pd.DataFrame, question: Question, metric: str) -> pd.DataFrame:
    return own[(own["question"] == question.id) & (own["metric"] == metric)]


def _learner(contender: str) -> str:
    return parse_contender(contender).learner


def factorial(table: pd.DataFrame) -> Table:
    """Return the mean AUROC of every head in every cell of the factorial of DeepCAC."""
    cells = table.dropna(subset=["beta"])
    scores = cells.pivot(index=["k", "beta"], columns="arm", values="auroc")
    scores["smallest"] = cells.groupby(["k", "beta"])["smallest_cluster"].first()
    heads = {"local": "local", "soft": "soft", "one head": "one", "permuted": "permuted"}
    columns: dict[str, How] = {
        "k": "k",
        "beta": ("beta", "{:g}".format),
        **{
            head: (arm, lambda value: "" if pd.isna(value) else four(value))
            for head, arm in heads.items()
        },
        "smallest cluster": ("smallest", "{:,.0f}".format),
    }
    return Table.of(scores.reset_index(), columns, n_labels=2)


def _gain(found: Row | None, verdict: str = "verdict", *, chosen: bool = False) -> str:
    """Write a difference in the style of its verdict; and how many resamples chose clusters."""
    if found is None:
        return ""
    mean = four(found["mean"], STYLES[str(found[verdict])], signed=True)
    return f"{mean}, {found['clustered']} of {found['resamples']}" if chosen else mean
