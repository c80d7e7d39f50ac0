"""What a message of LangChain says, whoever's model it came from.

Rule 1: the text is the content itself, or its blocks `text`.
Rule 2: thinking is in the blocks `thinking` (Anthropic), `reasoning` (Responses, and messages of
        version v1) and `reasoning_content` (Bedrock), or next to the content under
        `additional_kwargs.reasoning_content`. Where blocks hold some, those alone count.
Rule 3: signatures, encrypted and redacted thinking are opaque.
Rule 4: a block `non_standard` holds the block of the provider.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from conformance.core.spelling import one_spelling
from conformance.dialects.blocks import Channel
from conformance.dialects.json_edge import elements, mapping, objects, string

OF_MODEL: Final = frozenset({"ai", "assistant", "AIMessage", "AIMessageChunk"})
CHUNK: Final = "AIMessageChunk"
SPEAKERS: Final = frozenset(
    {
        *("human", "user", "system", "developer", "tool", "function", "remove", "chat"),
        *("HumanMessageChunk", "SystemMessageChunk", "ToolMessageChunk", "FunctionMessageChunk"),
        *("ChatMessageChunk", *OF_MODEL),
    }
)
REASONS: Final = {
    **dict.fromkeys(("end_turn", "stop_sequence", "STOP", "COMPLETE", "completed"), "stop"),
    **dict.fromkeys(("max_tokens", "MAX_TOKENS", "max_output_tokens"), "length"),
    **dict.fromkeys(("tool_use", "function_call"), "tool_calls"),
    **dict.fromkeys(("refusal", "SAFETY", "guardrail_intervened"), "content_filter"),
}
_REASON_KEYS: Final = ("finish_reason", "stop_reason", "stopReason", "done_reason", "finishReason")
TextKind = Literal["thinking", "text"]


class Piece(NamedTuple):
    """A piece of what a message says: `part` tells it from other parts of its kind."""

    kind: Literal["thinking", "text", "opaque"]
    text: str
    part: Any = None
    channel: Channel | None = None
    name: str = ""  # of what is opaque


def pieces_of(message: Mapping[str, Any]) -> list[Piece]:
    """All pieces of a message, thinking next to its content first."""
    content = message.get("content")
    blocks = [content] if isinstance(content, str) else elements(content)
    found = [piece for block in blocks for piece in _block(block)]
    if not any(each.kind == "thinking" and each.text for each in found):
        kept = mapping(message.get("additional_kwargs"))
        found = [*_side_pieces(kept), *found]
    return [each for each in found if each.text]


def joined(pieces: list[Piece], kind: str) -> str:
    return "".join(each.text for each in pieces if each.kind == kind)


def is_of_model(message: Mapping[str, Any]) -> bool:
    """Whether a model says it, in the words of LangChain or of Chat Completions."""
    return not OF_MODEL.isdisjoint((string(message.get("type")), string(message.get("role"))))


def outline_of(name: str, pieces: list[Piece]) -> dict[str, Any]:
    """A message by its id: what it says, spelled, and what is sealed in it."""
    texts = {kind: one_spelling(joined(pieces, kind)) for kind in ("thinking", "text")}
    sealed = [each.text for each in pieces if each.kind == "opaque"]
    whole = " | ".join(filter(None, (*texts.values(), *sealed)))
    about = {"id": name, **texts, "sealed": sealed, "whole": whole}
    return {key: value for key, value in about.items() if value}


def outlines_of(messages: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Those of models among messages; one that says what another one did comes `again`."""
    known: set[tuple[str, str]] = set()
    for each in messages:
        if is_of_model(each):
            made = outline_of(string(each.get("id")), pieces_of(each))
            said = made.get("thinking", ""), made.get("text", "")
            yield {**made, "again": True} if said in known and any(said) else made
            known.add(said)


def reason_of(message: Mapping[str, Any]) -> str:
    """Why the model stopped, as its response says it; empty where it says nothing."""
    about = mapping(message.get("response_metadata"))
    if cut := string(mapping(about.get("incomplete_details")).get("reason")):
        return cut
    stated = next(filter(None, (string(about.get(key)) for key in _REASON_KEYS)), "")
    return stated or string(about.get("status"))


def _side_pieces(kept: Mapping[str, Any]) -> Iterator[Piece]:
    yield Piece("thinking", string(kept.get("reasoning_content")), None, "raw")
    reasoning = kept.get("reasoning")
    if isinstance(reasoning, dict):
        yield from _block({**reasoning, "type": "reasoning"})
    else:
        yield Piece("thinking", string(reasoning), None, "raw")


def _block(block: Any) -> Iterator[Piece]:
    if isinstance(block, str):
        yield Piece("text", block)
        return
    fields = mapping(block)
    kind, part = fields.get("type"), fields.get("index")
    if kind == "text":
        yield Piece("text", string(fields.get("text")), part)
    elif kind == "non_standard":
        value = mapping(fields.get("value"))
        if value.get("type") != "non_standard":
            yield from _block({**value, "index": part})
    elif kind == "redacted_thinking":
        yield Piece("opaque", string(fields.get("data")), part, name="redacted")
    elif kind in ("thinking", "reasoning", "reasoning_content"):
        yield from _thinking(fields, part)


def _thinking(fields: Mapping[str, Any], part: Any) -> Iterator[Piece]:
    for key in ("thinking", "reasoning"):
        yield Piece("thinking", string(fields.get(key)), part, "raw")
    of_bedrock = mapping(fields.get("reasoning_content"))
    yield Piece("thinking", string(of_bedrock.get("text")), part, "raw")
    for key, channel in _LISTS.items():
        for number, each in enumerate(objects(fields.get(key))):
            at = each.get("index", number)
            yield Piece("thinking", string(each.get("text")), (part, at), channel)
    for holder in (fields, mapping(fields.get("extras")), of_bedrock):
        yield Piece("opaque", string(holder.get("signature")), part, name="signature")
        sealed = string(holder.get("encrypted_content"))
        yield Piece("opaque", sealed, part, name="encrypted")


_LISTS: Final[Mapping[str, Channel]] = {"summary": "summary", "content": "raw"}
