"""A plain clone is linted and planned where Snakemake and what it needs are all that is installed."""

import re
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


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain") / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True)
    return folder


@pytest.mark.slow
def test_snakemake_alone_plans_the_small_run_of_the_catalogue_to_its_report(site, clone):
    done = snakemake(site, clone, "-n", "--directory", ".test")
    assert done.returncode == 0, done.stderr[-2000:]
    said = done.stdout + done.stderr
    jobs = dict(re.findall(r"^(run|table_runs|report|all) +(\d+)$", said, re.MULTILINE))
    assert jobs == {"table_runs": "1", "report": "1", "all": "1"}


@pytest.mark.long
@pytest.mark.parametrize("arguments", [("--lint",), ("-n", "all")], ids=lambda words: words[0])
def test_snakemake_alone_finds_no_fault_and_plans_the_study(site, clone, arguments):
    done = snakemake(site, clone, *arguments)
    assert done.returncode == 0, done.stderr[-2000:]
