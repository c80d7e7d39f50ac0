"""Which dialect a recorded exchange speaks, by what its first frames show."""

from __future__ import annotations

from itertools import islice
from typing import Final

from conformance.core.events import STREAMED, Exchange
from conformance.core.framing import exchange_frames
from conformance.core.json_values import NOT_JSON
from conformance.core.trace import frame_payload
from conformance.dialects import recognise

FRAMES_TO_RECOGNISE: Final = 64


def recognised_dialect(exchange: Exchange) -> str | None:
    """The dialect that the first frames show, also one that is not supported yet."""
    for frame, _ in islice(exchange_frames(exchange), FRAMES_TO_RECOGNISE):
        if frame.kind in STREAMED or frame.kind == "body":
            payload = frame_payload(frame)
            name = None if payload is NOT_JSON else recognise(frame, payload)
            if name is not None:
                return name
    return None
