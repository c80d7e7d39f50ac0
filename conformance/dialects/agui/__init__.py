"""The Agent-User Interaction protocol."""

from __future__ import annotations

from typing import Final

from conformance.dialects.agui.reader import AguiReader
from conformance.dialects.agui.wire_keys import EVENTS, sent_at
from conformance.dialects.base import Dialect, facets

DIALECT: Final = Dialect(
    **facets(__name__, "wire_keys", "requests"),
    reader=AguiReader,
    columns=EVENTS.columns(sent_at),
    is_application=True,
    unit="run",
    takes_back=frozenset({"MESSAGES_SNAPSHOT"}),
    tells_reasons=False,
)
