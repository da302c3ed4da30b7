"""Processes that work for a command, and end with it however it ends."""

import os
import threading
import time
from typing import Any

from joblib import Parallel


def workers(jobs: int, **options: Any) -> Parallel:
    """Return a pool of processes that end with this one, also when it is killed.

    Each of them watches from its start: joblib alone lets them wait for ever if this process is
    killed before they have a task, or after. No row is written to a file for them to share.

    Parameters
    ----------
    jobs : int
    **options
        Of `joblib.Parallel`.
    """
    return Parallel(
        n_jobs=jobs, max_nbytes=None, initializer=_end_with, initargs=(os.getpid(),), **options
    )


def _end_with(parent: int) -> None:
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
