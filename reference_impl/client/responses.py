"""Responses: the typed events of a stream, or one whole response.

In requests a reasoning item is in front of the rest of its own turn.
The API refuses reasoning that nothing follows and ids that come twice, and opens only the
encrypted content that it sealed itself. Nothing is stored there, so everything is sent again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from . import effort
from .ask import Ask
from .frame import Frame
from .payload import count_of, object_of, present, text_of
from .responses_items import ReadCall, ReadMessage, ReadReasoning
from .responses_output import Output
from .turn import Piece, Thought, Turn, Words
from .wire import AnswerReader, Reading

TERMINAL: Final = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "response.done"}
)
_ENDED: Final = frozenset({"completed", "incomplete", "failed", "cancelled"})
Fields = Mapping[str, Any]


class ResponsesReader(AnswerReader):
    """Reads one response. It is done at its closing event; a `[DONE]` line says nothing."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading)
        self._output = Output(self._report, self._speech)

    def _read_event(self, _: Frame, event: dict[str, Any]) -> None:
        kind, response = text_of(event.get("type")), object_of(event.get("response"))
        if kind == "response.created":
            self._created()
        # Gateways that change all ids with every event: the last one before the message counts.
        self._speech.meet(text_of(response.get("id")))
        if kind in TERMINAL:
            self._report_terminal(response, failed=kind == "response.failed")
            self._report.add("done", explicit=True)
        elif kind == "error" or (not kind and event.get("error")):
            self._report.error(event.get("error") or event)
        elif kind in READERS:
            self._speech.begin()
            READERS[kind](self._output, event)

    def _read_body(self, payload: dict[str, Any]) -> None:
        if payload.get("error") and "output" not in payload:
            self._report.error(payload["error"])
            self._report.add("done", explicit=False)
            self._is_done = True
        elif text_of(payload.get("status")) in _ENDED:
            self._speech.meet(text_of(payload.get("id")))
            self._report_terminal(payload, failed=payload["status"] == "failed")
            self._report.add("done", explicit=True)

    def _close_open(self) -> None:
        self._output.close()

    def _created(self) -> None:
        self._output.close()
        self._output = Output(self._report, self._speech)
        self._speech.again()
        self._is_done = False

    def _report_terminal(self, response: Fields, *, failed: bool) -> None:
        if response.get("output"):
            self._speech.begin()
        self._output.complete(response)
        failed = failed or response.get("status") == "failed"
        if not failed:
            self._report.finish(self._finish_reason(response))
        self._report.usage(response.get("usage"))
        # A response may fail without saying why.
        if failed or response.get("error"):
            self._report.error(response.get("error"))
        self._is_done = True

    def _finish_reason(self, response: Fields) -> str:
        details = object_of(response.get("incomplete_details"))
        if response.get("status") == "incomplete" or details:
            return text_of(details.get("reason")) or "length"
        return "tool_calls" if self._output.is_calling else "stop"


def _item_and_index(event: Fields) -> tuple[Fields, int | None]:
    return object_of(event.get("item")), count_of(event.get("output_index"))


def _part_added(output: Output, event: Fields) -> None:
    item, part = output.item_of(event, ReadReasoning), count_of(event.get("summary_index"))
    if item is not None and part is not None:
        item.part(part)


def _text_in(event: Fields) -> str:
    return text_of(event.get("text")) or text_of(object_of(event.get("part")).get("text"))


@dataclass(frozen=True, slots=True)
class ItemText:
    """The text of an event: `add` of its item, or `loose` where no item was announced.

    Both take the index of a part and a text.
    """

    kind: type[ReadReasoning | ReadMessage]
    add: Callable[[Any, int | None, str], None]
    loose: Callable[[Output, int | None, str], None]
    index: str = "content_index"
    text: Callable[[Fields], str] = lambda event: text_of(event.get("delta"))

    def __call__(self, output: Output, event: Fields) -> None:
        item = output.item_of(event, self.kind)
        part, text = count_of(event.get(self.index)), self.text(event)
        if item is None:
            self.loose(output, part, text)
        else:
            self.add(item, part, text)


_summary_delta: Final = ItemText(
    ReadReasoning, ReadReasoning.summarise, Output.summarise, "summary_index"
)
_summary_done: Final = ItemText(
    ReadReasoning,
    ReadReasoning.state_summary,
    lambda output, part, text: output.state_thought(text, part),
    "summary_index",
    _text_in,
)
_raw_delta: Final = ItemText(
    ReadReasoning, ReadReasoning.think, lambda output, _, text: output.think(text)
)
_raw_done: Final = ItemText(
    ReadReasoning,
    ReadReasoning.state,
    lambda output, _, text: output.state_thought(text),
    text=_text_in,
)
_text_delta: Final = ItemText(
    ReadMessage, ReadMessage.say, lambda output, _, text: output.say(text)
)
_text_done: Final = ItemText(
    ReadMessage, ReadMessage.state, lambda output, _, text: output.state_text(text), text=_text_in
)
_refusal_delta: Final = ItemText(ReadMessage, ReadMessage.refuse, lambda *_: None)
_refusal_done: Final = ItemText(
    ReadMessage,
    ReadMessage.state_refusal,
    lambda *_: None,
    text=lambda event: text_of(event.get("refusal")),
)


