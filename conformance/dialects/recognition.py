"""Which dialect a recorded exchange speaks, by what its first frames show."""

from __future__ import annotations

from itertools import islice
from typing import Final

from conformance.core.events import STREAMED, Exchange
from conformance.core.framing import exchange_frames
from conformance.core.json_values import NOT_JSON
from conformance.core.trace import frame_payload
from conformance.dialects import REFINED, recognise

FRAMES_TO_RECOGNISE: Final = 64


def recognised_dialect(exchange: Exchange) -> str | None:
    """The dialect that the first frames show, also one that is not supported yet.

    Where another dialect refines it, a later frame may show that it is this one.
    """
    shown, mark = None, ""
    for frame, _ in islice(exchange_frames(exchange), FRAMES_TO_RECOGNISE):
        if mark not in frame.data or (frame.kind not in STREAMED and frame.kind != "body"):
            continue
        payload = frame_payload(frame)
        name = None if payload is NOT_JSON else recognise(frame, payload)
        if name is not None and name != shown:
            finer = REFINED.get(name)
            if finer is None or finer.refines is None:
                return name
            shown, mark = name, finer.refines.mark
            if mark.encode() not in exchange.body:
                return shown  # no frame has it either
    return shown
