"""The CMU WebKB pages (four universities and others): one tar of saved pages to tidy tables."""

import itertools
import os
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from deepcac.errors import DataError
from deepcac.files.storage import write_table
from deepcac_study.raw.archive import members
from deepcac_study.raw.hypertext import page_key, read_page, words_of_file

StrPath = str | os.PathLike[str]

CLASSES = ("course", "department", "faculty", "other", "project", "staff", "student")
UNIVERSITIES = ("cornell", "texas", "washington", "wisconsin")
_BYTES = re.compile("[\ud800-\udfff]")  # what tar gives for a name that is not UTF-8
MAX_PAGE_BYTES = 1 << 21  # the largest page has 0.3 MB


class Page(NamedTuple):
    """One saved page."""

    kind: str
    university: str
    url: str
    words: Counter[str]
    targets: list[str]  # keys of the pages it links to
    markup: Counter[str]  # words of the whole file


def extract(
    archive: StrPath, pages: StrPath, words: StrPath, links: StrPath, markup: StrPath
) -> None:
    """Write tables of the archive's pages, their words and their links.

    Members of the archive are ``webkb/{class}/{university}/{address with ^ for /}``; any other
    member, an archive without pages, or a repeated address is a `DataError`. Tables written:

    - pages: ``page`` (from 0, ordered by class, university and address), ``class``, ``university``,
      ``url``;
    - words: ``page``, ``word``, ``count``;
    - markup: as words, but of the whole file with headers and tags;
    - links: ``source`` and ``target`` page, each pair once, without links of a page to itself.
    """
    page_list = sorted(_pages(archive), key=lambda page: page[:3])
    if not page_list:
        raise DataError(f"{archive}: holds no page webkb/class/university/address")
    for before, after in itertools.pairwise(page_list):
        if before[:3] == after[:3]:
            raise DataError(f"{archive}: {after.kind} page {after.url} occurs twice")
    number: dict[str, int] = {}
    for n, page in enumerate(page_list):
        number.setdefault(page_key(page.url), n)
    write_table(pages, _page_table(page_list))
    write_table(words, _word_table([page.words for page in page_list]))
    write_table(markup, _word_table([page.markup for page in page_list]))
    write_table(links, _link_table(page_list, number))


def _pages(archive: StrPath) -> Iterator[Page]:
    """Yield the pages of the archive; DataError for a member of another layout."""
    for name, content in members(archive, max_member_bytes=MAX_PAGE_BYTES):
        parts = name.split("/")
        if len(parts) != 4 or parts[1] not in CLASSES or _BYTES.search(name):
            raise DataError(
                f"{archive}: member {name!r} is not webkb/class/university/address "
                f"with a class of {', '.join(CLASSES)}"
            )
        url = address(parts[3])
        words, targets = read_page(content, url)
        keys = sorted({page_key(target) for target in targets})
        yield Page(parts[1], parts[2], url, words, keys, words_of_file(content))


def address(file_name: str) -> str:
    """Decode a file name to an address.

    ``^`` is ``/``. Copies from systems that forbid a colon in file names have U+F03A in its place,
    or nothing.
    """
    scheme, _, rest = file_name.replace("^", "/").replace("\uf03a", ":").partition("//")
    return f"{scheme.removesuffix(':')}://{rest}"


def _page_table(pages: list[Page]) -> pa.Table:
    return pa.table(
        {
            "page": np.arange(len(pages)),
            "class": [page.kind for page in pages],
            "university": [page.university for page in pages],
            "url": [page.url for page in pages],
        }
    )


def _word_table(word_counts: list[Counter[str]]) -> pa.Table:
    rows = [
        (n, word, k) for n, counts in enumerate(word_counts) for word, k in sorted(counts.items())
    ]
    number, word, count = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        {
            "page": pa.array(number, pa.int64()),
            "word": pa.array(word, pa.string()),
            "count": pa.array(count, pa.int64()),
        }
    )


def _link_table(pages: list[Page], number: dict[str, int]) -> pa.Table:
    """Return distinct links among these pages, without links to themselves."""
    pairs = sorted(
        {
            (source, number[key])
            for source, page in enumerate(pages)
            for key in page.targets
            if key in number and number[key] != source
        }
    )
    edges = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return pa.table({"source": edges[:, 0], "target": edges[:, 1]})
