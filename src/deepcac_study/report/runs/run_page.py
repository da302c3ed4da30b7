"""The page of one run: scores, printed values, clusters and machine."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from deepcac.errors import DataError
from deepcac.files.atomic import atomic_path
from deepcac.pages.sections import Statement, titled
from deepcac.pages.tables import Table, text_row
from deepcac.pages.templating import environment
from deepcac.pages.wording import people
from deepcac_study.catalogue.protocol import SOUND
from deepcac_study.catalogue.registry import Registry
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.entry import Entry
from deepcac_study.papers.ledger import entries, number
from deepcac_study.records.reader import RUNS, by_kind, read
from deepcac_study.records.record import scores_path
from deepcac_study.records.record_archive import total_seconds
from deepcac_study.records.runs import Run
from deepcac_study.report.report_page import ReportPage
from deepcac_study.report.runs.runtables import clusters_table, protocol_label, run_label

_FIRST = ("auroc", "auprc", "f1")  # what a line says of a run
_DECIDED = ("agree", "differ")


class RunPage(NamedTuple):
    """A page that was written, and its summary.

    Attributes
    ----------
    path : Path
    lines : tuple of str
        The scores, and the comparison with printed values, if any.
    """

    path: Path
    lines: tuple[str, ...]


def write_run_page(
    record: str | os.PathLike[str], registry: Registry, folder: str | os.PathLike[str] = "."
) -> RunPage:
    """Write the page of a run below ``results/report/runs`` of a folder.

    Parameters
    ----------
    record : path-like
        ``results/{dataset}/{method}_k{k}.json``, or one as published.
    registry : Registry
        Registry with the run's data set.
    folder : path-like
        The folder with ``results``.

    Raises
    ------
    DataError
        The record is missing or damaged, or no record of a run.
    """
    root = Path(folder).absolute()
    if not Path(record).is_file():
        raise DataError(f"{record}: no such record; snakemake --cores 2 {record} makes it")
    # A shipped record has no score file; what needs one is left out.
    shipped = set() if scores_path(Path(record)).exists() else {str(record)}
    (kind,) = by_kind([record])
    if kind != RUNS:
        raise DataError(
            f"{record}: a record of the kind {kind!r}, and not of a run; the report has it "
            "(make report)"
        )
    findings = read([record], root, unscored=shipped)
    (run,) = findings.runs
    scored = (entry for entry in entries(findings) if entry.kind in ("score", "log"))
    # No other run was read, so any number of ours is of this one.
    printed = [entry for entry in scored if _ours(entry, run) is not None]
    dataset = registry.dataset(run.dataset)
    hidden = {run.dataset} if registry.source(dataset.source).closed else set[str]()
    name = run.path.removeprefix("results/").removesuffix(".json").replace("/", "_")
    path = root / "results" / "report" / "runs" / f"{name}.html"
    tables = [
        _scores(run),
        *([_printed(printed, run)] if printed else []),
        *([clusters_table([run], hidden=hidden)] if run.k > 1 and not run.synthetic else []),
        _settings(run),
        _origin(run),
    ]
    made = environment("deepcac_study.report.site")
    made.globals |= {"up": "../", "current": "run", "menu": {}}
    made.globals |= dict.fromkeys(("made_from", "provenance"), "")
    lines = (_sentence(run), *_comparison(printed, run))
    title = f"{run_label(run)} on {dataset.title}"
    one = ReportPage(
        id="run",
        heading=title,
        blocks=titled(table for table in tables if table.rows),
        first=[
            *["Generated data, no real patients."] * run.synthetic,
            *map(Statement, lines),
        ],
        synthetic=run.synthetic,
    )
    report = (path.parents[1] / "index.html").exists()
    text = made.get_template("run.html").render(one=one, title=title, report=report)
    with atomic_path(path) as partial:
        partial.write_text(text, encoding="utf-8")
    return RunPage(path, lines)


def _sentence(run: Run) -> str:
    """Return a sentence on the run's scores."""
    if run.status != "ok":
        return f"{run_label(run)} on {run.dataset}, {protocol_label(run.protocol)}: {run.status}"
    scores = [(name, run.score(name)) for name in _FIRST]
    shown = [f"{people(name)} {value[0]:.3f} ± {value[1]:.3f}" for name, value in scores if value]
    splits = f"{len(run.splits)} split{'s' if len(run.splits) > 1 else ''}"
    what = f"{run_label(run)} on {run.dataset}, {protocol_label(run.protocol)}, {splits}"
    return f"{what}: {', '.join(shown)}"


