"""The Agent Client Protocol."""

from __future__ import annotations

from typing import Final

from conformance.dialects.acp.agent import AGENT, REQUEST
from conformance.dialects.acp.columns import chunk_columns
from conformance.dialects.acp.reader import NAME, VOCABULARY, AcpReader, recognises
from conformance.dialects.acp.wire_keys import BOUNDS, WIRE_KEYS
from conformance.dialects.base import Dialect

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=AcpReader,
    recognises=recognises,
    columns=chunk_columns,
    framing="lines",
    keys=WIRE_KEYS,
    bounds=BOUNDS,
    request=REQUEST,
    is_application=True,
    agent=AGENT,
    carries_opaque=False,
    names_tools=False,
    tells_parts=False,
    unit="turn",
)
