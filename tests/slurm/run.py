"""Run the demo on a real SLURM of one node, whole and with a node that dies in the middle.

usage: python tests/slurm/run.py [TARGET ...]
Needs root and the Debian packages slurm-wlm and munge; it starts and ends its own daemons.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "faults"))

from cluster import Cluster, call
from project import Project

# Without accounting the plugin asks `squeue`; the pauses are those of a small cluster.
SITE = (
    *("--slurm-status-command", "squeue", "--slurm-no-account", "--jobs", "8"),
    *("--slurm-init-seconds-before-status-checks", "5", "--seconds-between-status-checks", "5"),
    *("--latency-wait", "10"),
)


def command(*targets: str) -> list[str]:
    profile = ["--profile", "workflow/profiles/slurm", "--configfile", "config/demo.yaml"]
    return [sys.executable, "-m", "snakemake", *profile, *SITE, "--", *targets]


def start(project: Project, log: Path, *targets: str) -> "subprocess.Popen[bytes]":
    with log.open("wb") as stream:
        return subprocess.Popen(
            command(*targets),
            cwd=project.folder,
            env=project.environment(),
            stdout=stream,
            stderr=subprocess.STDOUT,
        )


def whole(cluster: Cluster, project: Project, targets: list[str]) -> None:
    """Run to the end and say what SLURM saw."""
    begin = time.monotonic()
    log = cluster.state / "whole.log"
    code = start(project, log, *targets).wait()
    print(f"whole: exit code {code}, {time.monotonic() - begin:.0f} s, log {log}")
    print("jobs by state:", dict(cluster.states()), "queue:", call("squeue", "-h") or "empty")


def broken(cluster: Cluster, project: Project, targets: list[str]) -> None:
    """Let the node die while networks train, end Snakemake, repair the node, call again."""
    first = start(project, cluster.state / "broken.log", *targets)
    while first.poll() is None and not list((project.folder / "data").glob("pretrained/*")):
        time.sleep(0.5)
    while first.poll() is None and not call("squeue", "-h", "-t", "running"):
        time.sleep(0.1)
    done = len(project.outcome())
    print(f"node killed with {cluster.kill_node()} processes, {done} files there")
    time.sleep(10)  # Snakemake sees the failed jobs and submits them again
    first.send_signal(signal.SIGINT)
    print("first call: exit code", first.wait(), "jobs by state:", dict(cluster.states()))
    cluster.start_node()
    code = start(project, cluster.state / "again.log", *targets).wait()
    print("second call: exit code", code, "jobs by state:", dict(cluster.states()))


def main(targets: list[str]) -> int:
    """Return 0 if both runs leave the same bytes."""
    state = Path(tempfile.mkdtemp(prefix="slurm-"))
    outcomes = []
    with Cluster(state / "cluster") as cluster:
        for scenario in (whole, broken):
            project = Project.copy(state / scenario.__name__)
            scenario(cluster, project, targets)
            outcomes.append(project.outcome())
    one, two = outcomes
    differing = sorted(name for name in one | two if one.get(name) != two.get(name))
    print(f"{len(one)} files; different after the dead node: {differing or 'none'}")
    report = bool(targets) or (state / "whole/results/report/index.html").exists()
    if os.environ.get("KEEP") is None:
        shutil.rmtree(state)
    return int(bool(differing) or not report)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