def _comparison(printed: Sequence[Entry], run: Run) -> list[str]:
    """Return a line per printed value, with ours in the same metric and the verdict."""
    return [
        f"printed {_metric(entry)} {entry.printed}, ours {number(_ours(entry, run))} "
        f"({PAPERS[entry.paper].label}, Table {entry.table}): {_verdict(entry, run)}"
        for entry in printed
        if entry.paper in PAPERS and entry.printed_value is not None
    ]


def _ours(entry: Entry, run: Run) -> float | None:
    """Return our number for a printed value under the protocol of a run."""
    return entry.sound if run.protocol == SOUND.name else entry.as_published


def _metric(entry: Entry) -> str:
    averaged = entry.paper in PAPERS and PAPERS[entry.paper].averages(entry.table)
    return people(entry.item) + ", mean over the classes," * averaged


def _verdict(entry: Entry, run: Run) -> str:
    """Return the verdict on a printed value, if the run's protocol is the deciding one."""
    if entry.run == run.path and entry.verdict in _DECIDED:
        return f"{entry.verdict}s"
    return f"decided by the run “{protocol_label(entry.decided_by)}”"


def _scores(run: Run) -> Table:
    rows = [
        text_row(people(name), *(f"{value:.4f}" for value in (*score, *run.per_split(name))))
        for name in run.metrics
        if (score := run.score(name))
    ]
    head = ("metric", "mean", "sd", *(f"split {split['seed']}" for split in run.splits))
    note = "Mean and sample standard deviation over the splits."
    return Table("run_scores", "Scores on the test rows", note, head, rows, mixed=True)


def _printed(printed: Sequence[Entry], run: Run) -> Table:
    rows = [
        text_row(
            entry.verdict if entry.run == run.path else "",
            PAPERS[entry.paper].label if entry.paper in PAPERS else "authors' logs",
            entry.table,
            _metric(entry).rstrip(","),
            entry.printed,
            number(_ours(entry, run)),
            number(entry.difference if entry.run == run.path else None, signed=True),
            number(entry.bound if entry.run == run.path else None),
        )
        for entry in printed
    ]
    return Table(
        "run_printed",
        "What the papers print of it",
        "A verdict where this run decides; else the run by the protocol of the paper does.",
        ("verdict", "paper", "table", "item", "printed", "ours", "difference", "agrees within"),
        rows,
        n_labels=0,
        verdict="verdict",
        mixed=True,
    )


def _settings(run: Run) -> Table:
    names = sorted({name for split in run.splits for name in split.get("hyperparameters", {})})
    rows = [
        text_row(split["seed"], *(split["hyperparameters"].get(name, "") for name in names))
        for split in run.splits
    ]
    note = "As used. Those that were tuned were chosen on validation rows."
    return Table("run_settings", "Hyper-parameters", note, ("split", *names), rows, mixed=True)


def _origin(run: Run) -> Table:
    machine = run.record.get("machine") or {}
    versions = (machine.get("versions") or {}).items()
    facts = {
        "record": run.path,
        "rows, features": f"{run.record['n_rows']:,}, {run.record['n_features']:,}",
        "computing time": f"{total_seconds(machine.get('seconds') or {}):.1f} s",
        "processor": machine.get("processor", ""),
        "commit": machine.get("git_commit", ""),
        "versions": ", ".join(f"{name} {version}" for name, version in versions),
        **{f"digest of {name}": digest for name, digest in run.record["inputs"].items()},
    }
    rows = [text_row(name, value) for name, value in facts.items()]
    return Table("run_origin", "Where it comes from", "", ("what", "value"), rows, mixed=True)
