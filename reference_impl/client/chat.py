"""Chat Completions: reads chunks of a stream, or one whole completion, and makes requests.

In requests thinking goes back in `reasoning_content` of its own message. Opaque fields go
back as they came, those of them that the client keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from . import effort
from .ask import Ask
from .chat_fields import DETAILS, EXTRAS, PARTS, Echo, opaque_of, part_text, thinking_of
from .event import Report
from .frame import Frame
from .likeness import FIELD
from .markers import Splitter
from .payload import arguments_text, count_of, object_of, objects_of, present, text_of
from .speech import Call, Speech
from .turn import Called, Thought, Turn, Words
from .wire import AnswerReader, Reading


class ChatChoice:
    """Reads the deltas of one choice. Inside one of them thinking comes first, then text, tools.

    A role alone, opaque data alone, null and empty strings open nothing but the message.
    """

    def __init__(self, report: Report, choice: int, splitter: Splitter) -> None:
        self._report = report
        self.number = choice
        self._speech = Speech(report, choice)
        self._splitter = splitter
        self._calls: dict[int, Call] = {}
        self.is_finished = False

    def read(
        self, delta: Mapping[str, Any], reason: Any, message_id: str, *, whole: bool = False
    ) -> None:
        """Report what a delta says, or a `whole` message, its texts in one delta each."""
        self._speech.meet(message_id)
        if any(map(text_of, (delta.get("role"), reason, delta.get("content")))):
            self._speech.begin(text_of(delta.get("role")))
        calls = self._called(delta)
        self._read_thinking(delta, is_last=_says_more(delta) or bool(calls or text_of(reason)))
        self._read_content(delta.get("content"), whole=whole)
        self._refuse(text_of(delta.get("refusal")))
        for at, given in enumerate(calls):
            self._read_call(at, given)
        if text_of(reason):
            self.close()
            self.is_finished = True
            self._report.finish(reason, self.number)

    def close(self) -> None:
        self._speech.speak(self._splitter.flush())
        self._speech.pause()
        for call in self._calls.values():
            call.end()
        self._calls.clear()

    def _read_thinking(self, delta: Mapping[str, Any], *, is_last: bool) -> None:
        thinking = thinking_of(delta)
        if thinking.text:
            self._speech.speak(self._splitter.flush())
        self._speech.think(thinking.text, thinking.channel)
        block = self._speech.thinking
        if is_last and self._splitter.is_outside and not _thinks_on(delta):
            self._speech.end_thinking()
        for kind, data in opaque_of(delta):
            self._speech.seal(kind, data, block)

    def _read_content(self, content: Any, *, whole: bool) -> None:
        if isinstance(content, str):
            splitter = self._splitter
            self._speech.speak(splitter.whole(content) if whole else splitter.feed(content))
        for part in objects_of(content):
            if part.get("type") in PARTS:
                self._read_part(part)
            else:
                self._speech.speak(self._splitter.feed(text_of(part.get("text"))))

    def _read_part(self, part: Mapping[str, Any]) -> None:
        """A part of thinking; an empty one says that the block is complete."""
        text = part_text(part)
        self._speech.think(text)
        self._speech.seal("signature", text_of(part.get("signature")), self._speech.thinking)
        if part.get("closed") is True:
            self._speech.complete()
        if not text:
            self._speech.end_thinking(explicit=True)

    def _refuse(self, text: str) -> None:
        if text:
            self._speech.speak(self._splitter.flush())
        self._speech.refuse(text)

    def _called(self, delta: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The fragments of calls, those of the old `function_call` among them."""
        calls = [each for each in objects_of(delta.get("tool_calls")) if _is_call(each)]
        old = object_of(delta.get("function_call"))
        return [*calls, {"function": old}] if old else calls

    def _read_call(self, at: int, given: Mapping[str, Any]) -> None:
        self._speech.speak(self._splitter.flush())
        self._speech.begin()
        self._speech.pause()
        index = count_of(given.get("index"))
        function = object_of(given.get("function"))
        self._fragment(at if index is None else index, text_of(given.get("id")), function)

    def _fragment(self, index: int, call_id: str, function: Mapping[str, Any]) -> None:
        call, name = self._calls.get(index), text_of(function.get("name"))
        if call and call_id and call.id not in ("", call_id):
            self._calls.pop(index).end()
            call = None
        if call is None:
            call = self._calls[index] = Call(self._report, index, choice=self.number)
            call.start(call_id, name)
        call.learn(call_id, name)
        call.add(arguments_text(function.get("arguments")))


def _is_call(given: Mapping[str, Any]) -> bool:
    """Whether a fragment says anything; an index alone begins no call."""
    function = object_of(given.get("function"))
    return any((text_of(given.get("id")), function.get("name"), function.get("arguments")))


def _thinks_on(delta: Mapping[str, Any]) -> bool:
    """Whether the content goes on thinking before it says anything."""
    return any(part.get("type") in PARTS for part in objects_of(delta.get("content")))


def _says_more(delta: Mapping[str, Any]) -> bool:
    content = delta.get("content")
    parts = [part for part in objects_of(content) if part.get("type") not in PARTS]
    spoken = text_of(content) or any(text_of(part.get("text")) for part in parts)
    return bool(spoken or text_of(delta.get("refusal")))


SENTINEL: Final = "[DONE]"


