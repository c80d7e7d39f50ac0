"""The lines of `copilot --output-format json`, which are events of a session of its SDK."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect, facets
from conformance.dialects.copilot_cli.reader import SessionReader
from conformance.dialects.copilot_cli.vocabulary import EVENTS

DIALECT: Final = Dialect(
    **facets(__name__, "vocabulary"),
    reader=SessionReader,
    framing="lines",
    bounds=EVENTS.bounds(),
    is_application=True,
    takes_back=frozenset({"assistant.turn_retry"}),
    tells_reasons=False,
    unit="run",
)
