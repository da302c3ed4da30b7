import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# A number of three digits with a star cited a file that no reader has.
PREFIX = re.compile(r"\b00[0-4]\\?_\\?\*|\b00[0-4]_[0-9a-f]{8}")
TEXT = {".py", ".md", ".html", ".rst", ".csv", ".yaml", ".smk", ".json", ".js", ".cff", ".toml"}


def files():
    folders = ("src", "docs", "workflow", "config", "tests", "benchmarks")
    found = [path for name in folders for path in (ROOT / name).rglob("*")]
    return [p for p in [*found, *ROOT.glob("*")] if p.suffix in TEXT and p.is_file()]


def test_papers_are_never_cited_by_file():
    assert len(files()) > 200
    citing = [
        path.relative_to(ROOT).as_posix()
        for path in files()
        if PREFIX.search(path.read_text(encoding="utf-8"))
    ]
    assert citing == []


@pytest.mark.parametrize("text", ["3_* section 8", r"3\_\* Table 1", "0_41bcc352d7ad1349"])
def test_the_pattern_finds_them(text):
    assert PREFIX.search(f"(00{text})")


@pytest.mark.parametrize("text", ["1,000_rows", ".003 to .029", "set_000"])
def test_the_pattern_leaves_numbers_alone(text):
    assert not PREFIX.search(text)
