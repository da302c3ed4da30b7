"""What is left of Snakemake's log in a dry run."""

import logging

from snakemake_interface_logger_plugins.common import LogEvent

from deepcac_study.jobs.dryrun import Summary, in_one_row


def kept(*events: LogEvent | None) -> list[LogEvent | None]:
    summary, found = Summary(), []
    for event in events:
        record = logging.LogRecord("snakemake", logging.INFO, "", 0, "said", None, None)
        if event is not None:
            record.event = event
        if summary.filter(record):
            found.append(event)
    return found


def test_the_table_comes_once_and_single_jobs_not_at_all():
    said = [LogEvent.WORKFLOW_STARTED, LogEvent.RUN_INFO, LogEvent.JOB_INFO, LogEvent.SHELLCMD]
    assert kept(*said, LogEvent.JOB_INFO, LogEvent.RUN_INFO) == [LogEvent.RUN_INFO]


def test_errors_and_plain_messages_stay():
    said = [None, LogEvent.ERROR, LogEvent.JOB_ERROR, None]
    assert kept(*said) == said


def test_the_rules_of_a_table_each_are_one_row():
    table = "job    count\nfetch  52\ntable_runs_cic  2\ntable_runs_10  31\nall  1\n"
    assert in_one_row(table) == "job    count\nfetch  52\ntable_runs     33\nall  1\n"
    assert in_one_row("fetch  1\n") == "fetch  1\n"
