"""Look whether the pages are in plain English, short and easy to read.

python docs/words.py README.md docs/*.md src/.../templates/*.html src/.../declarations.yaml
python docs/words.py $(find src/deepcac_study/papers src/deepcac_study/report -name "*.py")

Patterns are looked for in every file, of Python in the texts that are no docstrings, of CSV in the
cells of several words; lengths and reading ease only in Markdown.
"""

import argparse
import ast
import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

README_WORDS, PROSE_WORDS, TABLE_WORDS = 700, 17_000, 4_000
EASE, README_EASE = 45, 55  # Flesch reading ease
# What we do not write, and what we write instead.
PATTERNS = {
    # Fronted: "Of more than 10,000 training rows a part is drawn anew".
    r"(?:^|(?<=[.!?:] ))(?-i:Of) (?:[^,.;:]|(?<=\d),(?=\d)){3,80}? "
    r"(?:is|are|was|were|has|have|lies?|stands?)\b": "subject first",
    r"\b(?:not|never) shown to\b|\bis shown to be\b|\bis (?:not|never) shown\b": (
        "we found no evidence that"
    ),
    r"\b(?<!let )(?<!leave )(?<!stand-)alone\b": "only, without clusters, by itself",
    r"\btold\b": "named, given, seen",
    r"\blaid\b": "shipped, written",
    r"\bh[au]ng(?:s|ing)? on\b": "depend on",
    r"\bcontenders?\b": "model, method",
    r"\barms?\b": "method",
    r"\b(?:than|helps|for|of|to) the line\b|\bthe line (?:gains?|has|chose|that is)\b": (
        "logistic regression"
    ),
    r"\b(?:\d+|each|every|another|better|other|of|by) draws?\b": "trial, sample",
    r"\bsoundly\b|(?:^|(?<=[.!?:] ))Sound,|(?:\b(?:as published|ours|and|or), )sound\b|"
    r"\bsound (?:runs?|records?|scores?|protocols?|claims?|features?)\b": (
        "under the corrected protocol"
    ),
    r"\b(?:one|once|1) (?:\w+ )?an? (?:row|patient|column|level|fold|cluster|data set|class|run|"
    r"split|page|cell)\b": "per",
    r"(?<![\w.\\/:\]{])\.\d{1,4}(?![\w-])": "a zero before the point",
    r"of no account": "negligible",
    r"as it comes": "default settings",
    r"cells around (random )?rows|random cells|random partitions?": "random groups",
    r"\basked (?:of|in) \d|\bless an? bent line\b": "needed for, minus splines",
    r"\bhad been\b": "the present tense",
    r"\b(above|ahead of|beside|from|in|near|of|on) print\b": "the printed value",
    r"\bprocessors? (time|seconds)\b|\bkinds? of processor\b": "CPU",
    r"\bless (each|its own|one without|the same|without)\b": "a difference, or minus",
    r"\b(an|the) earlier run\b|\bonce more\b|\bSince then\b": "nothing: history is in git",
    r"\bwhoever\b": "the model that",
}
# The reference that programs write, and the list of works: not counted.
_MADE = re.compile(r"<!-- (command|registry|maps|works)\b[^>]*-->.*?<!-- end of \1 -->", re.DOTALL)
_ASIDE = re.compile(
    r"```.*?```|\{[{%].*?[%}]\}|^ *\|.*?$|^:::.*?$|^#.*?$|<[^>]*>|!\[[^\]]*\]\([^)]*\)",
    re.DOTALL | re.MULTILINE,
)
_TABLE = re.compile(r"^ *\|(.*)$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_WORD = re.compile(r"[A-Za-z][A-Za-z'\-]*")


class Page(NamedTuple):
    """What was counted on a page.

    Attributes
    ----------
    prose : str
        Without tables, code, headings, the generated reference and the list of works.
    words, table_words : int
        Of its prose and of its tables; a number counts as a word of a table.
    patterns : list of str
        Words that we do not write.
    """

    prose: str
    words: int
    table_words: int
    patterns: list[str]


def count(text: str) -> Page:
    """Count the words of a Markdown page and look for patterns."""
    written = _LINK.sub(r"\1", _MADE.sub("\n\n", text))
    prose = _ASIDE.sub("\n\n", written)
    tables = [row.replace("|", " ") for row in _TABLE.findall(written)]
    looked_at = re.sub(r"`[^`]*`|\"[^\"\n]*\"", "code", "\n".join([prose, *tables]))
    patterns = [
        f"{match[0].strip()!r} (write: {instead})"
        for pattern, instead in PATTERNS.items()
        for match in re.finditer(pattern, looked_at, re.MULTILINE | re.IGNORECASE)
    ]
    plain = re.sub(r"[*_]", "", re.sub(r"`[^`]*`", "code", prose))
    n_table = sum(bool(re.search(r"\w", word)) for row in tables for word in row.split())
    return Page(plain, len(_WORD.findall(plain)), n_table, patterns)


def written(path: Path) -> str:
    """Return what a reader sees of a file: of Python and CSV the texts of several words."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".csv":
        cells = (cell for row in csv.reader(text.splitlines()) for cell in row)
    elif path.suffix == ".py":
        cells = _strings(ast.parse(text))
    else:
        return text
    return "\n".join(cell for cell in cells if " " in cell.strip())


def _strings(module: ast.Module) -> Iterator[str]:
    """Yield the texts of a module that are no docstrings."""
    blocks = (ast.Module, ast.ClassDef, ast.FunctionDef)
    first = {
        id(node.body[0].value)
        for node in ast.walk(module)
        if isinstance(node, blocks) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(module):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and id(node) not in first:
            yield text


def reading_ease(page: Page) -> float:
    """Return how easy the prose of a page is to read, after Flesch: 100 is very easy."""
    import textstat

    return float(textstat.flesch_reading_ease(page.prose))


def faults(name: str, page: Page) -> list[str]:
    """Return what is wrong with a page, one line per fault."""
    wrong = [f"{name}: {pattern}" for pattern in page.patterns]
    if name == "README.md" and page.words > README_WORDS:
        wrong.append(f"{name}: {page.words} words of prose, {README_WORDS} at most")
    return wrong


def too_hard(name: str, page: Page) -> list[str]:
    """Return a line if a page is harder to read than it should be."""
    least, ease = README_EASE if name == "README.md" else EASE, reading_ease(page)
    return [f"{name}: reading ease {ease:.0f}, {least} at least"] if ease < least else []


def too_long(pages: list[Page]) -> list[str]:
    """Return a line for each limit that the pages together are above."""
    prose, tables = sum(page.words for page in pages), sum(page.table_words for page in pages)
    return [
        f"the pages together: {n} words of {kind}, {most} at most"
        for n, kind, most in ((prose, "prose", PROSE_WORDS), (tables, "tables", TABLE_WORDS))
        if n > most
    ]


def main() -> None:
    """Print the faults of pages; exit code 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--counts", action="store_true", help="print the words of each page")
    asked = parser.parse_args()
    wrong, shelf = [], []
    for path in asked.pages:
        page = count(written(path))
        wrong += faults(path.name, page)
        if path.suffix != ".md":
            continue
        wrong += too_hard(path.name, page)
        if path.parent.name == "docs":
            shelf.append(page)
        if asked.counts:
            ease = reading_ease(page)
            print(f"{path}: {page.words} words, {page.table_words} in tables, ease {ease:.0f}")
    raise SystemExit("\n".join(wrong + too_long(shelf)) or 0)


if __name__ == "__main__":
    main()
