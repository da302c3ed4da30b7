"""Run the blocks of a page, ``sh`` and ``python``, in order: python docs/run_blocks.py PAGE FOLDER.

The Python blocks of a page share their names, as in a notebook.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

_BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def run_blocks(page: Path, folder: Path) -> int:
    """Run every block of `page` in `folder`; return how many there were.

    Raises
    ------
    CalledProcessError
        A command failed; an error of Python is raised as it is.
    """
    names: dict[str, object] = {}
    blocks = _BLOCK.findall(page.read_text(encoding="utf-8"))
    begin = Path.cwd()
    os.chdir(folder)
    try:
        for language, text in blocks:
            if language == "sh":
                subprocess.run(["bash", "-euc", text], check=True)
            else:
                exec(compile(text, str(page), "exec"), names)
    finally:
        os.chdir(begin)
    return len(blocks)


if __name__ == "__main__":
    run_blocks(Path(sys.argv[1]).absolute(), Path(sys.argv[2]))
