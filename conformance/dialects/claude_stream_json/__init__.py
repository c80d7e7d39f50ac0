"""The stream of Claude Code, `--output-format stream-json`."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.claude_stream_json.agent import AGENT, REQUEST
from conformance.dialects.claude_stream_json.columns import delta_columns
from conformance.dialects.claude_stream_json.reader import (
    NAME,
    VOCABULARY,
    StreamJsonReader,
    recognises,
)
from conformance.dialects.claude_stream_json.wire_keys import WIRE_KEYS

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=StreamJsonReader,
    recognises=recognises,
    columns=delta_columns,
    framing="lines",
    keys=WIRE_KEYS,
    request=REQUEST,
    is_application=True,
    agent=AGENT,
    unit="turn",
    takes_back=frozenset({"message_start"}),
)
