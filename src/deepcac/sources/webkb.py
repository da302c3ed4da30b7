"""The CMU WebKB pages (four universities and others): one tar of saved pages to tidy tables."""

import os
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from deepcac.errors import DataError
from deepcac.sources.archive import members
from deepcac.sources.hypertext import page_key, read_page
from deepcac.storage import write_table

StrPath = str | os.PathLike[str]

CLASSES = ("course", "department", "faculty", "other", "project", "staff", "student")
UNIVERSITIES = ("cornell", "texas", "washington", "wisconsin")
MAX_PAGE_BYTES = 1 << 24


def extract(archive: StrPath, pages: StrPath, words: StrPath, links: StrPath) -> None:
    """Read every page once: what it is, which words it has, which other pages it links to.

    Parameters
    ----------
    archive : path-like
        Members are ``webkb/{class}/{university}/{address with ^ for /}``.
    pages : path-like
        Table to write: ``page`` (from 0, in the order of the member names), ``class``,
        ``university``, ``url``.
    words : path-like
        Table to write: ``page``, ``word``, ``count``.
    links : path-like
        Table to write: ``source`` and ``target`` page, each pair once, no page to itself.
    """
    found = sorted(_pages(archive))
    if not found:
        raise DataError(f"{archive}: holds no page webkb/class/university/address")
    number: dict[str, int] = {}
    for page, (_, _, url, _, _) in enumerate(found):
        number.setdefault(page_key(url), page)
    write_table(pages, _page_table(found))
    write_table(words, _word_table([counts for *_, counts, _ in found]))
    write_table(links, _link_table([targets for *_, targets in found], number))


def _pages(archive: StrPath) -> Iterator[tuple[str, str, str, Counter[str], list[str]]]:
    """Yield class, university, address, word counts and link keys of every page."""
    for name, content in members(archive, max_member_bytes=MAX_PAGE_BYTES):
        parts = name.split("/")
        if len(parts) != 4 or parts[1] not in CLASSES:
            raise DataError(
                f"{archive}: member {name!r} is not webkb/class/university/address "
                f"with a class of {', '.join(CLASSES)}"
            )
        url = address(parts[3])
        counts, targets = read_page(content, url)
        yield parts[1], parts[2], url, counts, sorted({page_key(target) for target in targets})


def address(file_name: str) -> str:
    """Return the address that a file name stands for.

    ``^`` stands for ``/``. Copies made on systems that forbid a colon in file names hold U+F03A
    in its place, or none.
    """
    scheme, _, rest = file_name.replace("^", "/").replace("\uf03a", ":").partition("//")
    return f"{scheme.removesuffix(':')}://{rest}"


def _page_table(found: list[tuple[str, str, str, Counter[str], list[str]]]) -> pa.Table:
    return pa.table(
        {
            "page": np.arange(len(found)),
            "class": [kind for kind, *_ in found],
            "university": [university for _, university, *_ in found],
            "url": [url for _, _, url, *_ in found],
        }
    )


def _word_table(counts: list[Counter[str]]) -> pa.Table:
    rows = [(page, word, n) for page, words in enumerate(counts) for word, n in words.items()]
    rows.sort()
    page, word, count = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        {
            "page": pa.array(page, pa.int64()),
            "word": pa.array(word, pa.string()),
            "count": pa.array(count, pa.int64()),
        }
    )


def _link_table(targets: list[list[str]], number: dict[str, int]) -> pa.Table:
    pairs = sorted(
        {
            (source, number[key])
            for source, keys in enumerate(targets)
            for key in keys
            if key in number and number[key] != source
        }
    )
    edges = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return pa.table({"source": edges[:, 0], "target": edges[:, 1]})
