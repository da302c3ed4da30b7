"""A headless Chromium that is driven over its debugging pipe; nothing but Python is needed."""

import base64
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-quic"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--remote-debugging-pipe"),
)


class Browser:
    """One page of a browser: opened, clicked, read, measured and photographed."""

    def __init__(self, profile: Path, *, width: int = 1334, height: int = 900) -> None:
        assert CHROMIUM
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        # The pipe's ends are the file descriptors 3 and 4 of the browser.
        here = os.dup(to_browser), os.dup(from_browser)

        def ends() -> None:
            os.dup2(here[0], 3)
            os.dup2(here[1], 4)

        self._process = subprocess.Popen(
            [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=ends,
            close_fds=False,
            stderr=subprocess.DEVNULL,
        )
        for end in (to_browser, from_browser, *here):
            os.close(end)
        self._rest, self._number, self._session = b"", 0, ""
        self.console: list[str] = []  # errors that a page wrote
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        made = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = made["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")
        self.resize(width, height)

    def close(self) -> None:
        """End the browser."""
        os.close(self._write)
        self._process.terminate()
        self._process.wait()
        os.close(self._read)

    def resize(self, width: int, height: int = 900, *, mobile: bool = False) -> None:
        """Give the page another width and height in CSS pixels."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )

    def look(self, *, dark: bool = False, grey: bool = False) -> None:
        """Choose light or dark, and colours or grey, for what is opened from now on."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        kind = "achromatopsia" if grey else "none"
        self._call("Emulation.setEmulatedVisionDeficiency", type=kind)

    def open(self, page: Path, anchor: str = "") -> None:
        """Open a file and wait until it is loaded."""
        self._call("Page.navigate", url=f"{page.as_uri()}{anchor}")
        self.settle()

    def settle(self) -> None:
        """Wait until the page that was asked for is loaded and drawn.

        A page that is left is marked by ``window.left``.
        """
        ready = (
            "!window.left && document.readyState === 'complete' && location.protocol === 'file:'"
        )
        while not self._try(f"{ready} && document.documentElement.classList.contains('js')"):
            time.sleep(0.02)
        self.run("new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")

    def _try(self, script: str) -> Any:
        """Return the value of an expression; None while one page makes way for the next."""
        try:
            return self.run(script)
        except AssertionError:
            return None

    def run(self, script: str) -> Any:
        """Return the value of an expression, awaited if it is a promise."""
        answer = self._call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def picture(self, path: Path, *, tallest: int = 12_000) -> None:
        """Write a PNG of the whole page, or of its first pixels."""
        size = self._call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], tallest)}
        data = self._call(
            "Page.captureScreenshot", clip={**clip, "scale": 1}, captureBeyondViewport=True
        )["data"]
        path.write_bytes(base64.b64decode(data))

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        data = memoryview(json.dumps(message).encode() + b"\0")
        while data:
            data = data[os.write(self._write, data) :]
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._read, 1 << 20)
            assert part, "the browser ended"
            self._rest += part
        text, _, self._rest = self._rest.partition(b"\0")
        return json.loads(text)

    def _note(self, event: dict[str, Any]) -> None:
        """Keep what a page wrote as an error."""
        params = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.console.append(str(params["exceptionDetails"]))
        if event.get("method") == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.console.append(params["entry"]["text"])
