"""The page of one exchange, made on demand, in a folder that is removed at the end."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from conformance.cassette import Cassette, Header, write
from conformance.core.errors import ConformanceError
from conformance.dialects import dialect_at
from conformance.recordings.check import check_paths
from conformance.recordings.redaction import redact_evidence
from conformance.report.html import render
from conformance.watching.exchange import WatchedExchange

_DISPLAYS: Final = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


def write_timeline(
    exchange: WatchedExchange, folder: Path, before: Sequence[WatchedExchange]
) -> Path:
    """The page, redacted as every report, and the recording next to it that it was made of.

    It shows the exchanges `before` it, too: those of its conversation.
    Raises ConformanceError where the exchange cannot be recorded or judged.
    """
    recorded = exchange.recorded()
    dialect = dialect_at(recorded.request.path) if recorded.request else None
    shown = [replace(each.recorded(), number=each.number) for each in (*before, exchange)]
    clean = redact_evidence(Cassette(Header(origin="live", dialect=dialect), tuple(shown)))
    recording = folder / f"exchange-{exchange.number}.cassette.jsonl"
    write(recording, clean)
    result = exchange.result
    profile = result.profile if result is not None else None
    page = folder / f"exchange-{exchange.number}.html"
    page.write_text(render(check_paths([recording], profile=profile)), encoding="utf-8")
    return page


def open_timeline(
    exchange: WatchedExchange, before: Sequence[WatchedExchange], folder: Path
) -> str:
    """Opens the page in a browser, where there is one; a line that says what became of it."""
    if not exchange.is_kept:
        return f"no timeline of #{exchange.number}: its bytes were not kept"
    try:
        page = write_timeline(exchange, folder, before)
    except ConformanceError as err:
        return f"no timeline of #{exchange.number}: {err}"
    return f"timeline of #{exchange.number}: {page}{_shown_by_browser(page)}"


def _shown_by_browser(page: Path) -> str:
    # Without a display, Python would start a browser of text in this very terminal.
    if sys.platform.startswith("linux") and not any(map(os.environ.get, _DISPLAYS)):
        return " (no browser here)"
    return "" if webbrowser.open(page.as_uri()) else " (no browser was found)"
