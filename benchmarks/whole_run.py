"""What the log of one whole run of the workflow says: every job, and the longest chain of them.

    snakemake --cores 2 -p all > run.log 2>&1
    python benchmarks/whole_run.py run.log docs/results/whole_run.csv   # a row a job
    python benchmarks/whole_run.py run.log docs/results/whole_run.csv --page docs/workflow.md

A chain is a job, one that makes an input of it, and so on: the run can take no less than its
longest chain, on any number of cores.
"""

import argparse
import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

START = "<!-- whole run: made by benchmarks/whole_run.py -->\n"
END = "<!-- end of whole run -->\n"
COLUMNS = ["rule", "makes", "starts", "seconds", "in_longest_chain"]

_TIME = re.compile(r"^\[(\w{3} \w{3} +\d+ [\d:]+ \d{4})\]$")
_RULE = re.compile(r"^(?:local)?(?:rule|checkpoint) (\w+):$")
_KEY = re.compile(r"^    (input|output|jobid): (.*)$")
_FINISHED = re.compile(r"^Finished jobid: (\d+)")


@dataclass
class Job:
    """A job: its rule, its files, and when it started and ended, in seconds of the run."""

    rule: str
    starts: float
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    ends: float = float("nan")

    @property
    def seconds(self) -> float:
        return self.ends - self.starts


def read_log(lines: Sequence[str]) -> list[Job]:
    """Return the jobs of a log that have finished, in the order of their ends."""
    jobs: dict[str, Job] = {}
    done: list[Job] = []
    now, begin, own = 0.0, None, None
    for line in lines:
        if found := _TIME.match(line):
            clock = datetime.strptime(found[1], "%a %b %d %H:%M:%S %Y").timestamp()
            begin = clock if begin is None else begin
            now = clock - begin
        elif found := _RULE.match(line):
            own = Job(found[1], now)
        elif own and (found := _KEY.match(line)):
            if found[1] == "jobid":
                jobs[found[2]] = own
            else:
                files = found[2].split(", ")
                (own.inputs if found[1] == "input" else own.outputs).extend(files)
        elif found := _FINISHED.match(line):
            job = jobs[found[1]]
            job.ends = now
            done.append(job)
    return done


def longest_chain(jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs of the longest chain, the first one first."""
    maker = {path: job for job in jobs for path in job.outputs}
    length: dict[int, float] = {}
    before: dict[int, Job | None] = {}
    for job in sorted(jobs, key=lambda one: one.ends):  # inputs were made before
        makers = [maker[path] for path in job.inputs if path in maker]
        last = max(makers, key=lambda one: length.get(id(one), 0.0), default=None)
        before[id(job)] = last
        length[id(job)] = job.seconds + (length.get(id(last), 0.0) if last else 0.0)
    end = max(jobs, key=lambda one: length[id(one)], default=None)
    chain: list[Job] = []
    while end is not None:
        chain.insert(0, end)
        end = before[id(end)]
    return chain


def rows(jobs: Sequence[Job]) -> Iterator[list[object]]:
    """Yield a row a job, of `COLUMNS`."""
    critical = {id(job) for job in longest_chain(jobs)}
    for job in jobs:
        made = job.outputs[0] if job.outputs else ""
        yield [job.rule, made, f"{job.starts:.0f}", f"{job.seconds:.0f}", int(id(job) in critical)]


def told(jobs: Sequence[Job]) -> str:
    """Say in sentences how long it took."""
    chain = longest_chain(jobs)
    minutes = max(job.ends for job in jobs) / 60
    busy = sum(job.seconds for job in jobs) / 60
    longest = max(jobs, key=lambda job: job.seconds)
    return (
        f"{len(jobs)} jobs in {minutes:.0f} minutes. Together they ran for {busy:.0f} minutes. "
        f"The longest took {longest.seconds / 60:.1f} minutes (`{longest.outputs[0]}`). "
        f"The longest chain takes {sum(job.seconds for job in chain) / 60:.1f} minutes: "
        f"{', '.join(f'{job.rule} {job.seconds / 60:.1f}' for job in chain)}.\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log", type=Path)
    parser.add_argument("table", type=Path, help="CSV to write")
    parser.add_argument("--page", type=Path, help="page to put the sentences into")
    given = parser.parse_args()
    jobs = read_log(given.log.read_text(encoding="utf-8", errors="replace").splitlines())
    if not jobs:
        parser.error(f"no finished job in {given.log}; is it a log of Snakemake?")
    with given.table.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows(jobs)])
    print(told(jobs), end="")
    if given.page:
        text = given.page.read_text(encoding="utf-8")
        before, after = text.split(START)[0], text.split(END)[1]
        given.page.write_text(f"{before}{START}{told(jobs)}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
