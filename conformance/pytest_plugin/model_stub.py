"""What stands in for a model in one test, a server or a transport: it replays, records, or both.

Rule 1: what was not recorded is a miss; only the record modes `once` (without a recording),
`new_episodes`, `all` and `rewrite` ever ask the server that `url` names.
Rule 2: new recordings are kept whatever becomes of the test, but not if a request got no answer.
Rule 3: a miss fails the test even if the client swallowed it, and so does a recorded exchange that
were never requested, unless the test says `unused="ignore"`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from conformance.core.errors import ConformanceError, UsageError
from conformance.pytest_plugin.options import ASGI
from conformance.pytest_plugin.settings import ReplaySettings
from conformance.report.printable import visible
from conformance.report.wording import count
from conformance.targets.replay import ExchangeAddress, ReplayServer, ThreadedServer, serving
from conformance.targets.replay.matching import ExchangeIndex, ReplaySession
from conformance.targets.replay.tape import load_exchanges
from conformance.wire.server import running_in_thread

if TYPE_CHECKING:  # most runs replay: they do not pay for the recorder, nor for httpx
    from conformance.pytest_plugin.transport import Transport
    from conformance.targets.recording import ExchangeOutcome, RecordingFolder, RecordingProxy

_VERSION: Final = re.compile(r"/v\d+[a-z0-9]*/?$")
_SETTLES_S: Final = 1.0
_SHOWN: Final = 5


class ReplaySource(Protocol):
    """A server or transport that answers from recordings."""

    def unused(self) -> Sequence[ExchangeAddress]: ...


@dataclass
class ModelStub:
    """The model of one test: at `url`, without `/v1`, or through `transport`."""

    settings: ReplaySettings
    url: str = ""
    transport: Transport | None = None
    replayed: ReplaySource | None = None
    unanswered: list[str] = field(default_factory=list)
    unrecorded: list[str] = field(default_factory=list)

    def problems(self, *, passed: bool) -> list[str]:
        """Why the test cannot stand, a line each. What a failed test left unused says nothing."""
        return [
            *(f"miss: {why}" for why in self._miss_lines()),
            *self.unanswered,
            *self.unrecorded,
            *(self._unused_lines() if passed and self.settings.fails_unused else ()),
        ]

    def note_recorded(self, _: str, outcome: ExchangeOutcome) -> None:
        """Takes what became of a request that was recorded."""
        if outcome.status is None:
            request = f"{outcome.method} {outcome.path}"
            why = outcome.note or outcome.end
            line = f"{request} got no answer, so nothing is recorded: {why}"
            self.unanswered.append(visible(line))

    def note_failure(self, error: BaseException) -> None:
        """Takes what kept a request from being recorded."""
        text = str(error) if isinstance(error, ConformanceError) else f"{error!r}"
        self.unrecorded.append(f"not recorded: {text}")

    def _miss_lines(self) -> list[str]:
        why = _missed_requests(self.replayed)
        shown = [visible(line) for line in why[:_SHOWN]]
        more = [f"and {count(len(why) - _SHOWN, 'more miss')}"] if why[_SHOWN:] else []
        return [*shown, *more, *([self._recording_hint()] if why else [])]

    def _recording_hint(self) -> str:
        """Return the hint after a miss; nothing ever goes live by itself."""
        settings = self.settings
        path, here = settings.folder.path, Path.cwd()
        shown = path.relative_to(here) if path.is_relative_to(here) else path
        if not settings.sources():
            how = "--conformance-record once --conformance-url URL records it"
            return f"{shown} holds no recording: {how}"
        if settings.cassettes:
            how = f"--conformance-record new_episodes --conformance-url URL adds it to {shown}"
            return f"what the marker names is only read: {how}"
        return "--conformance-record rewrite (or new_episodes) --conformance-url URL records it"

    def _unused_lines(self) -> list[str]:
        left = self.replayed.unused() if self.replayed else ()
        if not left:
            return []
        names = ", ".join(visible(str(each)) for each in left[:_SHOWN])
        more = f" and {len(left) - _SHOWN} more" if left[_SHOWN:] else ""
        hint = 'unused="ignore" allows it, --conformance-record rewrite records anew'
        return [f"never requested: {names}{more} ({hint})"]


def _missed_requests(replayed: ReplaySource | None) -> list[str]:
    if isinstance(replayed, ThreadedServer):
        with suppress(TimeoutError):  # an answer that is not read is no miss
            replayed.settle(_SETTLES_S)
    if isinstance(replayed, ReplayServer):
        return [each.why for each in replayed.seen if each.outcome in ("refused", "rejected")]
    return list(getattr(replayed, "misses", ()))


@contextmanager
def served_stub(settings: ReplaySettings) -> Iterator[ModelStub]:
    """The test's server, running. Raises ConformanceError where it cannot be had."""
    if not may_record(settings):
        with serving(settings.sources(), options=settings.replay) as server:
            yield ModelStub(settings, server.url, replayed=server)
        return
    with (
        _recording_folder(settings) as (stub, shelf),
        running_in_thread(_recording_proxy(stub, shelf)) as proxy,
    ):
        stub.url = proxy.url
        yield stub


