"""What a whole run costs on more machines: list scheduling of its jobs with measured times.

    snakemake -n -p --forceall all > plan.txt
    python benchmarks/schedule.py plan.txt FOLDER/logs/benchmarks [FOLDER/logs/benchmarks ...]

Jobs and their order come from the plan, seconds from the benchmark files of finished runs (of a job
measured several times, the first folder's). A job that was never measured gets the median of its
rule, or what `--stated RULE=SECONDS` says; the table before the result tells which. A free core
takes the ready job with the longest way to the end.
"""

import argparse
import csv
import heapq
import re
from collections import Counter
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from pathlib import Path
from statistics import median

HEAD = re.compile(r"^(?:local)?(?:rule|checkpoint) (\S+):$")


@dataclass(frozen=True)
class Job:
    """One planned job.

    `needs` are indices of the jobs whose outputs it reads; `seconds` is None where not measured.
    """

    rule: str
    needs: tuple[int, ...] = ()
    seconds: float | None = None
    threads: int = 1


def read_plan(text, folders=()):
    """Return the jobs that a dry run lists, with the seconds that the folders know."""
    blocks = _blocks(text)
    makers = {
        name: i for i, (_, block) in enumerate(blocks) for name in _names(block.get("output", ""))
    }
    jobs = []
    for rule, block in blocks:
        needs = {makers[name] for name in _names(block.get("input", "")) if name in makers}
        # What is not timed (downloads, targets) does not run on a node.
        seconds = measured(block["benchmark"], folders) if "benchmark" in block else 0.0
        jobs.append(Job(rule, tuple(sorted(needs)), seconds, int(block.get("threads", 1))))
    return jobs


def _blocks(text):
    """Return rule and keys of each job, each id once."""
    found, current = {}, None
    for line in text.splitlines():
        head = HEAD.match(line)
        if head:
            current = (head[1], {})
        elif current and line.startswith("    ") and ": " in line:
            key, _, value = line.strip().partition(": ")
            current[1][key] = value
            if key == "jobid":
                found[value] = current
        elif not line.startswith("    "):
            current = None
    return list(found.values())


def _names(value):
    return [name for name in value.split(", ") if name]


def measured(benchmark, folders):
    """Return the seconds in a job's benchmark file, from the first folder that has it."""
    for folder in folders:
        path = Path(folder) / benchmark.removeprefix("logs/benchmarks/")
        if path.exists():
            with path.open(newline="") as file:
                return float(next(csv.DictReader(file, delimiter="\t"))["s"])
    return None


def fill(jobs, stated=None):
    """Return the jobs with a time each, and how many of each rule were measured and not."""
    times, told = {}, Counter()
    for job in jobs:
        if job.seconds is not None:
            times.setdefault(job.rule, []).append(job.seconds)
    whole = []
    for job in jobs:
        told[job.rule, job.seconds is not None] += 1
        seconds = job.seconds
        if seconds is None:
            known = times.get(job.rule)
            if not known and job.rule not in (stated or {}):
                raise SystemExit(f"no job of {job.rule} was measured; give --stated {job.rule}=...")
            seconds = median(known) if known else stated[job.rule]
        whole.append(replace(job, seconds=seconds))
    return whole, told


def ways(jobs):
    """Return for each job the seconds of the longest way from its start on, and its users."""
    users = [[] for _ in jobs]
    for i, job in enumerate(jobs):
        for need in job.needs:
            users[need].append(i)
    order = TopologicalSorter({i: users[i] for i in range(len(jobs))}).static_order()
    longest = [0.0] * len(jobs)
    for i in order:  # users come first
        longest[i] = jobs[i].seconds + max((longest[user] for user in users[i]), default=0.0)
    return longest, users


def simulate(jobs, nodes, cores, overhead=0.0):
    """Return the seconds until the last job ends.

    `overhead` is what each job waits between its start and its work (submission, polling); jobs of
    no seconds have none. A job of several threads needs them on one node.
    """
    longest, users = ways(jobs)
    waiting = [len(job.needs) for job in jobs]
    ready = [(-longest[i], i) for i in range(len(jobs)) if not waiting[i]]
    heapq.heapify(ready)
    free, running, now = [cores] * nodes, [], 0.0
    while ready or running:
        later = []
        while ready and any(free):
            item = heapq.heappop(ready)
            job = jobs[item[1]]
            threads = min(job.threads, cores)
            node = max(range(nodes), key=free.__getitem__)
            if job.seconds and free[node] < threads:
                later.append(item)
                continue
            if job.seconds:
                free[node] -= threads
            spent = job.seconds + overhead if job.seconds else 0.0
            heapq.heappush(running, (now + spent, item[1], node, threads if job.seconds else 0))
        for item in later:
            heapq.heappush(ready, item)
        now, done, node, threads = heapq.heappop(running)
        free[node] += threads
        for user in users[done]:
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, (-longest[user], user))
    return now


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plan", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--cores", type=int, default=2, help="cores of a node")
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--overhead", type=float, nargs="+", default=[0.0, 15.0])
    parser.add_argument("--stated", nargs="*", default=[], metavar="RULE=SECONDS")
    arguments = parser.parse_args()
    stated = {rule: float(value) for rule, value in (one.split("=") for one in arguments.stated)}
    jobs, told = fill(read_plan(arguments.plan.read_text(), arguments.folders), stated)
    for rule in sorted({rule for rule, _ in told}):
        of_rule = [job.seconds for job in jobs if job.rule == rule]
        print(
            f"{rule}: {told[rule, True]} measured, {told[rule, False]} not; "
            f"{sum(of_rule):.0f} s, longest {max(of_rule):.0f} s"
        )
    work = sum(job.seconds * min(job.threads, arguments.cores) for job in jobs)
    longest = max(ways(jobs)[0])
    print(f"{len(jobs)} jobs, {work / 3600:.2f} core hours, longest way {longest / 3600:.2f} h")
    print("nodes | cores | overhead s | hours | times one node | share of cores at work")
    for overhead in arguments.overhead:
        alone = None
        for nodes in arguments.nodes:
            hours = simulate(jobs, nodes, arguments.cores, overhead) / 3600
            alone = alone or hours
            share = work / 3600 / (hours * nodes * arguments.cores)
            print(
                f"{nodes} | {nodes * arguments.cores} | {overhead:.0f} | {hours:.2f} | "
                f"{alone / hours:.1f} | {share:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
