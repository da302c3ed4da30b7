"""The ``machine`` block of the judge's records."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from deepcac_study.records.record import machine

BEGUN = "begun"


def start_clock() -> Callable[[], dict[str, Any]]:
    """Start timing; return a function that gives the ``machine`` block once the work is done.

    It has ``begun``, the time of this call, and the processor time since.
    """
    processor, begun = time.process_time(), datetime.now(UTC)

    def made() -> dict[str, Any]:
        block = machine({"total": time.process_time() - processor}, 1, "cpu")
        return block | {BEGUN: begun.isoformat(timespec="seconds")}

    return made
