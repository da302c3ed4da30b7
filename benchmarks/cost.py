"""What the workflow costs, from its own benchmark files; and how the cost of a tuned run grows.

    python benchmarks/cost.py FOLDER   # a folder in which the workflow was run
    python benchmarks/cost.py growth   # generated rows, one quantity grows

A benchmark file has the seconds, the processor time and the memory of one job. One row of the
table is a rule, or the rules that write to one folder below ``logs/benchmarks``.
"""

import argparse
import csv
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LOGS = "logs/benchmarks"
# Jobs of several runs, by how their files begin.
ARMS = ("table",)

BASE = {"n": 8000, "d": 10, "k": 2, "alphas": 2, "splits": 1}
GROWN = {
    "n": (8000, 16_000, 32_000, 64_000),
    "d": (10, 20, 40, 80),
    "k": (2, 4, 8),
    "alphas": (2, 4, 8),
    "splits": (1, 2, 4),
}


@dataclass(frozen=True)
class Job:
    """One benchmark file: seconds of wall and processor time, and peak memory in MB."""

    rule: str
    seconds: float
    cpu_seconds: float
    memory: float


@dataclass(frozen=True)
class Cost:
    """What the jobs of one rule took together, and the most that one of them took."""

    rule: str
    jobs: int
    core_minutes: float
    longest: float
    memory: float


def rule_of(path: Path) -> str:
    """Return the rule of a benchmark file, by its place below the folder of all of them."""
    stage = path.with_suffix("").parts[0]
    arm = next((arm for arm in ARMS if path.name.startswith(arm)), None)
    return f"{stage}, {arm}" if stage == "runs" and arm else stage


def read_jobs(folder: Path) -> Iterator[Job]:
    """Yield the jobs of a folder; of a job that was repeated, the last time counts."""
    for path in sorted(folder.rglob("*.tsv")):
        with path.open(newline="") as file:
            *_, row = csv.DictReader(file, delimiter="\t")
        seconds = float(row["s"])
        # A job that ends within a second or two may have been looked at by nobody.
        measured = {key: _number(row[key]) for key in ("cpu_time", "max_rss")}
        cpu = seconds if measured["cpu_time"] is None else measured["cpu_time"]
        yield Job(rule_of(path.relative_to(folder)), seconds, cpu, measured["max_rss"] or 0.0)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def add_up(jobs: Sequence[Job]) -> list[Cost]:
    """Return the cost of each rule, the dearest first."""
    found = []
    for rule in sorted({job.rule for job in jobs}):
        own = [job for job in jobs if job.rule == rule]
        found.append(
            Cost(
                rule,
                len(own),
                sum(job.cpu_seconds for job in own) / 60,
                max(job.seconds for job in own) / 60,
                max(job.memory for job in own),
            )
        )
    return sorted(found, key=lambda cost: -cost.core_minutes)


def table(costs: Sequence[Cost]) -> str:
    """Return the costs as a Markdown table with a last row for all."""
    whole = Cost(
        "all",
        sum(cost.jobs for cost in costs),
        sum(cost.core_minutes for cost in costs),
        max(cost.longest for cost in costs),
        max(cost.memory for cost in costs),
    )
    lines = [
        "| rule | jobs | core-minutes | share | longest job, minutes | peak memory, MB |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for cost in (*costs, whole):
        share = cost.core_minutes / whole.core_minutes
        lines.append(
            f"| {cost.rule} | {cost.jobs} | {cost.core_minutes:.1f} | {share:.0%} "
            f"| {cost.longest:.1f} | {cost.memory:,.0f} |"
        )
    return "\n".join(lines) + "\n"


def tuned_run(n: int, d: int, k: int, alphas: int, splits: int) -> float:
    """Return the processor seconds of CAC+LR, clustered, tuned and fitted, on generated rows."""
    import numpy as np
    from cac_pass import cohort

    from deepcac.cac import KMClassifier
    from deepcac.cac.given_clusters import fit_clusters
    from deepcac.cac.path import alpha_path, tune
    from deepcac.linear.base_classifiers import logistic_regression

    X, y, _ = cohort(n, d, k)
    grid = np.linspace(0.05, 0.2, alphas).tolist()
    begin = time.process_time()
    for seed in range(splits):
        path = alpha_path(X, y, k, seed, grid)
        model = KMClassifier(logistic_regression(seed), k, class_weight="balanced")
        best, _ = tune(model, X, y, path)
        fit_clusters(model, X, y, path.whole[best])
    return time.process_time() - begin


def growth(base: Mapping[str, int], grown: Mapping[str, Sequence[int]]) -> Iterator[str]:
    """Yield a line for each grown quantity: values, seconds, and the fitted exponent."""
    import numpy as np

    from deepcac_study.experiments.theory.bounds import growth_exponent

    yield "| grown | values | seconds | exponent |\n|---|---|---|---:|"
    tuned_run(**base)  # compiles
    for name, values in grown.items():
        times = [min(tuned_run(**{**base, name: value}) for _ in range(3)) for value in values]
        exponent = growth_exponent(np.array(values, float), np.array(times))
        shown = " ".join(f"{each:.2f}" for each in times)
        yield f"| {name} | {' '.join(map(str, values))} | {shown} | {exponent:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="where the workflow was run, or `growth`")
    given = parser.parse_args()
    if given.folder == "growth":
        for line in growth(BASE, GROWN):
            print(line, flush=True)
        return
    jobs = list(read_jobs(Path(given.folder) / LOGS))
    if not jobs:
        parser.error(f"no benchmark files in {given.folder}/{LOGS}; run the workflow there first")
    print(table(add_up(jobs)), end="")


if __name__ == "__main__":
    main()
