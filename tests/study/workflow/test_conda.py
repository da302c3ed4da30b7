"""With `--sdm conda` jobs run in the environment of the file, and take the package from the clone."""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from checkouts import checkout, environment

CONDA = """\
#!/bin/bash
case "$1 $2" in
  "info --json") echo '{info}' ;;
  "--version "*) echo conda 99.9.9 ;;
  "config --get") echo '{{"get": {{"channel_priority": "strict"}}}}' ;;
  "env create")
    while [ "$1" != --prefix ]; do [ "$1" = --file ] && file=$2; shift; done
    grep -q -- '-e \\.' "$file" && exit 1  # only a clone could be installed so
    {python} -m venv --without-pip "$2"
    # What is installed here, without this project: links in that folder are not followed.
    echo {packages} >"$2"/lib/python{version}/site-packages/packages.pth ;;
  "clean -y") ;;
  *) exit 2 ;;
esac
"""


def stand_in(folder: Path) -> Path:
    """Write a `conda` whose environments have what is installed here, but for this package."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "activate").write_text('export PATH="$1/bin:$PATH"\n')
    info = {"conda_prefix": str(folder), "platform": "linux-64"}
    text = CONDA.format(
        info=json.dumps(info),
        python=sys.executable,
        packages=sysconfig.get_path("purelib"),
        version=sysconfig.get_python_version(),
    )
    (folder / "bin" / "conda").write_text(text)
    (folder / "bin" / "conda").chmod(0o755)
    return folder / "bin"


@pytest.mark.long
@pytest.mark.slow
def test_a_job_runs_where_the_package_is_not_installed(tmp_path):
    clone, target = checkout(tmp_path / "clone"), "data/raw/demo_wids"
    variables = environment(clone)
    variables |= {"PATH": f"{stand_in(tmp_path / 'conda')}:{variables['PATH']}", "PYTHONPATH": ""}
    call = ["--cores", "1", "--sdm", "conda", "--configfile", "config/demo.yaml", "--", target]
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *call],
        cwd=clone,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Environment for" in done.stdout + done.stderr
    assert (clone / target / "training_v2.csv").exists()
