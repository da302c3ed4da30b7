"""Trials in a child process: one that ends the process is counted, and the next child goes on."""

import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence

from threadpoolctl import threadpool_limits

DEATH = "death"
TRIAL_SECONDS = 30.0  # of processor time: then a trial is ended, and counts as a death
Trial = Callable[[int], Sequence[str]]


def trials(prepare: Callable[[], Trial], number: int) -> list[list[str]]:
    """Return the words of each of `number` trials; `DEATH` and its number of one that died.

    `prepare` is called in each child, and returns what tries a number.
    """
    lines: list[list[str]] = []
    while len(lines) < number:
        lines += _in_child(prepare, len(lines), number)
    return lines


def _in_child(prepare: Callable[[], Trial], begin: int, end: int) -> list[list[str]]:
    """Return the words of the trials from `begin` on, up to a death."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        try:
            # The parent's OpenMP threads are not here: waiting for them would never end.
            with threadpool_limits(1):
                _report(prepare, range(begin, end), writer)
        except Exception as error:
            print(f"the fuzzer itself: {error!r}", traceback.format_exc()[-300:], file=sys.stderr)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answers:
        lines = [line.split("\t") for line in answers.read().splitlines()]
    os.waitpid(child, 0)
    if begin + len(lines) < end:
        print(f"death: trial {begin + len(lines)}", file=sys.stderr, flush=True)
        lines.append([DEATH, str(begin + len(lines))])
    return lines


def _report(prepare: Callable[[], Trial], numbers: range, writer: int) -> None:
    signal.setitimer(signal.ITIMER_PROF, TRIAL_SECONDS)
    trial = prepare()
    for i in numbers:
        signal.setitimer(signal.ITIMER_PROF, TRIAL_SECONDS)
        os.write(writer, ("\t".join(trial(i)) + "\n").encode())
