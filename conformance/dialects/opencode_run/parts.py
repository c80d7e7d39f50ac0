"""The parts of a run of opencode, as a client shows them."""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.json_edge import arguments_text, mapping, string, whole
from conformance.dialects.open_parts import OpenParts, PartKind

OVERFLOW: Final = "opencode.run.overflow"
REASONS: Final = {"content-filter": "content_filter"}


def step_tokens(tokens: dict[str, Any]) -> dict[str, int]:
    """What a step counted, in the words of all dialects.

    Its `output` is without reasoning, its `input` without what was read from the cache or written
    to it; both are with it here.
    """
    cached = mapping(tokens.get("cache"))
    counts = {}
    for name, counted in (
        ("input", (tokens.get("input"), cached.get("read"), cached.get("write"))),
        ("output", (tokens.get("output"), tokens.get("reasoning"))),
        ("reasoning", (tokens.get("reasoning"),)),
    ):
        if known := [n for each in counted if (n := whole(each)) is not None]:
            counts[name] = sum(known)
    return counts


def stated_error(error: dict[str, Any], choice: int = 0) -> dict[str, Any]:
    """Data of `error` from what a session says went wrong."""
    data = mapping(error.get("data"))
    code, message = string(error.get("name")), string(data.get("message"))
    error_fields: dict[str, Any] = {"choice": choice, "code": code, "message": message}
    status = whole(data.get("statusCode"))
    return error_fields if status is None else {**error_fields, "status": status}


class RunParts(OpenParts):
    """The parts of one run; each comes whole."""

    overflow = OVERFLOW

    def take_text(self, kind: PartKind, part: dict[str, Any]) -> None:
        block = self._new_block(kind, string(part.get("id")), explicit=True)
        if text := string(part.get("text")):
            if block.channel is None:
                self._blocks.text(block, text)
            else:
                self._blocks.thought(block, block.channel, text)
        self._blocks.close(block, explicit=True)

    def take_tool(self, part: dict[str, Any]) -> None:
        """A call of a tool, carried out or failed."""
        call_id, name = string(part.get("callID")), string(part.get("tool"))
        call = self._start_call(call_id, name, is_hosted=True)
        if call is None:
            return
        if text := arguments_text(mapping(part.get("state")).get("input")):
            call.add(self._sink, text)
        self._end_open_call(call_id)
