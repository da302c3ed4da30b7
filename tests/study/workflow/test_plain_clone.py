"""A plain clone is linted and planned where Snakemake and what it needs are all that is installed."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[3]
START = "import sys; sys.path.append({site!r}); from snakemake.cli import main; main(sys.argv[1:])"
HEAVY = ("numpy", "pandas", "pyarrow", "scipy", "torch", "matplotlib")


def needed(name: str, seen: set[str]) -> None:
    """Collect a distribution and what it needs, without extras."""
    if name in seen:
        return
    seen.add(name)
    for line in metadata.requires(name) or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            needed(requirement.name.lower(), seen)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with links to Snakemake and what it needs."""
    folder = tmp_path_factory.mktemp("site")
    names: set[str] = set()
    needed("snakemake", names)
    for name in names:
        found = metadata.distribution(name)
        tops = {Path(str(file)).parts[0] for file in found.files or () if ".." not in str(file)}
        for top in tops:
            link, place = folder / top, Path(str(found.locate_file(top)))
            if place.exists() and not link.exists():
                link.symlink_to(place)
    assert not [name for name in HEAVY if (folder / name).exists()]
    return folder


def snakemake(site: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # -S: no site-packages; the standard library stays.
    return subprocess.run(
        [sys.executable, "-S", "-c", START.format(site=str(site)), *arguments],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("--lint",), "good condition", marks=pytest.mark.long),
        pytest.param(("-n", "all"), "deep_run", marks=pytest.mark.long),
        (("-n", "--directory", ".test"), "demo_diabetes"),
    ],
    ids=lambda part: part if isinstance(part, str) else part[0],
)
def test_snakemake_alone_plans_a_plain_clone(site, tmp_path, arguments, said):
    subprocess.run(["git", "clone", "-q", str(ROOT), str(tmp_path / "clone")], check=True)
    done = snakemake(site, tmp_path / "clone", *arguments)
    assert done.returncode == 0, done.stderr[-2000:]
    assert said in done.stdout + done.stderr
