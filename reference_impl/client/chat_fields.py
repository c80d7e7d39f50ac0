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

from .payload import objects_of, text_of

FIELDS: Final = ("reasoning_content", "reasoning", "reasoning_text")
DETAILS: Final = "reasoning_details"
BLOCKS: Final = "thinking_blocks"
OPAQUE: Final = "reasoning_opaque"
# Types of content parts that are thinking; a tuple, for a type may be no hashable value.
PARTS: Final = ("thinking", "reasoning")
_SUMMARY: Final = "reasoning.summary"


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
    return list(dict.fromkeys(_opaque(delta)))


def _opaque(delta: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
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