def _content_done(output: Output, event: Fields) -> None:
    part = object_of(event.get("part"))
    if part.get("type") == "reasoning_text":
        _raw_done(output, event)
    elif part.get("type") == "refusal":
        _refusal_done(output, {**event, "refusal": part.get("refusal")})
    else:
        _text_done(output, event)


def _arguments_done(output: Output, event: Fields) -> None:
    item = output.item_of(event, ReadCall)
    if item is not None:
        item.state(text_of(event.get("arguments")) or text_of(event.get("input")))


READERS: Final[Mapping[str, Callable[[Output, Fields], object]]] = {
    "response.output_item.added": lambda output, event: output.add(*_item_and_index(event)),
    "response.output_item.done": lambda output, event: output.done(*_item_and_index(event)),
    "response.reasoning_summary_part.added": _part_added,
    "response.reasoning_summary_text.delta": _summary_delta,
    "response.reasoning_summary_text.done": _summary_done,
    "response.reasoning_summary_part.done": _summary_done,
    # Raw thinking goes by three names: OpenAI's, the Open Responses schema's, vLLM's.
    "response.reasoning_text.delta": _raw_delta,
    "response.reasoning_text.done": _raw_done,
    "response.reasoning.delta": _raw_delta,
    "response.reasoning.done": _raw_done,
    "response.reasoning_part.done": _raw_done,
    "response.output_text.delta": _text_delta,
    "response.output_text.done": _text_done,
    "response.content_part.done": _content_done,
    "response.refusal.delta": _refusal_delta,
    "response.refusal.done": _refusal_done,
    "response.function_call_arguments.delta": Output.argue,
    "response.function_call_arguments.done": _arguments_done,
    "response.custom_tool_call_input.delta": Output.argue,
    "response.custom_tool_call_input.done": _arguments_done,
    "response.mcp_call_arguments.delta": Output.argue,
    "response.mcp_call_arguments.done": _arguments_done,
}


def responses_request(ask: Ask) -> dict[str, Any]:
    like = ask.like
    seals = like.keeps_items and ask.sends_thinking("responses") and like.takes_effort(ask.model)
    return {
        "model": ask.model,
        "input": list(_items_of_ask(ask)),
        "stream": True,
        "store": False,
        **effort.responses(ask),
        **ask.sampling,
        **present(
            include=["reasoning.encrypted_content"] if seals else [],
            instructions=ask.instructions if like.instructions == "instructions" else "",
            max_output_tokens=ask.max_tokens,
            tools=ask.flat_tools,
        ),
    }


def _items_of_ask(ask: Ask) -> Iterator[dict[str, Any]]:
    used: set[str] = set()
    for number, turn in enumerate(ask.turns):
        if turn.role == "tool":
            yield {"type": "function_call_output", "call_id": turn.call_id, "output": turn.text}
        elif turn.role == "assistant":
            yield from _items_of_answer(turn, number, used, ask)
        elif not _is_instructed(turn, ask):
            yield {"type": "message", "role": _role_of_turn(turn, ask), "content": turn.text}


def _is_instructed(turn: Turn, ask: Ask) -> bool:
    """Whether a turn goes into a field of its own."""
    return turn.role == "system" and ask.like.instructions == "instructions"


def _role_of_turn(turn: Turn, ask: Ask) -> str:
    """Models that think take their instructions from a developer."""
    is_instruction = turn.role == "system" and ask.thinks
    return ask.like.instructions if is_instruction else turn.role


def _items_of_answer(turn: Turn, number: int, used: set[str], ask: Ask) -> Iterator[dict[str, Any]]:
    pieces = list(turn.thinking_first if ask.like.thinking_first else turn.pieces)
    if not ask.like.keeps_items:
        pieces = _text_alone(turn)
    while pieces and isinstance(pieces[-1], Thought):
        pieces.pop()
    for at, piece in enumerate(pieces):
        if isinstance(piece, Thought):
            if ask.sends_thinking("responses"):
                item_id = piece.id if piece.id and piece.id not in used else f"rs_{number}_{at}"
                used.add(item_id)
                yield _reasoning_item(piece, item_id)
        elif isinstance(piece, Words):
            content = [{"type": "output_text", "text": piece.text}]
            yield {"type": "message", "role": "assistant", "content": content}
        else:
            call = {"call_id": piece.id, "name": piece.name, "arguments": piece.arguments}
            yield {"type": "function_call", **call}


def _text_alone(turn: Turn) -> list[Piece]:
    """One thought in front, its text as it was streamed, without anything else of it."""
    thought = [Thought(parts=(turn.streamed,))] if turn.streamed else []
    return [*thought, *(piece for piece in turn.pieces if not isinstance(piece, Thought))]


def _reasoning_item(thought: Thought, item_id: str) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text} for text in thought.parts]
    item: dict[str, Any] = {"type": "reasoning", "id": item_id, "summary": summary}
    if thought.raw:
        item["content"] = [{"type": "reasoning_text", "text": thought.raw}]
    if thought.encrypted:
        item["encrypted_content"] = thought.encrypted
    return item
