"""Headless Chromium for tests: one page, through the DevTools protocol over a pair of pipes. It opens no port.

    chromium --remote-debugging-pipe   reads messages from descriptor 3, writes them to 4; each is JSON, then NUL

    with Chromium.started(folder) as browser:
        page = browser.opened(path, width=1280, dark=True, scripts=False)
        page.value("document.title")      page.requests      page.complaints      page.png()

Source: https://chromedevtools.github.io/devtools-protocol/, `content/browser/devtools/devtools_pipe_handler.cc`.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import machine

DEADLINE = 60.0
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--mute-audio",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
    "--disable-extensions", "--no-default-browser-check", "--hide-scrollbars", "--force-color-profile=srgb",
    "--font-render-hinting=none", "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe",
)  # fmt: skip
# A shell's redirections take descriptors of one digit only.
_START = """
import os, sys
to, back = (os.dup(int(number)) for number in sys.argv[1:3])
while min(to, back) < 10:
    to, back = os.dup(to), os.dup(back)
os.dup2(to, 3), os.dup2(back, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Chromium:
    """A running browser. Raises AssertionError where it answers with an error or not in time."""

    def __init__(self, process: subprocess.Popen[bytes], to: int, back: int) -> None:
        self._process, self._to, self._back = process, to, back
        self._buffer = b""
        self._last = 0
        self.events: list[dict[str, Any]] = []

    @classmethod
    @contextlib.contextmanager
    def started(cls, folder: Path) -> Iterator[Chromium]:
        """A browser with a profile of its own in the folder."""
        program = machine.tool("chromium")
        (read_to, write_to), (read_back, write_back) = os.pipe(), os.pipe()
        words = [program, *_FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _START, str(read_to), str(write_back), *words],
            pass_fds=(read_to, write_back),
            env={
                **machine.ENVIRON,
                "HOME": str(folder),
                "XDG_CONFIG_HOME": str(folder),
                "XDG_CACHE_HOME": str(folder),
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_to)
        os.close(write_back)
        try:
            yield cls(process, write_to, read_back)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            os.close(write_to)
            os.close(read_back)

    def send(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        """The result of a method."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        message |= {"sessionId": session} if session else {}
        os.write(self._to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + DEADLINE
        while True:
            answer = self._message(deadline)
            if answer.get("id") == self._last:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def wait_for(self, method: str, session: str) -> None:
        """Return once the event has come."""
        deadline = time.monotonic() + DEADLINE
        while not any(one.get("method") == method and one.get("sessionId") == session for one in self.events):
            self.events.append(self._message(deadline))

    def opened(
        self, path: Path, width: int = 1280, height: int = 900, *, dark: bool = False, scripts: bool = True
    ) -> Page:
        """The file in a page of its own, loaded."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable", session)
        self.send(
            "Emulation.setDeviceMetricsOverride",
            session,
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", session, features=[scheme])
        self.send("Emulation.setScriptExecutionDisabled", session, value=not scripts)
        self.events.clear()
        self.send("Page.navigate", session, url=path.as_uri())
        self.wait_for("Page.loadEventFired", session)
        return Page(self, session, target)

    def _message(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self._back], [], [], max(0.0, left))
            assert ready, "Chromium did not answer in time"
            data = os.read(self._back, 1 << 20)
            assert data, f"Chromium ended with {self._process.poll()}"
            self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message


class Page:
    """A page that has been loaded."""

    def __init__(self, browser: Chromium, session: str, target: str) -> None:
        self._browser, self._session, self._target = browser, session, target

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of a method of the DevTools protocol for this page."""
        return self._browser.send(method, self._session, **parameters)

    def value(self, expression: str) -> Any:
        """What the expression of JavaScript gives, as JSON; a promise is awaited."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def key(self, name: str, code: int, text: str = "") -> None:
        """Press and release a key."""
        common = {"key": name, "windowsVirtualKeyCode": code, "text": text}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, windowsVirtualKeyCode=code)

    @property
    def requests(self) -> list[str]:
        """The addresses that were asked for, after the page itself."""
        return [one["params"]["request"]["url"] for one in self._events("Network.requestWillBeSent")][1:]

    @property
    def complaints(self) -> list[str]:
        """What is in the console: messages, errors, violations of the security policy."""
        found = [str(one["params"]["args"]) for one in self._events("Runtime.consoleAPICalled")]
        found += [str(one["params"]["exceptionDetails"]) for one in self._events("Runtime.exceptionThrown")]
        return found + [one["params"]["entry"]["text"] for one in self._events("Log.entryAdded")]

    def png(self) -> bytes:
        """A picture of what is seen."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def close(self) -> None:
        """Close the page."""
        self._browser.send("Target.closeTarget", targetId=self._target)

    def _events(self, method: str) -> list[dict[str, Any]]:
        self.value("0") if method else None
        return [
            one
            for one in self._browser.events
            if one.get("method") == method and one.get("sessionId") == self._session
        ]
