"""A real SLURM on loopback, of one node or of two, whose nodes can be made to die."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psutil

CONFIGURATION = Path("/etc/slurm/slurm.conf")  # its default place: the executor drops SLURM_CONF
LIMIT = 60.0  # seconds that a daemon may take
FIRST_PORT = 17001
WATCHED = (
    "JobAcctGatherType=jobacct_gather/linux\nJobAcctGatherFrequency=task=1\n"
    "JobAcctGatherParams=OverMemoryKill\n"
)
NODE = (
    "NodeName={name} NodeAddr=127.0.0.1 NodeHostname={host} Port={port} CPUs={cpus} "
    "RealMemory={memory} State=UNKNOWN"
)


def call(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def until(condition, what: str) -> None:
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.2)


def pid_of(path: Path) -> int | None:
    """Return the process that a daemon wrote down, once it has."""
    return int(path.read_text()) if path.exists() and path.read_text().strip() else None


@dataclass
class Cluster:
    """The daemons of all nodes, all started here and ended by their own ids.

    Nodes share this machine: its cores and its memory are divided between them.
    """

    state: Path
    n_nodes: int = 1
    memory_watched: bool = False  # whether a job that takes more than it asked for is killed
    munge: psutil.Process | None = None
    started: dict[str, psutil.Process] = field(default_factory=dict)

    @property
    def nodes(self) -> list[str]:
        return [f"node{i}" for i in range(1, self.n_nodes + 1)]

    @property
    def cores(self) -> int:
        """Cores of a node: a job that asks for more waits for ever."""
        return max((os.cpu_count() or 1) // self.n_nodes, 1)

    def __enter__(self) -> "Cluster":
        if CONFIGURATION.exists():
            raise FileExistsError(f"{CONFIGURATION}: there is a SLURM here already")
        for name in ("ctld", "munge", *(f"spool-{node}" for node in self.nodes)):
            (self.state / name).mkdir(parents=True)
        self.state.chmod(0o755)
        self._start_munge()
        (self.state / "slurm.conf").write_text(self._configuration())
        CONFIGURATION.parent.mkdir(exist_ok=True)
        CONFIGURATION.symlink_to(self.state / "slurm.conf")
        try:
            self._start("slurmctld", "slurmctld")
            for node in self.nodes:
                self.start_node(node)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        ended = [each for each in (*self.started.values(), self.munge) if each]
        for process in reversed(ended):
            if process.is_running():
                process.terminate()
        psutil.wait_procs(ended, timeout=LIMIT)
        CONFIGURATION.unlink(missing_ok=True)

    def _configuration(self) -> str:
        host = socket.gethostname().split(".")[0]
        facts = {
            "host": host,
            "cpus": self.cores,
            "memory": int(psutil.virtual_memory().total / 2**20 * 0.9 / self.n_nodes),
        }
        nodes = [
            NODE.format(name=name, port=port, **facts)
            for port, name in enumerate(self.nodes, start=FIRST_PORT)
        ]
        text = Path(__file__).with_name("slurm.conf.in").read_text()
        text += WATCHED if self.memory_watched else ""
        values = {"STATE": str(self.state), "HOST": host, "NODES": "\n".join(nodes)}
        for name, value in values.items():
            text = text.replace(f"@{name}@", value)
        return text

    def _start_munge(self) -> None:
        if subprocess.run(["munge", "-n"], capture_output=True, check=False).returncode == 0:
            return
        folder = self.state / "munge"
        (folder / "key").write_bytes(os.urandom(128))
        (folder / "key").chmod(0o600)
        folder.chmod(0o700)
        Path("/run/munge").mkdir(exist_ok=True)
        for path in (folder, folder / "key", Path("/run/munge")):
            shutil.chown(path, "munge", "munge")
        files = [f"--{name}-file={folder / name}" for name in ("key", "pid", "log", "seed")]
        call("runuser", "-u", "munge", "--", "/usr/sbin/munged", "--force", *files)
        self.munge = psutil.Process(int((folder / "pid").read_text()))

    def _start(self, name: str, daemon: str, *options: str) -> None:
        """Start a daemon and remember its process."""
        path = self.state / f"{name}.pid"
        path.unlink(missing_ok=True)
        call(f"/usr/sbin/{daemon}", *options)
        until(lambda: pid_of(path), f"{name} did not start")
        self.started[name] = psutil.Process(pid_of(path))

    def start_node(self, node: str) -> None:
        """Start the daemon of a node, and wait until it takes jobs."""
        self._start(node, "slurmd", "-N", node)
        until(lambda: self._state_of(node) == "idle", f"{node} is not idle")

    @staticmethod
    def _state_of(node: str) -> str:
        return call("sinfo", "-h", "-n", node, "-o", "%t")

    @staticmethod
    def _is_down(node: str) -> bool:
        """Tell whether a node is down; while its jobs are cleared away `sinfo` says `comp` only."""
        shown = call("scontrol", "--oneliner", "show", "node", node)
        return any(word.startswith("State=DOWN") for word in shown.split())

    def kill_node(self, node: str) -> int:
        """Kill a node's daemon and all that runs on it; return the number of processes."""
        doomed = [self.started[node], *self._steps(node)]
        for process in doomed:
            process.send_signal(signal.SIGKILL)
        until(lambda: self._is_down(node), f"{node} is not down")
        return len(doomed)

    def cancel(self) -> None:
        """Take back what waits for a node: a second call submits its own jobs."""
        waiting = call("squeue", "-h", "-o", "%A").split()
        if waiting:
            call("scancel", *waiting)

    def _steps(self, node: str) -> list[psutil.Process]:
        """Return the processes of all jobs of a node."""
        jobs = call("squeue", "-h", "-t", "running", "-w", node, "-o", "%A").split()
        heads = [
            process
            for process in psutil.process_iter(["cmdline"])
            if any(
                f"slurmstepd: [{job}." in " ".join(process.info["cmdline"] or ()) for job in jobs
            )
        ]
        return [each for head in heads for each in (head, *head.children(recursive=True))]

    def states(self) -> Counter:
        """Return how many jobs ended in which state, by node if there are several."""
        lines = (self.state / "jobs.txt").read_text().splitlines()
        jobs = [dict(part.split("=", 1) for part in line.split() if "=" in part) for line in lines]
        several = self.n_nodes > 1
        return Counter(
            f"{job['JobState']} on {job['NodeList']}" if several else job["JobState"]
            for job in jobs
            if "JobState" in job
        )
