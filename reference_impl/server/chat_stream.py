"""Chat Completions: engine events become chunks, and a body puts the chunks together.

Rule 1: the first chunk has the role and nothing else; the finish has a chunk of its own; usage,
        where it was asked for, one with no choices; `[DONE]` ends a stream that did not fail.
Rule 2: thinking is hidden, sent in a field of its own, or wrapped in the tokenizer's markers. A
        wrapped block is closed by whatever comes next, the finish and a failure included.
Rule 3: a chunk carries thinking or text or a part of a tool call, never two of them.

There is one way to split thinking from text, and both forms of an answer go through it.

Mistral's API has thinking as a part of the content.
Rule 4: there it comes in parts, ends with an empty part, and goes on in no other field; text is a
        plain string. What was not thought has no part.
Rule 5: there a call comes whole, with an id of nine letters and digits; usage is in the chunk that
        finishes, asked for or not, and counts no thinking apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from .engine import Finish, ReasoningDelta, Start, ToolCall, Usage
from .projection import AnswerBody, AnswerProjection, Stamp
from .refusal import Refusal, openai_error
from .summary import AnswerEvent
from .wire import DONE, Wire

Showing = Literal["hidden", "wrapped", "reasoning_content", "reasoning", "parts"]


@dataclass(frozen=True, slots=True)
class ChatShape:
    """How one stream looks. `markers` wrap the thinking that is shown as `wrapped`.

    `zero_details`: usage counts reasoning and cached tokens also where there are none.
    """

    model: str
    showing: Showing = "hidden"
    markers: tuple[str, str] = ("", "")
    with_usage: bool = False
    zero_details: bool = True
    with_done: bool = True


class ChatStream(AnswerProjection):
    def __init__(self, shape: ChatShape, stamp: Stamp) -> None:
        super().__init__()
        self._shape = shape
        self._stamp = stamp
        self._head = {
            "id": stamp.new("chatcmpl-"),
            "object": "chat.completion.chunk",
            "created": stamp.now(),
            "model": shape.model,
        }
        self._calls = 0
        self._is_wrapping = False

    def feed(self, event: AnswerEvent) -> Iterator[Wire]:
        if not isinstance(event, ReasoningDelta):
            yield from self._end_wrapping()
        yield from super().feed(event)

    def _emit_start(self, _: Start) -> Iterator[Wire]:
        yield self._one_chunk({"role": "assistant", "content": ""})

    def _emit_text(self, text: str) -> Iterator[Wire]:
        yield self._one_chunk({"content": text})

    def _emit_error(self, refusal: Refusal) -> Iterator[Wire]:
        """An error, and no `[DONE]`: what was sent so far is no answer."""
        yield from self._end_wrapping()
        yield Wire(openai_error(refusal))

    def _emit_thinking(self, text: str) -> Iterator[Wire]:
        showing = self._shape.showing
        if showing == "wrapped":
            if not self._is_wrapping and self._shape.markers[0]:
                self._is_wrapping = True
                yield self._one_chunk({"content": self._shape.markers[0]})
            yield self._one_chunk({"content": text})
        elif showing != "hidden":
            yield self._one_chunk({showing: text})

    def _end_wrapping(self) -> Iterator[Wire]:
        if self._is_wrapping:
            self._is_wrapping = False
            yield self._one_chunk({"content": self._shape.markers[1]})

    def _emit_call(self, call: ToolCall) -> Iterator[Wire]:
        function = {"name": call.name, "arguments": ""}
        begun = {"id": self._stamp.new("call_"), "type": "function", "function": function}
        yield self._one_chunk({"tool_calls": [{"index": self._calls, **begun}]})
        given = {"index": self._calls, "function": {"arguments": call.arguments}}
        yield self._one_chunk({"tool_calls": [given]})
        self._calls += 1

    def _emit_finish(self, finish: Finish) -> Iterator[Wire]:
        yield self._one_chunk({}, finish.reason)
        if self._shape.with_usage:
            usage = chat_usage(finish.usage, zeros=self._shape.zero_details)
            yield Wire({**self._head, "choices": [], "usage": usage})
        if self._shape.with_done:
            yield Wire(DONE)

    def _one_chunk(self, delta: dict[str, Any], finish_reason: str | None = None) -> Wire:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        if self._shape.with_usage:
            return Wire({**self._head, "choices": [choice], "usage": None})
        return Wire({**self._head, "choices": [choice]})


def chat_usage(usage: Usage, *, zeros: bool = True, details: bool = True) -> dict[str, Any]:
    """Usage as this API counts: reasoning is part of the completion, distinguished in `details`."""
    counts: dict[str, Any] = {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
    }
    if zeros:
        counts["prompt_tokens_details"] = {"cached_tokens": 0}
    if details and (zeros or usage.reasoning):
        counts["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning}
    return counts


_TEXTS = ("content", "reasoning_content", "reasoning")


class ChatBody(AnswerBody):
    def __init__(self) -> None:
        super().__init__(openai_error)
        self._head: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}
        self._calls: list[dict[str, Any]] = []
        self._finish: str | None = None
        self._usage: Any = None

    def _add_payload(self, _: str, chunk: Mapping[str, Any]) -> None:
        if "error" in chunk:
            self._error = chunk
            return
        self._head = {name: chunk[name] for name in ("id", "created", "model")}
        self._usage = chunk.get("usage") or self._usage
        for choice in chunk["choices"]:
            self._finish = choice["finish_reason"] or self._finish
            self._one_delta(choice["delta"])

    def _whole_body(self) -> dict[str, Any]:
        choice = {
            "index": 0,
            "message": self._whole_message(),
            "logprobs": None,
            "finish_reason": self._finish,
        }
        return {
            **self._head,
            "object": "chat.completion",
            "choices": [choice],
            "usage": self._usage,
        }

    def _one_delta(self, delta: Mapping[str, Any]) -> None:
        for name in _TEXTS:
            if text := delta.get(name):
                self._texts.setdefault(name, []).append(text)
        self._emit_call(delta.get("tool_calls", ()))

    def _emit_call(self, pieces: Iterable[Mapping[str, Any]]) -> None:
        for piece in pieces:
            if "id" in piece:
                function = dict(piece["function"])
                begun = {"id": piece["id"], "type": "function", "function": function}
                self._calls.append(begun)
            elif self._calls:
                self._calls[-1]["function"]["arguments"] += piece["function"]["arguments"]

    def _whole_message(self) -> dict[str, Any]:
        texts = {name: "".join(pieces) for name, pieces in self._texts.items()}
        content = texts.pop("content", None if self._calls else "")
        message = {"role": "assistant", "content": content, "refusal": None, **texts}
        return {**message, "tool_calls": self._calls} if self._calls else message


_ID: Final = 9


class MistralStream(ChatStream):
    def _emit_thinking(self, text: str) -> Iterator[Wire]:
        self._is_wrapping = True
        yield self._one_part([{"type": "text", "text": text}])

    def _end_wrapping(self) -> Iterator[Wire]:
        if self._is_wrapping:
            self._is_wrapping = False
            yield self._one_part([])

    def _one_part(self, thinking: list[Mapping[str, Any]]) -> Wire:
        return self._one_chunk({"content": [{"type": "thinking", "thinking": thinking}]})

    def _emit_call(self, call: ToolCall) -> Iterator[Wire]:
        function = {"name": call.name, "arguments": call.arguments}
        named = {"id": self._stamp.new("")[-_ID:], "type": "function"}
        yield self._one_chunk(
            {"tool_calls": [{"index": self._calls, **named, "function": function}]}
        )
        self._calls += 1

    def _emit_finish(self, finish: Finish) -> Iterator[Wire]:
        last = self._one_chunk({"content": ""}, finish.reason)
        assert not isinstance(last.data, str)
        yield Wire({**last.data, "usage": chat_usage(finish.usage, details=False)})
        yield Wire(DONE)


class MistralBody(ChatBody):
    """Adds up chunks: thinking and text are parts where there is thinking, else a text."""

    def __init__(self) -> None:
        super().__init__()
        self._thought: list[str] = []

    def _one_delta(self, delta: Mapping[str, Any]) -> None:
        content = delta.get("content")
        if not isinstance(content, list):
            super()._one_delta(delta)
            return
        for part in content:
            self._thought += [piece["text"] for piece in part["thinking"]]

    def _whole_message(self) -> dict[str, Any]:
        message = super()._whole_message()
        text = message["content"] or ""
        if not self._thought:
            return {**message, "content": text}
        parts = [{"type": "text", "text": "".join(self._thought)}]
        spoken = [{"type": "text", "text": text}] if text else []
        thinking = {"type": "thinking", "thinking": parts, "closed": True}
        return {**message, "content": [thinking, *spoken]}
