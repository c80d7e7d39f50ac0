"""The lines of `codex exec --json`."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.codex_exec.agent import AGENT, REQUEST
from conformance.dialects.codex_exec.reader import NAME, VOCABULARY, ExecReader, recognises
from conformance.dialects.codex_exec.wire_keys import BOUNDS, WIRE_KEYS

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=ExecReader,
    recognises=recognises,
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
    tells_reasons=False,
)
