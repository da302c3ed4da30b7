"""Tables and sentences of the documentation, renewed from the snapshot of a run.

    python -m deepcac_study.report.markdown_tables docs/results README.md docs/judge.md

What stands between ``<!-- from the snapshot: scores cic -->`` and ``<!-- end -->`` is made anew; a
test compares every page with the snapshot, so that no number of a page is older than its table.
"""

import argparse
import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from deepcac.errors import ConfigError
from deepcac.judging.choice import CHOICES
from deepcac.judging.contenders import CAC, CELLS, DISTANCES, HASH, KM, parse_contender
from deepcac.judging.questions import ANY, FORCED, HELP, NEGATIVE
from deepcac.judging.resample_scores import METRICS, clustered_scores
from deepcac.judging.verdicts import half_detect
from deepcac.scoring.equivalence import BETTER, LEVEL, NEVER
from deepcac_study.catalogue.config import Judge
from deepcac_study.papers.extension import CLAIMS, LEDGER, SUMMARY
from deepcac_study.report import snapshot
from deepcac_study.report.contender_names import contender_label
from deepcac_study.report.judgement import outcome
from deepcac_study.report.ledger_markdown import cell_tables
from deepcac_study.report.markdown import (
    NOT_RUN,
    SHOWN,
    Tables,
    four,
    gain,
    judged,
    markdown_table,
    three,
)
from deepcac_study.report.planted_markdown import planted
from deepcac_study.report.run_markdown import (
    answer,
    cells,
    claims,
    kinds,
    prediction,
    printed,
    printed_table,
    repeats,
    runs,
    verdict_rows,
)
from deepcac_study.report.run_snapshot import ANSWER, RUNS
from deepcac_study.report.subtype_markdown import (
    arms,
    blends,
    less_learner,
    pairs,
    stability,
    subtypes,
)
from deepcac_study.report.sweep_markdown import limits, separation, starts
from deepcac_study.report.sweep_snapshot import SEPARATION, STARTS
from deepcac_study.report.verdict_forest import VERDICTS

_MARKED = re.compile(r"(<!-- from the snapshot: ([^>]+) -->\n).*?(<!-- end -->\n)", re.DOTALL)
_SPOKEN = {"LR": "logistic regression", "FNN": "the network"}


def renew(text: str, tables: Tables) -> str:
    """Return a page with every marked part made anew from the tables of a snapshot."""

    def made(found: re.Match[str]) -> str:
        kind, *asked = found[2].split()
        if kind not in _KINDS:
            raise ConfigError(
                f"no table {kind!r} can be made from a snapshot; known: {', '.join(_KINDS)}"
            )
        write, needed = _KINDS[kind]
        text = NOT_RUN if tables[needed].empty else write(tables, *asked)
        return f"{found[1]}{text}{found[3]}"

    return _MARKED.sub(made, text)


def read_snapshot(folder: Path) -> Tables:
    """Return the tables that `snapshot.write_snapshot` wrote; empty where nothing was run."""
    paths = {name: folder / f"{name}.csv" for name in snapshot.TABLES}
    return {
        name: pd.read_csv(path) if path.exists() and path.stat().st_size else pd.DataFrame()
        for name, path in paths.items()
    }


def scores(tables: Tables, dataset: str) -> str:
    """Return every contender on one data set, the highest first."""
    table = tables[snapshot.SCORES]
    columns = [f"{metric}_{choice}" for metric in METRICS for choice in CHOICES]
    own = table[table["dataset"] == dataset].sort_values("auroc_tuned", ascending=False)
    own = own.reindex(columns=["contender", "trials", *columns])
    rows = [
        [
            contender_label(row["contender"]),
            *("" if pd.isna(row[c]) else four(row[c]) for c in columns),
            str(row["trials"]),
        ]
        for row in own.to_dict("records")
    ]
    ways = ("default", "tuned", "k >= 2")
    head = (
        "contender",
        *(f"{name} {way}" for name in ("AUROC", "AUPRC") for way in ways),
        "trials",
    )
    return markdown_table(head, rows)


def matrix(tables: Tables, metric: str) -> str:
    """Return every contender on every data set, the best of each in bold.

    Tuned; those with clusters have two or more.
    """
    found = tables[snapshot.SCORES]
    found = found.assign(shown=clustered_scores(found, metric))
    table = found.pivot(index="contender", columns="dataset", values="shown")
    order = table.rank(ascending=False).mean(axis=1).sort_values().index
    best = table.max()
    rows = [
        [
            contender_label(name),
            *(
                "" if pd.isna(v) else three(v, SHOWN[BETTER] if v == best[c] else "{}")
                for c, v in table.loc[name].items()
            ),
        ]
        for name in order
    ]
    return markdown_table(("contender", *table.columns), rows)


def clusters(tables: Tables, learner: str) -> str:
    """Return what clusters add to a learner on every data set, and what the controls add.

    With what they add goes in how many resamples clusters were chosen at all.
    """
    own = judged(tables)
    alone = tables[snapshot.SCORES].set_index(["dataset", "contender"])["auroc_tuned"]
    compared = [
        *((HELP.id, f"{arm}_{learner}", learner) for arm in (CAC, KM, DISTANCES)),
        (FORCED.id, f"{CAC}_{learner}", learner),
        (ANY.id, f"{CAC}_{learner}", f"{CELLS}_{learner}"),
        (NEGATIVE.id, f"{HASH}_{learner}", learner),
    ]
    found = {
        (str(r["question"]), str(r["contender"]), str(r["reference"]), str(r["dataset"])): r
        for r in own.to_dict("records")
    }
    rows = [
        [
            dataset,
            three(alone[dataset, learner]),
            *(
                gain(found.get((*pair, dataset)), chosen=pair[0] in (HELP.id, NEGATIVE.id))
                for pair in compared
            ),
        ]
        for dataset in sorted({key[3] for key in found if key[:3] in compared})
    ]
    head = ("data set", f"{contender_label(learner)} alone", "+ CAC", "+ k-means", "+ distances")
    controls = ("CAC, k >= 2", "CAC less random cells, k >= 2", "+ hash")
    return markdown_table((*head, *controls), rows)


