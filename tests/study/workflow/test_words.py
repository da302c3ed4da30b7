"""Words of pages are counted as a reader would count them, and words that we do not write are found."""

import importlib.util

import pytest
from checkouts import ROOT


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
| 0.864 | |

- An item without a stop

<!-- command -->
Machines count nothing here, and nothing alone.
<!-- end of command -->

```sh
nor here
```
"""


def test_prose_and_tables_are_counted_and_generated_pages_are_not(words):
    page = words.count(PAGE)
    assert page.words == 4 + 7 + 5
    assert page.table_words == 2 + 2 + 1
    assert page.patterns == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Of 20,000 rows or more a part is taken.", "Of 20,000 rows or more a part is"),
        ("It scores .864 here.", ".864"),
        ("One row a patient.", "One row a patient"),
        ("Trees alone gain.", "alone"),
        ("It is not shown to help.", "is not shown"),
        ("The models that were told it.", "told"),
        ("The contender, in 20 draws.", "contender|20 draws"),
        ("Soundly, none holds.", "Soundly"),
        ("| arm |", "arm"),
        ("The sound protocol, asked in 75%.", "sound protocol|asked in 7"),
        ("{{ one.arm }} and `told`, and 0.864; of 80 cells, 61 agree. Let alone this.", ""),
    ],
)
def test_a_word_that_we_do_not_write_is_found(words, text, found):
    patterns = words.count(text).patterns
    assert [pattern.split("'")[1] for pattern in patterns] == [w for w in found.split("|") if w]
    assert len(words.faults("some.md", words.count(text))) == len(patterns)


def test_lengths_have_limits(words):
    long = words.count("Short sentence here. " * 301)
    assert words.faults("README.md", long) == ["README.md: 903 words of prose, 700 at most"]
    assert words.faults("some.md", long) == []
    assert words.too_long([long] * 18) == []
    assert words.too_long([long] * 19) == [
        "the pages together: 17157 words of prose, 17000 at most"
    ]


def test_texts_of_programs_and_tables_are_looked_at_and_their_names_are_not(words, tmp_path):
    program, table = tmp_path / "some.py", tmp_path / "some.csv"
    program.write_text('"""Told in a docstring."""\narm = {"arm": f"it was told {1} times"}\n')
    table.write_text('arm,note\nalone,"on print alone, told"\n')
    assert words.written(program) == "it was told "
    assert words.written(table) == "on print alone, told"


def test_a_page_that_is_hard_to_read_is_found(words):
    pytest.importorskip("textstat")
    hard = "Heterogeneous methodological considerations necessitate multidimensional evaluation. "
    (line,) = words.too_hard("some.md", words.count(hard * 5))
    assert line.endswith("45 at least")
