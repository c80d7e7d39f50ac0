"""The app server of Codex."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.codex_app_server.agent import AGENT, REQUEST
from conformance.dialects.codex_app_server.columns import delta_columns
from conformance.dialects.codex_app_server.reader import (
    NAME,
    VOCABULARY,
    AppServerReader,
    recognises,
)
from conformance.dialects.codex_app_server.wire_keys import BOUNDS, WIRE_KEYS

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=AppServerReader,
    recognises=recognises,
    columns=delta_columns,
    framing="lines",
    keys=WIRE_KEYS,
    bounds=BOUNDS,
    request=REQUEST,
    is_application=True,
    agent=AGENT,
    carries_opaque=False,
    names_tools=False,
    unit="turn",
    tells_reasons=False,
)
