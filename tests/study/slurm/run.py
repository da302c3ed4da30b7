"""Run the demo on a real SLURM of one node, and again with a node that dies in the middle.

usage: python tests/study/slurm/run.py [--parts whole broken] [--keep]
Needs root and the Debian packages slurm-wlm and munge; it starts and ends its own daemons. Every
file must have the bytes (a record the digest) of a run without SLURM.
"""

import argparse
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

DEMO = ("--configfile", "config/demo.yaml")
SLURM = ("--profile", "workflow/profiles/slurm", "--jobs", "8", "--latency-wait", "10")
# Without accounting the plugin asks `squeue`; the pauses are those of a small cluster.
SITE = (
    *("--slurm-status-command", "squeue", "--slurm-no-account"),
    *("--slurm-init-seconds-before-status-checks", "5", "--seconds-between-status-checks", "5"),
)
TARGETS = {
    "whole": ["all"],
    "broken": ["results/demo_cic/deepcac_k2.json", "results/demo_diabetes/cac_lr_k2.json"],
}


def start(project: Project, log: Path, *options: str) -> "subprocess.Popen[bytes]":
    with log.open("wb") as stream:
        return subprocess.Popen(
            [sys.executable, "-m", "snakemake", *DEMO, *options],
            cwd=project.folder,
            env=project.environment(),
            stdout=stream,
            stderr=subprocess.STDOUT,
        )


def whole(cluster: Cluster, project: Project) -> int:
    """Run to the report; return the exit code."""
    return start(
        project, cluster.state / "whole.log", *SLURM, *SITE, "--", *TARGETS["whole"]
    ).wait()


def broken(cluster: Cluster, project: Project) -> int:
    """Let the node die at a job on splits, and Snakemake too; repair the node, unlock, call again."""
    asked = (*SLURM, *SITE, "--", *TARGETS["broken"])
    first = start(project, cluster.state / "broken.log", *asked)
    while first.poll() is None and not list((project.folder / "data").glob("splits/*.parquet")):
        time.sleep(0.5)
    while first.poll() is None and not call("squeue", "-h", "-t", "running"):
        time.sleep(0.1)
    killed = cluster.kill_node()
    print(f"node down, {killed} processes killed; {len(project.outcome())} files are there")
    time.sleep(10)  # Snakemake sees the failed jobs and submits them again, to no node
    first.kill()
    print("first call killed; jobs:", dict(cluster.states()), flush=True)
    first.wait()
    cluster.cancel()
    cluster.start_node()
    start(project, cluster.state / "unlock.log", *SLURM, *SITE, "--unlock").wait()
    return start(project, cluster.state / "again.log", *asked).wait()


def reference(folder: Path, targets: list[str]) -> dict[str, str]:
    """Return what a run without SLURM leaves."""
    project = Project.copy(folder)
    code = start(project, folder.with_suffix(".log"), "--cores", "2", "--", *targets).wait()
    if code:
        raise RuntimeError(f"the run without SLURM ended with {code}: see {folder}.log")
    return project.outcome()


def main() -> int:
    """Return 0 if all parts end with the bytes of a run without SLURM."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=TARGETS, default=list(TARGETS))
    parser.add_argument("--keep", action="store_true", help="keep the folders of the runs")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the daemons end with the script
    state = Path(tempfile.mkdtemp(prefix="slurm-"))
    state.chmod(0o755)  # munge runs as a user of its own
    wrong = 0
    for part in arguments.parts:
        with Cluster(state / f"{part}-cluster") as cluster:
            project, begin = Project.copy(state / part), time.monotonic()
            code = {"whole": whole, "broken": broken}[part](cluster, project)
            seconds = time.monotonic() - begin
            print(f"{part}: exit code {code}, {seconds:.0f} s, jobs: {dict(cluster.states())}")
            print("queue at the end:", call("squeue", "-h") or "empty")
        found, wanted = project.outcome(), reference(state / f"{part}-local", TARGETS[part])
        differing = sorted(f for f in found | wanted if found.get(f) != wanted.get(f))
        print(f"{len(found)} files, other than without SLURM: {differing or 'none'}", flush=True)
        wrong += bool(code) + bool(differing)
    if arguments.keep:
        print("kept:", state)
    else:
        shutil.rmtree(state)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
