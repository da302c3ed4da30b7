"""The first page: the answer with figures, and counts of agreement and verdicts by paper."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from deepcac.pages.figures import Figure
from deepcac.pages.tables import Cell, Table, text_row
from deepcac.pages.wording import minus
from deepcac_study.papers.agreement import AGREE, DIFFER
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.entry import Entry
from deepcac_study.papers.summary import (
    ALL,
    NULL,
    Count,
    cells_in_words,
    claims_in_words,
    on_prediction,
    value,
)
from deepcac_study.records.record_archive import LAID, seconds_once
from deepcac_study.records.runs import Run, Runs
from deepcac_study.report.declarations import declared_table
from deepcac_study.report.judge.clinical_forest import clinical_answer
from deepcac_study.report.judge.judgement import Judgement, basis, sentence, whole_answer
from deepcac_study.report.runs.runtables import run_label
from deepcac_study.report.site.contents import Contents
from deepcac_study.sourcecode import LIBRARIES

_VALUES = ("agree", "differ", "not_run", "needs_access", "not_rebuildable", "settings")
_CLAIMS = ("holds", "partly", "fails", "cannot_hold")
_ORIGINS = ("commits", "pythons", "devices", "processors", "libraries")
_POWER = ["question", "strength", "rows", "cohorts", "detected"]
NOTHING = "No run on the papers' data has been made yet: every printed value waits for one."


@dataclass(frozen=True)
class Answer:
    """The answer at the top of the first page."""

    sentences: list[str]  # the answer, and what belongs to it
    figures: list[Figure]  # the picture of the answer; in a demo with the planted truth


def answer(shown: Contents) -> Answer:
    """Return the answer on the papers' data if they were run, else on other data or the demo."""
    judgement, clinical = shown.material.judgement, shown.material.clinical
    drawn = {figure.id: figure for figure in shown.all_figures}
    if len(shown.material.real) or sentence(judgement):
        whole = whole_answer(judgement, clinical)  # says what the clinical tasks say
        first, dot, rest = (whole or sentence(judgement)).partition(". ")
        sentences = [
            first + dot.rstrip(),
            rest,
            basis(judgement),
            clinical_answer(clinical.decisions, clinical.tasks) if clinical and not whole else "",
            on_prediction(shown.counts),
            f"{cells_in_words(shown.counts)}{_by_chance(shown.counts)}",
            claims_in_words(shown.counts),
            protocols_in_words(shown.ledger),
        ]
        wanted = ("clinical_forest_lr", "judge_forest", "clustering_effect")
        of_answer = [drawn[name] for name in wanted if name in drawn][:1]
        return Answer([minus(text) for text in sentences if text], of_answer)
    of_real = [sentence(judgement, unpublished=True), basis(judgement, unpublished=True)]
    if not of_real[0]:
        of_real = _best_runs(shown.material.unpublished)
    sentences = [*of_real, planted_sentence(judgement), NOTHING]
    names = (*("judge_forest",) * bool(of_real), "judge_power", "planted_subtypes")
    figures = [drawn[name] for name in names if name in drawn]
    return Answer([minus(text) for text in sentences if text], figures)


def _best_runs(runs: Runs) -> list[str]:
    """Return a sentence per data set that no paper has, on the run with the highest AUROC."""
    names = dict.fromkeys(run.dataset for run in runs)
    best = ((name, _best_run(runs.where(dataset=name, status="ok"))) for name in names)
    return [f"On {name}, {words}." for name, words in best if words]


def _best_run(runs: Sequence[Run]) -> str:
    """Return a sentence on the run of a data set with the highest mean AUROC."""
    scored = [(score[0], run) for run in runs if (score := run.score(run.reported("auroc", "")))]
    if not scored:
        return ""
    best, run = max(scored, key=lambda pair: pair[0])
    plain = [score for score, other in scored if other.k == 1]
    if len(scored) == 1:
        return f"{run_label(run)} has an AUROC of {best:.3f}"
    text = f"{run_label(run)} has the highest AUROC of {len(scored)} runs, {best:.3f}"
    return text + (f"; without clusters {max(plain):.3f}" if run.k > 1 and plain else "")


def _by_chance(counts: Sequence[Count]) -> str:
    """Return a sentence on how often the printed value of another method would agree."""
    null, low, high = (100 * value(counts, "cells", name) for name in NULL[:3])
    if null != null:
        return ""
    spread = f" (95 % interval {low:.0f} to {high:.0f} %)" * (low == low)
    return f" Another method's printed value would agree {null:.0f} % of the time{spread}."


def planted_sentence(judgement: Judgement | None) -> str:
    """Return a sentence on how many planted cohorts were detected, with and without an effect.

    For each strength and size, the count is that of the contender that finds most.
    """
    curve = pd.DataFrame(judgement.summary["power"] if judgement else [], columns=_POWER)
    found = (curve["cohorts"] * curve["detected"]).astype(float).round().astype(int)
    groups = curve.assign(found=found).groupby(["question", "strength", "rows"], sort=False)
    best = groups.agg(found=("found", "max"), cohorts=("cohorts", "first")).reset_index()

    def count(rows: pd.DataFrame) -> str:
        return f"{rows['found'].sum()} of {rows['cohorts'].sum()}"

    helping, hashed = (best[best["question"] == name] for name in ("help", "negative_control"))
    if helping.empty:
        return ""
    blank = helping[helping["strength"] == 0]
    text = (
        f"On {helping['cohorts'].sum()} planted cohorts (synthetic): where the planted "
        "subtypes matter, clusters are found to help (each cohort tested by itself) in "
        f"{count(helping[helping['strength'] > 0])}"
    )
    if len(blank):
        text += f"; where they do not, in {count(blank)}"
    if len(hashed):
        text += f"; a hash of the row number, which means nothing, in {count(hashed)}"
    return text + "."


