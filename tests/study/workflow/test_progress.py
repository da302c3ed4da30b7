"""What a run says on the terminal, from log records as Snakemake sends them."""

import io
import logging

import pytest
from checkouts import ROOT
from report_runs import write_run
from snakemake.logging import DefaultFormatter
from snakemake_interface_logger_plugins.common import LogEvent

from deepcac_study.catalogue.registry import load_registry
from deepcac_study.jobs.run_progress import (
    Progress,
    ending,
    in_words,
    measured_seconds,
    run_endings,
)
from deepcac_study.jobs.targets import run_records

PLANNED = {"fetch": 1, "run": 3, "report": 1, "total": 5}


class Run:
    """A run whose clock is set by hand, and what is shown of it."""

    def __init__(self, slots=1, expected=None, quiet=True, log=None):
        self.now, self.shown = 0.0, io.StringIO()
        self.progress = Progress(slots, expected or {}, clock=lambda: self.now)
        self.logger = logging.Logger("run")
        handlers = [logging.StreamHandler(self.shown)]
        handlers += [logging.FileHandler(log)] if log else []
        for handler in handlers:
            handler.setFormatter(DefaultFormatter())
            self.logger.addHandler(handler)
        self.progress.attach(self.logger, quiet=quiet)
        self.done = 0
        self.log(LogEvent.RUN_INFO, "the table", stats=PLANNED)

    def log(self, event, msg=None, **content):
        self.logger.info(msg, extra={"event": event, **content})

    def job(self, number: int, rule: str, seconds: float) -> str:
        facts = {"rule_msg": "words of the job", "reason": "", "indent": False}
        self.log(LogEvent.JOB_INFO, jobid=number, rule_name=rule, **facts)
        self.log(LogEvent.JOB_STARTED, jobs=[number])
        self.now += seconds
        self.log(LogEvent.JOB_FINISHED, "Finished", job_id=number)
        self.done += 1
        self.log(LogEvent.PROGRESS, done=self.done, total=5)
        return self.shown.getvalue().splitlines()[-1]


def test_a_line_a_job_says_what_is_left():
    run = Run()
    assert run.job(1, "fetch", 10) == "1 of 5 jobs (20%): fetch, 10 s; about 40 s left"
    # A finished run stands for the two others, the mean of all rules for the report.
    assert run.job(2, "run", 100) == "2 of 5 jobs (40%): run, 2 min; about 4 min left"
    assert run.progress.seconds_left() == 100 + 100 + 55
    run.job(3, "run", 100)
    run.job(4, "run", 100)
    assert run.job(5, "report", 7) == "5 of 5 jobs (100%): report, 7 s"
    assert run.shown.getvalue().splitlines()[0] == "the table"
    assert len(run.shown.getvalue().splitlines()) == 6


def test_what_rules_took_elsewhere_counts_at_the_pace_of_this_machine():
    run = Run(slots=2, expected={"fetch": 5.0, "run": 20.0, "report": 60.0})
    run.job(1, "fetch", 10)  # twice as long as there
    assert run.progress.seconds_left() == (3 * 40 + 120) / 2


def test_the_log_file_and_a_call_that_asks_for_all_have_every_job(tmp_path):
    run = Run(log=tmp_path / "log")
    run.job(1, "fetch", 10)
    assert "words of the job" in (tmp_path / "log").read_text()
    assert "words of the job" not in run.shown.getvalue()
    run = Run(quiet=False)
    run.job(1, "fetch", 10)
    assert "words of the job" in run.shown.getvalue()
    assert "1 of 5 steps (20%) done" in run.shown.getvalue()
    assert run.progress.planned == {"fetch": 1, "run": 3, "report": 1}


def test_errors_and_warnings_stay():
    run = Run()
    run.logger.warning("Select jobs to execute, said with weight")
    run.logger.info("Select jobs to execute...")
    run.logger.info("shipped=all: 3 stand")
    run.logger.error("it failed")
    assert run.shown.getvalue().splitlines()[1:] == [
        *("Select jobs to execute, said with weight", "shipped=all: 3 stand", "it failed")
    ]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 s"), (99, "99 s"), (100, "2 min"), (5900, "98 min"), (9000, "2.5 h")],
)
def test_times_are_short(seconds, words):
    assert in_words(seconds) == words


def test_the_rules_of_the_whole_run_are_measured():
    measured = measured_seconds(ROOT / "docs/results/whole_run.csv")
    assert {"report", "deep_run", "fetch"} <= measured.keys()
    assert measured_seconds("nowhere.csv") == {}
    assert measured_seconds(ROOT / "docs/results/runs.csv") == {}


def test_a_run_ends_with_its_report_and_the_answer(tmp_path):
    page = tmp_path / "index.html"
    what = '<p class="what"><b>DEMO.</b> It says nothing\nabout the papers.</p>'
    page.write_text(f'{what}<h1 class="answer">Clusters help\n in <b>3</b> &amp; 4.</h1>')
    lines = [
        "DEMO. It says nothing about the papers.",
        "Clusters help in 3 & 4.",
        f"report: {page}",
    ]
    assert ending(page).splitlines() == lines
    page.write_text("<p>no answer</p>")
    assert ending(page) == f"report: {page}"


def test_a_run_that_was_asked_for_ends_with_its_scores_and_its_page(tmp_path, monkeypatch):
    path = write_run(tmp_path / "results", "cic", "lr", 1)
    registry = load_registry(ROOT / "config" / "registry")
    monkeypatch.chdir(tmp_path)
    record = str(path.relative_to(tmp_path))
    assert run_records([record, "all", "results/cic/lr_k2.json"]) == [record]
    (lines,) = run_endings([record], registry)
    scores, *_, page = lines.splitlines()
    assert scores.startswith("LR on cic, ")
    assert page == f"page: {tmp_path}/results/report/runs/cic_lr_k1.html"
    assert [*run_endings([record], registry, most=0)] == []
