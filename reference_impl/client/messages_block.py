"""What the content blocks of an Anthropic message say.

A delta says by its own type what it is, whatever its block was announced as.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .content_blocks import ContentBlock
from .payload import text_of

HOSTED: Final = frozenset({"server_tool_use", "mcp_tool_use"})
CALLS: Final = HOSTED | {"tool_use"}


def start(block: ContentBlock, given: Mapping[str, Any]) -> None:
    """Begin what the start announces, with what it holds already."""
    kind = text_of(given.get("type"))
    if kind == "thinking":
        block.open()
        block.think(text_of(given.get("thinking")))
        block.seal("signature", text_of(given.get("signature")))
        block.said(text_of(given.get("thinking")))
    elif kind == "redacted_thinking":
        block.seal("redacted", text_of(given.get("data")))
    elif kind == "text":
        block.say(text_of(given.get("text")))
        block.said(text_of(given.get("text")))
    elif kind in CALLS:
        named = (text_of(given.get("id")), text_of(given.get("name")))
        block.call(*named, given.get("input"), hosted=kind in HOSTED)


def whole(block: ContentBlock, given: Mapping[str, Any]) -> None:
    """Tell a block that is complete: its opaque data comes after its end."""
    signature = text_of(given.get("signature")) if given.get("type") == "thinking" else ""
    start(block, {**given, "signature": None})
    block.stop()
    block.seal("signature", signature)


def delta(block: ContentBlock, given: Mapping[str, Any]) -> None:
    """Tell what a delta adds."""
    kind = text_of(given.get("type"))
    if kind == "thinking_delta":
        block.think(text_of(given.get("thinking")))
    elif kind == "text_delta":
        block.say(text_of(given.get("text")))
    elif kind == "signature_delta":
        block.seal("signature", text_of(given.get("signature")))
    elif kind == "input_json_delta":
        block.argue(text_of(given.get("partial_json")))
