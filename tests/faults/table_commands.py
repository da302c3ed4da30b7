"""Faults around `deepcac` on a table: kills, closed folders, a full disk, odd places and clocks."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import machine
import numpy as np
import pandas as pd
from project import ROOT, Answer, Row

START = "import sys; from deepcac.command import main; sys.exit(main())"
# Everything is imported before the user changes, whose own Python need not be readable.
OTHER_USER = (
    "import codecs, os, pkgutil, importlib, sys, joblib, deepcac.table, deepcac.judging; "
    "[importlib.import_module(m.name) for p in (deepcac.table, deepcac.judging)"
    " for m in pkgutil.walk_packages(p.__path__, p.__name__ + '.')]; "
    "[codecs.lookup(c) for c in ('utf-8-sig', 'latin-1', 'utf-16', 'cp1252')]; os.setgroups([]); os.setgid(65534); os.setuid(65534); "
    "from deepcac.command import main; sys.exit(main())"
)
CLOCK = "import time; time.time = lambda: {}; " + START
FIT = (
    *("fit", "{}", "--label", "died", "--learner", "lr", "--method", "plain"),
    *("--jobs", "1", "--out", "m.json"),
)
COMPARE = ("compare", "{}", "--label", "died", "--resamples", "5", "--jobs", "2", "--out", "p.html")
NAMES = (*machine.NAMES, "a\nb", "trailing ", "%41", "ä" * 60)
LOCALES = (
    {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    {"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de"},
)
CLOCKS = (0.0, -86_400.0, 4e9)
LIMIT = 900


def table(path: Path, n: int = 120, columns: int = 3) -> Path:
    """Write synthetic patients."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, columns)).round(3))
    frame.columns = [f"größe_{j}" for j in range(columns)]
    died = rng.random(n) < 1 / (1 + np.exp(-frame.iloc[:, 0]))
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.assign(died=np.where(died, "yes", "no")).to_csv(path, index=False)
    return path


