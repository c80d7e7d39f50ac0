"""What answers in one test, and why the test cannot stand.

A miss fails the test even if the client swallowed it, and so does a recorded exchange that nobody
asked for, unless the test says `unused="ignore"`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from conformance.core.errors import ConformanceError
from conformance.pytest_plugin.settings import Settings
from conformance.report.printable import visible
from conformance.report.wording import count
from conformance.targets.replay import ExchangeAddress, ReplayServer, ThreadedServer

if TYPE_CHECKING:  # most runs replay: they do not pay for the recorder
    from conformance.targets.recording import ExchangeOutcome

_SETTLES_S: Final = 1.0
_SHOWN: Final = 5


class Replayed(Protocol):
    """What answers from recordings."""

    def unused(self) -> Sequence[ExchangeAddress]: ...


@dataclass
class Stage:
    """What answers in one test. `url` is where a client finds a server, without `/v1`."""

    settings: Settings
    url: str = ""
    replayed: Replayed | None = None
    unanswered: list[str] = field(default_factory=list)
    unrecorded: list[str] = field(default_factory=list)

    def problems(self, *, passed: bool) -> list[str]:
        """Why the test cannot stand, a line each. What a failed test left unused says nothing."""
        return [
            *(f"miss: {why}" for why in self._misses()),
            *self.unanswered,
            *self.unrecorded,
            *(self._unused() if passed and self.settings.fails_unused else ()),
        ]

    def tell(self, _: str, told: ExchangeOutcome) -> None:
        """Takes what became of a request that was recorded."""
        if told.status is None:
            asked = f"{told.request.method} {told.request.path}"
            why = told.note or told.end
            self.unanswered.append(visible(f"{asked} got no answer, so nothing is recorded: {why}"))

    def fail(self, error: BaseException) -> None:
        """Takes what kept a request from being recorded."""
        text = str(error) if isinstance(error, ConformanceError) else f"{error!r}"
        self.unrecorded.append(f"not recorded: {text}")

    def _misses(self) -> list[str]:
        why = _missed(self.replayed)
        shown = [visible(line) for line in why[:_SHOWN]]
        more = [f"and {count(len(why) - _SHOWN, 'more miss')}"] if why[_SHOWN:] else []
        return [*shown, *more, *([self._how_to_record()] if why else [])]

    def _how_to_record(self) -> str:
        """What helps after a miss; nothing ever goes live by itself."""
        settings = self.settings
        if not settings.sources():
            how = "--conformance-record once --conformance-url URL records it"
            return f"{_near(settings.shelved.path)} holds no recording: {how}"
        return "--conformance-record rewrite (or new_episodes) --conformance-url URL records it"

    def _unused(self) -> list[str]:
        left = self.replayed.unused() if self.replayed else ()
        if not left:
            return []
        names = ", ".join(visible(str(each)) for each in left[:_SHOWN])
        more = f" and {len(left) - _SHOWN} more" if left[_SHOWN:] else ""
        hint = 'unused="ignore" allows it, --conformance-record rewrite records anew'
        return [f"never asked for: {names}{more} ({hint})"]


def _missed(replayed: Replayed | None) -> list[str]:
    if isinstance(replayed, ThreadedServer):
        with suppress(TimeoutError):  # an answer that nobody reads is no miss
            replayed.settle(_SETTLES_S)
    if isinstance(replayed, ReplayServer):
        return [each.why for each in replayed.seen if each.outcome in ("refused", "rejected")]
    return list(getattr(replayed, "misses", ()))


def _near(path: Path) -> str:
    """The path from here, where it lies below."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
