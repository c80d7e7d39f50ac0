"""The lines of `copilot --output-format json`, which are events of a session of its SDK."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.copilot_cli.reader import SessionReader, recognises
from conformance.dialects.copilot_cli.vocabulary import (
    COLUMNS,
    EVENTS,
    NAME,
    VOCABULARY,
    WIRE_KEYS,
)

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=SessionReader,
    recognises=recognises,
    framing="lines",
    columns=COLUMNS,
    keys=WIRE_KEYS,
    bounds=EVENTS.bounds(),
    is_application=True,
    takes_back=frozenset({"assistant.turn_retry"}),
    tells_reasons=False,
    unit="run",
)