def values_table(counts: Sequence[Count]) -> Table:
    """Return a table of the agreement of each paper's independent printed values."""
    rows = [
        [
            _name(paper),
            *text_row(*(_count(counts, "cells", name, paper) for name in _VALUES)),
            *text_row(_count(counts, "cells", "no_score", paper) or ""),
            *text_row(_count(counts, "cells", "printed", paper)),
            *text_row(_count(counts, "cells", "printed", paper, "derived")),
        ]
        for paper in (*PAPERS, ALL)
    ]
    return declared_table("counted_values", rows)


def claims_by_paper(counts: Sequence[Count]) -> Table:
    """Return a table of the verdicts on each paper's claims, under the sound protocol."""
    rows = []
    for paper in (*PAPERS, ALL):
        made, *decided = (_count(counts, "claims", name, paper) for name in ("claims", *_CLAIMS))
        published = _count(counts, "claims", "holds", paper, "as_published")
        rows.append(
            [_name(paper), *text_row(*decided, made - sum(decided), made), *text_row(published)]
        )
    return declared_table("counted_claims", rows)


def protocols_in_words(ledger: Sequence[Entry]) -> str:
    """Return a sentence on the deciding protocols; empty before the first run."""
    decided = [
        entry.decided_by
        for entry in ledger
        if entry.verdict in (AGREE, DIFFER) and entry.paper in PAPERS and not entry.derived
    ]
    if not decided:
        return ""
    corrected = decided.count("sound")
    return (
        "Each printed value is compared with the one run that repeats how it was printed: "
        f"{len(decided) - corrected:,} with runs as published, {corrected:,} with runs under the "
        "corrected protocol. Claims are decided under the corrected protocol; the verdict as "
        "published is next to each."
    )


def _name(paper: str) -> Cell:
    if paper == ALL:
        return Cell("all five papers")
    label = PAPERS[paper].citation
    return Cell(label, links=[(label, f"pages/paper_{paper}.html")])


def _count(counts: Sequence[Count], part: str, name: str, paper: str, group: str = "") -> int:
    return round(value(counts, part, name, paper=paper, group=group))


def count_origins(machines: Iterable[Mapping[str, Any]]) -> dict[str, Counter[str]]:
    """Count records by the commits, Pythons, devices, processors and libraries that made them."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in _ORIGINS}
    for machine in machines:
        made = [str(machine.get(name) or "") for name in ("python", "device", "processor")]
        libraries = [f"{name} {of}" for name, of in (machine.get("versions") or {}).items()]
        parts = [[str(machine.get("git_commit") or "")[:7]], *([one] for one in made), libraries]
        for name, part in zip(_ORIGINS, parts, strict=True):
            counts[name].update(filter(None, part))
    return counts


def provenance(runs: Sequence[Run]) -> str:
    """Return a text on commit, version, date, machine, hours and libraries of the records."""
    by_path = {run.path: run.record.get("machine") or {} for run in runs}
    if not by_path:
        return "No record yet."
    counts = count_origins(by_path.values())
    commits, pythons, devices, processors, _ = (sorted(count) for count in counts.values())
    libraries = _by_library(counts["libraries"])
    times = (run.file.stat().st_mtime for run in runs)
    newest = max((time for time in times if time > LAID), default=None)
    date = "" if newest is None else f"; the newest made here is of {_day(newest)}"
    mixed = [
        f"{name} {', '.join(f'{version} ({n:,})' for version, n in libraries[name].items())}"
        for name in LIBRARIES
        if len(libraries.get(name, ())) > 1
    ]
    return (
        f"{len(runs):,} records of deepcac {', '.join(libraries.get('deepcac', ['(unknown)']))}, "
        f"commit {_few(commits)}{date}. Machine: {', '.join(devices)} ({_few(processors)}), "
        f"Python {_few(pythons)}. Computing: {_spent(sum(seconds_once(by_path).values()))}."
        + f" Not all of one software: records of {'; '.join(mixed)}."
        * bool(mixed)
    )


def _by_library(libraries: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Return the number of records of each version, by library."""
    versions: dict[str, dict[str, int]] = {}
    for text, n in sorted(libraries.items()):
        name, _, version = text.rpartition(" ")
        versions.setdefault(name, {})[version] = n
    return versions


def _spent(seconds: float) -> str:
    """Return a duration in words."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute"
    if minutes == 1:
        return "1 minute"
    return f"{minutes} minutes" if minutes < 100 else f"{minutes / 60:,.0f} hours"


def _day(seconds: float) -> str:
    date = datetime.fromtimestamp(seconds, UTC)
    return f"{date.day} {date:%B %Y}"


def _few(values: Sequence[str]) -> str:
    more = f" and {len(values) - 3} more" if len(values) > 3 else ""
    return (", ".join(values[:3]) or "unknown") + more
