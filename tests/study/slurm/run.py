"""Run a small plan on a real SLURM to its report, and again with a node that dies in the middle.

usage: python tests/study/slurm/run.py [--parts whole nodes broken memory] [--keep]
whole: one node. nodes: two nodes that share the cores of this machine. broken: one node, which dies.
memory: a job that is killed for its memory, and must then be given more.
Needs root and the Debian packages slurm-wlm and munge; it starts and ends its own daemons. Every
file must have the bytes (a record the digest) of a run without SLURM.
"""

import argparse
import atexit
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "faults"))

from cluster import Cluster, call
from project import Project

PLAN = ("--configfile", "tests/study/slurm/plan.yaml")
# The call that the page shows, without its target.
PAGE = Path(__file__).parents[3] / "docs" / "workflow.md"
SLURM = re.search(r"^snakemake (.*profiles/slurm) all$", PAGE.read_text("utf-8"), re.M)[1].split()
# The pauses of a small cluster.
SITE = (
    *("--jobs", "8", "--latency-wait", "10"),
    *("--slurm-init-seconds-before-status-checks", "5", "--seconds-between-status-checks", "5"),
)
RUNS = ("results/demo_diabetes/deepcac_k2.json", "results/demo_diabetes/cac_lr_k2.json")
PAGES = "results/report/runs/"
# What each part asks for, and on how many nodes.
HUNGRY = "tests/study/slurm/hungry.smk"
PARTS = {"whole": (["all"], 1), "nodes": (["all"], 2), "broken": (list(RUNS), 1)}
MEMORY = "memory"
ALL = [*PARTS, MEMORY]


def start(project: Project, log: Path, *options: str) -> "subprocess.Popen[bytes]":
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "snakemake", *PLAN, *options],
            cwd=project.folder,
            env=project.environment(),
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
    atexit.register(process.kill)  # asked to end, Snakemake waits for jobs that are gone by then
    return process


def whole(cluster: Cluster, project: Project, targets: list[str]) -> int:
    """Run to the end; return the exit code."""
    size = ("--max-threads", str(cluster.cores))
    return start(project, cluster.state / "run.log", *SLURM, *SITE, *size, "--", *targets).wait()


def broken(cluster: Cluster, project: Project, targets: list[str]) -> int:
    """Let the node die at a job on splits, and Snakemake too; repair the node, unlock, call again."""
    asked, (node,) = (*SLURM, *SITE, "--", *targets), cluster.nodes
    first = start(project, cluster.state / "run.log", *asked)
    while first.poll() is None and not list((project.folder / "data").glob("splits/*.parquet")):
        time.sleep(0.5)
    while first.poll() is None and not call("squeue", "-h", "-t", "running"):
        time.sleep(0.1)
    killed = cluster.kill_node(node)
    print(f"node down, {killed} processes killed; {len(project.outcome())} files are there")
    time.sleep(10)  # Snakemake sees the failed jobs and submits them again, to no node
    first.kill()
    print("first call killed; jobs:", dict(cluster.states()), flush=True)
    first.wait()
    cluster.cancel()
    cluster.start_node(node)
    start(project, cluster.state / "unlock.log", *SLURM, *SITE, "--unlock").wait()
    return start(project, cluster.state / "again.log", *asked).wait()


def memory(state: Path) -> bool:
    """Tell whether a job that is killed for its memory ends well when it is given more."""
    begin = time.monotonic()
    with Cluster(state / "memory-cluster", memory_watched=True) as cluster:
        project = Project.copy(state / "memory")
        log = cluster.state / "run.log"
        code = start(project, log, "--snakefile", HUNGRY, *SLURM, *SITE).wait()
        jobs, seconds = cluster.states(), time.monotonic() - begin
        print(f"memory: exit code {code}, {seconds:.0f} s, jobs: {dict(jobs)}", flush=True)
    return not code and jobs["COMPLETED"] == 1 and jobs.total() == 2


def reference(folder: Path) -> dict[str, str]:
    """Return what a run without SLURM leaves."""
    project, log = Project.copy(folder), folder.with_suffix(".log")
    code = start(project, log, "--cores", "2", "--", "all").wait()
    if code:
        raise RuntimeError(f"the run without SLURM ended with {code}: see {log}")
    return project.outcome()


def main() -> int:
    """Return 0 if all parts end with the bytes of a run without SLURM."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=ALL, default=ALL)
    parser.add_argument("--keep", action="store_true", help="keep the folders of the runs")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the daemons end with the script
    state = Path(tempfile.mkdtemp(prefix="slurm-"))
    state.chmod(0o755)  # munge runs as a user of its own
    wrong = int(MEMORY in arguments.parts and not memory(state))
    compared = [part for part in arguments.parts if part != MEMORY]
    begin = time.monotonic()
    wanted = reference(state / "local") if compared else {}
    print(f"without SLURM: {time.monotonic() - begin:.0f} s, {len(wanted)} files", flush=True)
    for part in compared:
        targets, n_nodes = PARTS[part]
        run, begin = broken if part == "broken" else whole, time.monotonic()
        with Cluster(state / f"{part}-cluster", n_nodes) as cluster:
            project = Project.copy(state / part)
            code = run(cluster, project, targets)
            seconds = time.monotonic() - begin
            print(f"{part}: exit code {code}, {seconds:.0f} s, jobs: {dict(cluster.states())}")
            print("queue at the end:", call("squeue", "-h") or "empty")
            print((cluster.state / "run.log").read_text()[-300:])
        outcome = project.outcome()  # a run that is asked for by its name gets a page beside
        made = {f: digest for f, digest in outcome.items() if not f.startswith(PAGES)}
        expected = wanted.keys() if targets == ["all"] else targets
        differing = sorted(f for f in made.keys() | expected if made.get(f) != wanted.get(f))
        print(f"{len(made)} files, other than without SLURM: {differing or 'none'}", flush=True)
        wrong += bool(code) + bool(differing)
    if arguments.keep or wrong:
        print("kept:", state)
    else:
        shutil.rmtree(state)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
