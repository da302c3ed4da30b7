"""Tables and sentences that pages quote, from the tables of docs/results.

What stands between ``<!-- made of docs/results: planted -->`` and ``<!-- end -->`` is the block of
`BLOCKS` with that name. A test makes every block of every page again.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from deepcac.judging.contenders import CAC, CELLS, DISTANCES, KM, parse_contender
from deepcac.judging.questions import ANY, FORCED, HELP, Question
from deepcac.judging.resample_scores import METRICS
from deepcac.pages.tables import How, Table, grid
from deepcac.pages.wording import Row, four, three
from deepcac.scoring.equivalence import LEVEL, NEVER
from deepcac_study.catalogue.methods import label as method_label
from deepcac_study.catalogue.protocol import SOUND
from deepcac_study.judge.tables.over_tables import MAIN
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.claims import KINDS
from deepcac_study.papers.summary import NULL, Count, on_prediction
from deepcac_study.records.sweep_tables import CENTROIDS, PERMUTED, TERMS
from deepcac_study.report.judge.clinical_forest import clinical_answer, filled
from deepcac_study.report.judge.clinical_pages import (
    STYLES,
    clinical_gains,
    clinical_pooled,
    kind_label,
)
from deepcac_study.report.judge.judge_figures import contender_label, spoken
from deepcac_study.report.runs.runtables import protocol_label

_BLOCK = re.compile(r"(<!-- made of docs/results: ([^>]+) -->\n).*?(<!-- end -->\n)", re.DOTALL)
_TERMS = ("no term", "AM-softmax", "distance of means", "the same, permuted labels")
# Of planted cohorts, those that the page shows: rows and strength.
_PLANTED = ((3000, 0.2), (3000, 0.3), (3000, 0.5), (10_000, 0.2), (10_000, 0.3), (30_000, 0.2))
_SWEPT, _OPEN = ("cic", "sepsis"), ("cic", "adult", "diabetes", "credit", "magic")
# What the page shows beside clusters, by learner.
_GAINS = {
    "lr": ("Mixture of experts", "Products in LR", "Splines in LR"),
    "lgbm": ("LightGBM with lines in leaves",),
}
# Runs of two tables: method, k and protocol.
_LINES = [("lr", 1, "sound"), ("km_lr", 2, "sound"), ("cac_lr", 2, "sound"), ("xgb", 1, "sound")]
_NETS = [("km_z", 3, "sound"), ("km_z", 3, "D11"), ("dmnn", 3, "sound"), ("dmnn", 3, "D12")]
_NETS.append(("deepcac", 3, "sound"))
Writer = TypeVar("Writer", bound=Callable[..., Table | str])
# By name: what makes the block, given what reads a table by its name.
BLOCKS: dict[str, Callable[[Callable[[str], pd.DataFrame]], Table | str]] = {}


def block(name: str, *tables: str, **settings: Any) -> Callable[[Writer], Writer]:
    """Register a function of some tables, with settings, as the block of a name."""

    def register(write: Writer) -> Writer:
        BLOCKS[name] = lambda read: write(*map(read, tables), **settings)
        return write

    return register


@block("headline", "headline")
def headline(table: pd.DataFrame) -> str:
    """Return the answer of the whole study."""
    return str(table["sentence"].iloc[0])


@block("clusters", "judge_verdicts", "judge_scores")
def clusters(verdicts: pd.DataFrame, scores: pd.DataFrame) -> Table:
    """Return what clusters and random groups add to logistic regression, where something differs.

    With what clusters add goes in how many resamples they were chosen at all.
    """
    alone = scores.set_index(["dataset", "contender"])["auroc_tuned"]
    rows = verdicts[verdicts["metric"] == MAIN]
    by_pair = rows.set_index(["question", "contender", "reference", "dataset"])

    def added(question: Question, arm: str, reference: str = "lr") -> How:
        def cell(dataset: str) -> str:
            row: Any = by_pair.loc[(question.id, f"{arm}_lr", reference, dataset), :]
            chosen = f", {row['clustered']} of {row['resamples']}" * (question == HELP)
            return four(row["mean"], STYLES[row["verdict"]], signed=True) + chosen

        return cell

    columns: dict[str, How] = {
        "data set": str,
        "LR, no clusters": lambda dataset: three(alone[dataset, "lr"]),
        "+ CAC": added(HELP, CAC),
        "+ k-means": added(HELP, KM),
        "+ distances": added(HELP, DISTANCES),
        "CAC − random groups, k >= 2": added(ANY, CAC, f"{CELLS}_lr"),
    }
    return Table.of(("cic", "credit", "diabetes", "magic", "sepsis"), columns)


@block("excluded lr", "judge_verdicts", learner="lr")
@block("excluded lgbm", "judge_verdicts", learner="lgbm")
def excluded(verdicts: pd.DataFrame, learner: str) -> str:
    """Say how often a gain is excluded where two clusters or more had to be used, in sentences."""
    learners = verdicts["contender"].map(lambda name: parse_contender(name).learner)
    rows = verdicts[learners == learner]
    forced = rows[rows["question"] == FORCED.id]
    margin = three(rows["margin"].iloc[0])
    offered = rows[(rows["question"] == HELP.id) & (rows["metric"] == MAIN)]
    (raw, held), (raw_prc, held_prc) = (
        ((family["better"] < LEVEL).sum(), (family["p_gain_excluded_holm"] < LEVEL).sum())
        for family in (forced[forced["metric"] == metric] for metric in METRICS)
    )
    return (
        f"When {spoken(learner)} had to use two clusters or more, a gain of {margin} AUROC or more "
        f"is excluded in {raw} of {(forced['metric'] == MAIN).sum()} comparisons ({held} after "
        f"Holm's correction). By AUPRC such a gain is excluded in {raw_prc} ({held_prc}). Offered "
        f"clusters, it chose none in {(offered['verdict'] == NEVER).sum()} of {len(offered)} "
        "comparisons."
    )


@block("planted", "judge_planted")
def planted(comparisons: pd.DataFrame) -> Table:
    """Return what was found of planted subtypes by arms of logistic regression.

    Found by the study's rule, and in brackets by a test of its own.
    """
    rows = comparisons[comparisons["reference"] == "lr"]
    rows = rows.set_index(["rows", "strength", "contender"])

    def detection(name: str) -> How:
        return lambda place: _detection(rows.loc[(*place, name)])

    columns: dict[str, How] = {
        "patients": lambda place: f"{place[0]:,.0f}",
        "worth": lambda place: three(rows.loc[(*place, "cac_lr"), "oracle_gain"]),
        **{contender_label(name): detection(name) for name in ("told_lr", "cac_lr", "km_lr")},
    }
    return Table.of(_PLANTED, columns)


def _detection(row: "pd.Series[Any]") -> str:
    cohorts = round(row["cohorts"])
    alone, by_rule = (f"{row[way] * cohorts:.0f}" for way in ("detected", "detected_holm"))
    return f"{three(row['mean'], signed=True)}, {by_rule} of {cohorts} ({alone})"


@block("clinical excluded lr", "clinical_verdicts", "clinical_tasks", learner="lr")
@block("clinical excluded lgbm", "clinical_verdicts", "clinical_tasks", learner="lgbm")
def clinical_excluded(verdicts: pd.DataFrame, tasks: pd.DataFrame, learner: str) -> str:
    """Say on how many tasks a gain is excluded where clusters had to be used, after correction."""
    apart = set(tasks.loc[tasks["apart"].astype(bool), "dataset"])
    rows = filled(verdicts)
    rows = rows[(rows["question"] == FORCED.id) & (rows["metric"] == MAIN) & (rows["alpha"] == "")]
    rows = rows[rows["contender"].str.endswith(f"_{learner}") & ~rows["dataset"].isin(apart)]
    counts = [int((rows[name] == "yes").sum()) for name in ("excluded", "excluded_strict")]
    margins = [three(float(rows[name].iloc[0])) for name in ("margin", "strict_margin")]
    kinds = [
        f"{kind_label(arm)} {(group['excluded'] == 'yes').sum()}"
        for arm, group in rows.groupby(rows["contender"].str.removesuffix(f"_{learner}"))
    ]
    return (
        f"When {spoken(learner)} had to use clusters, a gain of {margins[0]} AUROC or more is "
        f"excluded in {counts[0]} of {len(rows)} comparisons after correction, and one of "
        f"{margins[1]} in {counts[1]}. By kind, of {rows['dataset'].nunique()} tasks: "
        f"{', '.join(kinds)}."
    )


@block("clinical answer", "clinical_decisions", "clinical_tasks")
def answer(decisions: pd.DataFrame, tasks: pd.DataFrame) -> str:
    """Return the answer on the clinical tasks."""
    return clinical_answer(filled(decisions), filled(tasks))


@block("clinical gains lr", "clinical_verdicts", learner="lr")
@block("clinical gains lgbm", "clinical_verdicts", learner="lgbm")
def gains(verdicts: pd.DataFrame, learner: str) -> Table:
    """Return the gains of k-means and CAC on each clinical task, and of what else bends a line."""
    return _columns(clinical_gains(verdicts, learner), "task", "k-means", "CAC", *_GAINS[learner])


@block("clinical pooled", "clinical_pooled")
def pooled(table: pd.DataFrame) -> Table:
    """Return the pooled gains of CAC and k-means in logistic regression."""
    rows = table[table["contender"].isin((f"{CAC}_lr", f"{KM}_lr")) & table["alpha"].isna()]
    rows = rows.sort_values(["contender", "reference"], kind="stable")
    shown = ("clusters", "compared with", "cohorts", "gain", "a new cohort")
    return _columns(clinical_pooled(rows, "lr"), *shown)


def _columns(table: Table, *names: str) -> Table:
    """Return some columns of a table, by name."""
    places = [table.head.index(name) for name in names]
    rows = [[row[place] for place in places] for row in table.rows]
    return replace(table, head=names, rows=rows)


@block("runs of lines", "runs", metric="auroc", runs=_LINES, datasets=_OPEN)
@block("runs of networks", "runs", metric="auprc_macro", runs=_NETS, datasets=("cic", "cic_los"))
def run_scores(
    table: pd.DataFrame, metric: str, runs: Iterable[tuple[str, int, str]], datasets: Iterable[str]
) -> Table:
    """Return the score of runs, each given by method, k and protocol, a column a data set."""
    scores = table.set_index(["method", "k", "protocol", "dataset"])[metric].to_dict()

    def score(dataset: str) -> How:
        return lambda run: _or_dash(scores[(*run, dataset)])

    columns: dict[str, How] = {"": _name, **{name: score(name) for name in datasets}}
    return Table.of(runs, columns)


def _name(run: tuple[str, int, str]) -> str:
    method, k, protocol = run
    other = "" if protocol == SOUND.name else protocol_label(protocol)
    parts = [method_label(method), f"k = {k}" if k > 1 else "", other]
    return ", ".join(part for part in parts if part)


def _or_dash(value: float) -> str:
    return three(float(value)) or "-"


@block("one cluster", "runs")
def one_cluster(table: pd.DataFrame) -> str:
    """Say how DeepCAC as published with two clusters or more scores beside itself with one."""
    rows = table[(table["method"] == "deepcac") & (table["protocol"] == "as_published")]
    wide = rows.pivot(index="dataset", columns="k", values="auprc_macro")
    gaps = wide.drop(columns=1).sub(wide[1], axis=0).to_numpy(dtype=float)
    gaps = gaps[gaps == gaps]
    low, high = (three(float(end), signed=True) for end in (gaps.min(), gaps.max()))
    return (
        f"In that protocol two to four clusters have a lower mean than one in {(gaps < 0).sum()} "
        f"of {len(gaps)} runs (AUPRC, mean over the classes, {low} to {high}, not tested)."
    )


@block("printed", "ledger")
def printed(ledger: pd.DataFrame) -> Table:
    """Return the AUPRC that DeepCAC prints for networks on CIC, and ours, every k in a cell."""
    of = (ledger["paper"] == "deepcac") & (ledger["table"].astype(str) == "2")
    of &= (ledger["dataset"] == "CIC") & (ledger["item"] == "auprc")
    rows = ledger[of].sort_values("k", kind="stable").set_index("method")
    ks = " ".join(str(int(k)) for k in rows["k"].dropna().unique())

    def values(name: str) -> How:
        return lambda method: " ".join(map(_or_dash, rows.loc[method, name]))

    columns: dict[str, How] = {
        f"k = {ks}": str,
        "printed": values("printed"),
        "as published": values("as_published"),
    }
    return Table.of(("KM-Z", "DMNN", "GRASP", "DeepCAC"), columns)


@block("cells", "summary")
def cells(summary: pd.DataFrame) -> Table:
    """Count printed cells that agree, by paper, and what another method's cell would do."""
    rows = summary[(summary["part"] == "cells") & (summary["group"] == "independent")]
    labels = {**{key: paper.label for key, paper in PAPERS.items()}, "all": "all five"}
    counted = ("open", "agree", "differ", "not_run", NULL[0])
    return _counts(rows, "paper", "paper", labels, counted)


