"""Where Chat Completions servers put thinking and opaque data inside a delta or message.

No specification names a field, so there are many. One text often is in several of them:
the first that holds any is read, never their sum.

    reasoning_content   DeepSeek, llama.cpp, SGLang      reasoning_text   Copilot
    reasoning           vLLM, Ollama, Groq, OpenRouter   thinking_blocks  LiteLLM
    reasoning_details   OpenRouter, MiniMax              content parts    Mistral, LiteLLM
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .payload import object_of, objects_of, text_of

FIELDS: Final = ("reasoning_content", "reasoning", "reasoning_text")
DETAILS: Final = "reasoning_details"
BLOCKS: Final = "thinking_blocks"
OPAQUE: Final = "reasoning_opaque"
# Types of content parts that are thinking; a tuple, for a type may be no hashable value.
PARTS: Final = ("thinking", "reasoning")
_SUMMARY: Final = "reasoning.summary"
EXTRAS: Final = "extra_contents"
"""By the position of a call, as text; no field of the wire."""
_GROWING: Final = ("text", "summary", "data")


@dataclass(frozen=True, slots=True)
class Thinking:
    """The thinking of one delta: its text, and whether that is a summary."""

    text: str
    channel: str


def thinking_of(delta: Mapping[str, Any]) -> Thinking:
    """The thinking that a delta carries outside its content; an empty text is none."""
    details = objects_of(delta.get(DETAILS))
    channel = "summary" if any(each.get("type") == _SUMMARY for each in details) else "raw"
    for field in FIELDS:
        if text_of(delta.get(field)):
            return Thinking(text_of(delta.get(field)), channel)
    text = "".join(text_of(each.get("text")) or text_of(each.get("summary")) for each in details)
    blocks = objects_of(delta.get(BLOCKS))
    return Thinking(text or "".join(text_of(each.get("thinking")) for each in blocks), channel)


def opaque_of(delta: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Kind and data of everything that is to be sent back and never shown, mirrors once."""
    return list(dict.fromkeys(_opaque_pieces(delta)))


def _opaque_pieces(delta: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for detail in objects_of(delta.get(DETAILS)):
        yield "signature", text_of(detail.get("signature"))
        yield "encrypted", text_of(detail.get("data"))
    for block in objects_of(delta.get(BLOCKS)):
        yield "signature", text_of(block.get("signature"))
        yield "redacted", text_of(block.get("data"))
    yield "encrypted", text_of(delta.get(OPAQUE))


def part_text(part: Mapping[str, Any]) -> str:
    """The thinking of a content part: a list of texts, or a text, which may be named so."""
    thinking = part.get("thinking")
    pieces = "".join(text_of(each.get("text")) for each in objects_of(thinking))
    return text_of(thinking) or pieces or text_of(part.get("text"))


class Echo:
    """Opaque thinking of a chat answer, to be sent back in the fields in which it came.

    Copilot sends one `reasoning_opaque`; OpenRouter sends `reasoning_details` in fragments, which
    belong together where index and type agree, and wants the merged list back unmodified. LiteLLM
    sends `thinking_blocks` in fragments, too: a signature ends a block, and so does a redacted one.
    Google's endpoint signs calls in their `extra_content`, which goes back on its call.
    """

    def __init__(self) -> None:
        self._opaque = ""
        self._details: dict[tuple[str, str], dict[str, Any]] = {}
        self._texts: dict[tuple[str, str], dict[str, list[str]]] = {}
        self._blocks: list[tuple[dict[str, Any], list[str]]] = []
        self._extras: dict[str, dict[str, Any]] = {}

    def add(self, delta: Mapping[str, Any]) -> None:
        """Note a delta, or a whole message."""
        self._opaque = text_of(delta.get(OPAQUE)) or self._opaque
        for at, detail in enumerate(objects_of(delta.get(DETAILS))):
            self._merge((str(detail.get("index", at)), str(detail.get("type"))), detail)
        for block in objects_of(delta.get(BLOCKS)):
            self._read_block(block)
        for at, call in enumerate(objects_of(delta.get("tool_calls"))):
            if extra := object_of(call.get("extra_content")):
                self._extras[str(call.get("index", at))] = extra

    def _merge(self, key: tuple[str, str], detail: Mapping[str, Any]) -> None:
        kept = self._details.setdefault(key, {})
        texts = self._texts.setdefault(key, {})
        for name, value in detail.items():
            if name in _GROWING and isinstance(value, str):
                texts.setdefault(name, []).append(value)
            elif value is not None or name not in kept:
                kept[name] = value

    def _read_block(self, block: Mapping[str, Any]) -> None:
        kept, texts = self._blocks[-1] if self._blocks else ({}, [])
        if not (_is_thinking(block) and _is_thinking(kept)) or text_of(kept.get("signature")):
            kept, texts = {}, []
            self._blocks.append((kept, texts))
        kept.update({name: value for name, value in block.items() if value is not None})
        texts.append(text_of(block.get("thinking")))

    def fields(self) -> dict[str, Any]:
        """The fields of the assistant message that goes back."""
        fields: dict[str, Any] = {OPAQUE: self._opaque} if self._opaque else {}
        if self._extras:
            fields[EXTRAS] = self._extras
        details = [
            {**kept, **{name: "".join(texts) for name, texts in self._texts[key].items()}}
            for key, kept in self._details.items()
        ]
        if details:
            fields[DETAILS] = details
        blocks = [
            {**kept, "thinking": "".join(texts)} if _is_thinking(kept) else kept
            for kept, texts in self._blocks
        ]
        return {**fields, BLOCKS: blocks} if blocks else fields


def _is_thinking(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "thinking"
