"""Cohere's Chat, version 2: the events of a stream, or one whole answer.

Rule 1: blocks of content and calls count apart, each from 0.
Rule 2: the plan of older models is thinking that nobody announced. It goes on until another event
of the message comes, and goes back in the field in which it came.
Rule 3: `message-end` is the end. Where it says that the generation failed there is an error.
Rule 4: in requests thinking goes back as the block of content that it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from . import effort
from .ask import Ask
from .chat import function_call, limits_and_tools, message_to_model
from .content_blocks import BlockReader, ContentBlock
from .frame import Frame
from .payload import arguments_text, count_of, object_of, objects_of, present, text_of
from .turn import Called, Thought, Turn, Words
from .wire import Reading

Fields = Mapping[str, Any]
PLAN: Final = "tool_plan"
_COUNTS: Final = {
    "input": "input_tokens",
    "output": "output_tokens",
    "reasoning": "reasoning_tokens",
}
_FAILURES: Final = ("ERROR", "TIMEOUT")
_OF_MESSAGE: Final = frozenset(
    {
        *("content-start", "content-delta", "content-end"),
        *("tool-call-start", "tool-call-delta", "tool-call-end"),
    }
)
# Events of an answer that say nothing here.
_SILENT: Final = frozenset({"citation-start", "citation-end", "debug"})


class CohereReader(BlockReader):
    def __init__(self, reading: Reading) -> None:
        super().__init__(reading)
        self._plan: list[str] = []

    def _read_event(self, frame: Frame, event: dict[str, Any]) -> None:
        kind = text_of(event.get("type"))
        message = object_of(object_of(event.get("delta")).get("message"))
        if kind == "message-start":
            self._begin_message(event, message)
        elif kind == "tool-plan-delta":
            self._speech.begin()
            self._read_thinking(text_of(message.get(PLAN)))
        elif kind in _OF_MESSAGE:
            self._speech.end_thinking()
            self._speech.begin()
            self._read_part(kind, count_of(event.get("index")), message)
        elif kind == "message-end":
            self._close_open()
            self._report_finish(object_of(event.get("delta")))
            self._done(explicit=True)
        elif kind not in _SILENT and _names_error(frame, event):
            self._close_open()
            self._report.error(event.get("error") or event)

    def _read_body(self, payload: dict[str, Any]) -> None:
        message = payload.get("message")
        if not isinstance(message, dict):
            fault = payload.get("error") or "neither an answer nor an error"
            self._report.error(payload if text_of(message) else fault)
        else:
            self._begin_message(payload, message)
            self._read_thinking(text_of(message.get(PLAN)))
            self._speech.end_thinking()
            self._read_content(message)
            self._report_finish(payload)
        self._done(explicit=False)

    def echo(self) -> Mapping[str, Any]:
        return {PLAN: "".join(self._plan)} if self._plan else {}

    def _begin_message(self, event: Fields, message: Fields) -> None:
        self._speech.end_thinking()
        self._start_message(message, event.get("id"))

    def _read_thinking(self, text: str) -> None:
        self._speech.think(text)
        self._plan += [text] if text else []

    def _read_part(self, event: str, index: int | None, message: Fields) -> None:
        part, _, act = event.rpartition("-")
        given = object_of(message.get("content" if part == "content" else "tool_calls"))
        if act == "end":
            self._blocks.stop(index, part)
        elif act == "start":
            _start_part(self._blocks.begin(index, part), part, given)
        elif part == "content":
            thought, text = text_of(given.get("thinking")), text_of(given.get("text"))
            if thought or text:
                _report_texts(self._blocks.block(index, part), thought, text)
        elif arguments := _arguments_of_call(given):
            self._blocks.block(index, part).argue(arguments)

    def _read_content(self, message: Fields) -> None:
        content = message.get("content")
        for given in content if isinstance(content, list) else ():
            block = self._blocks.whole()
            if isinstance(given, str):
                block.say(given)
            _start_part(block, "content", object_of(given))
            block.stop()
        for call in objects_of(message.get("tool_calls")):
            block = self._blocks.whole()
            _start_part(block, "tool-call", call)
            block.stop()

    def _report_finish(self, ending: Fields) -> None:
        """Report why, and what it cost: what is billed is another number."""
        reason, error = text_of(ending.get("finish_reason")), text_of(ending.get("error"))
        has_failed = reason in _FAILURES or bool(error)
        if not has_failed:
            self._report.finish(reason)
        counts = object_of(object_of(ending.get("usage")).get("tokens"))
        self._report.tokens(**{name: counts.get(key) for name, key in _COUNTS.items()})
        if has_failed:
            self._report.error({"code": reason, "message": error})

    def _close_open(self) -> None:
        self._speech.end_thinking()
        super()._close_open()


def _start_part(block: ContentBlock, part: str, given: Fields) -> None:
    if part == "content":
        if given.get("type") == "thinking":
            block.open()
        _report_texts(block, text_of(given.get("thinking")), text_of(given.get("text")))
    else:
        block.call(text_of(given.get("id")), text_of(object_of(given.get("function")).get("name")))
        block.argue(_arguments_of_call(given))


def _report_texts(block: ContentBlock, thought: str, text: str) -> None:
    block.think(thought)
    block.say(text)


def _arguments_of_call(call: Fields) -> str:
    return arguments_text(object_of(call.get("function")).get("arguments"))


def _names_error(frame: Frame, event: Fields) -> bool:
    return frame.name == "error" or bool(text_of(event.get("message")) or event.get("error"))


_SAMPLING: Final = {"top_p": "p", "stop": "stop_sequences"}


def cohere_request(ask: Ask) -> dict[str, Any]:
    return {
        "model": ask.model,
        "messages": [_message_of_turn(turn, ask) for turn in ask.turns],
        "stream": True,
        **effort.cohere(ask),
        **ask.sampled(_SAMPLING),
        **limits_and_tools(ask),
    }


def _message_of_turn(turn: Turn, ask: Ask) -> dict[str, Any]:
    if turn.role != "assistant":
        return message_to_model(turn)
    plan = turn.echo.get(PLAN) if ask.sends_thinking("cohere") else None
    message: dict[str, Any] = {"role": "assistant", **present(**{PLAN: plan})}
    blocks = list(_blocks_of(turn, plan, sends=ask.sends_thinking("cohere")))
    return {
        **message,
        **present(content=blocks, tool_calls=[_call_of(each) for each in turn.calls]),
    }


def _blocks_of(turn: Turn, plan: Any, *, sends: bool) -> Iterator[dict[str, Any]]:
    for piece in turn.pieces:
        if isinstance(piece, Words):
            yield {"type": "text", "text": piece.text}
        elif isinstance(piece, Thought) and sends and piece.text and piece.text != plan:
            yield {"type": "thinking", "thinking": piece.text}


def _call_of(call: Called) -> dict[str, Any]:
    return function_call(call.id, call.name, call.arguments or "{}")
