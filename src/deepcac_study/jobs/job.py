"""Context of every workflow script: log, thread limits, one-line errors."""

import ctypes
import errno
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from deepcac.errors import DeepCACError
from deepcac_study.sourcecode import PACKAGES, compiled_cache

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
# What only the machine's owner can mend; no fault of ours, so that no traceback helps.
_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EROFS})
# Of glibc's malloc: how much freed memory it keeps, and from what size on it asks the system for
# each array apart (see `mallopt(3)`).
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_MOST = 2**31 - 1
_FORMAT = "%(asctime)s %(name)s: %(message)s"


@contextmanager
def job(snakemake: Any) -> Iterator[None]:
    """Run one workflow step.

    Numeric libraries must be imported inside the block, so that they see the rule's thread
    count and the cache of compiled functions. A `DeepCACError`, a library that is not installed, a
    full disk and a closed folder become one line on standard error and in the log, and exit code
    1; any other exception is a fault of ours and keeps its traceback. `snakemake` is what Snakemake
    gives to scripts.
    """
    for variable in _THREAD_VARIABLES:
        os.environ[variable] = str(snakemake.threads)
    keep_freed_memory()
    logging.basicConfig(level=logging.INFO, format=_FORMAT, stream=sys.stderr)
    logging.raiseExceptions = False  # a log on a full disk must not hide the error itself
    log = logging.getLogger(f"deepcac.{snakemake.rule}")
    try:
        if snakemake.log:
            _log_to(str(snakemake.log[0]))
        compiled_cache()
        yield
    except DeepCACError as error:
        log.error("error: %s", error)
        sys.exit(1)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in PACKAGES:
            raise
        log.error("error: %s is not installed: make the environment with `make env`", error.name)
        sys.exit(1)
    except Exception as error:
        if not isinstance(error, OSError) or error.errno not in _DISK:
            log.exception("unexpected error")
            raise
        place = error.filename or "a file"
        reason = os.strerror(error.errno)
        log.error("error: %s: %s; make room or change the rights, and run again", place, reason)
        sys.exit(1)


def keep_freed_memory() -> bool:
    """Make the allocator reuse freed arrays; return False if the C library is not glibc.

    Without this each large array is new memory that the system must clear: 8 % of the processor
    time of runs on 117 columns, for 1 % less memory at the peak.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _MOST) and mallopt(_TRIM_THRESHOLD, _MOST))


def _log_to(path: str) -> None:
    """Log to a file, and warnings and errors also to the terminal."""
    for handler in logging.getLogger().handlers:
        handler.setLevel(logging.WARNING)
    handler = logging.FileHandler(path, mode="w")
    handler.setFormatter(logging.Formatter(_FORMAT))
    logging.getLogger().addHandler(handler)
