"""What stands in for a model in one test, a server or a transport: it replays, records, or both.

Rule 1: what was not recorded is a miss; only the record modes `once` (without a recording),
`new_episodes`, `all` and `rewrite` ever ask the server that `url` names.
Rule 2: new recordings are kept whatever becomes of the test, but not if a request got no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.core.errors import UsageError
from conformance.pytest_plugin.background import running
from conformance.pytest_plugin.options import ASGI
from conformance.pytest_plugin.settings import Settings
from conformance.pytest_plugin.stage import Stage
from conformance.targets.replay import ReplayServer, serving

if TYPE_CHECKING:  # most runs replay: they do not pay for the recorder, nor for httpx
    from conformance.pytest_plugin.transport import Transport
    from conformance.targets.recording import RecordingFolder, RecordingProxy

_VERSION: Final = re.compile(r"/v\d+[a-z0-9]*/?$")


@contextmanager
def staged(settings: Settings) -> Iterator[Stage]:
    """The test's server, running. Raises ConformanceError where it cannot be had."""
    if not records(settings):
        with serving(settings.sources(), options=settings.replay) as server:
            yield Stage(settings, server.url, server)
        return
    with _recording(settings) as (stage, shelf), running(_proxy(stage, shelf)) as proxy:
        stage.url = proxy.url
        yield stage


@contextmanager
def staged_inside(settings: Settings) -> Iterator[tuple[Stage, Transport]]:
    """As `staged`, for clients in this process: a transport in the place of a URL."""
    from conformance.pytest_plugin.transport import ReplayTransport  # noqa: PLC0415  # httpx

    if not records(settings):
        replayed = ReplayTransport(settings.sources(), settings.replay)
        yield Stage(settings, replayed=replayed), replayed
        return
    from conformance.pytest_plugin.recorder import recorder  # noqa: PLC0415

    with _recording(settings) as (stage, shelf):
        url = _VERSION.sub("", settings.url or "")
        with running(recorder(url, shelf, stage.fail)) as portal:
            if settings.mode == "new_episodes":
                replayed = ReplayTransport(settings.sources(), settings.replay, onward=portal)
                stage.replayed = replayed
                yield stage, replayed
            else:
                yield stage, portal


def records(settings: Settings) -> bool:
    """Whether the server that `url` names is asked, as far as is known before."""
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
def _recording(settings: Settings) -> Iterator[tuple[Stage, RecordingFolder]]:
    """Where to record; it takes its place when every recording is complete."""
    from conformance.targets.recording import RecordingFolder, RecordingOptions  # noqa: PLC0415

    if settings.url is None:
        hint = "--conformance-url URL, or url= of the marker"
        raise UsageError(f"recording ({settings.mode}) needs a server to record", hint=hint)
    profile = settings.profile
    named = None if profile is None or profile.endswith((".yaml", ".yml")) else profile
    stage = Stage(settings)
    with settings.shelved.beside() as fresh:
        shelf = RecordingFolder(fresh, RecordingOptions(profile=named), tell=stage.tell)
        try:
            yield stage, shelf
        finally:
            shelf.close()
        if not stage.unanswered:
            _keep(settings, fresh)


def _proxy(stage: Stage, shelf: RecordingFolder) -> AbstractAsyncContextManager[RecordingProxy]:
    from conformance.pytest_plugin import episodes  # noqa: PLC0415
    from conformance.targets.recording import Origin, RecordingProxy  # noqa: PLC0415

    settings = stage.settings
    url = settings.url or ""
    if url.startswith(ASGI):
        hint = "conformance_transport does, without a port"
        raise UsageError("conformance_server records no application of this process", hint=hint)
    upstream = Origin.parse(_VERSION.sub("", url))
    warn = stage.unrecorded.append
    sources = settings.sources()
    if settings.mode != "new_episodes" or not sources:
        return RecordingProxy(upstream, shelf, warn=warn)
    stage.replayed = ReplayServer(sources, options=settings.replay)
    known = episodes.Known(sources, settings.replay)
    return episodes.episodes(upstream, shelf, replayed=stage.replayed, known=known, warn=warn)


def _keep(settings: Settings, fresh: Path) -> None:
    if settings.mode == "rewrite":
        settings.shelved.clear()
    elif settings.mode == "all":
        settings.shelved.drop_asked_again(fresh, settings.replay)
    settings.shelved.add(fresh)
