"""WebKB: hand-written pages in a tar, words, links, TF-IDF, linked and co-cited pairs."""

import io
import itertools
import math
import tarfile
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepcac.errors import DataError
from deepcac.files.storage import read_table
from deepcac_study.features.pages import CLASSES, webkb
from deepcac_study.features.pairwise import companion, read_pairwise, write_pairwise
from deepcac_study.raw.hypertext import body, page_key, read_page
from deepcac_study.sources.webkb import address, extract

HEADERS = b"Date: Tue, 26 Nov 1996 18:07:47 GMT\nContent-type: text/html\n\n"
PAGES = {
    "webkb/course/cornell/http:^^cs.cornell.edu^101^": b"<h1>Course course</h1> of <a href=/bob>"
    b"Bob</a> and <A HREF='http://CS.cornell.edu:80/ann/index.html#top'>Ann</A>",
    "webkb/student/cornell/http:^^cs.cornell.edu^ann": b"<title>Ann</title> a student<script>var x"
    b"</script> <a href='http://cs.cornell.edu/ann'>me</a>",
    "webkb/department/cornell/http:^^cs.cornell.edu^": b"<body>the department <a href=bob>Bob</a>",
    "webkb/faculty/cornell/http:^^cs.cornell.edu^bob": b"Bob caf\xe9 <a href='/ann/'>Ann</a",
    "webkb/other/texas/http:^^cs.utexas.edu^x": b"<a href=http://cs.cornell.edu/bob>Bob</a> a "
    b"<a href='http://cs.utexas.edu/y'>y</a>",
    "webkb/student/texas/http:^^cs.utexas.edu^y": b"",
    "webkb/student/misc/http:^^mit.edu^hub": b"a <a href='http://cs.cornell.edu/101'>one</a>"
    b"<a href='http://cs.cornell.edu/'>two</a><a href='http://cs.utexas.edu/x'>three</a>",
}


def pack(path, pages):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in pages.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def tables(folder, pages=PAGES, headers=HEADERS):
    archive = pack(folder / "webkb.archive", {n: headers + page for n, page in pages.items()})
    names = [folder / f"{part}.parquet" for part in ("pages", "words", "links", "markup")]
    extract(archive, *names)
    return [read_table(name) for name in names[:3]]


def test_pages_words_and_links(tmp_path):
    pages, words, links = tables(tmp_path)
    assert pages["class"].to_pylist() == [
        "course", "department", "faculty", "other", "student", "student", "student",
    ]  # fmt: skip
    assert pages["university"].to_pylist()[4:] == ["cornell", "misc", "texas"]
    assert pages["url"][0].as_py() == "http://cs.cornell.edu/101/"
    counts = {(row["page"], row["word"]): row["count"] for row in words.to_pylist()}
    assert counts[0, "course"] == 2
    assert (4, "var") not in counts  # a script
    assert counts[2, "caf"] == 1  # Latin-1, not UTF-8
    assert not [word for _, word in counts if word == "date"]  # HTTP headers
    assert [tuple(row.values()) for row in links.to_pylist()] == [
        (0, 2), (0, 4), (1, 2), (2, 4), (3, 2), (3, 6), (5, 0), (5, 1), (5, 3),
    ]  # fmt: skip


def test_pages_without_headers_give_the_same(tmp_path):
    (tmp_path / "bare").mkdir()
    for one, other in zip(tables(tmp_path), tables(tmp_path / "bare", headers=b""), strict=True):
        assert one.equals(other)


def test_order_in_the_archive_does_not_matter(tmp_path):
    (tmp_path / "reversed").mkdir()
    turned = dict(reversed(PAGES.items()))
    for one, other in zip(tables(tmp_path), tables(tmp_path / "reversed", turned), strict=True):
        assert one.equals(other)


def test_names_without_a_colon_are_the_same_addresses():
    assert address("http\uf03a^^a.edu\uf03a8080^~x^") == "http://a.edu:8080/~x/"
    assert address("http^^a.edu^y") == address("http:^^a.edu^y") == "http://a.edu/y"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://A.edu/x/", "http://a.edu:80/x/index.html#here", True),
        ("http://a.edu/%7Ebob", "http://a.edu/~bob/", True),
        ("http://a.edu", "http://a.edu/", True),
        ("http://a.edu/x?1", "http://a.edu/x?2", False),
        ("http://a.edu/X", "http://a.edu/x", False),
        ("http://a.edu:8080/x", "http://a.edu/x", False),
        ("http://[broken/x", "", True),
    ],
)
def test_page_key(one, other, same):
    assert (page_key(one) == page_key(other)) is same


