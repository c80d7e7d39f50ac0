"""A folder of cassettes, one per conversation, written while they happen."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from conformance import __version__
from conformance.cassette import Header, Redaction, Redactor, Writer
from conformance.core.errors import CassetteError, Place
from conformance.core.events import Ending, Request
from conformance.dialects import ENDPOINTS, dialect_at
from conformance.targets.recording.take import ExchangeOutcome, ExchangeRecorder
from conformance.targets.recording.threads import Conversations, ExchangePlace

_NUMBERED: Final = re.compile(r"(\d{4,9})-.*\.cassette\.jsonl")
_MOST_OPEN: Final = 128


@dataclass(frozen=True, slots=True)
class RecordingOptions:
    """How to record. `max_bytes` bounds the body of each exchange."""

    redact: bool = True
    max_bytes: int = 64 * 1024 * 1024
    profile: str | None = None
    target: dict[str, Any] = field(default_factory=dict)


class CassetteFile:
    """One cassette that is being written, under one key of redaction."""

    def __init__(self, path: Path, terms: RecordingOptions, request: Request, *, via: str) -> None:
        self.path = path
        self.redactor = Redactor() if terms.redact else None
        self.running = 0
        self._terms = terms
        self._counted: Counter[str] = Counter()
        self.writer = Writer(path, _header(terms, request, via), append=True, seal=True)

    def start_exchange(
        self,
        request: Request,
        after: int | None = None,
        *,
        when_full: Ending = "open",
        came: float | None = None,
        **more: Any,
    ) -> ExchangeRecorder:
        """A new exchange; it is this cassette's latest. `more` is what `Take` knows beside it."""
        self.running += 1
        return ExchangeRecorder(
            self.writer,
            self.redactor,
            request,
            max_bytes=self._terms.max_bytes,
            when_full=when_full,
            came=came,
            after=after,
            dialect=dialect_at(request.path),
            **more,
        )

    def finish_exchange(self) -> None:
        """An exchange is over: what redaction replaced since the last one is written."""
        self.running -= 1
        counts = self.redactor.counts() if self.redactor else ()
        news = {each.rule: each.count - self._counted[each.rule] for each in counts}
        fresh = [Redaction(rule, count) for rule, count in news.items() if count]
        self._counted.update(news)
        if fresh:
            self.writer.redactions(fresh)


@dataclass(frozen=True, slots=True)
class RunningExchange:
    """An exchange that is being recorded, and where."""

    take: ExchangeRecorder
    reel: CassetteFile
    request: Request


class RecordingFolder:
    """Opens a cassette for each conversation, and finds the one that a request carries on.

    Raises CassetteError where the folder cannot be made.
    """

    def __init__(
        self,
        folder: Path,
        terms: RecordingOptions,
        *,
        tell: Callable[[str, ExchangeOutcome], None] | None = None,
    ) -> None:
        self._folder = folder
        self._terms = terms
        self._tell = tell
        self._threads = Conversations()
        self._reels: OrderedDict[str, CassetteFile] = OrderedDict()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            names = [_NUMBERED.fullmatch(path.name) for path in folder.iterdir()]
        except OSError as err:
            raise CassetteError(_reason(err), place=Place(str(folder))) from err
        self._highest = max((int(name[1]) for name in names if name), default=0)

    def begin_exchange(self, request: Request, came: float | None = None) -> RunningExchange:
        """Records a request that `came` then, by `perf_counter`; default: now.

        Raises CassetteError, OSError where it cannot be written.
        """
        turn = self._threads.preceding_exchange(request)
        known = self._reels.get(turn.file) if turn else None
        reel = known or self._opened(request)
        after = turn.number if turn and known else None
        return RunningExchange(reel.start_exchange(request, after, came=came), reel, request)

    def end_exchange(
        self, running: RunningExchange, how: Ending, note: str = ""
    ) -> ExchangeOutcome:
        """The exchange is over. Raises CassetteError, OSError where it cannot be written."""
        told = running.take.record_end(how, note)
        running.reel.finish_exchange()
        turn = ExchangePlace(str(running.reel.path), running.take.number)
        if told.status is not None and told.status < 300:
            self._threads.remember_request(running.request, turn)
            self._threads.remember_answer(running.take.start, turn)
        if self._tell:
            self._tell(running.reel.path.name, told)
        return told

    def close(self) -> None:
        """Every cassette is complete."""
        while self._reels:
            self._reels.popitem()[1].writer.close()

    def _opened(self, request: Request) -> CassetteFile:
        while True:
            self._highest += 1
            path = self._folder / f"{self._highest:04}-{_label(request.path)}.cassette.jsonl"
            if not path.exists():
                break
        reel = CassetteFile(path, self._terms, request, via="proxy")
        self._reels[str(path)] = reel
        self._close_idle()
        return reel

    def _close_idle(self) -> None:
        if len(self._reels) <= _MOST_OPEN:
            return
        idle = [name for name, reel in self._reels.items() if not reel.running]
        for name in idle[: _MOST_OPEN // 4]:
            self._reels.pop(name).writer.close()


def _header(terms: RecordingOptions, request: Request, via: str) -> Header:
    asked = request.json.get("model") if isinstance(request.json, dict) else None
    return Header(
        origin="live",
        dialect=dialect_at(request.path),
        profile=terms.profile,
        recorder={"name": "conformance", "version": __version__, "via": via},
        recorded_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        target=terms.target,
        model={"requested": asked} if isinstance(asked, str) else {},
    )


def _label(path: str) -> str:
    dialect = dialect_at(path)
    if dialect is not None:
        return ENDPOINTS[dialect].api
    plain = path.split("?", maxsplit=1)[0].rstrip("/")
    last = re.sub(r"[^a-z0-9]+", "-", plain.rsplit("/", 1)[-1].lower()).strip("-")
    # Ids in paths are long; they are nobody's business in a name.
    return last if 0 < len(last) <= 20 else "other"


def _reason(error: OSError) -> str:
    return f"cannot be written: {(error.strerror or str(error)).lower()}"