def start(
    folder: Path, words: Sequence[str], program: str = START, **environment: str
) -> "subprocess.Popen[bytes]":
    """Start a command in a folder, as the head of a process group."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *(word.format("t.csv") for word in words)],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **environment},
    )  # fmt: skip


def call(folder: Path, words: Sequence[str], program: str = START, **environment: str) -> Answer:
    """Run a command to its end."""
    process = start(folder, words, program, **environment)
    text, _ = process.communicate(timeout=LIMIT)
    return Answer(process.returncode, text.decode("utf-8", "replace"))


def model(folder: Path) -> bytes:
    """Return the model of a folder; nothing if there is none."""
    path = folder / "m.json"
    return path.read_bytes() if path.exists() else b""


def strays(folder: Path) -> list[str]:
    """Return what no command should leave: hidden and unfinished files."""
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def clear_line(answer: Answer) -> bool:
    """Tell whether a command ended with one line that says why."""
    last = (answer.text.strip().splitlines() or [""])[-1]
    return answer.code not in (0, -6, -11) and "Traceback" not in answer.text and len(last) > 10


def _left(folder: Path) -> bool:
    """Tell whether a process still works in a folder, some seconds later."""
    for _ in range(100):
        busy = [p for p in Path("/proc").glob("[0-9]*/cwd") if _at(p, folder)]
        if not busy:
            return False
        time.sleep(0.3)
    return True


def _at(link: Path, folder: Path) -> bool:
    try:
        return Path(os.readlink(link)) == folder
    except OSError:
        return False


def kills(
    work: Path, words: Sequence[str], how: signal.Signals, number: int, seconds: float | None = None
) -> Row:
    """Kill a command at random moments; what stood there before stands, or the new file whole.

    The moments lie within `seconds`, or within the time that the command takes.
    """
    folder = table(work / "k" / "t.csv").parent.resolve()
    out, whole = folder / words[-1], b"old"
    if seconds is None:
        begin = time.monotonic()
        call(folder, words)
        seconds, whole = time.monotonic() - begin, out.read_bytes()
    draw, held, moments = random.Random(0), 0, 0
    for _ in range(number):
        out.write_text("old")
        process = start(folder, words)
        time.sleep(draw.uniform(0.02, 0.98) * seconds)
        moments += process.poll() is None
        process.send_signal(how)
        process.communicate()
        there = out.read_bytes()
        same = there == whole or (out.suffix == ".html" and there.rstrip().endswith(b"</html>"))
        busy = _left(folder)
        call(folder, FIT)
        held += (there == b"old" or same) and not busy and not _others(folder, out.name)
    name = f"{words[0]} killed ({how.name})"
    return Row(
        name,
        number,
        held,
        0,
        f"at random moments, {moments} of them before its end: the old file or the new one is whole, no process goes on, and the next command leaves no unfinished file",
    )


def _others(folder: Path, out: str) -> list[str]:
    """Return unfinished files but those of `out` and its card, which their next writer removes."""
    return [name for name in strays(folder) if not name.startswith(f".{Path(out).stem}.")]


def closed(work: Path, expected: bytes) -> Iterator[Row]:
    """Write into a folder that is read-only, as another user, and on a full disk."""
    said = []
    folder = table(work / "other" / "t.csv").parent
    os.chmod(work, 0o711)
    os.chmod(folder, 0o755)
    answers = [call(folder, words, OTHER_USER) for words in (FIT, COMPARE)]
    said += [clear_line(answer) and not model(folder) for answer in answers]
    os.chmod(folder, 0o777)
    answer = call(folder, FIT, OTHER_USER)
    same = int(model(folder) == expected and not strays(folder))
    how = "a folder of somebody else: refused; one that is open to all: the same model"
    yield Row("table: another user", 3, same, sum(said), how)
    if not machine.may_mount(work):
        return
    with machine.tmpfs(work, 64) as disk:
        table(disk / "t.csv")
        machine.mount("-o", "remount,ro", str(disk))
        answers = [call(disk, words) for words in (FIT, COMPARE)]
    yield Row(
        "table: read-only folder",
        2,
        0,
        sum(map(clear_line, answers)),
        "`fit` and `compare`: FOLDER: cannot be written (Read-only file system)",
    )
    rooms, refused, same = (0, 4, 8), 0, 0
    for room in rooms:
        with machine.tmpfs(work, 1) as disk:
            table(disk / "t.csv")
            free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize - 1024 * room
            (disk / "filler").write_bytes(b"x" * free)
            answer = call(disk, FIT)
            there = model(disk)
            (disk / "filler").unlink()
            again = call(disk, FIT)
            whole = again.code == 0 and model(disk) == expected and not strays(disk)
            same += whole and answer.code == 0
            refused += whole and there in (b"", expected) and answer.has_line("No space left")
    yield Row(
        "table: disk full",
        len(rooms),
        same,
        refused,
        f"tmpfs with {', '.join(map(str, rooms))} KiB left; then room is made: the same model",
    )


def places(work: Path, expected: bytes) -> Iterator[Row]:
    """Run in folders, on files and under locales and clocks that are odd."""
    same = refused = 0
    for name in NAMES:
        folder = work / "names" / f"d{name}"
        table(folder / f"{name}.csv")
        words = [*FIT]
        words[1] = str(Path(f"./{name}.csv"))
        answer = _call_plain(folder, words)
        same += model(folder) == expected
        refused += not model(folder) and clear_line(answer)
    yield Row(
        "table: odd names",
        len(NAMES),
        same,
        refused,
        "of the table and its folder: blanks, quotes, a line break, a dash first, umlauts, `%41`",
    )
    folder = table(work / "locale" / "t.csv").parent
    same = 0
    for environment in LOCALES:
        for words in (FIT, ("profile", "t.csv", "--label", "died", "--out", "p.html")):
            answer = call(folder, words, **environment)
            same += answer.code == 0 and (words is not FIT or model(folder) == expected)
    yield Row(
        "table: locales",
        2 * len(LOCALES),
        same,
        0,
        "C and POSIX with ASCII terminals, and de_DE, which was not installed; `fit` and `profile` of columns with umlauts",
    )
    same = 0
    for clock in CLOCKS:
        os.utime(folder / "t.csv", (max(clock, 0), max(clock, 0)))
        call(folder, FIT, CLOCK.format(clock))
        same += model(folder) == expected
    yield Row(
        "table: wrong clocks",
        len(CLOCKS),
        same,
        0,
        "1970, a day before it, and 2096, for the clock and for the age of the table",
    )


def _call_plain(folder: Path, words: Sequence[str]) -> Answer:
    """Run a command whose words hold braces or not."""
    done = subprocess.run(
        [sys.executable, "-c", START, *words], cwd=folder, capture_output=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, timeout=LIMIT,
    )  # fmt: skip
    return Answer(done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace"))


def together(work: Path, expected: bytes, pairs: int = 3) -> Row:
    """Let two commands write one file at once, so many times."""
    folder, same = table(work / "two" / "t.csv").parent, 0
    for _ in range(pairs):
        for process in [start(folder, FIT) for _ in range(2)]:
            process.communicate(timeout=LIMIT)
        same += model(folder) == expected and not strays(folder)
    return Row(
        "table: two commands, one file",
        pairs,
        same,
        0,
        "`fit` twice at once with one --out: the model is whole",
    )


def wide(work: Path, columns: int) -> Row:
    """Read a table of very many columns."""
    folder = table(work / "wide" / "t.csv", 60, columns).parent
    ends, said = [], []
    for words in (
        ("profile", "t.csv", "--label", "died", "--out", "p.html"),
        ("fit", "t.csv", "--label", "died", "--method", "plain", "--out", "m.json"),
        ("compare", "t.csv", "--label", "died", "--budget", "1", "--out", "c.html"),
    ):
        begin = time.monotonic()
        answer = call(folder, words)
        ends.append("same" if answer.code == 0 else "refused" if clear_line(answer) else "")
        said.append(
            f"`{words[0]}` {ends[-1].replace('same', 'ends')} in {time.monotonic() - begin:.0f} s"
        )
    return Row(
        f"table: {columns:,} columns",
        len(ends),
        ends.count("same"),
        ends.count("refused"),
        "; ".join(said),
    )


def faults(work: Path, number: int, columns: int) -> Iterator[Row]:
    """Yield a row for each fault; `number` kills of each kind."""
    expected = _expected(work)
    parts: list[Callable[[], Any]] = [
        lambda: closed(work, expected),
        lambda: places(work, expected),
        lambda: [together(work, expected)],
        *(lambda words=words, how=how: [kills(work, words, how, number)]
          for words in (FIT, COMPARE) for how in (signal.SIGTERM, signal.SIGKILL)),
        lambda: [wide(work, columns)],
    ]  # fmt: skip
    for part in parts:
        yield from part()


def _expected(work: Path) -> bytes:
    folder = table(work / "unbroken" / "t.csv").parent
    answer = call(folder, FIT)
    if answer.code:
        raise SystemExit(f"the unbroken command failed:\n{answer.text}")
    return model(folder)
