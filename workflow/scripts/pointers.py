"""Put rebuilt files that equal their DVC pointers into the local cache; name those that differ.

usage: python workflow/scripts/pointers.py [pull [TARGET ...]]
With `pull`, `dvc pull` first and give the pulled files one common time.
"""

import subprocess
import sys
from pathlib import Path

from deepcac.pointers import align_times, find_pointers

FOLDERS = ("data/features", "data/splits")
CACHE = Path(".dvc/cache")
DVC = (sys.executable, "-m", "dvc")


def main(arguments: list[str]) -> int:
    """Return the exit code: 1 if a file differs from its pointer."""
    if arguments[:1] == ["pull"]:
        subprocess.run([*DVC, "pull", "--force", *arguments[1:]], check=True)
        align_times(find_pointers(FOLDERS))
        return 0
    states = [(pointer, pointer.state()) for pointer in find_pointers(FOLDERS)]
    fresh = [str(p.path) for p, state in states if state == "same" and not p.cached(CACHE)]
    if fresh:
        subprocess.run([*DVC, "commit", "--force", "--quiet", *fresh], check=True)
    changed = [str(p.target) for p, state in states if state == "changed"]
    for name in changed:
        print(f"{name}: not the bytes that were shared; see `dvc status`", file=sys.stderr)
    return int(bool(changed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
