"""Are the pages short, and are they plain English? The lengths and words that `make lint` asks for.

python docs/words.py README.md docs/*.md src/.../templates/*.html src/.../declarations.yaml

Of what is no Markdown (templates, declarations) the words alone are looked at.
"""

import argparse
import re
from pathlib import Path
from typing import NamedTuple

README_WORDS, PAGE_WORDS = 700, 1800
MEAN, LONGEST = 22, 40  # words in a sentence
# Made by machine, or lists of references and of words: no prose to be read from end to end.
LISTS = {"reference.md", "data.md"}
# Words of the house that readers do not know, and what they read instead.
OLD = {
    r"of no account": "negligible",
    r"as it comes": "default settings",
    r"cells around (random )?rows|random cells": "random partition",
    r"\bthe kernel before\b": "nothing: history is in git",
    r"\bhad been\b": "the present tense",
    r"\b(above|ahead of|beside|from|in|near|of|on) print\b": "the printed value",
    r"\bprocessors? (time|seconds)\b|\bkinds? of processor\b": "CPU",
    r"\bless (each|its own|one without|the same|without)\b": "a difference, or minus",
    r"\b(an|the) earlier run\b|\bonce more\b|\bSince then\b": "nothing: history is in git",
    r"\bwhoever\b": "the contender that",
}
_ASIDE = re.compile(
    r"<!-- from the snapshot.*?<!-- end -->|<!-- cost.*?<!-- end of cost -->|"
    r"<!-- maps.*?<!-- end of maps -->|```.*?```|^ *\|.*?$|^#.*?$|<[^>]*>|!\[[^\]]*\]\([^)]*\)",
    re.DOTALL | re.MULTILINE,
)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_END = re.compile(r"(?<=[.!?:;])[*_)\"]*\s+|\n\s*\n|\n\s*(?:[-*]|\d+\.)\s+")
_WORD = re.compile(r"[A-Za-z][A-Za-z'\-]*")


class Page(NamedTuple):
    """What was counted on a page.

    Attributes
    ----------
    words : int
        Of its prose: tables, code, headings and what is made from the snapshot do not count.
    sentences : list of int
        Words of each sentence.
    old : list of str
        Words that may not come back.
    """

    words: int
    sentences: list[int]
    old: list[str]


def count(text: str) -> Page:
    """Count the prose of a Markdown page."""
    prose = _LINK.sub(r"\1", _ASIDE.sub("\n\n", text))
    lengths = [len(_WORD.findall(re.sub(r"`[^`]*`", "code", part))) for part in _END.split(prose)]
    old = [found[0] for words in OLD for found in re.finditer(words, prose, re.IGNORECASE)]
    return Page(sum(lengths), [n for n in lengths if n > 2], old)


def faults(name: str, page: Page) -> list[str]:
    """Return what is wrong with a page, a line each."""
    most = README_WORDS if name == "README.md" else PAGE_WORDS
    if name.startswith("judge-plan"):  # stays as it was fixed before the runs
        return []
    found = [f"{name}: old word {word!r}" for word in page.old]
    if name in LISTS or not name.endswith(".md"):
        return found
    if page.words > most:
        found.append(f"{name}: {page.words} words of prose, {most} at most")
    if page.sentences:
        mean = sum(page.sentences) / len(page.sentences)
        if mean > MEAN:
            found.append(f"{name}: {mean:.1f} words in a sentence, {MEAN} at most")
        found += [
            f"{name}: a sentence of {n} words, {LONGEST} at most"
            for n in page.sentences
            if n > LONGEST
        ]
    return found


def main() -> None:
    """Print the faults of pages; exit code 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--counts", action="store_true", help="print the words of each page")
    asked = parser.parse_args()
    found = []
    for path in asked.pages:
        page = count(path.read_text(encoding="utf-8"))
        found += faults(path.name, page)
        if asked.counts:
            mean = sum(page.sentences) / max(len(page.sentences), 1)
            print(f"{path.name}: {page.words} words, {mean:.1f} a sentence")
    raise SystemExit("\n".join(found) or 0)


if __name__ == "__main__":
    main()
