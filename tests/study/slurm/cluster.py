"""A real SLURM of one node on loopback, whose node can be made to die."""

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


def call(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def until(condition, what: str) -> None:
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.2)


@dataclass
class Cluster:
    """The daemons of one node, all started here and ended by their own ids."""

    state: Path
    munge: psutil.Process | None = None
    started: dict[str, psutil.Process] = field(default_factory=dict)

    def __enter__(self) -> "Cluster":
        if CONFIGURATION.exists():
            raise FileExistsError(f"{CONFIGURATION}: there is a SLURM here already")
        for name in ("ctld", "spool", "munge"):
            (self.state / name).mkdir(parents=True)
        self.state.chmod(0o755)
        self._start_munge()
        template = Path(__file__).with_name("slurm.conf.in").read_text()
        facts = {
            "STATE": str(self.state),
            "HOST": socket.gethostname().split(".")[0],
            "CPUS": str(os.cpu_count()),
            "MEMORY": str(int(psutil.virtual_memory().total / 2**20 * 0.9)),
        }
        for name, value in facts.items():
            template = template.replace(f"@{name}@", value)
        (self.state / "slurm.conf").write_text(template)
        CONFIGURATION.parent.mkdir(exist_ok=True)
        CONFIGURATION.symlink_to(self.state / "slurm.conf")
        self.start("slurmctld")
        self.start_node()
        return self

    def __exit__(self, *_) -> None:
        for process in (*reversed(self.started.values()), self.munge):
            if process and process.is_running():
                process.terminate()
        CONFIGURATION.unlink(missing_ok=True)

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

    def start(self, daemon: str) -> None:
        """Start a daemon and remember its process."""
        pid = self.state / f"{daemon}.pid"
        pid.unlink(missing_ok=True)
        call(f"/usr/sbin/{daemon}")
        until(lambda: pid.exists() and pid.read_text().strip(), f"{daemon} did not start")
        self.started[daemon] = psutil.Process(int(pid.read_text()))

    def start_node(self) -> None:
        """Start the daemon of the node, and wait until the node takes jobs."""
        self.start("slurmd")
        until(lambda: call("sinfo", "-h", "-o", "%t") == "idle", "the node is not idle")

    def kill_node(self) -> int:
        """Kill the node's daemon and all that runs on it; return the number of processes."""
        doomed = [self.started["slurmd"], *self._steps()]
        for process in doomed:
            process.send_signal(signal.SIGKILL)
        until(lambda: call("sinfo", "-h", "-o", "%t").startswith("down"), "the node is not down")
        return len(doomed)

    def cancel(self) -> None:
        """Take back what waits for a node: a second call submits its own jobs."""
        waiting = call("squeue", "-h", "-o", "%A").split()
        if waiting:
            call("scancel", *waiting)

    def _steps(self) -> list[psutil.Process]:
        """Return the processes of all jobs of this cluster."""
        jobs = call("squeue", "-h", "-t", "running", "-o", "%A").split()
        heads = [
            process
            for process in psutil.process_iter(["cmdline"])
            if any(
                f"slurmstepd: [{job}." in " ".join(process.info["cmdline"] or ()) for job in jobs
            )
        ]
        return [each for head in heads for each in (head, *head.children(recursive=True))]

    def states(self) -> Counter:
        """Return how many jobs ended in which state."""
        lines = (self.state / "jobs.txt").read_text().splitlines()
        return Counter(line.split("JobState=")[1].split()[0] for line in lines if line)