def test_base_and_frames_count_as_links():
    page = b"<base href='http://b.edu/d/'><frameset><frame src=f.html></frameset><a href=g>g</a>"
    assert read_page(page, "http://a.edu/")[1] == ["http://b.edu/d/f.html", "http://b.edu/d/g"]


def test_tf_idf_and_classes_by_hand(tmp_path):
    data = webkb(*tables(tmp_path), linked=False)
    assert data.group.tolist() == ["cornell"] * 3 + ["texas"] + ["cornell", "texas"]
    assert [CLASSES[label] for label in data.label] == [
        "course", "other", "faculty", "other", "student", "student",
    ]  # fmt: skip
    assert data.names == tuple(sorted(data.names))
    nodes = data.nodes.toarray()
    # "course" occurs twice on one of six pages; "ann" on three of them.
    assert nodes[0, data.names.index("course")] == pytest.approx(2 * math.log(6))
    assert nodes[2, data.names.index("ann")] == pytest.approx(math.log(6 / 3))
    assert data.pair_features().shape == (0, 0)


def test_rows_of_length_one_by_hand(tmp_path):
    nodes = webkb(*tables(tmp_path), linked=False, unit=True)
    rows = nodes.nodes.toarray()
    raw = webkb(*tables(tmp_path), linked=False).nodes.toarray()
    np.testing.assert_allclose(rows[0], raw[0] / np.linalg.norm(raw[0]))
    lengths = np.linalg.norm(rows, axis=1)
    np.testing.assert_allclose(lengths[lengths > 0], 1.0)


def test_markup_has_the_words_that_no_reader_sees(tmp_path):
    pages, *_ = tables(tmp_path)
    markup = read_table(tmp_path / "markup.parquet").to_pylist()
    counts = {(row["page"], row["word"]): row["count"] for row in markup}
    assert counts[4, "var"] == 1  # a script
    assert counts[0, "h"] == 2  # the tags of a heading
    assert {page for page, word in counts if word == "date"} == set(pages["page"].to_pylist())


def test_linked_and_cocited_pairs_by_hand(tmp_path):
    data = webkb(*tables(tmp_path), linked=True)
    marks = data.marks.toarray().astype(int).tolist()
    pairs = dict(zip(zip(data.first.tolist(), data.second.tolist(), strict=True), marks))  # noqa: B905
    # Positions: 0 course, 1 department, 2 bob, 3 x (texas), 4 ann, 5 y (texas).
    assert pairs == {
        (0, 1): [0, 1],  # both from the hub, which is no row
        (0, 2): [1, 0],
        (0, 4): [1, 0],
        (1, 2): [1, 0],
        (2, 4): [1, 1],  # bob links to ann; the course page links to both
        (3, 5): [1, 0],
    }
    n = len(data.names)
    features = data.pair_features().toarray()
    assert features.shape == (6, 2 * (n + 1))
    product = data.nodes.toarray()[2] * data.nodes.toarray()[4]
    both = list(pairs).index((2, 4))
    np.testing.assert_allclose(features[both], np.tile([*product, 1], 2))
    np.testing.assert_array_equal(features[list(pairs).index((0, 1)), : n + 1], 0)


def test_files_round_trip_and_a_foreign_row_is_refused(tmp_path):
    data = webkb(*tables(tmp_path), linked=True)
    path = tmp_path / "webkb_l.parquet"
    write_pairwise(path, data)
    again = read_pairwise(path)
    assert again.names == data.names
    assert again.products
    # Reading numbers the classes that there are from 0.
    np.testing.assert_array_equal(again.label, np.unique(data.label, return_inverse=True)[1])
    for name in ("row_id", "group", "first", "second"):
        np.testing.assert_array_equal(getattr(again, name), getattr(data, name))
    for name in ("nodes", "marks"):
        np.testing.assert_array_equal(getattr(again, name).toarray(), getattr(data, name).toarray())
    first = companion(path, "pairs").read_bytes()
    write_pairwise(path, data)
    assert companion(path, "pairs").read_bytes() == first
    fewer = {name: page for name, page in PAGES.items() if "^101^" not in name}
    (tmp_path / "fewer").mkdir()
    other = webkb(*tables(tmp_path / "fewer", fewer), linked=True)
    write_pairwise(tmp_path / "fewer/webkb_l.parquet", other)
    companion(path, "pairs").replace(companion(tmp_path / "fewer/webkb_l.parquet", "pairs"))
    with pytest.raises(DataError, match="unknown row"):
        read_pairwise(tmp_path / "fewer/webkb_l.parquet")


