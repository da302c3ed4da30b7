"""Describe the finished run of this folder as a Provenance Run Crate (ro-crate-metadata.json).

usage: python workflow/scripts/crate.py [--configfile FILE] [TARGET ...]
"""

import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path

from deepcac.errors import DeepCACError
from deepcac_study.jobs.crate import describe, read_summary


def main() -> int:
    """Return the exit code: 1, with one line, if the run is not finished."""
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--configfile", default="config/config.yaml")
    parser.add_argument("targets", nargs="*", default=["all"])
    given = parser.parse_args()
    command = [sys.executable, "-m", "snakemake", "--detailed-summary", "--configfile"]
    asked = [*command, given.configfile, "--", *given.targets]
    done = subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return 1  # Snakemake has said why
    try:
        jobs = read_summary(done.stdout, given.targets)
        print(describe(Path(), jobs, [given.configfile]))
    except DeepCACError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