@block("kinds", "summary")
def kinds(summary: pd.DataFrame) -> Table:
    """Count what became of the claims of each kind, those that say the same once."""
    rows = summary[(summary["part"] == "claims") & (summary["paper"] == "all")]
    counted = ("claims", "holds", "partly", "fails", "cannot_hold", "undecided", "not_decidable")
    return _counts(rows, "group", "claims on", KINDS, counted)


def _counts(
    rows: pd.DataFrame, index: str, name: str, labels: Mapping[str, str], counted: Iterable[str]
) -> Table:
    """Return a row for each label, a column for each quantity."""
    values = rows.set_index([index, "quantity"])["value"].to_dict()

    def count(quantity: str) -> How:
        write = _or_dash if quantity in NULL else "{:.0f}".format
        return lambda key: write(values[key, quantity])

    columns = {quantity.replace("_", " "): count(quantity) for quantity in counted}
    return Table.of(labels, {name: labels.__getitem__, **columns})


@block("prediction", "summary")
def prediction(summary: pd.DataFrame) -> str:
    """Say how many claims that CAC or DeepCAC predicts better hold, in a sentence."""
    rows = summary[summary["part"] == "claims"].fillna("").astype(str).to_numpy().tolist()
    return on_prediction(Count(*row) for row in rows)