@contextmanager
def transport_stub(settings: ReplaySettings) -> Iterator[ModelStub]:
    """As `served_stub`, for clients in this process: a transport in the place of a URL."""
    from conformance.pytest_plugin.transport import ReplayTransport  # noqa: PLC0415  # httpx

    if not may_record(settings):
        replayed = ReplayTransport(settings.sources(), settings.replay)
        yield ModelStub(settings, transport=replayed, replayed=replayed)
        return
    from conformance.pytest_plugin import recording  # noqa: PLC0415

    with _recording_folder(settings) as (stub, shelf):
        url = _VERSION.sub("", settings.url or "")
        recorded = recording.recording_transport(url, shelf, stub.note_failure)
        with running_in_thread(recorded) as portal:
            stub.transport = portal
            if settings.mode == "new_episodes":
                stub.transport = stub.replayed = ReplayTransport(
                    settings.sources(), settings.replay, onward=portal
                )
            yield stub


def may_record(settings: ReplaySettings) -> bool:
    """Whether the request will go to the server that `url` names, as far as is known before."""
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
def _recording_folder(settings: ReplaySettings) -> Iterator[tuple[ModelStub, RecordingFolder]]:
    """Where to record; it takes its place when every recording is complete."""
    from conformance.targets.recording import RecordingFolder, RecordingOptions  # noqa: PLC0415

    if settings.url is None:
        hint = "--conformance-url URL, or url= of the marker"
        raise UsageError(f"recording ({settings.mode}) needs a server to record", hint=hint)
    profile = settings.profile
    named = None if profile is None or profile.endswith((".yaml", ".yml")) else profile
    stub = ModelStub(settings)
    with settings.folder.temporary_sibling() as fresh:
        shelf = RecordingFolder(fresh, RecordingOptions(profile=named), tell=stub.note_recorded)
        try:
            yield stub, shelf
        finally:
            shelf.close()
        if not stub.unanswered:
            _keep_recordings(settings, fresh)


def _recording_proxy(
    stub: ModelStub, shelf: RecordingFolder
) -> AbstractAsyncContextManager[RecordingProxy]:
    from conformance.pytest_plugin import recording  # noqa: PLC0415
    from conformance.targets.recording import Origin, RecordingProxy  # noqa: PLC0415

    settings = stub.settings
    url = settings.url or ""
    if url.startswith(ASGI):
        hint = "conformance_transport does, without a port"
        raise UsageError("conformance_server records no application of this process", hint=hint)
    upstream = Origin.parse(_VERSION.sub("", url))
    warn = stub.unrecorded.append
    sources = settings.sources()
    if settings.mode != "new_episodes" or not sources:
        return RecordingProxy(upstream, shelf, warn=warn)
    stub.replayed = ReplayServer(sources, options=settings.replay)
    session = ReplaySession(ExchangeIndex(load_exchanges(sources), settings.replay))
    return recording.recording_new_episodes(
        upstream, shelf, replayed=stub.replayed, session=session, warn=warn
    )


def _keep_recordings(settings: ReplaySettings, fresh: Path) -> None:
    if settings.mode == "rewrite":
        settings.folder.clear()
    elif settings.mode == "all":
        settings.folder.drop_recorded_again(fresh, settings.replay)
    settings.folder.add(fresh)
