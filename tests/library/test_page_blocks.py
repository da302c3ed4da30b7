"""Python blocks of pages are run as they stand."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def run(page):
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```$", (DOCS / page).read_text(), re.M | re.S):
        exec(compile(block, page, "exec"), names)
    return names


def test_the_two_relatives_of_cac():
    names = run("claims.md")
    assert sorted(set(names["assigned"])) == [0, 1]
    assert names["loss"] < 1e-6
    assert names["clusters"] == (2, 1)
    assert names["plain"] < 0.8 < 0.95 < names["decomposed"]
