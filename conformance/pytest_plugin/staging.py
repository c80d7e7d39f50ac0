"""The server that stands in for a model in one test: it replays, records, or does both.

Rule 1: what was not recorded is a miss; only the record modes `once` (without a recording),
`new_episodes`, `all` and `rewrite` ever ask the server that `url` names.
Rule 2: a miss fails the test even if the client swallowed it, and so does a recorded exchange that
nobody asked for, unless the test says `unused="ignore"`.
Rule 3: new recordings are kept whatever becomes of the test, but not if a request got no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from conformance.errors import UsageError
from conformance.pytest_plugin.background import running
from conformance.pytest_plugin.settings import Settings
from conformance.report.printable import visible
from conformance.report.wording import count
from conformance.targets.replay import Address, ReplayServer, Serving, serving

_SETTLES_S: Final = 1.0
_SHOWN: Final = 5
_VERSION: Final = re.compile(r"/v\d+[a-z0-9]*/?$")


class Replayed(Protocol):
    """What answers from recordings."""

    def unused(self) -> Sequence[Address]: ...


@dataclass
class Stage:
    """One test's server. `url` is where a client finds it, without `/v1`."""

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
    if isinstance(replayed, Serving):
        with suppress(TimeoutError):  # an answer that nobody reads is no miss
            replayed.settle(_SETTLES_S)
    if isinstance(replayed, ReplayServer):
        return [each.why for each in replayed.seen if each.outcome in ("refused", "rejected")]
    return list(getattr(replayed, "misses", ()))


@contextmanager
def staged(settings: Settings) -> Iterator[Stage]:
    """The test's server, running. Raises ConformanceError where it cannot be had."""
    if not _records(settings):
        with serving(settings.sources(), options=settings.replay) as server:
            yield Stage(settings, server.url, server)
        return
    with settings.shelved.beside() as fresh, ExitStack() as stack:
        stage = Stage(settings)
        stack.enter_context(_recording(settings, stage, fresh))
        yield stage
        stack.close()  # every recording is complete now
        if not stage.unanswered:
            _keep(settings, fresh)


def _records(settings: Settings) -> bool:
    match settings.mode:
        case "none":
            return False
        case "once":
            return not settings.sources()
        case "new_episodes":
            return settings.url is not None or not settings.sources()
        case _:
            return True


@contextmanager
def _recording(settings: Settings, stage: Stage, fresh: Path) -> Iterator[None]:
    # Most runs replay: they do not pay for the recorder.
    from conformance.pytest_plugin import episodes  # noqa: PLC0415
    from conformance.targets.recording import Origin, RecordingProxy, Shelf, Terms  # noqa: PLC0415

    if settings.url is None:
        hint = "--conformance-url URL, or url= of the marker"
        raise UsageError(f"recording ({settings.mode}) needs a server to record", hint=hint)
    profile = settings.profile
    named = None if profile is None or profile.endswith((".yaml", ".yml")) else profile
    terms = Terms(profile=named)
    upstream = Origin.parse(_VERSION.sub("", settings.url))

    def tell(_: str, told: object) -> None:
        stage.unanswered += _unanswered(told)

    shelf = Shelf(fresh, terms, tell=tell)
    sources = settings.sources()
    if settings.mode == "new_episodes" and sources:
        stage.replayed = ReplayServer(sources, options=settings.replay)
        proxy: RecordingProxy = episodes.Episodes(
            upstream,
            shelf,
            replayed=stage.replayed,
            known=episodes.Known(sources, settings.replay),
            scrap=Shelf(fresh / "scrap", terms),
            warn=stage.unrecorded.append,
        )
    else:
        proxy = RecordingProxy(upstream, shelf, warn=stage.unrecorded.append)
    with running(proxy):
        stage.url = proxy.url
        yield


def _keep(settings: Settings, fresh: Path) -> None:
    if settings.mode == "rewrite":
        settings.shelved.clear()
    elif settings.mode == "all":
        settings.shelved.drop_asked_again(fresh, settings.replay)
    settings.shelved.add(fresh)


def _unanswered(told: object) -> list[str]:
    from conformance.targets.recording import Told  # noqa: PLC0415  # see `_recording`

    if not isinstance(told, Told) or told.status is not None:
        return []
    asked = f"{told.request.method} {told.request.path}"
    why = told.note or told.end
    return [visible(f"{asked} got no answer, so nothing is recorded: {why}")]


def _near(path: Path) -> str:
    """The path from here, where it lies below."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
