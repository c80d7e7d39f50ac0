"""Pictures of every kind of page of the site: light, dark, and 375 pixels wide.

    make site
    python -m tests.website.screenshots build/site/out FOLDER

It needs Chromium. Beside the pictures it prints what a person would not see on them: pages that
scroll sideways, and whatever the browser complains of.
"""

from __future__ import annotations

import base64
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.report.browser import Browser, browser

PAGES = (
    "",
    "start/server/",
    "live/",
    "rules/",
    "rules/stripping/visible-text/no-markers/",
    "rules/effort/chat/off-is-silent/",
    "rules/thinking/client/agrees-with-wire/",
    "client-matrix/",
    "dialects/",
    "profiles/",
    "systems/",
    "glossary/",
    "performance/",
    "rule-language/",
    "architecture/",
    "judge/",
    "board/",
    "saved-runs.html",
)
KINDS: dict[str, dict[str, Any]] = {
    "light": {"width": 1400},
    "dark": {"width": 1400, "dark": True},
    "narrow": {"width": 375},
    "plain": {"width": 1400, "script": False},
}
HEIGHT = 2400  # pixels of a page that are looked at


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *_: Any) -> None:  # noqa: A002  # the name of the base
        del format


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address under which the files of a folder are served on this machine."""
    handler = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


def main(site: Path, out: Path) -> int:
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as profile, served(site) as address, browser(Path(profile)) as shown:
        for page in PAGES:
            for kind, options in KINDS.items():
                shown.open(f"{address}{page}", **options)
                name = f"{page.strip('/').replace('/', '-') or 'index'}.{kind}.png"
                (out / name).write_bytes(picture(shown, options["width"]))
                complaints(shown, name)
    return 0


def picture(shown: Browser, width: int) -> bytes:
    tall = min(int(shown.call("Page.getLayoutMetrics")["cssContentSize"]["height"]), HEIGHT)
    clip = {"x": 0, "y": 0, "width": width, "height": tall, "scale": 1}
    about = {"format": "png", "clip": clip, "captureBeyondViewport": True}
    return base64.b64decode(shown.call("Page.captureScreenshot", **about)["data"])


def complaints(shown: Browser, name: str) -> None:
    size = shown.call("Page.getLayoutMetrics")
    content, seen = size["cssContentSize"]["width"], size["cssLayoutViewport"]["clientWidth"]
    if content > seen + 1:
        sys.stdout.write(f"{name}: {content} pixels wide in {seen}\n")
    for event in shown.events:
        if event.get("method") == "Log.entryAdded":
            sys.stdout.write(f"{name}: {event['params']['entry']['text'][:200]}\n")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
