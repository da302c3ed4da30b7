"""A watchdog for one connection, which closes it if the server is very slow.

A socket's time-out restarts with every byte, so that single bytes can keep a download alive for
ever, in the headers as well. requests and urllib3 have the same time-out, and pooch only adds
retries.
"""

import contextlib
import http.client
import socket
import threading
import time
import urllib.request
from types import TracebackType
from typing import Any

SLOWEST = 1000  # bytes a second


class Watch:
    """Closes a connection that is too slow, or lasts too long.

    Over each `window` seconds at least `SLOWEST` bytes per second must arrive on average; headers
    must be complete within it. At `end`, in time of `time.monotonic`, it is closed at any rate. The
    reader increases `received` (bytes); `verdict` is the reason for closing, empty before.
    """

    def __init__(self, window: float, end: float) -> None:
        self.received = 0
        self.verdict = ""
        self._window = window
        self._end = end
        self._socket: socket.socket | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def opener(self) -> urllib.request.OpenerDirector:
        """Return an opener for http and https addresses, with redirects, under this watch."""
        opener = urllib.request.OpenerDirector()
        watched = (_Http(self), _Https(self))
        plain = (
            urllib.request.ProxyHandler(),
            urllib.request.UnknownHandler(),
            urllib.request.HTTPDefaultErrorHandler(),
            urllib.request.HTTPRedirectHandler(),
            urllib.request.HTTPErrorProcessor(),
        )
        for handler in (*watched, *plain):
            opener.add_handler(handler)
        return opener

    def follow(self, connection: socket.socket) -> None:
        """Watch this socket from now on, instead of an earlier one."""
        self._socket = connection

    def _look(self) -> None:
        """Shut the socket down when the download is late or slow; `verdict` says which."""
        seen = 0
        while not self._over.wait(self._window):
            if time.monotonic() > self._end:
                self.verdict = "not finished within the time allowed"
            elif self.received - seen < SLOWEST * self._window:
                self.verdict = f"slower than {SLOWEST} bytes/s for {self._window:g} s"
            seen = self.received
            if self.verdict and self._socket is not None:
                with contextlib.suppress(OSError):
                    # Of the plain socket: TLS would wait for the other side's word.
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def _watched(base: type[http.client.HTTPConnection], watch: Watch) -> Any:
    """Return a connection class that gives its socket to `watch`."""

    class Watched(base):  # type: ignore[valid-type, misc]
        def connect(self) -> None:
            super().connect()
            watch.follow(self.sock)

    return Watched


class _Http(urllib.request.HTTPHandler):
    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch

    def http_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_watched(http.client.HTTPConnection, self.watch), request)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch

    def https_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_watched(http.client.HTTPSConnection, self.watch), request)
