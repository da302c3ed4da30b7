"""Download one address to a file: retries with growing pauses, and resumes after interruptions.

Not by pooch (1.9), which requests the whole file again after an interruption, repeats refused
requests, waits for servers that answer very slowly, and has no digest of an archive's members.
"""

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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from deepcac.errors import FetchError
from deepcac_study.raw.watch import Watch

MAX_BYTES = 1 << 34
DEADLINE = 6 * 3600.0  # seconds for all tries of one address
_BLOCK = 1 << 20
_TRY_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
_NOBODY_THERE = frozenset({errno.ECONNREFUSED, errno.ENETUNREACH, errno.EHOSTUNREACH})

_log = logging.getLogger(__name__)


class AbsentError(FetchError):
    """The server answers, but does not have the file."""


class UnreachableError(FetchError):
    """No useful answer: no network, unknown host, closed port, or only failures of the server."""


class _CutError(Exception):
    """A failure that may not recur in another try."""


def shown(place: str) -> str:
    """Return a place for messages: an address without user, password and query."""
    if "://" not in place:
        return place
    try:
        parts = urlsplit(place)
    except ValueError:
        return f"{place.partition('://')[0]}://…"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def host(place: str) -> str:
    """Return host and port of an address, or the path of a folder unchanged."""
    return urlsplit(place).netloc or place


def join(base: str, path: str) -> str:
    """Append a relative path to a base address, and keep its query."""
    parts = urlsplit(base)
    full = f"{parts.path.rstrip('/')}/{quote(path)}"
    return urlunsplit((parts.scheme, parts.netloc, full, parts.query, ""))


def download(
    address: str,
    part: Path,
    *,
    attempts: int = 4,
    pause: float = 1.0,
    timeout: float = 30.0,
    deadline: float = DEADLINE,
) -> None:
    """Download `address` to `part`, and continue if `part` already has bytes.

    ``user:password@`` of the address goes into a header of the first request only; `part` is kept
    when the connection is interrupted. The first `pause` (seconds) doubles each time, up to a
    minute. After `timeout` seconds without an answer, or with a very slow one (`raw.watch`), a
    connection counts as interrupted; `deadline` applies to all tries together.

    An `AbsentError` is a 404 or 410; an `UnreachableError` an unknown host, a closed port, or that
    every try failed. Any other `FetchError` (refused, too large, no valid address) is not tried
    again.
    """
    end = time.monotonic() + deadline
    for attempt in range(attempts):
        try:
            with Watch(timeout, end) as watch:
                _continue(address, part, timeout, watch)
            return
        except _CutError as cut:
            reason = watch.verdict or str(cut)
            _log.warning("%s: try %d of %d: %s", shown(address), attempt + 1, attempts, reason)
            if attempt + 1 == attempts or time.monotonic() > end:
                raise UnreachableError(f"gave up after {attempt + 1} tries: {reason}") from cut
        time.sleep(min(pause * 2**attempt, 60.0))


def _continue(address: str, part: Path, timeout: float, watch: Watch) -> None:
    """Try once to get the missing bytes; a failure that may not recur is a `_CutError`."""
    have = _usable(part)
    try:
        with watch.opener().open(_request(address, have), timeout=timeout) as response:
            _receive(response, part, have, watch)
    except (FetchError, _CutError):
        raise
    except urllib.error.HTTPError as error:
        with error:
            _handle_http_error(error, part, have)
    except Exception as error:
        raise (_CutError() if watch.verdict else _meaning(error)) from error
    if watch.verdict:
        raise _CutError


def _usable(part: Path) -> int:
    """Return the size of `part`; a part beyond the largest size of a file is deleted (0)."""
    have = part.stat().st_size if part.exists() else 0
    if have <= MAX_BYTES:
        return have
    part.unlink()
    return 0


def _meaning(error: Exception) -> Exception:
    """Translate the exception of a failed connection into the error to raise."""
    # A time-out is wrapped like this only while connecting; one while reading is not.
    reason = error.reason if isinstance(error, urllib.error.URLError) else None
    nobody = isinstance(reason, socket.gaierror | TimeoutError | ssl.SSLCertVerificationError)
    if nobody or getattr(reason, "errno", None) in _NOBODY_THERE:
        return UnreachableError(f"unreachable: {reason}")
    text = " ".join(str(reason or error).split())[:200]
    text = text if text and text.isprintable() else type(error).__name__
    odd = isinstance(reason, str)  # for example a redirect to an address that is not http(s)
    if odd or isinstance(error, http.client.InvalidURL | ValueError | OverflowError):
        return FetchError(f"no valid address, here or in a redirect: {text}")
    if isinstance(error, http.client.HTTPException | OSError):
        return _CutError(text)
    return error


def _request(address: str, have: int) -> urllib.request.Request:
    """Return a request for the bytes from `have` on; credentials become a header."""
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


def _receive(response: http.client.HTTPResponse, part: Path, have: int, watch: Watch) -> None:
    """Write the body to `part`, from the start unless the server resumes at `have`."""
    resumed = response.status == 206
    if resumed and not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
        part.unlink(missing_ok=True)
        raise _CutError("the server sent another range than asked for")
    begun = have if resumed else 0
    length = response.headers.get("Content-Length", "")
    # A length that is not a number is ignored; the digest decides.
    total = begun + int(length) if re.fullmatch("[0-9]{1,18}", length) else None
    if total is not None and total > MAX_BYTES:
        raise FetchError(f"refused: {total} bytes are announced, the limit is {MAX_BYTES}")
    written = begun + _pour(response, part, begun, watch)
    if total is not None and written < total:
        raise _CutError(f"the connection was cut after {written} of {total} bytes")


def _pour(response: http.client.HTTPResponse, part: Path, begun: int, watch: Watch) -> int:
    """Write the body to `part` and return its bytes; FetchError beyond `MAX_BYTES`."""
    written = 0
    with _writing(part), part.open("ab" if begun else "wb") as file:
        while block := _read(response):
            written += len(block)
            watch.received += len(block)
            if begun + written > MAX_BYTES:
                part.unlink()
                raise FetchError(f"refused: more than {MAX_BYTES} bytes")
            file.write(block)
    return written


def _read(response: http.client.HTTPResponse) -> bytes:
    """Read the bytes that have arrived, without waiting for a whole block; empty at the end."""
    try:
        return response.read1(_BLOCK)
    except OSError as error:
        raise _CutError(str(error) or type(error).__name__) from error


@contextmanager
def _writing(part: Path) -> Iterator[None]:
    """Turn an OSError of the file into a FetchError."""
    try:
        yield
    except FetchError:
        raise
    except OSError as error:
        raise FetchError(f"{part}: not written: {error.strerror or error}") from error


def _handle_http_error(error: urllib.error.HTTPError, part: Path, have: int) -> None:
    """Return if `part` is already complete (416); else raise the error for this status.

    `_CutError` asks for another try, others are final. A part that cannot be continued is deleted.
    """
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
    reason = " ".join(str(error.reason).split())[:200]
    raise FetchError(f"the server answered {error.code} {reason}") from error
