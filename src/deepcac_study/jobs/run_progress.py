"""What a run says on the terminal: a line a finished job, how long the rest takes, where it ended.

Snakemake's own log file in ``.snakemake/log`` has every job in full, and so has the terminal with
``-p``.
"""

import csv
import html
import logging
import os
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from statistics import mean

from deepcac_study.catalogue.registry import Registry

_SILENT = ("workflow_started", "shellcmd", "resources_info", "job_started", "job_finished")
_TABLE, _JOB, _PROGRESS = "run_info", "job_info", "progress"
_STARTED, _FINISHED, _GROUP = "job_started", "job_finished", "group_info"
_FIRST = (("p", "what"), ("h1", "answer"))  # how the report's first page begins
_CHATTER = re.compile(
    r"Select jobs to execute|Execute \d+ jobs|Using shell|Building DAG|Conda environments|"
    r"Assuming unrestricted|Rules claiming|Provided |host:|Complete log|Elapsed time"
)


class Progress(logging.Filter):
    """Turn what Snakemake logs on a run into one line a finished job, with the time that is left.

    Parameters
    ----------
    slots : int
        How many jobs run at once, at most.
    expected : mapping of str to float
        Seconds of a job by its rule, as measured elsewhere.
    clock : callable
        Returns the seconds since some moment.
    """

    def __init__(
        self,
        slots: int,
        expected: Mapping[str, float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._slots, self._expected, self._clock = max(slots, 1), expected, clock
        self._rules: dict[int, str] = {}  # of every job that was announced
        self._starts: dict[int, float] = {}
        self._seconds: dict[str, list[float]] = defaultdict(list)  # of finished jobs, by rule
        self._last, self._quiet = "", True
        self.planned: Counter[str] = Counter()

    def attach(self, logger: logging.Logger, *, quiet: bool = True) -> None:
        """Filter what a logger shows on the terminal, and nothing that it writes to files.

        Where it is not `quiet`, everything is shown as it is.
        """
        self._quiet = quiet
        for handler in logger.handlers:
            if not isinstance(handler, logging.FileHandler):
                handler.addFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is printed; that of the progress gets its text here."""
        event = getattr(getattr(record, "event", None), "value", None)
        content = record.__dict__
        if event == _TABLE:
            stats = content.get("stats") or {}
            self.planned.update({rule: n for rule, n in stats.items() if rule != "total"})
        elif event == _JOB:
            self._rules[content["jobid"]] = content["rule_name"]
        elif event == _STARTED:
            self._starts |= dict.fromkeys(content["jobs"], self._clock())
        elif event == _FINISHED:
            self._finish(content["job_id"])
        if not self._quiet:
            return True
        if event == _PROGRESS:
            record.msg, record.args = self._line(content["done"], content["total"]), ()
            content["event"] = None  # else Snakemake writes its own text
        if event is None:
            return record.levelno > logging.INFO or not _CHATTER.match(str(record.msg))
        return event not in (_JOB, _GROUP, *_SILENT)

    def _finish(self, job: int) -> None:
        rule, start = self._rules.get(job, ""), self._starts.get(job)
        if rule and start is not None:
            seconds = self._clock() - start
            self._seconds[rule].append(seconds)
            self._last = f"{rule}, {in_words(seconds)}"

    def _line(self, done: int, total: int) -> str:
        line = f"{done} of {total} jobs ({done / total:.0%})"
        if self._last:
            line += f": {self._last}"
        left = self.seconds_left() if done < total else 0.0
        return f"{line}; about {in_words(left)} left" if left else line

    def seconds_left(self) -> float:
        """Return how long the jobs take that have not finished, all slots busy.

        A rule counts with its finished jobs; else with what it took elsewhere, times how much
        longer finished jobs took here than there; else with the mean of all.
        """
        finished = {rule: mean(seconds) for rule, seconds in self._seconds.items()}
        if not finished:
            return 0.0
        both = [rule for rule in finished if self._expected.get(rule)]
        there = sum(self._expected[rule] for rule in both)
        pace = sum(finished[rule] for rule in both) / there if there else 0.0
        usual = mean(finished.values())
        seconds = 0.0
        for rule, n in self.planned.items():
            elsewhere = self._expected.get(rule, 0.0) * pace or usual
            rest = n - len(self._seconds.get(rule, ()))
            seconds += max(rest, 0) * finished.get(rule, elsewhere)
        return seconds / self._slots


def in_words(seconds: float) -> str:
    """Return a time as ``14 s``, ``3 min`` or ``2.5 h``."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5970 else f"{seconds / 3600:.1f} h"


def measured_seconds(table: str | os.PathLike[str]) -> dict[str, float]:
    """Return the mean seconds of a job by its rule, from a table of the jobs of a run.

    The table has the columns ``rule`` and ``seconds``; without one nothing is known.
    """
    jobs: dict[str, list[float]] = defaultdict(list)
    try:
        with open(table, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                jobs[row["rule"]].append(float(row["seconds"]))
    except (OSError, KeyError, TypeError, ValueError):
        return {}
    return {rule: mean(seconds) for rule, seconds in jobs.items()}


def ending(page: str | os.PathLike[str]) -> str:
    """Return the last lines of a run that made the report: what it is, what it answers, where."""
    text = Path(page).read_text(encoding="utf-8")
    lines = [_text_of(rf'<{name} class="{kind}">(.*?)</{name}>', text) for name, kind in _FIRST]
    return "\n".join(filter(None, [*lines, f"report: {page}"]))


def _text_of(pattern: str, page: str) -> str:
    match = re.search(pattern, page, re.DOTALL)
    text = html.unescape(re.sub(r"</?\w[^>]*>", "", match[1])) if match else ""
    return " ".join(text.split())


@contextmanager
def only_warned(logger: logging.Logger) -> Iterator[None]:
    """Turn a fault into a warning: what a finished run says last never changes its exit code."""
    try:
        yield
    except Exception as error:  # whatever it is, every file that was asked for is there
        reason = " ".join(str(error).split())
        logger.warning(f"All jobs are done, but not what follows them: {reason}")


def run_endings(records: Iterable[str], registry: Registry, most: int = 3) -> Iterator[str]:
    """Yield the last lines on runs that were asked for by name: score, printed value, page.

    Each run gets its page. More than `most` runs are read with ``deepcac show``.
    """
    # The report is loaded only where a run was asked for.
    from deepcac_study.report.runs.run_page import write_run_page

    for record in islice(records, most):
        page = write_run_page(record, registry)
        yield "\n".join([*page.lines, f"page: {page.path}"])
