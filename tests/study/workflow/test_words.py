"""Lengths and words of pages are counted as a reader would count them."""

import importlib.util

import pytest
from checkouts import PAGES, ROOT


@pytest.fixture(scope="module")
def words():
    spec = importlib.util.spec_from_file_location("words", ROOT / "docs" / "words.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGE = """# A heading of five words

One two three four. Two of `some code here` stand in [this link](far/away.md#x).

| a table | of words |
|---|---|

- An item without a stop
- Another item: with two parts

<!-- from the snapshot: said help lr -->
Machines count nothing here.
<!-- end -->

```sh
nor here
```
"""


def test_prose_alone_is_counted(words):
    page = words.count(PAGE)
    assert page.sentences == [4, 7, 5, 3]
    assert page.words == 4 + 7 + 5 + 2 + 3
    assert page.old == []


def test_each_fault_has_a_line(words):
    long = "word " * 41 + ".\n\nA difference of no account had been seen.\n"
    found = words.faults("some.md", words.count(long))
    assert [line.partition(": ")[2].split(",")[0] for line in found] == [
        "old word 'of no account'",
        "old word 'had been'",
        "24.5 words in a sentence",
        "a sentence of 41 words",
    ]
    assert words.faults("README.md", words.count("Short sentence here. " * 301)) == [
        "README.md: 903 words of prose, 700 at most"
    ]
    assert words.faults("reference.md", words.count("word " * 2000)) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_pages_are_short_and_plain(words, path):
    assert words.faults(path.name, words.count(path.read_text(encoding="utf-8"))) == []


def test_readme_is_short_with_its_tables_too():
    assert len(PAGES[0].read_text(encoding="utf-8").split()) <= 720