class ChatReader(AnswerReader):
    """Reads one answer. It is done at `[DONE]`, or where all of its choices are finished."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading)
        self._reading = reading
        self._choices: dict[int, ChatChoice] = {}
        self._echo = Echo()

    def _read_event(self, frame: Frame, event: dict[str, Any]) -> None:
        if frame.data == SENTINEL:
            self._close_open()
            self._done(explicit=True)
        else:
            self._read_chunk(event, "delta")

    def _read_body(self, payload: dict[str, Any]) -> None:
        self._read_chunk(payload, "message")
        if not (isinstance(payload.get("choices"), list) or payload.get("error")):
            self._report.error("neither a completion nor an error")
        self._close_open()
        self._done(explicit=False)

    def _has_ended(self) -> bool:
        finished = [choice.is_finished for choice in self._choices.values()]
        return bool(finished) and all(finished)

    def echo(self) -> Mapping[str, Any]:
        """Opaque fields of the message, as they came."""
        return self._echo.fields()

    def _read_chunk(self, chunk: dict[str, Any], key: str) -> None:
        for at, given in enumerate(objects_of(chunk.get("choices"))):
            index = count_of(given.get("index"))
            choice = self._choice(at if index is None else index)
            delta = object_of(given.get(key))
            if choice.number == 0:
                self._echo.add(delta)
            reason, message_id = given.get("finish_reason"), text_of(chunk.get("id"))
            choice.read(delta, reason, message_id, whole=key == "message")
        self._report.usage(chunk.get("usage"))
        if chunk.get("error"):
            self._report.error(chunk["error"])

    def _choice(self, index: int) -> ChatChoice:
        if index not in self._choices:
            reading = self._reading
            splitter = Splitter(reading.markers, opened=reading.opened_by_prompt)
            self._choices[index] = ChatChoice(self._report, index, splitter)
        return self._choices[index]

    def _close_open(self) -> None:
        for choice in self._choices.values():
            choice.close()


_MISTRAL_OWN: Final = ("role", "tool_calls")


def chat_request(ask: Ask) -> dict[str, Any]:
    return {
        "model": ask.model,
        "messages": [_message_of_turn(turn, ask) for turn in ask.turns],
        "stream": True,
        "stream_options": {"include_usage": True},
        **effort.chat(ask),
        **ask.sampling,
        **limits_and_tools(ask),
    }


def limits_and_tools(ask: Ask) -> dict[str, Any]:
    """How long an answer may be and what it may call, where either was said."""
    return present(max_tokens=ask.max_tokens, tools=list(map(dict, ask.tools)))


def message_to_model(turn: Turn) -> dict[str, Any]:
    """The message of a turn that is not the model's: words, or the result of a call."""
    if turn.role == "tool":
        return {"role": "tool", "tool_call_id": turn.call_id, "content": turn.text}
    return {"role": turn.role, "content": turn.text}


def _message_of_turn(turn: Turn, ask: Ask) -> dict[str, Any]:
    if turn.role != "assistant":
        return message_to_model(turn)
    message = {"role": "assistant", "content": turn.text, **_thinking_fields(turn, ask)}
    if turn.calls:
        kept = turn.echo.get(EXTRAS, {}) if DETAILS in ask.like.opaque_fields else {}
        message["tool_calls"] = [
            _call_of(call, kept.get(str(n))) for n, call in enumerate(turn.calls)
        ]
    return message


def _thinking_fields(turn: Turn, ask: Ask) -> dict[str, Any]:
    like, sends, fields = ask.like, ask.sends_thinking("chat"), dict[str, Any]()
    if sends and turn.thinking:
        fields[FIELD] = turn.thinking
    elif sends and turn.calls:
        fields.update(like.unthought_fields)
    if sends or like.opaque_always:
        kept = like.opaque_fields
        fields.update({name: value for name, value in turn.echo.items() if name in kept})
    return fields


def _call_of(call: Called, extra: Mapping[str, Any] | None) -> dict[str, Any]:
    made = function_call(call.id, call.name, call.arguments)
    return {**made, **present(extra_content=extra)}


def function_call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def mistral_request(ask: Ask) -> dict[str, Any]:
    """The JSON of a request to Mistral: thinking goes back as the part of the content that it was.

    Fields that the API does not have are refused: usage comes unasked, and ids of calls are theirs.
    """
    made = chat_request(ask)
    del made["stream_options"]
    if "seed" in made:
        made["random_seed"] = made.pop("seed")
    made["messages"] = [
        _mistral_message(turn, message, sends=ask.sends_thinking("mistral"))
        for turn, message in zip(ask.turns, made["messages"], strict=True)
    ]
    return made


def _mistral_message(turn: Turn, message: dict[str, Any], *, sends: bool) -> dict[str, Any]:
    if turn.role != "assistant":
        return message
    kept: dict[str, Any] = {key: message[key] for key in _MISTRAL_OWN if key in message}
    thinks = sends and any(thought.text for thought in turn.thoughts)
    return {**kept, "content": _content_parts(turn) if thinks else turn.text}


def _content_parts(turn: Turn) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for piece in turn.pieces:
        if isinstance(piece, Words):
            parts.append({"type": "text", "text": piece.text})
        elif isinstance(piece, Thought) and piece.text:
            signed = present(signature=piece.signature)
            thinking = [{"type": "text", "text": piece.text}]
            parts.append({"type": "thinking", "thinking": thinking, "closed": True, **signed})
    return parts