def counts(tables: Tables) -> str:
    """Count how often each verdict was given, by question and learner."""
    own = judged(tables)
    rows = []
    for (question, learner), group in own.assign(learner=own["contender"].map(_learner)).groupby(
        ["question", "learner"], sort=False
    ):
        said = group["verdict"].value_counts()
        rows.append(
            [
                str(question).replace("_", " "),
                contender_label(str(learner)),
                str(len(group)),
                *(str(said.get(verdict, 0)) for verdict in VERDICTS),
                four(group["mean"].mean(), signed=True),
                "" if pd.isna(half := half_detect(group)) else four(half),
            ]
        )
    head = ("question", "learner", "comparisons", *VERDICTS, "mean difference", "detectable")
    return markdown_table(head, rows, n_labels=2)


def division(tables: Tables, name: str) -> str:
    """Return every contender on a published division, the highest first."""
    table = tables[snapshot.DIVISIONS]
    own = table[table["division"] == name].sort_values("auroc", ascending=False)
    rows = [
        [
            contender_label(row["contender"]),
            *(
                f"{three(row[m])} [{three(row[f'{m}_low'])}, {three(row[f'{m}_high'])}]"
                for m in (*METRICS, snapshot.EVENT)
            ),
        ]
        for row in own.to_dict("records")
    ]
    return markdown_table(("contender", "AUROC", "AUPRC", "min(Se, P+)"), rows)


def said(tables: Tables, question: str, learner: str) -> str:
    """Say how often clusters helped a learner, in a sentence."""
    own = judged(tables)
    own = own[(own["question"] == question) & (own["contender"].map(_learner) == learner)]
    n_datasets = own["dataset"].nunique()
    margin = three(Judge.model_validate({}).margin)
    name = _SPOKEN.get(contender_label(learner), contender_label(learner))
    return (
        f"Of {len(own)} comparisons of {name} with clusters and without, both tuned, on "
        f"{n_datasets} data set{'s' * (n_datasets > 1)} (AUROC, margin {margin}), "
        f"clusters are {outcome(own, three)}.\n"
    )


def excluded(tables: Tables, learner: str) -> str:
    """Say how often a gain is excluded where two clusters or more had to be used, in sentences."""
    table = tables[snapshot.VERDICTS]
    own = table[table["contender"].map(_learner) == learner]
    forced = {metric: _counted(own, FORCED.id, metric) for metric in METRICS}
    offered = _counted(own, HELP.id, METRICS[0])
    margin = three(Judge.model_validate({}).margin)
    name = _SPOKEN.get(contender_label(learner), contender_label(learner))
    (raw, held), (raw_prc, held_prc) = (
        ((one["better"] < LEVEL).sum(), (one["p_gain_excluded_holm"] < LEVEL).sum())
        for one in forced.values()
    )
    said = [
        f"When {name} had to use two clusters or more, a gain of {margin} AUROC or more is "
        f"excluded in {raw} of {len(forced[METRICS[0]])} comparisons ({held} after Holm's "
        f"correction).",
        f"By AUPRC such a gain is excluded in {raw_prc} ({held_prc}).",
    ]
    never = (offered["verdict"] == NEVER).sum()
    if never:
        said.append(f"Offered clusters, it chose none in {never} of {len(offered)} comparisons.")
    return " ".join(said) + "\n"


def _counted(own: pd.DataFrame, question: str, metric: str) -> pd.DataFrame:
    return own[(own["question"] == question) & (own["metric"] == metric)]


def _learner(contender: str) -> str:
    return parse_contender(contender).learner


_KINDS: dict[str, tuple[Callable[..., str], str]] = {
    one.__name__: (one, table)
    for table, own in (
        (snapshot.SCORES, (scores, matrix, clusters)),
        (snapshot.VERDICTS, (counts, said, excluded, subtypes)),
        (snapshot.DIVISIONS, (division,)),
        (snapshot.POWER, (planted,)),
        (snapshot.ARMS, (arms,)),
        (snapshot.STABILITY, (stability,)),
        (snapshot.BLENDS, (blends,)),
        (snapshot.PAIRS, (pairs, less_learner)),
        (RUNS, (runs,)),
        (SEPARATION, (separation, limits)),
        (STARTS, (starts,)),
        (LEDGER, (printed, printed_table, cell_tables)),
        (ANSWER, (answer,)),
        (SUMMARY, (cells, claims, kinds, prediction)),
        (CLAIMS, (repeats, verdict_rows)),
    )
    for one in own
}


def main() -> None:
    """Renew pages from a snapshot."""
    parser = argparse.ArgumentParser(description="Renew the tables of pages from a snapshot.")
    parser.add_argument("snapshot", type=Path)
    parser.add_argument("pages", nargs="+", type=Path)
    asked = parser.parse_args()
    tables = read_snapshot(asked.snapshot)
    for page in asked.pages:
        page.write_text(renew(page.read_text(encoding="utf-8"), tables), encoding="utf-8")


if __name__ == "__main__":
    main()
