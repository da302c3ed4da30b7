import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
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


# An author, at most one more, and a year, as in "Nadeau and Bengio 2003" and "Yang (2017".
WORK = re.compile(
    r"\b([A-Z][a-z]+)(?: et al\.| (?:and|&) (?:van der )?[A-Z][a-z]+)?,? \(?((?:19|20)\d\d)"
)
NO_AUTHOR = {
    *("Challenge", "Datathon", "Cardiology", "Data", "International", "Informatics", "November"),
}


def test_cited_works_are_on_the_page_of_works():
    page = (ROOT / "docs" / "works.md").read_text(encoding="utf-8")
    listed = [" ".join(entry.split()) for entry in re.split(r"\n(?=- |\| )", page)]
    modules = (path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    cited = {work for text in modules for work in WORK.findall(text)}
    works = {(name, year) for name, year in cited if name not in NO_AUTHOR}
    assert ("Holm", "1979") in works
    missing = {
        f"{name} {year}"
        for name, year in works
        if not any(name in entry and year in entry for entry in listed)
    }
    assert missing == set()
