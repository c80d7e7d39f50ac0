"""The cassette that exchanges are recorded into, and how."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from conformance import __version__
from conformance.cassette import Header, Redaction, Redactor, Writer
from conformance.core.events import Request
from conformance.dialects import dialect_at, stated_request
from conformance.profiles.lookup import has_profile
from conformance.targets.recording.time_limit import LimitTime, unlimited_time


class RecordingOptions(Struct, frozen=True):
    """How to record. `max_bytes` bounds the body of each exchange."""

    redact: bool = True
    max_bytes: int = 64 * 1024 * 1024
    profile: str | None = None
    target: dict[str, Any] = field(default_factory=dict)


class CassetteFile:
    """Is written under one key of redaction; `running` counts exchanges that are under way."""

    def __init__(
        self,
        path: Path,
        options: RecordingOptions,
        request: Request,
        *,
        via: str,
        limit_time: LimitTime = unlimited_time,
    ) -> None:
        self.path = path
        self.options = options
        self.limit_time = limit_time
        self.redactor = Redactor() if options.redact else None
        self.running = 0
        self._counted: Counter[str] = Counter()
        self.writer = Writer(path, _cassette_header(options, request, via), append=True, seal=True)

    def finish_exchange(self) -> None:
        """An exchange is over: what redaction replaced since the last one is written."""
        self.running -= 1
        counts = self.redactor.counts() if self.redactor else ()
        news = {each.rule: each.count - self._counted[each.rule] for each in counts}
        fresh = [Redaction(rule, count) for rule, count in news.items() if count]
        self._counted.update(news)
        if fresh:
            self.writer.redactions(fresh)


def _cassette_header(options: RecordingOptions, request: Request, via: str) -> Header:
    body = stated_request(request).json
    model = body.get("model") if isinstance(body, dict) else None
    dialect, profile = dialect_at(request.path, body), options.profile
    if dialect and profile and not has_profile(dialect, profile):
        profile = None  # a proxy passes on several APIs: not each of them has such a profile
    return Header(
        origin="live",
        dialect=dialect,
        profile=profile,
        recorder={"name": "conformance", "version": __version__, "via": via},
        recorded_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        target=options.target,
        model={"requested": model} if isinstance(model, str) else {},
    )
