"""A copy of the project in a folder of its own, its runs, and the digests of what they leave."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from deepcac.files.storage import content_digest

ROOT = Path(__file__).parents[2]
TARGETS = ("results/demo_diabetes/cac_lr_k2.json",)
_TIME = re.compile(r"Computing: [^.]*\.")  # what a page says on the seconds of its runs
LIMIT = 1800.0  # seconds that any one run may take


@dataclass(frozen=True)
class Row:
    """One line of the table: how many trials of a fault ended how.

    `same`: the bytes of an unbroken run; `refused`: one clear line; `other`: anything else.
    """

    fault: str
    tried: int
    same: int
    refused: int
    how: str

    @property
    def other(self) -> int:
        return self.tried - self.same - self.refused


@dataclass(frozen=True)
class Answer:
    """What a finished run said."""

    code: int
    text: str

    def has_line(self, *words: str) -> bool:
        """Tell whether one line holds one of the words, and no traceback is near."""
        lines = self.text.splitlines()
        found = any(word in line for line in lines for word in words)
        return self.code != 0 and found and "Traceback" not in self.text


@dataclass(frozen=True)
class Project:
    """A copy of the project."""

    folder: Path
    targets: tuple[str, ...] = TARGETS
    real: bool = False

    @classmethod
    def copy(
        cls, folder: Path, targets: tuple[str, ...] = TARGETS, real: bool = False
    ) -> "Project":
        """Copy what git tracks or would track."""
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
        for name in sorted(set(filter(None, os.fsdecode(listed.stdout).split("\0")))):
            if os.path.lexists(ROOT / name):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, folder / name, follow_symlinks=False)
        return cls(folder, targets, real)

    def command(self, *options: str) -> list[str]:
        """Return the command line; a generated cohort is kept small."""
        small = ["--configfile", "config/demo.yaml", "--config", "demo_records=300"]
        given = [] if self.real else small
        return [sys.executable, "-m", "snakemake", "--cores", "1", *given, *options]

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment of a run; only real data may come from a mirror."""
        tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        own = {"PYTHONPATH": str(self.folder / "src"), "PATH": tools, "OMP_NUM_THREADS": "1"}
        kept = {} if self.real else {"DEEPCAC_MIRROR": ""}
        return {**os.environ, **own, **kept, **more}

    def start(self) -> "subprocess.Popen[bytes]":
        """Start a run as the head of a process group."""
        return subprocess.Popen(
            self.command("--", *self.targets),
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def run(self, *options: str, before: tuple[str, ...] = (), **environment: str) -> Answer:
        """Run to the end; with `options` nothing else is asked for."""
        asked = options or ("--", *self.targets)
        done = subprocess.run(
            [*before, *self.command(*asked)],
            cwd=self.folder,
            env=self.environment(**environment),
            capture_output=True,
            timeout=LIMIT,
            check=False,
        )
        return Answer(done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace"))

    def finish(self) -> Answer:
        """Unlock the folder, as after a kill, and run to the end."""
        self.run("--unlock")
        return self.run()

    def unlock(self) -> None:
        """Do what `--unlock` does, without a start of Snakemake."""
        shutil.rmtree(self.folder / ".snakemake" / "locks", ignore_errors=True)

    def clear(self) -> None:
        """Remove what runs made; `results` and `data` come with files of the project."""
        for name in ("logs", "data/raw", "data/tidy", "data/cohorts", ".snakemake"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        for made in (self.folder / "results").iterdir():
            if made.is_dir():
                shutil.rmtree(made)
        for path in (self.folder / "data").rglob("*.parquet"):
            path.unlink()

    def outcome(self) -> dict[str, str]:
        """Return a digest of every output; of records and pages, of the part that is no timing."""
        found = {}
        for part in ("data", "results"):
            for path in sorted((self.folder / part).rglob("*")):
                if path.is_file() and path.suffix != ".dvc":
                    found[path.relative_to(self.folder).as_posix()] = _digest(path)
        return found


def _digest(path: Path) -> str:
    if path.suffix == ".json":
        content = json.loads(path.read_text(encoding="utf-8"))
        if "digest" in content:
            return content_digest(content)
    if path.suffix == ".html":
        text = _TIME.sub("", path.read_text(encoding="utf-8"))
        return hashlib.sha256(text.encode()).hexdigest()
    return hashlib.sha256(path.read_bytes()).hexdigest()


def kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill a whole process group, as a crash of the machine would."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_for(path: Path, seconds: float = 120.0) -> bool:
    """Wait until a file is there."""
    end = time.monotonic() + seconds
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.05)
    return path.exists()
