"""Mutants of the suite of LangGraph's server."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring import edits
from tests.authoring.edits import Step, Where
from tests.authoring.langgraph import CALL
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Fields, Message, Piece, at

_BASES: Final = "langgraph/langgraph"
THINKS, ROUND, CHAT, PLAIN = "thinking-then-text", "tool-round", "chat", "no-thinking"
FAILED, PARTIAL, SUBGRAPH = "error-in-text", "partial", "subgraph"
OTHER_RUN: Final = "01a20000-0000-7000-8000-synthetic0002"


def _named(name: str) -> Where:
    return lambda message: message.event.partition("|")[0] == name


def _chunk(holds: Where) -> Where:
    """Chunks of messages of which this holds."""
    named = _named("messages")
    return lambda m: named(m) and at(m.payload, "0.type") == "AIMessageChunk" and holds(m)


def _block(kind: str) -> Where:
    return _chunk(lambda message: at(message.payload, "0.content.0.type") == kind)


LAST: Final = _chunk(lambda message: at(message.payload, "0.chunk_position") == "last")
THOUGHT, TEXT = _block("thinking"), _block("text")
CALLING: Final = _chunk(lambda message: bool(at(message.payload, "0.tool_call_chunks")))
METADATA, UPDATES, VALUES = _named("metadata"), _named("updates"), _named("values")
PARTIALS, ERROR = _named("messages/partial"), _named("error")
RESULT: Final = edits.having("0.tool_call_id")
GIVEN: Final = "model.messages.0"


def _of_wire(
    rule: str, base: str, *steps: Step, also: tuple[str, ...] = (), name: str = ""
) -> Mutant:
    broken = tuple(f"wire/langgraph/{each}" if "/" not in each else each for each in also)
    named = f"wire/langgraph/{name}" if name else ""
    return Mutant(f"wire/langgraph/{rule}", f"{_BASES}/{base}", steps, also=broken, name=named)


def _in_state(path: str, value: Any) -> Step:
    """The message of the model, as its node gives it."""
    return edits.change(UPDATES, f"{GIVEN}.{path}", value)


def _without_blocks(kind: str) -> Step:
    def kept(blocks: list[Fields]) -> list[Fields]:
        return [block for block in blocks if block["type"] != kind]

    return _in_state("content", kept)


def _unnamed(pieces: Any) -> list[Piece]:
    """Only the data lines."""
    return [Message(piece.payload) for piece in pieces]


def _sent_again(pieces: Any) -> list[Piece]:
    """The whole message, as a chunk would be."""
    whole = next(piece for piece in pieces if UPDATES(piece)).payload["model"]["messages"][0]
    meta = next(piece for piece in pieces if LAST(piece)).payload[1]
    return [*pieces, Message([whole, meta], "messages")]


def _sent_under_another_id(pieces: Any) -> list[Piece]:
    *before, last = _sent_again(pieces)
    assert isinstance(last, Message)
    whole, meta = last.payload
    return [*before, Message([{**whole, "id": "made-by-a-node"}, meta], "messages")]


def _unpaired(pieces: Any) -> list[Piece]:
    """The first chunk of text comes without what is known of it."""
    first = next(piece for piece in pieces if TEXT(piece))
    return [Message(p.payload[0], p.event) if p is first else p for p in pieces]


def _renamed(pieces: Any) -> list[Piece]:
    """The response has an id of its own, which its first chunk has, and the state."""
    is_chunk = _chunk(lambda _message: True)
    at_first = next(n for n, piece in enumerate(pieces) if is_chunk(piece))
    message, meta = pieces[at_first].payload
    own = {"id": "resp_1", "type": message["type"], "response_metadata": {"id": "resp_1"}}
    announced = Message([{**message, **own, "content": []}, meta], pieces[at_first].event)
    rest = edits.change(UPDATES, f"{GIVEN}.id", "resp_1")(pieces)
    return [*rest[:at_first], announced, *rest[at_first:]]


def _in_both(pieces: Any) -> list[Piece]:
    """The graph around a graph streams what that does."""
    both: list[Piece] = []
    for piece in pieces:
        both.append(piece)
        if _chunk(lambda _message: True)(piece):
            both.append(Message(piece.payload, "messages"))
    return both


def _leaked(pieces: Any) -> list[Piece]:
    """Thinking comes as text between tags."""

    def as_text(block: Fields) -> Fields:
        if block["type"] != "thinking":
            return block
        words = f"<think>{block['thinking']}</think>" if block["thinking"] else ""
        return {"type": "text", "text": words, "index": block["index"]}

    def edited(piece: Message) -> Message:
        if not THOUGHT(piece):
            return piece
        message, meta = piece.payload
        return Message(
            [{**message, "content": [*map(as_text, message["content"])]}, meta], piece.event
        )

    return [edited(piece) for piece in pieces if not (UPDATES(piece) or VALUES(piece))]


MUTANTS: Final = (
    _of_wire(
        "answer-present",
        THINKS,
        lambda _pieces: [b"data: [DONE]\n\n"],
        also=("payload-json", "event-line"),
    ),
    # A proxy that writes anew what it read.
    _of_wire("event-line", PLAIN, _unnamed),
    _of_wire("payload-json", THINKS, edits.insert(Message("[DONE]", "end"), UPDATES, after=True)),
    _of_wire("event-known", THINKS, edits.insert(Message({"at": 5}, "progress"), UPDATES)),
    _of_wire("metadata-first", THINKS, edits.drop(METADATA)),
    # A proxy that joins what two runs said.
    _of_wire("run-agrees", THINKS, edits.change(TEXT, "1.run_id", OTHER_RUN)),
    _of_wire("carries", ROUND, edits.change(CALLING, "0.tool_call_chunks", {})),
    _of_wire("message-identified", THINKS, edits.remove(THOUGHT, "0.id")),
    _of_wire("type-known", THINKS, edits.change(THOUGHT, "0.type", "model")),
    _of_wire("tuple", THINKS, _unpaired),
    # What a subgraph streams, the graph around it streams, too.
    _of_wire("one-namespace", SUBGRAPH, _in_both),
    _of_wire("said-once", THINKS, _sent_again),
    _of_wire("not-doubled", THINKS, _sent_under_another_id),
    _of_wire("last-comes", PLAIN, edits.drop(LAST)),
    # The id of a message changes in the middle of it.
    _of_wire(
        "last-comes", THINKS, edits.change(TEXT, "0.id", "lc_run--other", 1), name="id-changes"
    ),
    _of_wire("nothing-after-last", PLAIN, edits.move(LAST, by=-1)),
    # A model that broke off is sold as one that was done.
    _of_wire("finish-stated", THINKS, edits.remove(LAST, "0.response_metadata.stop_reason")),
    _of_wire(
        "partial-grows",
        PARTIAL,
        edits.change(PARTIALS, "0.content", [{"type": "text", "text": "Late.", "index": 0}], -1),
    ),
    _of_wire("state-keeps-thinking", CHAT, _in_state("additional_kwargs", {})),
    _of_wire("state-keeps-text", PLAIN, edits.drop(TEXT, 1)),
    _of_wire("state-keeps-text", PLAIN, edits.duplicate(TEXT, 1), name="text-twice"),
    _of_wire("state-keeps-sealed", THINKS, edits.remove(UPDATES, f"{GIVEN}.content.0.signature")),
    _of_wire("state-keeps-calls", ROUND, _in_state("tool_calls.0.args", {"line": "fog, or not"})),
    _of_wire("state-keeps-usage", PLAIN, edits.change(LAST, "0.usage_metadata.output_tokens", 9)),
    _of_wire("id-kept", THINKS, _renamed),
    _of_wire("result-asked", ROUND, edits.change(RESULT, "0.tool_call_id", f"{CALL}-other")),
    _of_wire(
        "thoughts-within-output",
        CHAT,
        edits.change(
            edits.having("0.usage_metadata.output_token_details"),
            "0.usage_metadata.output_token_details.reasoning",
            31,
        ),
        also=("state-keeps-usage",),
    ),
    _of_wire("error-says-why", FAILED, edits.change(ERROR, "error", {"message": "away"})),
    _of_wire("error-last", FAILED, edits.move(ERROR, by=-1)),
    # Thinking of the model leaks into what is shown.
    Mutant(
        "stripping/visible-text/no-markers",
        f"{_BASES}/{THINKS}",
        (_leaked,),
        name="wire/langgraph/thinking-in-text",
    ),
)
