"""Mirrors that vanish, drip or lie: the right file from the next place, or one clear line."""

import contextlib
import hashlib
import http.server
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from project import Row

from deepcac.errors import FetchError
from deepcac_study.catalogue.entries import RawFile
from deepcac_study.raw.fetch import fetch

CONTENT = bytes(range(256)) * 400
FILE = RawFile(
    source="letters",
    name="x.txt",
    path="letters/x.txt",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
)
Answer = Callable[[http.server.BaseHTTPRequestHandler], None]


def _plain(status: int = 200, body: bytes = CONTENT, **headers: str) -> Answer:
    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def _raw(*parts: bytes, pause: float = 0.0) -> Answer:
    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        for part in parts:
            handler.wfile.write(part)
            time.sleep(pause)

    return answer


def _reset(handler: http.server.BaseHTTPRequestHandler) -> None:
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    handler.connection.close()


def _silent(handler: http.server.BaseHTTPRequestHandler) -> None:
    time.sleep(3)


OK, LENGTH = b"HTTP/1.1 200 OK\r\n", f"Content-Length: {len(CONTENT)}\r\n\r\n".encode()
DROPS = [b"x"] * 60
BEHAVIOURS: dict[str, Answer] = {
    "honest": _plain(Content_Length=str(len(CONTENT))),
    "no length": _plain(),
    "vanishes before the answer": _raw(b""),
    "vanishes in the headers": _raw(OK),
    "vanishes in the body": _raw(OK + LENGTH + CONTENT[:999]),
    "resets": _reset,
    "silent": _silent,
    "drips headers": _raw(OK, b"X: ", *DROPS, pause=0.05),
    "drips the body": _raw(OK + LENGTH, *DROPS, pause=0.05),
    "drips a chunk's size": _raw(OK + b"Transfer-Encoding: chunked\r\n\r\n", *DROPS, pause=0.05),
    "damaged chunks": _raw(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc"),
    "other bytes": _plain(body=CONTENT[::-1]),
    "more bytes": _plain(body=CONTENT + b"more"),
    "an empty file": _plain(body=b"", Content_Length="0"),
    "a log-in page": _plain(body=b"<!DOCTYPE html>", Content_Type="text/html"),
    "length too large": _plain(Content_Length=str(2 * len(CONTENT))),
    "length too small": _plain(Content_Length="7"),
    "length beyond all": _plain(Content_Length="9" * 15),
    "length is a word": _plain(Content_Length="many"),
    "length is negative": _plain(Content_Length="-1"),
    "unasked range": _plain(206, Content_Range="bytes 5-9/10"),
    "range of nothing": _plain(416, body=b"", Content_Range="bytes */0"),
    "no content": _plain(204, body=b""),
    "redirect loop": _plain(302, Location="/letters/x.txt"),
    "redirect to a file": _plain(302, Location="file:///etc/hostname"),
    "redirect to ftp": _plain(302, Location="ftp://localhost/x"),
    "redirect to half an address": _plain(302, Location="http://[::1"),
    "redirect to no port": _plain(302, Location="http://localhost:99999/"),
    "redirect without an address": _plain(302),
    "bad status line": _raw(b"HTTP/9.9 what\r\n\r\n"),
    "no HTTP at all": _raw(bytes(range(256))),
    "endless headers": _raw(OK, *[b"X: " + b"y" * 1000 + b"\r\n"] * 200),
    **{f"status {code}": _plain(code, body=b"") for code in (401, 403, 404, 410, 429, 500, 503)},
}


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """Serve every request by one answer; give the address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with contextlib.suppress(OSError):  # the other side has left
                answer(self)
            self.close_connection = True

        def log_message(self, *arguments: object) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            pass

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def behaviours(work: Path, patience: float = 1.0) -> list[Row]:
    """Fetch from each kind of server alone, and with an honest folder as the next mirror.

    `patience` is how many seconds a server may be silent.
    """
    held = work / "mirror" / "letters" / "x.txt"
    held.parent.mkdir(parents=True)
    held.write_bytes(CONTENT)
    logging.getLogger("deepcac").setLevel(logging.CRITICAL)
    places = ((), (str(work / "mirror"),))
    alone, followed = ([_try(work, name, at, patience) for name in BEHAVIOURS] for at in places)
    shown = "vanishes, resets, stays silent, drips, lies about bytes, lengths, ranges, redirects"
    return [
        Row("only the mirror", len(alone), alone.count("same"), alone.count("line"), shown),
        Row(
            "mirror before an honest one",
            len(followed),
            followed.count("same"),
            followed.count("line"),
            "the same servers, with a good folder as the next place",
        ),
    ]


def _try(work: Path, name: str, others: tuple[str, ...], patience: float) -> str:
    target = work / "raw" / "x.txt"
    target.unlink(missing_ok=True)
    with serving(BEHAVIOURS[name]) as address:
        try:
            fetch(FILE, target, mirrors=[address, *others], attempts=2, pause=0, timeout=patience)
        except FetchError as error:
            clear = "\n" not in str(error) and not target.exists()
            return "line" if clear else "neither"
        except Exception as error:
            print(f"{name}: {error!r}"[:200])
            return "neither"
    return "same" if target.read_bytes() == CONTENT else "neither"
