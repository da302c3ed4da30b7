"""Trials in a child process: one that ends the process is counted, and the next child goes on."""

import os
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Sequence

from project import Row
from threadpoolctl import threadpool_limits

from deepcac.errors import DeepCACError

READ, OTHERWISE, REFUSED, TRACEBACK = "read", "read otherwise", "refused", "tracebacks"
LEAK, PAGE, DEATH = "few patients", "page", "deaths"
TRIAL_SECONDS = 30.0  # of processor time: then a trial is ended, and counts as a death
Trial = Callable[[int], Sequence[str]]


def trials(prepare: Callable[[], Trial], numbers: range) -> list[list[str]]:
    """Return the words of each trial; `DEATH` and its number of one that died.

    `prepare` is called in each child, and returns what tries a number.
    """
    lines: list[list[str]] = []
    while len(lines) < len(numbers):
        lines += _in_child(prepare, numbers[len(lines) :])
    return lines


def tried(read: Callable[[], object], name: str, one_line: bool = False) -> str:
    """Return what came of a reading, which says whether it gave what it should.

    What is wrong with a user's table is a list, a line each; with `one_line` it must be one.
    """
    try:
        if read():
            return READ
        print(f"{name} was read otherwise than plainly", file=sys.stderr, flush=True)
        return OTHERWISE
    except DeepCACError as error:
        if not one_line or "\n" not in str(error):
            return REFUSED
        found = error
    except Exception as error:
        found = error
    print(f"{name}: {found!r}"[:300], last_lines(found), file=sys.stderr, flush=True)
    return TRACEBACK


def last_lines(error: Exception) -> str:
    """Return where an error was raised."""
    return " < ".join(
        f"{f.filename}:{f.lineno}" for f in traceback.extract_tb(error.__traceback__)[::-1][:4]
    )


def counted(fault: str, lines: list[list[str]], how: str) -> Row:
    """Return the row of trials, whose words are what came of it, a digest, and the pages' end."""
    outcomes = Counter(line[0] for line in lines)
    distinct = len({line[1] for line in lines})
    pages = sum(PAGE in line for line in lines)
    wrong = [f"{outcomes[w]} {w}" for w in (OTHERWISE, TRACEBACK, DEATH, LEAK) if outcomes[w]]
    how = "; ".join([how, f"{distinct} distinct" + f", {pages} pages" * (pages > 0), *wrong])
    return Row(fault, len(lines), outcomes[READ], outcomes[REFUSED], how)


def _in_child(prepare: Callable[[], Trial], numbers: range) -> list[list[str]]:
    """Return the words of the trials up to a death."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        try:
            # The parent's OpenMP threads are not here: waiting for them would never end.
            with threadpool_limits(1):
                _report(prepare, numbers, writer)
        except Exception as error:
            print(f"the fuzzer itself: {error!r}", traceback.format_exc()[-300:], file=sys.stderr)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answers:
        lines = [line.split("\t") for line in answers.read().splitlines()]
    os.waitpid(child, 0)
    if len(lines) < len(numbers):
        died = numbers[len(lines)]
        print(f"death: trial {died}", file=sys.stderr, flush=True)
        lines.append([DEATH, str(died)])
    return lines


def _report(prepare: Callable[[], Trial], numbers: range, writer: int) -> None:
    signal.setitimer(signal.ITIMER_PROF, TRIAL_SECONDS)
    trial = prepare()
    for i in numbers:
        signal.setitimer(signal.ITIMER_PROF, TRIAL_SECONDS)
        os.write(writer, ("\t".join(trial(i)) + "\n").encode())
