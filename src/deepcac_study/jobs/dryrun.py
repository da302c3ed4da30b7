"""What a dry run says: how many jobs of which rule and why, without a paragraph a job."""

import logging
import re

_LEFT_OUT = ("workflow_started", "job_info", "shellcmd")
_TABLE = "run_info"
_TABLE_RUNS = re.compile(r"^table_runs_\w+( +)(\d+)\n", re.MULTILINE)


class Summary(logging.Filter):
    """Keep the table of jobs, once, and the reasons by rule; leave out greeting and single jobs.

    It sorts Snakemake's log records by the ``event`` they carry, and passes those without one.
    """

    def __init__(self) -> None:
        super().__init__()
        self._shown = False

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is printed."""
        event = getattr(getattr(record, "event", None), "value", None)
        if event == _TABLE:
            first, self._shown = not self._shown, True
            record.msg, record.args = in_one_row(record.getMessage()), ()
            return first
        return event not in _LEFT_OUT


def in_one_row(table: str) -> str:
    """Return a table of jobs in which the rules ``table_runs_*``, of a job or two each, are one."""
    counts = [int(match[2]) for match in _TABLE_RUNS.finditer(table)]
    if not counts:
        return table
    row = next(_TABLE_RUNS.finditer(table))[0]
    summed = f"{'table_runs':{len(row) - 1 - len(str(sum(counts)))}}{sum(counts)}\n"
    return _TABLE_RUNS.sub("", table.replace(row, summed, 1))
