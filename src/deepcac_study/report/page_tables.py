"""Tables and sentences that pages quote, from the tables of docs/results.

The text between ``<!-- made of docs/results: planted -->`` and ``<!-- end -->`` is the block that
``page_tables.yaml`` declares by that name. A test compares every block of every page.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from deepcac.judging.choice import OFFERED
from deepcac.judging.contenders import CAC, KM, parse_contender
from deepcac.judging.planted_outcomes import TOLD
from deepcac.judging.questions import ANY, BEND, BENT, FORCED, HELP, RANDOM
from deepcac.judging.resample_scores import METRICS
from deepcac.pages.tables import How, Table, grid
from deepcac.pages.wording import four, people, three
from deepcac.scoring.equivalence import LEVEL, NEVER
from deepcac_study.catalogue.judge_plan import FAMILY, LARGER, SMALLER
from deepcac_study.catalogue.methods import label as method_label
from deepcac_study.catalogue.protocol import SOUND
from deepcac_study.judge.clinical_tasks import DECLINED
from deepcac_study.judge.tables.over_tables import MAIN
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.claims import KINDS
from deepcac_study.papers.summary import NULL, Count, on_prediction
from deepcac_study.report.judge.clinical_forest import LEARNERS, filled
from deepcac_study.report.judge.clinical_pages import added_cohorts, kind_label, with_interval
from deepcac_study.report.judge.gain_figures import (
    ABOUT,
    NAMES,
    NOTHING,
    OFFERS,
    SMALL,
    adoption_rates,
    mean_auroc_changes,
)
from deepcac_study.report.judge.judge_figures import contender_label, spoken
from deepcac_study.report.judge.judgement import forced_gains
from deepcac_study.report.runs.runtables import protocol_label

_BLOCK = re.compile(r"(<!-- made of docs/results: ([^>]+) -->\n).*?(<!-- end -->\n)", re.DOTALL)
_GAINS = (0.01, 0.02, 0.05)
# What clusters are compared with in the pooled estimates, by the question.
_COMPARED = {
    HELP.id: "no clusters",
    FORCED.id: "no clusters, declining not allowed",
    ANY.id: "random groups, equal effort",
    RANDOM.id: "random groups, on average",
    BENT.id: "splines in LR, always used",
}


def headline(table: pd.DataFrame) -> str:
    """Return the answer of the whole study."""
    return str(table["sentence"].iloc[0])


def excluded(verdicts: pd.DataFrame, learners: Iterable[str]) -> Table:
    """Count the comparisons of each learner that rule out a gain where clusters had to be used."""
    names = verdicts["contender"].map(lambda name: parse_contender(name).learner)
    forced = verdicts[verdicts["question"] == FORCED.id]
    offered = verdicts[(verdicts["question"] == HELP.id) & (verdicts["metric"] == MAIN)]

    def family(learner: str, metric: str) -> pd.DataFrame:
        return forced[(names.loc[forced.index] == learner) & (forced["metric"] == metric)]

    def count(metric: str, p: str) -> How:
        return lambda learner: str((family(learner, metric)[p] < LEVEL).sum())

    def declined(learner: str) -> str:
        rows = offered[names.loc[offered.index] == learner]
        return f"{(rows['verdict'] == NEVER).sum()} of {len(rows)}"

    columns: dict[str, How] = {
        "model": contender_label,
        "comparisons": lambda learner: str(len(family(learner, MAIN))),
    }
    for metric in METRICS:
        margin = three(forced.loc[forced["metric"] == metric, "margin"].iloc[0])
        columns[f"rule out {margin} {people(metric)}"] = count(metric, "better")
        columns[f"{people(metric)}, corrected"] = count(metric, "p_gain_excluded_holm")
    return Table.of(learners, {**columns, "always declined": declined})


def planted(comparisons: pd.DataFrame, learner: str, cohorts: Iterable[tuple[int, float]]) -> Table:
    """Count the cohorts in which planted subtypes were found, by rows and strength.

    The count is by the study's rule, and in brackets by an uncorrected test.
    """
    rows = comparisons[comparisons["reference"] == learner]
    rows = rows.set_index(["rows", "strength", "contender"])

    names = f"{TOLD}{learner}", f"{CAC}_{learner}", f"{KM}_{learner}"

    def detection(name: str) -> How:
        return lambda place: _detection(rows.loc[(*place, name)])

    columns: dict[str, How] = {
        "patients": lambda place: f"{place[0]:,.0f}",
        "worth": lambda place: three(rows.loc[(*place, names[0]), "oracle_gain"]),
        **{contender_label(name): detection(name) for name in names},
    }
    return Table.of(cohorts, columns)


def _detection(row: "pd.Series[Any]") -> str:
    """Return mean gain, cohorts detected by Holm and, in brackets, alone."""
    cohorts = round(row["cohorts"])
    alone, by_rule = (f"{row[way] * cohorts:.0f}" for way in ("detected", "detected_holm"))
    return f"{three(row['mean'], signed=True)}, {by_rule} of {cohorts} ({alone})"


def clinical_excluded(verdicts: pd.DataFrame, tasks: pd.DataFrame) -> Table:
    """Count the clinical comparisons that rule out a gain where clusters had to be used."""
    rows = forced_gains(filled(verdicts), tasks[~tasks["apart"].astype(bool)])
    margin, strict = (three(float(rows[name].iloc[0])) for name in ("margin", "strict_margin"))

    def of(learner: str) -> pd.DataFrame:
        return rows[rows["reference"] == learner]

    def yes(column: str) -> How:
        return lambda learner: str((of(learner)[column] == "yes").sum())

    columns: dict[str, How] = {
        "model": contender_label,
        "comparisons": lambda learner: str(len(of(learner))),
        f"rule out {margin}": lambda learner: str((of(learner)["better"] < LEVEL).sum()),
        "one correction for all": yes("excluded_together"),
        "corrected as planned": yes("excluded"),
        f"{strict}, as planned": yes("excluded_strict"),
    }
    return Table.of(LEARNERS, columns)


def power(decisions: pd.DataFrame, tasks: pd.DataFrame) -> str:
    """Return a sentence on the power of all three tests together for gains of some sizes."""
    apart = tasks.loc[tasks["apart"].astype(bool), "dataset"]
    rows = filled(decisions)
    rows = rows[(rows["alpha"] == "") & ~rows["dataset"].isin(apart)]
    names = rows["contender"].str.rpartition("_")[2]
    counts = {
        learner: [(rows.loc[names == learner, "detectable"] <= gain).sum() for gain in _GAINS]
        for learner in LEARNERS
    }
    of = (names == LEARNERS[0]).sum()
    sizes = [
        f"in at most {_listed(counts[name])} of {of} comparisons with {spoken(name)}"
        for name in LEARNERS
    ]
    return (
        f"With 80 % power, the three tests together would find a gain of "
        f"{_listed(map(three, _GAINS))} over each rival {' and '.join(sizes)}."
    )


def _listed(words: Iterable[object]) -> str:
    *first, last = map(str, words)
    return f"{', '.join(first)} and {last}"


def price_table(verdicts: pd.DataFrame, tasks: pd.DataFrame) -> Table:
    """Return the mean changes of AUROC from offering groups in small and in larger cohorts."""
    points = mean_auroc_changes(verdicts, tasks)
    groups = {
        key: (group[group["rows"] <= SMALL], group[group["rows"] > SMALL], group)
        for key, group in points.groupby(["learner", "offer"], sort=False)
    }
    few, more, _ = next(iter(groups.values()))

    def change(part: int) -> How:
        def cell(key: tuple[str, str]) -> str:
            rows = groups[key][part]
            return f"{four(rows['mean'].mean(), signed=True)}, {(rows['mean'] < 0).sum()}"

        return cell

    def with_size(key: tuple[str, str]) -> str:
        rows = groups[key][-1]
        return f"{rows['mean'].corr(rows['rows'], method='spearman'):+.2f}"

    columns: dict[str, How] = {
        "model": lambda key: contender_label(key[0]),
        "may choose": lambda key: OFFERS[key[1]][1],
        f"{len(few)} cohorts of at most {SMALL:,}: mean, losses": change(0),
        f"{len(more)} larger: mean, losses": change(1),
        "correlation with size": with_size,
    }
    order = [(learner, offer) for learner in LEARNERS for offer in OFFERS]
    return Table.of([key for key in order if key in groups], columns, n_labels=2)


def by_size(table: pd.DataFrame, rules: Iterable[str]) -> Table:
    """Return how often rules adopt clusters in clinics of each size, and the gain from it."""
    points = adoption_rates(table)
    lines = points.to_dict("records")
    points_by_cell = {(line["rule"], line["planted"], line["rows"]): line for line in lines}

    def cell(rule: str, band: str) -> How:
        def text(rows: int) -> str:
            line = points_by_cell[rule, band, rows]
            return f"{line['taken']:.2f} ({four(line['gain'], signed=True)})"

        return text

    columns: dict[str, How] = {
        "patients": lambda rows: f"{rows:,}",
        **{
            f"{NAMES[rule]}, {band} planted": cell(rule, band)
            for rule in rules
            for band in (NOTHING, ABOUT)
        },
    }
    return Table.of(sorted(set(points["rows"])), columns)


def pooled(table: pd.DataFrame) -> Table:
    """Return the pooled gains of CAC and k-means with each learner.

    Bold if the interval excludes 0 for every way to count tables that share patients.
    """
    rows = table[(table["metric"] == MAIN) & table["alpha"].isna() & table["floor"].astype(bool)]
    key = ["pooling", "question", "contender"]
    rows_by_key = {tuple(row[name] for name in key): row for row in rows.to_dict("records")}

    def gain(contender: str) -> How:
        def cell(question: str) -> str:
            ways = [rows_by_key[way, question, contender] for way in (FAMILY, LARGER, SMALLER)]
            clear = all(row["low"] > 0 or row["high"] < 0 for row in ways)
            return ("**{}**" if clear else "{}").format(with_interval(ways[0]))

        return cell

    columns: dict[str, How] = {"compared with": _COMPARED.__getitem__}
    for learner in LEARNERS:
        for arm in (CAC, KM):
            name = f"{arm}_{learner}"
            columns[f"{contender_label(learner)}, {kind_label(arm)}"] = gain(name)
    return Table.of(_COMPARED, columns)


def curved(table: pd.DataFrame, models: Mapping[str, str]) -> Table:
    """Return pooled gains of models without clusters over the learner, forced and optional."""
    rows = table[(table["metric"] == MAIN) & (table["pooling"] == FAMILY)]
    rows = rows[rows["alpha"].isna() & rows["floor"].astype(bool)]
    rows_by_key = {(row["question"], row["contender"]): row for row in rows.to_dict("records")}
    columns: dict[str, How] = {
        "model": contender_label,
        "minus": lambda name: contender_label(models[name]),
        "must be used": lambda name: with_interval(rows_by_key[BEND.id, name]),
        "may be declined": lambda name: with_interval(rows_by_key[DECLINED.id, f"{OFFERED}{name}"]),
    }
    return Table.of(models, columns, n_labels=2)


def run_scores(
    table: pd.DataFrame, metric: str, runs: Iterable[tuple[str, int, str]], datasets: Iterable[str]
) -> Table:
    """Return the scores of runs, given by method, k and protocol, one column per data set."""
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


def one_cluster(table: pd.DataFrame, method: str) -> str:
    """Return a sentence that compares a method as published with and without clusters."""
    rows = table[(table["method"] == method) & (table["protocol"] == "as_published")]
    wide = rows.pivot(index="dataset", columns="k", values="auprc_macro")
    gaps = wide.drop(columns=1).sub(wide[1], axis=0).to_numpy(dtype=float)
    gaps = gaps[gaps == gaps]
    low, high = (three(float(end), signed=True) for end in (gaps.min(), gaps.max()))
    return (
        f"As published, two to four clusters have a lower mean than one in {(gaps < 0).sum()} of "
        f"{len(gaps)} runs (AUPRC averaged over the classes, differences {low} to {high}, not "
        "tested)."
    )


def printed(ledger: pd.DataFrame, paper: str, methods: Iterable[str]) -> Table:
    """Return the AUPRC on CIC in a paper's Table 2 and ours, all k in one cell."""
    of = (ledger["paper"] == paper) & (ledger["table"].astype(str) == "2")
    of &= (ledger["dataset"] == "CIC") & (ledger["item"] == "auprc")
    rows = ledger[of].sort_values("k", kind="stable").set_index("method")
    ks = " ".join(str(int(k)) for k in rows["k"].dropna().unique())

    def values(name: str) -> How:
        return lambda method: " ".join(map(_or_dash, rows.loc[method, name]))

    columns: dict[str, How] = {
        f"k = {ks}": str,
        "published": values("printed"),
        "as published": values("as_published"),
    }
    return Table.of(methods, columns)


