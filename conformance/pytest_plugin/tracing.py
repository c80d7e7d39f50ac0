"""The fixture `conformance_trace`."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.core.errors import ConformanceError
from conformance.pytest_plugin import vcr
from conformance.pytest_plugin.options import display_path
from conformance.pytest_plugin.responses import aexchange_of, is_response
from conformance.pytest_plugin.settings import ReplaySettings
from conformance.pytest_plugin.trace import Source, Trace, trace_of


class Tracer:
    """Call it with an httpx response, the path of a recording, or the bytes of a body.

    An open response is read, chunk by chunk; of an asynchronous one `aread` makes a trace. Relative
    paths begin at the test's file.
    """

    def __init__(self, settings: ReplaySettings, request: pytest.FixtureRequest) -> None:
        self._settings = settings
        self._request = request

    def __call__(
        self, source: Source, *, dialect: str | None = None, profile: str | None = None
    ) -> Trace:
        __tracebackhide__ = True
        if isinstance(source, str | Path):
            source = display_path(self._request.path.parent / source, self._request.config)
        return self._trace(source, dialect, profile)

    async def aread(
        self, response: Any, *, dialect: str | None = None, profile: str | None = None
    ) -> Trace:
        """The trace of a response of an asynchronous client, read here."""
        return self._trace(response, dialect, profile, await aexchange_of(response))

    def _trace(
        self,
        source: Source,
        dialect: str | None,
        profile: str | None,
        exchange: Any = None,
    ) -> Trace:
        flattened = is_response(source) and vcr.is_active()
        if flattened:
            warnings.warn(vcr.FlattenedWarning(vcr.FLATTENED), stacklevel=3)
        settings = self._settings
        __tracebackhide__ = True  # the test's own line says where
        try:
            trace = trace_of(
                source if exchange is None else exchange,
                dialect=dialect or settings.dialect,
                profile=profile or settings.profile,
                folder=None if isinstance(source, Path) else self._folder(),
                fidelity="text" if flattened else "bytes",
                notes=(vcr.FLATTENED,) if flattened else (),
            )
        except ConformanceError as err:
            raise err.with_traceback(None) from None
        exercised = settings.require_exercised
        return replace(trace, strict=settings.strict, require_exercised=exercised)

    def _folder(self) -> Path:
        path = self._request.getfixturevalue("tmp_path")
        assert isinstance(path, Path)
        return path
