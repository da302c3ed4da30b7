"""Download one address to a file: retries with growing pauses, and resumes where it was cut.

By hand, as pooch (1.9) asks for the whole file again after a cut, repeats what a server has
refused, waits for one that answers drop by drop, and knows no digest of an archive's members.
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
    """The place answers, and does not have the file."""


class UnreachableError(FetchError):
    """Nothing useful answers: no network, unknown host, closed port, a server that only fails."""


class _CutError(Exception):
    """A failure that another try may mend."""


def shown(place: str) -> str:
    """Return a place as it may be printed: an address without user, password and query."""
    if "://" not in place:
        return place
    try:
        parts = urlsplit(place)
    except ValueError:
        return f"{place.partition('://')[0]}://…"
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
    address: str,
    part: Path,
    *,
    attempts: int = 4,
    pause: float = 1.0,
    timeout: float = 30.0,
    deadline: float = DEADLINE,
) -> None:
    """Download `address` to `part`; bytes that `part` already has are not asked for again.

    ``user:password@`` of the address goes into a header of the first request only; `part` is kept
    when the connection is cut. The first `pause` (seconds) doubles each time, a minute at most.
    After `timeout` seconds without an answer, or with one that drips (`raw.watch`), a connection
    counts as cut; `deadline` holds for all tries.

    An `AbsentError` is a 404 or 410; an `UnreachableError` no such host, nothing that listens, or
    that every try failed. Any other `FetchError` (refused, too large, no valid address) is not
    tried again.
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
    """Try once; what another try may mend is a `_CutError`."""
    have = _usable(part)
    try:
        with watch.opener().open(_request(address, have), timeout=timeout) as response:
            _receive(response, part, have, watch)
    except (FetchError, _CutError):
        raise
    except urllib.error.HTTPError as error:
        with error:
            _judge(error, part, have)
    except Exception as error:
        raise (_CutError() if watch.verdict else _meaning(error)) from error
    if watch.verdict:
        raise _CutError


def _usable(part: Path) -> int:
    """Return how much there is to go on from; what no file may be so large as is removed."""
    have = part.stat().st_size if part.exists() else 0
    if have <= MAX_BYTES:
        return have
    part.unlink()
    return 0


def _meaning(error: Exception) -> Exception:
    """Return what a failed connection means for the next try."""
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
    resumed = response.status == 206
    if resumed and not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
        part.unlink(missing_ok=True)
        raise _CutError("the server sent another range than asked for")
    begun = have if resumed else 0
    length = response.headers.get("Content-Length", "")
    # A length that is no number says nothing; the digest decides.
    total = begun + int(length) if re.fullmatch("[0-9]{1,18}", length) else None
    if total is not None and total > MAX_BYTES:
        raise FetchError(f"refused: {total} bytes are announced, the limit is {MAX_BYTES}")
    written = begun + _pour(response, part, begun, watch)
    if total is not None and written < total:
        raise _CutError(f"the connection was cut after {written} of {total} bytes")


def _pour(response: http.client.HTTPResponse, part: Path, begun: int, watch: Watch) -> int:
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
    """Read what is there, without waiting for a whole block; errors are those of the network."""
    try:
        return response.read1(_BLOCK)
    except OSError as error:
        raise _CutError(str(error) or type(error).__name__) from error


@contextmanager
def _writing(part: Path) -> Iterator[None]:
    try:
        yield
    except FetchError:
        raise
    except OSError as error:
        raise FetchError(f"{part}: not written: {error.strerror or error}") from error


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
    reason = " ".join(str(error.reason).split())[:200]
    raise FetchError(f"the server answered {error.code} {reason}") from error
