"""The stream of Claude Code, `--output-format stream-json`."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.claude_stream_json.agent import AGENT, REQUEST
from conformance.dialects.claude_stream_json.reader import (
    NAME,
    VOCABULARY,
    StreamJsonReader,
    recognises,
)
from conformance.dialects.claude_stream_json.wire_keys import RUN, WIRE_KEYS, line_id

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=StreamJsonReader,
    recognises=recognises,
    columns=RUN.columns(line_id, {"content_block_delta": "event"}),
    framing="lines",
    keys=WIRE_KEYS,
    request=REQUEST,
    is_application=True,
    agent=AGENT,
    unit="turn",
    takes_back=frozenset({"message_start"}),
)
