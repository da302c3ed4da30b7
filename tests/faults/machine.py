"""Faults of the machine: kills, a full disk, a clock set back, shared and read-only folders."""

import math
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from project import Project, Row, kill, wait_for

NAMES = ("with space", "quote's", 'two "quotes"', "x$(touch y)", "größe 猫", "a;b&c", "-dash")


def kills(
    project: Project,
    expected: dict[str, str],
    number: int,
    seconds: float,
    minutes: float = math.inf,
) -> Row:
    """Kill one run again and again at random moments, until it ends; compare; begin anew.

    `seconds` is what an unbroken run takes. Each try goes on where the last was killed; a tenth to
    six tenths of a whole run are enough for its start and a job or two. After `minutes` no more
    kills are begun.
    """
    draw = random.Random(0)
    killed = same = builds = 0
    end = time.monotonic() + 60 * minutes
    while killed < number and time.monotonic() < end:
        project.clear()
        builds += 1
        kills_here = 0
        while killed + kills_here < number and time.monotonic() < end:
            begin = time.monotonic()
            if not _kill_one(project, draw.uniform(0.1, 0.6) * seconds):
                seconds = min(seconds, time.monotonic() - begin)  # the machine is less busy now
                break
            kills_here += 1
        project.finish()
        killed += kills_here
        same += kills_here * (project.outcome() == expected)
    what = "real data" if project.real else "a part of the demo"
    end_of_run = "run records (CAC on Titanic)" if project.real else "splits"
    how = f"kill -9 at random moments of {builds} builds from raw files to {end_of_run}, each run to its end"
    return Row(f"killed ({what})", killed, same, 0, f"{how}: all files as of an unbroken run")


def _kill_one(project: Project, seconds: float) -> bool:
    """Start a run, kill it after a while and unlock its folder; False if it ended before that."""
    process = project.start()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        kill(process)
        project.unlock()
        return True
    return False


def full_disk(project: Project, expected: dict[str, str], work: Path) -> Row:
    """Run on a small tmpfs with less and less room left, then make room and run again."""
    rooms = (64, 512, 2048, 4096)  # KiB that are left for the run
    same = refused = 0
    for room in rooms:
        with tmpfs(work, 256) as disk:
            own = Project.copy(disk / "p", project.targets)
            used = os.statvfs(disk)
            taken = (used.f_blocks - used.f_bfree) * used.f_frsize // 1024
            mount("-o", f"remount,size={taken + room}k", str(disk))
            answer = own.run()
            mount("-o", "remount,size=256m", str(disk))
            again = own.finish()
            held = again.code == 0 and own.outcome() == expected
            if answer.code == 0:
                same += held
            else:
                refused += held and answer.has_line("No space left", "disk", "room")
    how = f"tmpfs with {', '.join(map(str, rooms))} KiB left; then room is made: the same bytes"
    return Row("disk full", len(rooms), same, refused, how)


def file_limit(project: Project, expected: dict[str, str]) -> Row:
    """Stand in for a full disk where nothing can be mounted: no file over 4 KiB."""
    project.clear()
    answer = project.run(before=("sh", "-c", 'ulimit -f 8; exec "$@"', "sh"))
    again = project.finish()
    refused = answer.has_line("too large") and project.outcome() == expected and again.code == 0
    return Row("disk full (stand-in)", 1, 0, int(refused), "ulimit -f: no file over 4 KiB")


def two_runs(project: Project, expected: dict[str, str]) -> Row:
    """Start a second run while the first is at work."""
    project.clear()
    process = project.start()
    wait_for(project.folder / ".snakemake" / "locks" / "0.input.lock")
    os.killpg(process.pid, signal.SIGSTOP)  # else a quick first run is over before the second asks
    second = project.run()
    os.killpg(process.pid, signal.SIGCONT)
    process.wait()
    held = project.outcome() == expected
    refused = held and second.code != 0 and "lock" in second.text
    how = "the second is refused by Snakemake's lock; the first ends with the same bytes"
    return Row("two runs in one folder", 1, 0, int(refused), how)


def clock_back(project: Project, expected: dict[str, str]) -> Row:
    """Go on with a killed run under a clock that is a day behind."""
    project.clear()
    process = project.start()
    wait_for(project.folder / "data" / "splits" / "demo_diabetes.parquet")
    kill(process)
    faketime = shutil.which("faketime")
    if faketime:
        project.run("--unlock")
        # Waits are by the monotonic clock, which no administrator sets back.
        answer = project.run(before=(faketime, "-f", "-1d"), FAKETIME_DONT_FAKE_MONOTONIC="1")
        how = "`faketime -1d` after a kill: Snakemake names the skew; with the right clock it ends"
    else:
        early = time.time() - 86_400
        for path in (project.folder / "data" / "splits").glob("*.parquet"):
            os.utime(path, (early, early))
        answer = project.finish()
        how = "stand-in: the splits are a day older than the features (os.utime)"
    refused = answer.has_line("clock skew")
    again = project.finish() if refused else answer
    held = again.code == 0 and project.outcome() == expected
    return Row("clock set back", 1, int(held and not refused), int(held and refused), how)


def read_only(project: Project, work: Path) -> Row:
    """Run in a folder that cannot be written."""
    with tmpfs(work, 64) as disk:
        own = Project.copy(disk / "p", project.targets)
        mount("-o", "remount,ro", str(disk))
        answer = own.run()
    word = "cannot be written"
    said = [line.strip() for line in answer.text.splitlines() if word in line] or ["said nothing"]
    how = said[0].replace(str(own.folder), "FOLDER").replace("|", " ")
    return Row("read-only folder", 1, 0, int(answer.has_line(word)), how)


def folder_names(project: Project, expected: dict[str, str], work: Path, number: int) -> Row:
    """Run in folders with odd names; nothing of a name may be executed."""
    same = 0
    names = NAMES[:number]
    for name in names:
        folder = work / "names" / name
        own = Project.copy(folder, project.targets)
        own.run()
        strays = {path.name for path in (work / "names").iterdir()} - {name}
        same += own.outcome() == expected and not strays and not (folder / "y").exists()
        shutil.rmtree(work / "names")
    shown = ", ".join(f"`{name}`" for name in names)
    return Row("folder names", len(names), same, 0, shown)


def mount(*arguments: str) -> None:
    """Mount, or raise."""
    subprocess.run(["mount", *arguments], check=True, capture_output=True)


def may_mount(work: Path) -> bool:
    """Tell whether a tmpfs can be mounted here."""
    try:
        with tmpfs(work, 1):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


@contextmanager
def tmpfs(work: Path, mebibytes: int) -> Iterator[Path]:
    """Mount a small file system of memory for as long as the block lasts."""
    folder = work / "tmpfs"
    folder.mkdir(exist_ok=True)
    mount("-t", "tmpfs", "-o", f"size={mebibytes}m", "none", str(folder))
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)
