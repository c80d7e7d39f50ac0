"""Which fields of a delta or message carry thinking, opaque data and text.

Rule 1: thinking is read from one carrier; mirrors of it are never summed. In order: the profile's
        own fields, `reasoning_content`, `reasoning`, `reasoning_text`, `reasoning_details`,
        thinking parts of `content`, `thinking_blocks`.
Rule 2: details of type `reasoning.summary` make the thinking a summary, whoever carries its text.
Rule 3: a piece of opaque data is said once per delta, however many fields mirror it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from conformance.core.json_values import text_at
from conformance.dialects.blocks import Channel
from conformance.dialects.json_edge import objects, string

Fields = Mapping[str, tuple[str, ...]]
PartKind = Literal["thinking", "closed", "end", "text"]
Part = tuple[PartKind, str]
"""A stretch of `content`; `closed` says that the thinking before it is, `end` ends it at once."""

STRING_CARRIERS: Final = ("reasoning_content", "reasoning", "reasoning_text")

_OPAQUE_CARRIERS: Final = frozenset({"reasoning_opaque", "reasoning_details", "thinking_blocks"})
# Mistral nests texts in a thinking part; LiteLLM's providers send either with a text.
_THOUGHTS: Final = ("thinking", "reasoning")  # a tuple: a type may be no hashable value
DETAIL_TEXT: Final = {"reasoning.text": "text", "reasoning.summary": "summary"}


def thinking(delta: dict[str, Any], fields: Fields) -> tuple[Channel, str]:
    """Channel and text of the thinking outside `content`; the text is empty if there is none."""
    details = objects(delta.get("reasoning_details")) if "reasoning_details" in delta else []
    channel: Channel = "summary" if details and _only_summaries(details) else "raw"
    for path in fields.get("thinking", ()):
        if text := text_at(delta, *path.split(".")):
            return channel, text
    for name in STRING_CARRIERS:
        if text := string(delta.get(name)):
            return channel, text
    return channel, "".join(map(_detail_text, details))


def mirrored_thinking(delta: dict[str, Any]) -> str:
    """Thinking of LiteLLM's `thinking_blocks`, where nothing else carries it."""
    blocks = objects(delta.get("thinking_blocks"))
    return "".join(string(block.get("thinking")) for block in blocks)


def opaque(delta: dict[str, Any], fields: Fields) -> list[tuple[str, str]]:
    """(kind, data) of everything that is never displayed, each once."""
    if not fields and _OPAQUE_CARRIERS.isdisjoint(delta):
        return []
    found: dict[tuple[str, str], None] = {}
    for path in (*fields.get("opaque", ()), "reasoning_opaque"):
        found["encrypted", text_at(delta, *path.split("."))] = None
    for detail in objects(delta.get("reasoning_details")):
        if detail.get("type") == "reasoning.encrypted":
            found["encrypted", string(detail.get("data"))] = None
        found["signature", string(detail.get("signature"))] = None
    for block in objects(delta.get("thinking_blocks")):
        found["signature", string(block.get("signature"))] = None
        if block.get("type") == "redacted_thinking":
            found["redacted", string(block.get("data"))] = None
    return [(kind, data) for kind, data in found if data]


def content(delta: dict[str, Any], fields: Fields) -> list[Part]:
    """Parts of the visible content in wire order; a plain string is one part of text."""
    for path in fields.get("text", ()):
        if text := text_at(delta, *path.split(".")):
            return [("text", text)]
    value = delta.get("content")
    if isinstance(value, str):
        return [("text", value)] if value else []
    if not isinstance(value, list):
        return []
    return [part for element in value for part in _content_parts(element)]


def _content_parts(element: Any) -> list[Part]:
    if isinstance(element, str):
        return [("text", element)] if element else []
    if not isinstance(element, dict):
        return []
    if element.get("type") in _THOUGHTS:
        return _thinking_parts(element)
    text = string(element.get("text"))
    return [("text", text)] if text else []


def _thinking_parts(part: dict[str, Any]) -> list[Part]:
    value = part.get("thinking")
    pieces = "".join(string(piece.get("text")) for piece in objects(value))
    text = string(value) or pieces or string(part.get("text"))
    if text:
        said: list[Part] = [("thinking", text)]
        return [*said, ("closed", "")] if part.get("closed") is True else said
    return [("end", "")] if value == [] else []


def _only_summaries(details: list[dict[str, Any]]) -> bool:
    kinds = {string(detail.get("type")) for detail in details if _detail_text(detail)}
    return kinds == {"reasoning.summary"}


def _detail_text(detail: dict[str, Any]) -> str:
    field = DETAIL_TEXT.get(string(detail.get("type")))
    return string(detail.get(field)) if field is not None else ""
