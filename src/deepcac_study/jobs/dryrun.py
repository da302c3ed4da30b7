"""What a dry run says: how many jobs of which rule and why, without a paragraph a job."""

import logging

_LEFT_OUT = ("workflow_started", "job_info", "shellcmd")
_TABLE = "run_info"


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
            return first
        return event not in _LEFT_OUT