@block("separation", "separation")
def separation(table: pd.DataFrame) -> Table:
    """Return the share of the scatter between classes, training / test rows, and the AUPRC."""
    rows = table.set_index(["term", "alpha", "dataset"])

    def cell(dataset: str, write: Callable[[Row], str]) -> How:
        return lambda place: write(rows.loc[(*place, dataset)])

    columns: list[tuple[str, How]] = [
        ("term", lambda place: _TERMS[TERMS.index(place[0])]),
        ("alpha", lambda place: f"{place[1]:g}" if place[1] else ""),
    ]
    for name in _SWEPT:
        columns += [
            (name, cell(name, lambda row: f"{three(row['share'])} / {three(row['test_share'])}")),
            ("AUPRC", cell(name, lambda row: f"{three(row['auprc'])} +- {three(row['auprc_sd'])}")),
            ("length", cell(name, lambda row: f"{row['length']:.2g}")),
        ]
    return Table.of(dict.fromkeys(key[:2] for key in rows.index), columns, n_labels=2)


@block("limits", "separation")
def limits(table: pd.DataFrame) -> Table:
    """Return the weights from which longer latents pay: never, at the start, and on chance."""
    first = table.groupby(["dataset", "term"]).first()

    def cell(term: str, column: str, digits: int = 3) -> How:
        return lambda name: format(first.loc[(name, term), column], f".{digits}g")

    columns: dict[str, How] = {
        "data set": str,
        "beta p (1 - p)": cell(CENTROIDS, "limit", 2),
        "all rows": cell(CENTROIDS, "start_scaling"),
        "batches": cell(CENTROIDS, "start_batch_scaling"),
        "permuted, all rows": cell(PERMUTED, "start_scaling"),
        "permuted, batches": cell(PERMUTED, "start_batch_scaling"),
    }
    return Table.of(_SWEPT, columns)


def renewed(text: str, folder: Path) -> str:
    """Return a page with its blocks made anew from the tables of a folder."""

    def made_anew(match: re.Match[str]) -> str:
        made = BLOCKS[match[2]](lambda name: pd.read_csv(folder / f"{name}.csv"))
        return match[1] + (f"{made}\n" if isinstance(made, str) else grid(made)) + match[3]

    return _BLOCK.sub(made_anew, text)


def renew_pages(project: Path) -> None:
    """Renew the blocks of README, the documentation and the paper."""
    for page in (project / "README.md", *project.glob("docs/*.md"), project / "paper" / "paper.md"):
        text = page.read_text(encoding="utf-8")
        page.write_text(renewed(text, project / "docs" / "results"), encoding="utf-8")
