"""The calls of Snakemake that people are shown: on pages, in profiles, in the Makefile."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from checkouts import PAGES, ROOT
from snakemake.cli import get_argument_parser

PLACES = [
    *PAGES,
    ROOT / "Makefile",
    *(ROOT / place / "README.md" for place in ("config", "docs/results", "tests")),
    *sorted(ROOT.glob("workflow/profiles/*/config.yaml")),
]
# What stands on a page for something of the reader's own.
GIVEN = {
    "REGISTRY/deepcac:VERSION": "registry.example/deepcac:1",
    "s3://BUCKET/FOLDER": "s3://deepcac/run",
    "FILE": "results/demo_diabetes/lr_k1.json",
    "$(CORES)": "2",
}
# Options after which nothing is made: Snakemake answers from what is there.
ANSWERS = ("unlock", "lint", "report", "summary", "detailed_summary", "dag", "rulegraph", "touch")
ANSWERS += ("delete_all_output", "list_rules")


@dataclass(frozen=True)
class Call:
    """A call as a place shows it."""

    place: str
    line: str
    options: tuple[str, ...]  # without targets, and without the number of cores
    targets: tuple[str, ...]
    starts: bool  # whether it names what jobs run on, or starts none
    answers: bool


def lines_of(path: Path) -> Iterator[str]:
    """Yield each call of a place, as one line that begins with ``snakemake``."""
    text = path.read_text(encoding="utf-8").replace("$(BIN)/", "")
    if path.suffix == ".yaml":
        text = re.sub(r"^# *", "", text, flags=re.MULTILINE)
    fenced = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
    blocks = fenced.findall(text) if path.suffix == ".md" else [text]
    for block in blocks:
        for line in block.replace("\\\n", " ").splitlines():
            found = re.match(r"\s*(?:[A-Z_]+=\S+ )?(?:\.venv/bin/)?(snakemake .*)", line)
            if found:
                yield re.split(r"\s+#|\s*[>;|]|\s*&&", found[1])[0].strip()
    for inline in re.findall(r"`(snakemake [^`]+)`", fenced.sub("", text)):
        yield " ".join(inline.split())


def read_call(place: str, line: str) -> Call:
    """Take a call apart as Snakemake does."""
    for name, value in GIVEN.items():
        line = line.replace(name, value)
    words = shlex.split(line)[1:]
    given = get_argument_parser().parse_args(words)
    swallowed = [word for word in given.configfile or () if Path(word).suffix != ".yaml"]
    if swallowed:
        raise ValueError(f"{place}: {line}: write -- before {' '.join(map(str, swallowed))}")
    targets = tuple(given.targets)
    options = [word for word in words if word not in targets and word != "--"]
    if "--cores" in options:
        at = options.index("--cores")
        del options[at : at + 2]
    answers = any(getattr(given, name) for name in ANSWERS)
    starts = bool(given.cores or given.dryrun or given.profile or answers)
    return Call(place, line, tuple(options), targets, starts, answers)


def documented_calls() -> list[Call]:
    """Return all of them."""
    places = [(str(path.relative_to(ROOT)), path) for path in PLACES]
    return [read_call(name, line) for name, path in places for line in lines_of(path)]