def reference_pairs(edges, rows, group):
    """Go over all pairs of rows, plainly."""
    found = {}
    for (i, a), (j, b) in itertools.combinations(enumerate(rows), 2):
        linked = (a, b) in edges or (b, a) in edges
        sources = {source for source, _ in edges}
        cocited = any((s, a) in edges and (s, b) in edges for s in sources)
        if group[a] == group[b] and (linked or cocited):
            found[i, j] = [int(linked), int(cocited)]
    return found


@given(st.data())
def test_pairs_agree_with_the_plain_reference(data):
    n = data.draw(st.integers(2, 8))
    kinds = st.sampled_from(["cornell", "texas", "misc"])
    group = data.draw(st.lists(kinds, min_size=n, max_size=n).filter(lambda g: set(g) != {"misc"}))
    page = st.integers(0, n - 1)
    edges = data.draw(st.sets(st.tuples(page, page).filter(lambda e: e[0] != e[1]), max_size=20))
    source, target = zip(*sorted(edges), strict=True) if edges else ((), ())
    pages = pa.table({"page": range(n), "class": ["staff"] * n, "university": group})
    words = pa.table({"page": range(n), "word": ["a"] * n, "count": [1] * n})
    links = pa.table(
        {"source": pa.array(source, pa.int64()), "target": pa.array(target, pa.int64())}
    )
    result = webkb(pages, words, links, linked=True)
    marks = result.marks.toarray().astype(int).tolist()
    ends = zip(result.first.tolist(), result.second.tolist(), strict=True)
    rows = [p for p in range(n) if group[p] != "misc"]
    assert dict(zip(ends, marks, strict=True)) == reference_pairs(edges, rows, group)


@pytest.mark.parametrize(
    ("pages", "message"),
    [
        ({}, "holds no page"),
        ({"webkb/course/cornell": b"x"}, "is not webkb/class/university/address"),
        ({"webkb/dean/cornell/http:^^a": b"x"}, "with a class of course, department"),
        ({"webkb/course/x/http:^^a": b"", "webkb/course/x/http^^a": b""}, "a occurs twice"),
        ({"webkb/course/x/http:^^\udcff": b""}, "is not webkb/class"),
        ({"webkb/course/x/big": bytes((1 << 21) + 1)}, "the limit is"),
    ],
)
def test_bad_archives(tmp_path, pages, message):
    archive = pack(tmp_path / "webkb.archive", pages)
    with pytest.raises(DataError, match=message) as caught:
        extract(archive, tmp_path / "p", tmp_path / "w", tmp_path / "l", tmp_path / "m")
    assert "webkb.archive" in str(caught.value)
    assert not (tmp_path / "p").exists()


def test_truncated_archive(tmp_path):
    archive = pack(tmp_path / "webkb.archive", dict.fromkeys(PAGES, HEADERS * 50))
    archive.write_bytes(archive.read_bytes()[:-40])
    with pytest.raises(DataError, match="truncated or damaged"):
        extract(archive, tmp_path / "p", tmp_path / "w", tmp_path / "l", tmp_path / "m")


def test_other_universities_alone_are_refused(tmp_path):
    misc = {name: page for name, page in PAGES.items() if "/misc/" in name}
    with pytest.raises(DataError, match="cornell"):
        webkb(*tables(tmp_path, misc), linked=False)


piece = st.sampled_from(
    [
        "<a",
        "href=",
        "<!",
        "<![",
        "<![CDATA[",
        "]]>",
        "<!--",
        "-->",
        "<script>",
        "</script>",
        "&#x110000;",
        "&#xd800;",
        "href='//[",
        "<?",
        ">",
        "<base\tHREF='http://[x'>",
        "'",
        '"',
        "\x00",
        "é",
        "word",
        "Date:",
        "<a\thref='http://a.edu:x/'>",
        "\r\n\r\n",
    ]
)


@given(
    st.one_of(st.lists(piece, max_size=25).map(lambda parts: "".join(parts).encode()), st.binary()),
    st.sampled_from(["http://a.edu/x", "ftp://a.edu/", "http://[bad", "nothing"]),
)
def test_any_bytes_are_a_page(content, url):
    words, links = read_page(content, url)
    assert isinstance(words, Counter)
    assert all(word.isascii() and word.islower() for word in words)
    assert all(isinstance(page_key(link), str) for link in links)
    assert "\r" not in body(content)
