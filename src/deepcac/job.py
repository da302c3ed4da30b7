"""What every workflow script needs around its one call: log, thread limits, one-line errors."""

import errno
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from deepcac.errors import DeepCACError
from deepcac.sourcecode import compiled_cache

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
# What only the machine's owner can mend; no fault of ours, so that no traceback helps.
_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EROFS})
_FORMAT = "%(asctime)s %(name)s: %(message)s"


@contextmanager
def job(snakemake: Any) -> Iterator[None]:
    """Run one workflow step.

    Numeric libraries must be imported inside the block, so that they see the rule's thread
    count and the cache of compiled functions. A `DeepCACError`, a full disk and a closed folder
    become one line on standard error and in the log, and exit code 1; any other exception is a
    fault of ours and keeps its traceback.

    Parameters
    ----------
    snakemake : snakemake.iocontainers.Snakemake
        The object that Snakemake gives to scripts.
    """
    for variable in _THREAD_VARIABLES:
        os.environ[variable] = str(snakemake.threads)
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
    except Exception as error:
        if not isinstance(error, OSError) or error.errno not in _DISK:
            log.exception("unexpected error")
            raise
        place = error.filename or "a file"
        reason = os.strerror(error.errno)
        log.error("error: %s: %s; make room or change the rights, and run again", place, reason)
        sys.exit(1)


def _log_to(path: str) -> None:
    handler = logging.FileHandler(path, mode="w")
    handler.setFormatter(logging.Formatter(_FORMAT))
    logging.getLogger().addHandler(handler)
