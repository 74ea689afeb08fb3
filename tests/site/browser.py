"""A headless Chromium, told what to do through two pipes (the DevTools protocol): nothing but Python is needed for it.

    with Browser() as browser:
        page = browser.open(path.as_uri())
        assert page.evaluate("document.title") == "…" and not page.problems
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_PATIENCE = 60.0
"""Seconds that one command may take, on a busy machine."""

_OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--remote-debugging-pipe", "--lang=en",
)  # fmt: skip


def program() -> str | None:
    """The browser: what TRANSKERN_CHROMIUM names, or what there is of its usual names."""
    names = (os.environ["TRANSKERN_CHROMIUM"],) if os.environ.get("TRANSKERN_CHROMIUM") else PROGRAMS
    return next(filter(None, map(shutil.which, names)), None)


class Browser:
    """A browser of its own profile, without a network."""

    def __init__(self) -> None:
        found = program()
        assert found is not None
        self._folder = tempfile.TemporaryDirectory(prefix="transkern-browser-", ignore_cleanup_errors=True)
        commands, self._to = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in os.pipe())
        self._from, answers = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in os.pipe())

        def pipes() -> None:  # the protocol's: commands come on 3, answers go to 4
            os.dup2(commands, 3)
            os.dup2(answers, 4)

        self._process = subprocess.Popen(
            [found, *_OPTIONS, f"--user-data-dir={self._folder.name}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=pipes, pass_fds=(3, 4), start_new_session=True,
        )  # fmt: skip
        os.close(commands)
        os.close(answers)
        self._rest, self._last = b"", 0
        self._pages: dict[str, Page] = {}

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.tell("Browser.close")
            self._process.wait(10)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._folder.cleanup()

    def open(self, address: str, width: int = 1280, height: int = 900) -> Page:
        """A page in a tab of its own, when it and its scripts have been loaded."""
        target = self.tell("Target.createTarget", url="about:blank")["targetId"]
        session = self.tell("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self._pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.tell(f"{domain}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        page.tell("Emulation.setDeviceMetricsOverride", **size)
        page.go(address)
        return page

    def tell(self, method: str, /, *, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """What a command answers; what happens meanwhile is noted for its page."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        os.write(self._to, json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0")
        while True:
            told = self._read()
            if told.get("id") == self._last:
                assert "error" not in told, f"{method}: {told}"
                return told["result"]  # type: ignore[no-any-return]

    def listen(self, seconds: float) -> None:
        """Note what happens for a while."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if b"\0" in self._rest or select.select([self._from], [], [], left)[0]:
                self._read()

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._from], [], [], _PATIENCE)[0], "the browser says nothing"
            more = os.read(self._from, 1 << 20)
            assert more, "the browser has ended"
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\0")
        told: dict[str, Any] = json.loads(line)
        if (page := self._pages.get(told.get("sessionId", ""))) is not None and "method" in told:
            page.note(told["method"], told["params"])
        return told


@dataclass
class Page:
    """A page, with what its scripts raised (`problems`) and what it asked for (`requests`)."""

    browser: Browser
    session: str
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    loaded: bool = False

    def tell(self, method: str, /, **parameters: Any) -> dict[str, Any]:
        return self.browser.tell(method, session=self.session, **parameters)

    def note(self, method: str, what: dict[str, Any]) -> None:
        match method:
            case "Runtime.exceptionThrown":
                self.problems.append(str(what["exceptionDetails"].get("exception", {}).get("description", what)))
            case "Log.entryAdded" if what["entry"]["level"] == "error":
                self.problems.append(f"{what['entry']['text']} {what['entry'].get('url', '')}")
            case "Runtime.consoleAPICalled" if what["type"] in ("error", "assert"):
                self.problems.append(str(what["args"]))
            case "Network.requestWillBeSent":
                self.requests.append(what["request"]["url"])
            case "Page.loadEventFired":
                self.loaded = True

    def go(self, address: str) -> None:
        self.loaded = False
        answer = self.tell("Page.navigate", url=address)
        assert not answer.get("errorText"), f"{address}: {answer['errorText']}"
        self.wait("document.readyState === 'complete'")

    def evaluate(self, script: str) -> Any:
        """The value of an expression of JavaScript's, or of the promise that it is."""
        answer = self.tell("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, script: str, seconds: float = 20.0) -> None:
        """Until an expression is true."""
        end = time.monotonic() + seconds
        while not self.evaluate(script):
            assert time.monotonic() < end, f"not within {seconds:.0f} s: {script}"
            self.browser.listen(0.05)

    def prefer(self, scheme: str) -> None:
        """`light` or `dark`, as the user's system would say it."""
        self.tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.browser.listen(0.1)

    def press(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.tell("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, path: Path) -> None:
        """What the window shows, as PNG."""
        self.browser.listen(0.3)
        path.write_bytes(base64.b64decode(self.tell("Page.captureScreenshot", format="png")["data"]))