def cells(summary: pd.DataFrame) -> Table:
    """Count the printed cells that agree, by paper, and those that rivals' numbers would."""
    rows = summary[(summary["part"] == "cells") & (summary["group"] == "independent")]
    labels = {**{key: paper.label for key, paper in PAPERS.items()}, "all": "all five"}
    counted = ("open", "agree", "differ", "not_run", NULL[0])
    return _counts(rows, "paper", "paper", labels, counted)


def kinds(summary: pd.DataFrame) -> Table:
    """Count the verdicts on the claims of each kind, repeated claims once."""
    rows = summary[(summary["part"] == "claims") & (summary["paper"] == "all")]
    counted = ("claims", "holds", "partly", "fails", "cannot_hold", "undecided", "not_decidable")
    return _counts(rows, "group", "claims on", KINDS, counted)


def _counts(
    rows: pd.DataFrame, index: str, name: str, labels: Mapping[str, str], counted: Iterable[str]
) -> Table:
    """Return a table of counts, one row per label, one column per quantity."""
    values = rows.set_index([index, "quantity"])["value"].to_dict()

    def count(quantity: str) -> How:
        write = _or_dash if quantity in NULL else "{:.0f}".format
        return lambda key: write(values[key, quantity])

    columns = {quantity.replace("_", " "): count(quantity) for quantity in counted}
    return Table.of(labels, {name: labels.__getitem__, **columns})


