"""The Agent-User Interaction protocol."""

from __future__ import annotations

from typing import Final

from conformance.dialects.agui.reader import NAME, VOCABULARY, AguiReader, recognises
from conformance.dialects.agui.requests import REQUEST, TURNS
from conformance.dialects.agui.wire_keys import BOUNDS, EVENTS, WIRE_KEYS, sent_at
from conformance.dialects.base import Dialect

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=AguiReader,
    recognises=recognises,
    columns=EVENTS.columns(sent_at),
    keys=WIRE_KEYS,
    bounds=BOUNDS,
    request=REQUEST,
    turns=TURNS,
    is_application=True,
    unit="run",
    takes_back=frozenset({"MESSAGES_SNAPSHOT"}),
    tells_reasons=False,
)
