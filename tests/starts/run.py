"""Start what the pages say in places where much is otherwise: it works, or one line says why not.

usage: python tests/starts/run.py [START ...]

Each start has a clone of its own of what is committed here. Some need root: to be another user, or
to take the network away.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
TOOLS = Path(sys.executable).parent
TARGET = "results/demo_diabetes/lr_k1.json"
SMALL = ("--cores", "1", "--configfile", "config/demo.yaml", "--config", "demo_records=300")
RUN = ("snakemake", *SMALL, "--", TARGET)
PLAN = ("snakemake", "-n", "--quiet", "--", "all")
FIT = ("deepcac", "fit", "t.csv", "--label", "died", "--method", "plain", "--learner", "lr")
NOBODY = 65534
LIMIT = 600


class Answer(NamedTuple):
    """How a call ended."""

    code: int
    text: str

    @property
    def said(self) -> str:
        """The line that says why it ended, if it is one."""
        lines = [line.strip() for line in self.text.splitlines() if "error: " in line]
        return lines[0] if lines and "Traceback" not in self.text else ""


def call(folder: Path, words: Sequence[str], user: int = 0, **changed: str | None) -> Answer:
    """Run a call in a folder; an environment variable that is None is absent."""
    given: Mapping[str, str | None] = {
        **os.environ,
        "PYTHONPATH": str(folder / "src"),
        "PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}",
        "DEEPCAC_MIRROR": None,
        **changed,
    }
    as_user = [f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    done = subprocess.run(
        [*(["setpriv", *as_user] if user else []), *words],
        cwd=folder,
        env={name: value for name, value in given.items() if value is not None},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=LIMIT,
        check=False,
    )
    return Answer(done.returncode, done.stdout.decode("utf-8", "replace"))


def clone(folder: Path, *options: str) -> Path:
    """Clone what is committed here."""
    subprocess.run(
        ["git", "clone", "--quiet", "--depth=1", *options, f"file://{ROOT}", str(folder)],
        check=True,
    )
    return folder


def table(folder: Path) -> None:
    """Write synthetic patients."""
    rows = [f"{i % 37},{i * i % 11},{'yes' if i * 7 % 5 < 2 else 'no'}" for i in range(200)]
    (folder / "t.csv").write_text("age,crp,died\n" + "\n".join(rows) + "\n", encoding="utf-8")


def another_user(work: Path) -> list[Answer]:
    """The package cannot be written, and its user has no home."""
    package, own = clone(work / "package"), work / "own"
    own.mkdir()
    table(own)
    own.chmod(0o777)
    source = str(package / "src")
    homeless = {"PYTHONPATH": source, "HOME": "/nowhere", "NUMBA_CACHE_DIR": None}
    return [call(own, FIT, NOBODY, **homeless, XDG_CACHE_HOME=None, MPLCONFIGDIR=str(own))]


def no_git(work: Path) -> list[Answer]:
    """A release as a zip, which has no .git."""
    folder = work / "release"
    folder.mkdir()
    archive = subprocess.run(
        ["git", "archive", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, check=True
    )
    subprocess.run(["tar", "x"], cwd=folder, input=archive.stdout, check=True)
    return [call(folder, words) for words in (PLAN, ("dvc", "status"), RUN)]


def other_line_ends(work: Path) -> list[Answer]:
    """Windows' git writes CRLF into text files."""
    folder = clone(work / "clone", "-c", "core.autocrlf=true")
    return [call(folder, words) for words in (PLAN, RUN)]


def odd_path(work: Path) -> list[Answer]:
    """A quotation mark, blanks and an umlaut in the path."""
    folder = clone(work / "it's größer als hier")
    return [call(folder, words) for words in (PLAN, RUN)]


def another_owner(work: Path) -> list[Answer]:
    """Git takes a clone of somebody else for dangerous."""
    folder = clone(work / "clone")
    subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", str(folder)], check=True)
    return [call(folder, words, GIT_TEST_ASSUME_DIFFERENT_OWNER="1") for words in (PLAN, RUN)]


def linked_cache(work: Path) -> list[Answer]:
    """The cache of DVC is a link to a larger disk."""
    folder, disk = clone(work / "clone"), work / "disk"
    disk.mkdir()
    (folder / ".dvc" / "cache").symlink_to(disk)
    return [call(folder, words) for words in (RUN, ("dvc", "status"))]


def no_temporary_folder(work: Path) -> list[Answer]:
    """TMPDIR names a folder that is not there."""
    return [call(clone(work / "clone"), RUN, TMPDIR=str(work / "nowhere"))]


def no_network(work: Path) -> list[Answer]:
    """After the set-up there is no network."""
    folder = clone(work / "clone")
    return [call(folder, ("unshare", "--net", *words)) for words in (PLAN, RUN)]


def another_folder(work: Path) -> list[Answer]:
    """Results go to a folder elsewhere."""
    folder, elsewhere = clone(work / "clone"), work / "elsewhere"
    elsewhere.mkdir()
    return [call(folder, ("snakemake", f"--directory={elsewhere}", *RUN[1:]))]


def other_locales(work: Path) -> list[Answer]:
    """A terminal that knows ASCII only, and a locale with other signs and letters."""
    folder, ascii_only = clone(work / "clone"), {"LC_ALL": "C", "PYTHONUTF8": "0"}
    return [
        call(folder, PLAN, **ascii_only, PYTHONCOERCECLOCALE="0"),
        call(folder, RUN, LC_ALL="tr_TR.UTF-8", LANGUAGE="tr"),
    ]


def snakemake_alone(work: Path) -> list[Answer]:
    """An environment with Snakemake and nothing of the project's needs."""
    folder, blind = clone(work / "clone"), work / "blind"
    blind.mkdir()
    (blind / "sitecustomize.py").write_text("import sys\nsys.modules['pyarrow'] = None\n")
    return [call(folder, RUN, PYTHONPATH=f"{blind}{os.pathsep}{folder / 'src'}")]


STARTS: dict[str, Callable[[Path], list[Answer]]] = {
    "another user": another_user,
    "no git": no_git,
    "other line ends": other_line_ends,
    "odd path": odd_path,
    "another owner": another_owner,
    "linked cache": linked_cache,
    "no temporary folder": no_temporary_folder,
    "no network": no_network,
    "another folder": another_folder,
    "other locales": other_locales,
    "Snakemake alone": snakemake_alone,
}
OF_ROOT = ("another user", "another owner", "no network")


def main(names: Sequence[str]) -> int:
    """Print how each start ended; return 1 if one ended neither well nor with a line."""
    wrong = 0
    for name in names or STARTS:
        if name in OF_ROOT and os.getuid() != 0:
            print(f"{name}: not tried, it needs root", flush=True)
            continue
        work, begin = Path(tempfile.mkdtemp(prefix="starts-")), time.monotonic()
        work.chmod(0o755)
        answers = STARTS[name](work)
        for answer in answers:
            ended = "works" if answer.code == 0 else answer.said or "neither works nor says why"
            wrong += bool(answer.code) and not answer.said
            if answer.code and not answer.said:
                print(answer.text[-3000:])
            print(f"{name}: {ended} ({time.monotonic() - begin:.0f} s)", flush=True)
        shutil.rmtree(work)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
