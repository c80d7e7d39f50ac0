"""Which fields of a delta or message carry thinking, opaque data and text.

Rule 1: thinking is read from one carrier; mirrors of it are never summed. In order: the profile's
        own fields, `reasoning_content`, `reasoning`, `reasoning_text`, `reasoning_details`,
        thinking parts of `content`, `thinking_blocks`.
Rule 2: details of type `reasoning.summary` make the thinking a summary, whoever carries its text.
Rule 3: a piece of opaque data is reported once per delta, however many fields mirror it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from conformance.core.json_values import text_at
from conformance.dialects.blocks import Channel
from conformance.dialects.json_edge import objects, string

Fields = Mapping[str, tuple[str, ...]]
Opaque = tuple[str, str]
"""Kind and data of what is never displayed."""
PartKind = Literal["thinking", "signature", "closed", "end", "text"]
Part = tuple[PartKind, str]
"""A stretch of `content`; `closed` says that the thinking before it is, `end` ends it at once.

A signature is that of the thinking before it.
"""

TOOL_CARRIERS: Final = frozenset({"tool_calls", "function_call"})
STRING_CARRIERS: Final = ("reasoning_content", "reasoning", "reasoning_text")

TEXT_CARRIERS: Final = frozenset({"content", *STRING_CARRIERS, "refusal"})
_OPAQUE_CARRIERS: Final = frozenset({"reasoning_opaque", "thinking_blocks"})
_CARRIERS: Final = frozenset(
    {*TEXT_CARRIERS, *_OPAQUE_CARRIERS, "reasoning_details", *TOOL_CARRIERS}
)  # fields that say something to a client, besides private ones
# Mistral nests texts in a thinking part, Databricks those of a summary in a reasoning part;
# LiteLLM's providers send either with a text.
_THOUGHTS: Final = ("thinking", "reasoning")  # a tuple: a type may be no hashable value
DETAIL_TEXT: Final = {"reasoning.text": "text", "reasoning.summary": "summary"}


def only_carrier(delta: dict[str, Any]) -> str:
    """The one field of a delta that says something; empty where there is none, or are several."""
    found = ""
    for name, value in delta.items():
        if value and name in _CARRIERS:
            if found:
                return ""
            found = name
    return found


def carriers(delta: dict[str, Any]) -> dict[str, Any]:
    """The fields of a delta that say something, as far as they are not private."""
    return {name: value for name, value in delta.items() if value and name in _CARRIERS}


def thinking(delta: dict[str, Any], fields: Fields) -> tuple[Channel, str, list[Opaque]]:
    """Channel and text of the thinking outside `content`, and opaque data next to it in details.

    The text is empty if there is none.
    """
    channel: Channel = "raw"
    text, hidden = "", list[Opaque]()
    if "reasoning_details" in delta:
        channel, text, hidden = _read_details(objects(delta["reasoning_details"]))
    return channel, _own_field(delta, fields) or text, hidden


def _own_field(delta: dict[str, Any], fields: Fields) -> str:
    """Thinking in a separate field; empty if there is none."""
    if fields:
        for path in fields.get("thinking", ()):
            if text := text_at(delta, *path.split(".")):
                return text
    for name in STRING_CARRIERS:
        if name in delta and (text := string(delta[name])):
            return text
    return ""


def _read_details(details: list[dict[str, Any]]) -> tuple[Channel, str, list[Opaque]]:
    """Channel (rule 2), text and opaque data."""
    texts: list[str] = []
    hidden: list[Opaque] = []
    summaries = 0
    for detail in details:
        kind = string(detail.get("type"))
        if kind in DETAIL_TEXT and (text := string(detail.get(DETAIL_TEXT[kind]))):
            texts.append(text)
            summaries += kind == "reasoning.summary"
        elif kind == "reasoning.encrypted":
            hidden.append(("encrypted", string(detail.get("data"))))
        if "signature" in detail:
            hidden.append(("signature", string(detail["signature"])))
    return "summary" if 0 < summaries == len(texts) else "raw", "".join(texts), hidden


def mirrored_thinking(delta: dict[str, Any]) -> str:
    """Thinking of LiteLLM's `thinking_blocks`, where nothing else carries it."""
    blocks = objects(delta.get("thinking_blocks"))
    return "".join(string(block.get("thinking")) for block in blocks)


def opaque(delta: dict[str, Any], fields: Fields, of_details: list[Opaque]) -> list[Opaque]:
    """(kind, data) of everything that is never displayed, each once."""
    if not (fields or of_details) and _OPAQUE_CARRIERS.isdisjoint(delta):
        return []
    found = [("encrypted", text_at(delta, *path.split("."))) for path in fields.get("opaque", ())]
    found.append(("encrypted", string(delta.get("reasoning_opaque"))))
    found += of_details
    for block in objects(delta.get("thinking_blocks")):
        found.append(("signature", string(block.get("signature"))))
        if block.get("type") == "redacted_thinking":
            found.append(("redacted", string(block.get("data"))))
    return [each for each in dict.fromkeys(found) if each[1]]


def content(delta: dict[str, Any], fields: Fields) -> list[Part]:
    """Parts of the visible content in wire order; a plain string is one part of text."""
    if fields:
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
    nested = objects(value) or objects(part.get("summary"))
    pieces = "".join(string(piece.get("text")) for piece in nested)
    text = string(value) or pieces or string(part.get("text"))
    parts: list[Part] = [("thinking", text)] if text else []
    if signature := string(part.get("signature")):
        parts.append(("signature", signature))
    if text and part.get("closed") is True:
        parts.append(("closed", ""))
    return [*parts, ("end", "")] if value == [] and not text else parts
