"""What every workflow script needs around its one call: log, thread limits, one-line errors."""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from deepcac.errors import DeepCACError

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)


@contextmanager
def job(snakemake: Any) -> Iterator[None]:
    """Run one workflow step.

    Numeric libraries must be imported inside the block, so that they see the rule's thread
    count. A `DeepCACError` becomes one line on standard error and in the log, and exit code 1;
    any other exception is a fault of ours and keeps its traceback.

    Parameters
    ----------
    snakemake : snakemake.iocontainers.Snakemake
        The object that Snakemake gives to scripts.
    """
    for variable in _THREAD_VARIABLES:
        os.environ[variable] = str(snakemake.threads)
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if snakemake.log:
        handlers.append(logging.FileHandler(str(snakemake.log[0]), mode="w"))
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(name)s: %(message)s", handlers=handlers
    )
    log = logging.getLogger(f"deepcac.{snakemake.rule}")
    try:
        yield
    except DeepCACError as error:
        log.error("error: %s", error)
        sys.exit(1)
    except Exception:
        log.exception("unexpected error")
        raise
