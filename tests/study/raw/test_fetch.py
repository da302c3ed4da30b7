"""Fetching: mirrors, official address, retries, resume, and nothing trusted before its digest."""

import base64
import hashlib
import http.server
import io
import logging
import os
import re
import socket
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mirrors import MIRROR

from deepcac.errors import ConfigError, DataError, FetchError
from deepcac_study.catalogue.entries import RawFile, Source
from deepcac_study.catalogue.registry import Registry, load_registry
from deepcac_study.raw.archive import content_digest, members
from deepcac_study.raw.download import UnreachableError, download
from deepcac_study.raw.fetch import (
    available,
    check_raw,
    configured_mirrors,
    fetch,
    restricted_folder,
)

CONTENT = bytes(range(256)) * 4000
Answer = Callable[[http.server.BaseHTTPRequestHandler], None]


class Server:
    """A local server: `answers` are used up one a request, then files are served with ranges."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.answers: list[Answer] = []
        self.requests: list[tuple[str, str | None, str | None]] = []
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                headers = self.headers
                server.requests.append((self.path, headers["Range"], headers["Authorization"]))
                if server.answers:
                    server.answers.pop(0)(self)
                else:
                    serve(self, server.files.get(self.path.partition("?")[0]))

            def log_message(self, *args: object) -> None:
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()


def serve(handler: http.server.BaseHTTPRequestHandler, content: bytes | None) -> None:
    if content is None:
        handler.send_error(404)
        return
    start = int((handler.headers["Range"] or "bytes=0-")[6:-1])
    if start >= len(content):
        handler.send_response(416)
        handler.send_header("Content-Range", f"bytes */{len(content)}")
        handler.end_headers()
        return
    handler.send_response(206 if handler.headers["Range"] else 200)
    if handler.headers["Range"]:
        handler.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
    handler.send_header("Content-Length", str(len(content) - start))
    handler.end_headers()
    handler.wfile.write(content[start:])


def status(code: int) -> Answer:
    return lambda handler: handler.send_error(code)


def cut_after(size: int) -> Answer:
    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(CONTENT)))
        handler.end_headers()
        handler.wfile.write(CONTENT[:size])

    return answer


def without_ranges(handler: http.server.BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(CONTENT)))
    handler.end_headers()
    handler.wfile.write(CONTENT)


def redirect(address: str) -> Answer:
    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", address)
        handler.end_headers()

    return answer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    server = Server()
    yield server
    server.http.shutdown()
    server.http.server_close()


@pytest.fixture
def plain() -> RawFile:
    digest = hashlib.sha256(CONTENT).hexdigest()
    return RawFile(source="letters", name="names.txt", path="letters/names.txt", sha256=digest)


@pytest.fixture
def packed(tmp_path: Path) -> tuple[RawFile, bytes, bytes]:
    """An archive as the registry knows it, and the same members as tar.xz and as zip."""
    tar, zipped = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w:xz") as archive:
        info = tarfile.TarInfo("set-a/1.txt")
        info.size = 3
        archive.addfile(info, io.BytesIO(b"one"))
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("set-a/1.txt", b"one")
    (tmp_path / "known").write_bytes(zipped.getvalue())
    digest = content_digest(tmp_path / "known")
    path = "letters/set-a.tar.xz"
    file = RawFile(
        source="letters", name="set-a.archive", path=path, content_sha256=digest, members=1
    )
    return file, tar.getvalue(), zipped.getvalue()


def quick(file: RawFile, target: Path, *mirrors: object) -> str:
    return fetch(file, target, mirrors=[str(m) for m in mirrors], attempts=3, pause=0, timeout=5)


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_from_a_folder_it_is_copied_not_linked(tmp_path, plain):
    held = tmp_path / "mirror" / "letters" / "names.txt"
    held.parent.mkdir(parents=True)
    held.write_bytes(CONTENT)
    target = tmp_path / "raw" / "names.txt"
    assert quick(plain, target, tmp_path / "mirror") == str(held)
    assert target.read_bytes() == CONTENT
    assert not target.is_symlink()
    assert target.stat().st_ino != held.stat().st_ino
    assert leftovers(target.parent) == ["names.txt"]


def test_a_folder_may_hold_the_archive_under_another_ending(tmp_path, packed):
    file, _, zipped = packed
    held = tmp_path / "mirror" / "letters" / "set-a.zip"
    held.parent.mkdir(parents=True)
    held.write_bytes(zipped)
    target = tmp_path / "raw" / file.name
    assert quick(file, target, tmp_path / "empty", tmp_path / "mirror") == str(held)
    assert target.read_bytes() == zipped


def test_from_an_address(tmp_path, server, plain):
    server.files["/base/letters/names.txt"] = CONTENT
    quick(plain, tmp_path / "raw" / "names.txt", server.address + "/base/")
    assert (tmp_path / "raw" / "names.txt").read_bytes() == CONTENT
    assert server.requests == [("/base/letters/names.txt", None, None)]


def test_not_found_then_the_next_ending(tmp_path, server, packed):
    file, _, zipped = packed
    server.files["/letters/set-a.zip"] = zipped
    quick(file, tmp_path / file.name, server.address)
    assert [path for path, *_ in server.requests] == [
        "/letters/set-a.tar.xz",
        "/letters/set-a.zip",
    ]


def test_mirrors_come_before_the_official_address(tmp_path, server, packed):
    file, tarred, _ = packed
    official = file.model_copy(update={"url": server.address + "/official/a.tgz"})
    server.files["/official/a.tgz"] = tarred
    assert quick(official, tmp_path / file.name, tmp_path / "empty") == official.url
    server.files["/m/letters/set-a.tar.xz"] = tarred
    assert quick(official, tmp_path / file.name, server.address + "/m") != official.url


@pytest.mark.parametrize("code", [500, 503, 429])
def test_a_failing_server_is_asked_again(tmp_path, server, plain, code):
    server.files["/letters/names.txt"] = CONTENT
    server.answers = [status(code), status(code)]
    quick(plain, tmp_path / "names.txt", server.address)
    assert len(server.requests) == 3


def test_a_server_that_keeps_failing_is_given_up(tmp_path, server, plain):
    server.answers = [status(500)] * 4
    with pytest.raises(FetchError, match="gave up after 3 tries: the server answered 500"):
        quick(plain, tmp_path / "names.txt", server.address)
    assert not (tmp_path / "names.txt").exists()
    assert len(server.requests) == 3


def test_a_server_that_keeps_failing_is_not_asked_for_other_endings(tmp_path, server, packed):
    server.answers = [status(503)] * 9
    with pytest.raises(FetchError, match=r"set-a\.tar\.xz \(gave up after 3 tries"):
        quick(packed[0], tmp_path / "x", server.address)
    assert len(server.requests) == 3


def test_refused_is_not_asked_again(tmp_path, server, plain):
    server.answers = [status(403)]
    with pytest.raises(FetchError, match="the server answered 403"):
        quick(plain, tmp_path / "names.txt", server.address)
    assert len(server.requests) == 1


def test_a_cut_download_is_continued_where_it_ended(tmp_path, server, plain):
    server.files["/letters/names.txt"] = CONTENT
    server.answers = [cut_after(100_000)]
    quick(plain, tmp_path / "names.txt", server.address)
    assert (tmp_path / "names.txt").read_bytes() == CONTENT
    assert [ranged for _, ranged, _ in server.requests] == [None, "bytes=100000-"]


def test_a_later_call_continues_what_an_earlier_one_left(tmp_path, server, plain):
    server.answers = [cut_after(100_000), status(500), status(500)]
    with pytest.raises(FetchError):
        quick(plain, tmp_path / "names.txt", server.address)
    assert not (tmp_path / "names.txt").exists()
    server.files["/letters/names.txt"] = CONTENT
    quick(plain, tmp_path / "names.txt", server.address)
    assert server.requests[-1][1] == "bytes=100000-"
    assert leftovers(tmp_path) == ["names.txt"]


def test_a_whole_part_file_is_not_asked_for_again(tmp_path, server, plain):
    server.files["/letters/names.txt"] = CONTENT
    server.answers = [cut_after(len(CONTENT) - 1), status(500), status(500)]
    with pytest.raises(FetchError):
        quick(plain, tmp_path / "names.txt", server.address)
    (part,) = tmp_path.iterdir()
    part.write_bytes(CONTENT)
    quick(plain, tmp_path / "names.txt", server.address)
    assert (tmp_path / "names.txt").read_bytes() == CONTENT


def test_a_part_file_that_is_too_long_is_started_again(tmp_path, server, plain):
    server.files["/letters/names.txt"] = CONTENT
    server.answers = [cut_after(10), status(500), status(500)]
    with pytest.raises(FetchError):
        quick(plain, tmp_path / "names.txt", server.address)
    (part,) = tmp_path.iterdir()
    part.write_bytes(CONTENT + b"more")
    quick(plain, tmp_path / "names.txt", server.address)
    assert (tmp_path / "names.txt").read_bytes() == CONTENT


def test_a_server_without_ranges_starts_again(tmp_path, server, plain):
    server.answers = [cut_after(100_000), without_ranges]
    quick(plain, tmp_path / "names.txt", server.address)
    assert (tmp_path / "names.txt").read_bytes() == CONTENT


def test_wrong_digest_names_all_and_leaves_nothing(tmp_path, server, plain):
    server.files["/letters/names.txt"] = CONTENT[::-1]
    with pytest.raises(FetchError) as caught:
        quick(plain, tmp_path / "raw" / "names.txt", server.address)
    message = str(caught.value)
    assert f"expected {plain.sha256}" in message
    assert f"got {hashlib.sha256(CONTENT[::-1]).hexdigest()}" in message
    assert f"{server.address}/letters/names.txt" in message
    assert "\n" not in message
    assert leftovers(tmp_path / "raw") == []


def test_a_mirror_with_a_wrong_file_does_not_hide_the_next(tmp_path, server, plain):
    bad = tmp_path / "mirror" / "letters" / "names.txt"
    bad.parent.mkdir(parents=True)
    bad.write_bytes(b"something else")
    server.files["/letters/names.txt"] = CONTENT
    came = quick(plain, tmp_path / "names.txt", tmp_path / "mirror", server.address)
    assert came == f"{server.address}/letters/names.txt"
    assert bad.read_bytes() == b"something else"


def test_an_archive_with_other_members_or_damage_is_refused(tmp_path, server, packed):
    file, tarred, zipped = packed
    server.files["/letters/set-a.tar.xz"] = tarred[:-20]
    server.files["/letters/set-a.zip"] = zipped.replace(b"set-a", b"set-b")
    with pytest.raises(FetchError) as caught:
        quick(file, tmp_path / "raw" / file.name, server.address)
    assert "set-a.tar.xz (set-a.archive: " in str(caught.value)
    assert "truncated or damaged" in str(caught.value)
    assert "wrong members' SHA-256" in str(caught.value)
    assert leftovers(tmp_path / "raw") == []


def drip_headers(handler: http.server.BaseHTTPRequestHandler) -> None:
    drip(handler, b"HTTP/1.0 200 OK\r\nX-Long: " + b"x" * 10_000)


def drip_body(handler: http.server.BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n")
    drip(handler, CONTENT)


def drip_chunk_size(handler: http.server.BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    drip(handler, b"0" * 10_000)


def drip(handler: http.server.BaseHTTPRequestHandler, content: bytes) -> None:
    try:
        for byte in content:
            handler.wfile.write(bytes([byte]))
            time.sleep(0.05)
    except OSError:
        pass


@pytest.mark.parametrize("answer", [drip_headers, drip_body, drip_chunk_size])
def test_a_server_that_drips_is_given_up(tmp_path, server, plain, answer):
    server.answers = [answer] * 2
    with pytest.raises(FetchError, match=r"gave up after 2 tries: slower than 1000 bytes/s"):
        fetch(plain, tmp_path / "x", mirrors=[server.address], attempts=2, pause=0, timeout=0.3)
    assert len(server.requests) == 2
    assert not (tmp_path / "x").exists()


def test_no_more_tries_after_the_deadline(tmp_path, server):
    server.answers = [status(503)] * 3
    with pytest.raises(UnreachableError, match="gave up after 1 tries"):
        download(server.address, tmp_path / "part", attempts=3, pause=0, deadline=0.0)
    assert len(server.requests) == 1


def headed(**headers: str) -> Answer:
    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(302 if "Location" in headers else 200)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(CONTENT)

    return answer


@pytest.mark.parametrize("length", ["many", "-1", "1e3", "", "0x10", "9" * 15])
def test_an_odd_length_is_no_crash(tmp_path, server, plain, length):
    server.answers = [headed(Content_Length=length)]
    if length.startswith("9"):
        with pytest.raises(FetchError, match="refused: 9{15} bytes are announced"):
            quick(plain, tmp_path / "x", server.address)
    else:
        quick(plain, tmp_path / "x", server.address)
        assert (tmp_path / "x").read_bytes() == CONTENT
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "address",
    ["http://[::1", "http://h:port/", "http://h:99999/", "ftp://h/", "file:///etc/passwd", "x:y"],
)
def test_an_odd_redirect_is_one_line_and_final(tmp_path, server, plain, address):
    server.answers = [headed(Location=address)] * 3
    with pytest.raises(FetchError) as caught:
        quick(plain, tmp_path / "x", server.address)
    assert "\n" not in str(caught.value)
    assert len(server.requests) <= 3
    assert not (tmp_path / "x").exists()


BAD_ADDRESSES = ("http://[::1", "http://h:port", "http://h:99999", "http://", "https:///x")


@pytest.mark.parametrize("mirror", BAD_ADDRESSES)
def test_an_odd_mirror_is_one_line(tmp_path, plain, mirror):
    with pytest.raises(ConfigError, match="http:// or https://"):
        configured_mirrors({"mirrors": [mirror]}, {})
    with pytest.raises(FetchError, match="no valid address"):
        quick(plain, tmp_path / "x", mirror)


def test_an_odd_mirror_does_not_hide_the_next(tmp_path, server, plain):
    server.files["/letters/names.txt"] = CONTENT
    quick(plain, tmp_path / "x", *BAD_ADDRESSES, "http://" + "é" * 70, server.address)
    assert (tmp_path / "x").read_bytes() == CONTENT


def test_a_file_that_grows_too_large_leaves_nothing(tmp_path, server, plain, monkeypatch):
    monkeypatch.setattr("deepcac_study.raw.download.MAX_BYTES", 1000)
    server.answers = [headed()]
    with pytest.raises(FetchError, match="refused: more than 1000 bytes"):
        quick(plain, tmp_path / "raw" / "x", server.address)
    assert leftovers(tmp_path / "raw") == []


def test_an_oversized_part_is_started_again(tmp_path, server, monkeypatch):
    monkeypatch.setattr("deepcac_study.raw.download.MAX_BYTES", len(CONTENT))
    server.files["/x"] = CONTENT
    (tmp_path / "part").write_bytes(CONTENT + b"more")
    download(server.address + "/x", tmp_path / "part", attempts=1)
    assert (tmp_path / "part").read_bytes() == CONTENT
    assert server.requests == [("/x", None, None)]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_is_not_tried_again(tmp_path, server):
    server.files["/x"] = CONTENT
    (tmp_path / "part").symlink_to("/dev/full")
    with pytest.raises(FetchError, match="No space left"):
        download(server.address + "/x", tmp_path / "part", attempts=3, pause=0)
    assert len(server.requests) == 1


@pytest.fixture
def known(plain, packed) -> Registry:
    files = {file.name: file for file in (plain, packed[0])}
    terms = {"title": "x", "licence": "x", "citation": "x", "homepage": "https://example.org/"}
    sources = {
        "letters": Source.model_construct(id="letters", restricted=False, files=files, **terms),
        "closed": Source.model_construct(id="closed", restricted=True, **terms),
    }
    return Registry(sources)


def test_a_raw_file_is_checked_again_before_it_is_read(tmp_path, plain, packed, known):
    folder = tmp_path / "raw" / "letters"
    folder.mkdir(parents=True)
    paths = [folder / "names.txt", folder / "set-a.archive"]
    paths[0].write_bytes(CONTENT)
    paths[1].write_bytes(packed[1])
    check_raw(known, [*paths, "raw/demo_letters/names.txt", "raw/closed/PATIENTS.csv.gz"])
    paths[0].write_bytes(CONTENT[:-1] + b"?")
    with pytest.raises(DataError, match=r"names\.txt: .* delete it"):
        check_raw(known, paths)
    assert paths[0].exists()
    paths[0].unlink()
    with pytest.raises(DataError, match=r"names\.txt: not readable"):
        check_raw(known, paths)
    paths[1].write_bytes(packed[2].replace(b"one", b"two"))
    with pytest.raises(DataError, match=r"set-a\.archive"):
        check_raw(known, paths[1:])


def test_offline_every_place_is_listed_with_the_way_out(tmp_path, plain):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
    file = plain.model_copy(update={"url": address + "/official"})
    with pytest.raises(FetchError) as caught:
        quick(file, tmp_path / "names.txt", tmp_path / "mirror")
    message = str(caught.value)
    assert f"{tmp_path / 'mirror' / 'letters' / 'names.txt'} (not there)" in message
    assert f"{address}/official (unreachable: " in message
    assert re.search("letters/names.txt: .*mirrors.*DEEPCAC_MIRROR=", message)
    assert "\n" not in message


def test_credentials_reach_the_mirror_and_nothing_else(tmp_path, server, plain, caplog):
    caplog.set_level(logging.DEBUG)
    server.files["/other/names.txt"] = CONTENT
    server.answers = [status(500), redirect(server.address + "/other/names.txt")]
    mirror = server.address.replace("http://", "http://ann:s%40cret@") + "?token=hush"
    came = quick(plain, tmp_path / "names.txt", mirror)
    token = "Basic " + base64.b64encode(b"ann:s@cret").decode()
    assert server.requests == [
        ("/letters/names.txt?token=hush", None, token),
        ("/letters/names.txt?token=hush", None, token),
        ("/other/names.txt", None, None),
    ]
    with pytest.raises(FetchError) as caught:
        quick(
            RawFile(source="letters", name="x", path="x", sha256="0" * 64), tmp_path / "x", mirror
        )
    for text in (came, caplog.text, str(caught.value)):
        assert not any(secret in text for secret in ("ann", "cret", "hush", token))


def test_the_order_of_mirrors(monkeypatch):
    assert configured_mirrors({}, {}) == []
    assert configured_mirrors({"mirrors": "/a"}, {"DEEPCAC_MIRROR": "https://b"}) == [
        "/a",
        "https://b",
    ]
    assert configured_mirrors({"mirrors": ["/a", "/b"]}, {"DEEPCAC_MIRROR": "/a"}) == ["/a", "/b"]
    monkeypatch.setenv("DEEPCAC_MIRROR", "/from/environment")
    assert configured_mirrors({"mirrors": None}) == ["/from/environment"]
    for bad in ("ftp://host/x", "s3://bucket"):
        with pytest.raises(ConfigError, match="http:// or https://"):
            configured_mirrors({"mirrors": [bad]}, {})


def test_restricted_sources_are_read_from_their_folder(tmp_path):
    vowels = {"title": "Vowels", "label": "is one", "positive": None, "task": "binary"}
    terms = {"licence": "x", "citation": "x", "homepage": "https://example.org/"}
    rest = {"title": "x", **terms, "datasets": {"vowels": vowels}}
    step = {"function": "sources.vowels.extract"}
    closed = Source(id="mimic3", restricted=True, extract=step, **rest)
    brought = Source(id="own", restricted=True, **rest)
    assert available(brought, {})  # its feature file is the user's
    opened = Source(id="letters", restricted=False, **rest)
    there, gone = {"restricted": {"mimic3": str(tmp_path)}}, {"restricted": {"mimic3": "/gone"}}
    assert available(opened, {})
    assert available(closed, there)
    assert not available(closed, gone)
    assert not available(closed, {"restricted": None})
    assert restricted_folder(closed, there) == tmp_path
    with pytest.raises(ConfigError, match=r"not available: .*restricted: \{mimic3: /path\}"):
        restricted_folder(closed, {})
    with pytest.raises(ConfigError, match="folder /gone"):
        restricted_folder(closed, gone)


@pytest.mark.real
@pytest.mark.slow
def test_the_mirror_has_every_open_file_of_the_registry(tmp_path):
    registry = load_registry(Path(__file__).parents[3] / "config" / "registry")
    files = [file for source in registry.sources.values() for file in source.files.values()]
    assert files
    for file in files:
        target = tmp_path / file.source / file.name
        fetch(file.model_copy(update={"url": None}), target, mirrors=[str(MIRROR)])
        if file.is_archive:
            assert file.members in (None, sum(1 for _ in members(target)))


def test_a_file_that_a_package_ships_needs_no_address(tmp_path):
    file = load_registry(Path(__file__).parents[3] / "config" / "registry").file(
        "wdbc", "breast_cancer.csv"
    )
    assert fetch(file, tmp_path / file.name).endswith(file.package)