def prediction(summary: pd.DataFrame) -> str:
    """Return a sentence on the claims that CAC or DeepCAC predicts better."""
    rows = summary[summary["part"] == "claims"].fillna("").astype(str).to_numpy().tolist()
    return on_prediction(Count(*row) for row in rows)


def faults(table: pd.DataFrame, groups: Mapping[str, str]) -> Table:
    """Count the outcomes of provoked faults, by groups of names that match a pattern."""
    counts = {
        name: table[table["fault"].str.contains(pattern)][["tried", "same", "refused", "neither"]]
        for name, pattern in groups.items()
    }

    def total(column: str) -> How:
        return lambda name: f"{counts[name][column].sum():,.0f}"

    heads = {"tried": "tried", "same": "same result", "refused": "one clear line"}
    columns = {head: total(name) for name, head in heads.items()}
    return Table.of(groups, {"fault": str, **columns, "neither": total("neither")})


_WRITERS: dict[str, Callable[..., Table | str]] = {
    write.__name__: write
    for write in (
        *(headline, prediction, cells, kinds, run_scores, one_cluster, printed, faults),
        *(excluded, planted, clinical_excluded, pooled),
        *(power, price_table, by_size, added_cohorts, curved),
    )
}
BLOCKS: dict[str, dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
)


def renewed(text: str, folder: Path) -> str:
    """Return the text of a page with its blocks renewed from the tables of a folder."""

    def made_anew(match: re.Match[str]) -> str:
        declared = dict(BLOCKS[match[2]])
        tables = [pd.read_csv(folder / f"{name}.csv") for name in declared.pop("tables")]
        made = _WRITERS[declared.pop("write")](*tables, **declared)
        return match[1] + (f"{made}\n" if isinstance(made, str) else grid(made)) + match[3]

    return _BLOCK.sub(made_anew, text)


def renew_pages(project: Path) -> None:
    """Renew the blocks of README, the documentation and the paper."""
    for page in (project / "README.md", *project.glob("docs/*.md"), project / "paper" / "paper.md"):
        text = page.read_text(encoding="utf-8")
        page.write_text(renewed(text, project / "docs" / "results"), encoding="utf-8")
