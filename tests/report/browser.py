"""A real Chromium for tests, driven over a pipe: no network, no package, no port."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 60  # seconds for one answer; a hang must not stop the tests
KEYS = {
    "Tab": 9,
    "Enter": 13,
    "Escape": 27,
    "End": 35,
    "Home": 36,
    "ArrowLeft": 37,
    "ArrowRight": 39,
}


def executable() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@dataclass
class Browser:
    """Speaks the DevTools protocol (https://chromedevtools.github.io/devtools-protocol)."""

    reading: int
    writing: int
    session: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)
    _number: int = 0
    _held: bytes = b""

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def open(
        self, page: Path | str, *, width: int = 1200, dark: bool = False, script: bool = True
    ) -> None:
        """Opens a file or an address."""
        self.session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        found = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = found["sessionId"]
        self.events.clear()
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.call("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        self.wait("Page.loadEventFired")

    def wait(self, method: str) -> None:
        while method not in self.seen():
            self.events.append(self._message())

    def seen(self) -> list[str]:
        return [str(event.get("method")) for event in self.events]

    def evaluate(self, script: str) -> Any:
        about = {"returnByValue": True, "awaitPromise": True}
        answer = self.call("Runtime.evaluate", expression=script, **about)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        about = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        text = {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **about, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._held:
            ready, _, _ = select.select([self.reading], [], [], PATIENCE)
            assert ready, "the browser fell silent"
            data = os.read(self.reading, 1 << 16)
            assert data, "the browser is gone"
            self._held += data
        message, _, self._held = self._held.partition(b"\0")
        decoded: dict[str, Any] = json.loads(message)
        return decoded


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """Starts one, and stops it. `profile` is an empty folder of its own."""
    to_child, writing = os.pipe()
    reading, from_child = os.pipe()
    options = "--headless --no-sandbox --disable-gpu --remote-debugging-pipe --no-first-run"
    # The protocol wants the descriptors 3 and 4.
    line = f'exec "$0" {options} "$@" 3<&{to_child} 4>&{from_child}'
    arguments = ["bash", "-c", line, str(executable()), f"--user-data-dir={profile}"]
    with subprocess.Popen(
        arguments, pass_fds=(to_child, from_child), stderr=subprocess.DEVNULL
    ) as process:
        os.close(to_child)
        os.close(from_child)
        try:
            yield Browser(reading, writing)
        finally:
            process.terminate()
            process.wait(PATIENCE)
            os.close(writing)
            os.close(reading)
