"""Download one address to a file: retries with growing pauses, and resumes where it was cut."""

import base64
import errno
import http.client
import logging
import re
import socket
import ssl
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from deepcac.errors import FetchError

MAX_BYTES = 1 << 34
_BLOCK = 1 << 20
_TRY_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
_NOBODY_THERE = frozenset({errno.ECONNREFUSED, errno.ENETUNREACH, errno.EHOSTUNREACH})

_log = logging.getLogger(__name__)


class AbsentError(FetchError):
    """The place answers, and does not have the file."""


class UnreachableError(FetchError):
    """Nothing useful answers: no network, unknown host, closed port, a server that only fails."""


class _CutError(Exception):
    """A failure that another try may mend."""


def shown(place: str) -> str:
    """Return a place as it may be printed: an address without user, password and query."""
    parts = urlsplit(place)
    if parts.scheme not in ("http", "https"):
        return place
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def host(place: str) -> str:
    """Return host and port of an address, the path itself of a folder."""
    return urlsplit(place).netloc or place


def join(base: str, path: str) -> str:
    """Return the address of a relative path below a base address, whose query is kept."""
    parts = urlsplit(base)
    full = f"{parts.path.rstrip('/')}/{quote(path)}"
    return urlunsplit((parts.scheme, parts.netloc, full, parts.query, ""))


def download(
    address: str, part: Path, *, attempts: int = 4, pause: float = 1.0, timeout: float = 30.0
) -> None:
    """Download `address` to `part`; bytes that `part` already has are not asked for again.

    Parameters
    ----------
    address : str
        An http(s) address; ``user:password@`` goes into a header of the first request only.
    part : Path
        Partial file, kept when the connection is cut.
    attempts : int
        Tries in all.
    pause : float
        Seconds before the second try; doubled each time, a minute at most.
    timeout : float
        Seconds without an answer.

    Raises
    ------
    AbsentError
        The server does not have the file (404, 410).
    UnreachableError
        There is no such host, nothing listens, or every try failed.
    FetchError
        Refused by the server, or too large.
    """
    for attempt in range(attempts):
        try:
            _continue(address, part, timeout)
            return
        except _CutError as cut:
            _log.warning("%s: try %d of %d: %s", shown(address), attempt + 1, attempts, cut)
            if attempt + 1 == attempts:
                raise UnreachableError(f"gave up after {attempts} tries: {cut}") from cut
        time.sleep(min(pause * 2**attempt, 60.0))


def _continue(address: str, part: Path, timeout: float) -> None:
    have = part.stat().st_size if part.exists() else 0
    try:
        with urllib.request.urlopen(_request(address, have), timeout=timeout) as response:
            _receive(response, part, have)
    except urllib.error.HTTPError as error:
        with error:
            _judge(error, part, have)
    except urllib.error.URLError as error:
        # A time-out is wrapped like this only while connecting; one while reading is not.
        reason = error.reason
        nobody = isinstance(reason, socket.gaierror | TimeoutError | ssl.SSLCertVerificationError)
        if nobody or getattr(reason, "errno", None) in _NOBODY_THERE:
            raise UnreachableError(f"unreachable: {reason}") from error
        raise _CutError(str(reason)) from error
    except (http.client.HTTPException, TimeoutError, ConnectionError) as error:
        raise _CutError(str(error) or type(error).__name__) from error
    except OSError as error:
        raise FetchError(f"{part}: not written: {error.strerror or error}") from error


def _request(address: str, have: int) -> urllib.request.Request:
    parts = urlsplit(address)
    user, at, bare = parts.netloc.rpartition("@")
    headers = {"User-Agent": "deepcac", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    request = urllib.request.Request(
        urlunsplit((parts.scheme, bare, parts.path, parts.query, "")), headers=headers
    )
    if at:
        # Unredirected: the password must not follow a redirect to another host.
        token = base64.b64encode(unquote(user).encode()).decode()
        request.add_unredirected_header("Authorization", f"Basic {token}")
    return request


def _receive(response: http.client.HTTPResponse, part: Path, have: int) -> None:
    resumed = response.status == 206
    if resumed and not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
        part.unlink(missing_ok=True)
        raise _CutError("the server sent another range than asked for")
    length = response.headers.get("Content-Length")
    total = None if length is None else int(length) + (have if resumed else 0)
    with part.open("ab" if resumed else "wb") as file:
        written = _pour(response, file)
    written += have if resumed else 0
    if total is not None and written < total:
        raise _CutError(f"the connection was cut after {written} of {total} bytes")


def _pour(response: IO[bytes] | http.client.HTTPResponse, file: IO[bytes]) -> int:
    written = 0
    while block := response.read(_BLOCK):
        written += len(block)
        if written > MAX_BYTES:
            raise FetchError(f"refused: more than {MAX_BYTES} bytes")
        file.write(block)
    return written


def _judge(error: urllib.error.HTTPError, part: Path, have: int) -> None:
    """Decide what an HTTP error means: nothing (all is here), another try, or the end."""
    if error.code == 416 and have:
        size = re.fullmatch(r"bytes \*/(\d+)", error.headers.get("Content-Range", ""))
        if size is not None and int(size[1]) == have:
            return
        part.unlink(missing_ok=True)
        raise _CutError("what was there cannot be continued") from error
    if error.code in (404, 410):
        raise AbsentError("not there") from error
    if error.code in _TRY_AGAIN:
        raise _CutError(f"the server answered {error.code}") from error
    raise FetchError(f"the server answered {error.code} {error.reason}") from error
