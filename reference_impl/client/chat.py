"""Chat Completions: chunks of a stream, or one whole completion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .chat_fields import PARTS, Echo, opaque_of, part_text, thinking_of
from .event import Event, Report
from .frame import Frame
from .markers import Splitter
from .outcome import error, finish, usage
from .payload import compact, count_of, decode, object_of, objects_of, text_of
from .speech import Call, Speech
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
        """Tell what a delta says, or a `whole` message, its texts in one delta each."""
        self._speech.meet(message_id)
        if any(map(text_of, (delta.get("role"), reason, delta.get("content")))):
            self._speech.begin(text_of(delta.get("role")))
        calls = self._called(delta)
        self._think(delta, is_last=_says_more(delta) or bool(calls or text_of(reason)))
        self._content(delta.get("content"), whole=whole)
        self._refuse(text_of(delta.get("refusal")))
        for at, given in enumerate(calls):
            self._call(at, given)
        if text_of(reason):
            self.close()
            self.is_finished = True
            finish(self._report, reason, self.number)

    def close(self) -> None:
        """End everything that is open."""
        self._speech.speak(self._splitter.flush())
        self._speech.pause()
        for call in self._calls.values():
            call.end()
        self._calls.clear()

    def _think(self, delta: Mapping[str, Any], *, is_last: bool) -> None:
        thinking = thinking_of(delta)
        if thinking.text:
            self._speech.speak(self._splitter.flush())
        self._speech.think(thinking.text, thinking.channel)
        block = self._speech.thinking
        if is_last and self._splitter.is_outside and not _thinks_on(delta):
            self._speech.end_thinking()
        for kind, data in opaque_of(delta):
            self._speech.seal(kind, data, block)

    def _content(self, content: Any, *, whole: bool) -> None:
        if isinstance(content, str):
            splitter = self._splitter
            self._speech.speak(splitter.whole(content) if whole else splitter.feed(content))
        for part in objects_of(content):
            if part.get("type") in PARTS:
                self._part(part)
            else:
                self._speech.speak(self._splitter.feed(text_of(part.get("text"))))

    def _part(self, part: Mapping[str, Any]) -> None:
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

    def _call(self, at: int, given: Mapping[str, Any]) -> None:
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
        arguments = function.get("arguments")
        call.add(compact(arguments) if isinstance(arguments, dict) else text_of(arguments))


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
    said = text_of(content) or any(text_of(part.get("text")) for part in parts)
    return bool(said or text_of(delta.get("refusal")))


SENTINEL: Final = "[DONE]"


class ChatReader(AnswerReader):
    """Reads one answer. It is done at `[DONE]`, or where all of its choices are finished."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading)
        self._reading = reading
        self._choices: dict[int, ChatChoice] = {}
        self._echo = Echo()

    def read(self, frame: Frame) -> list[Event]:
        """The events of one chunk."""
        if frame.data == SENTINEL:
            self._close()
            self._done(explicit=True)
        else:
            self._chunk(object_of(decode(frame.data)), "delta")
        return self._report.take()

    def body(self, payload: dict[str, Any]) -> list[Event]:
        """The events of a whole completion, or of an error in its place."""
        self._chunk(payload, "message")
        if not (isinstance(payload.get("choices"), list) or payload.get("error")):
            error(self._report, "neither a completion nor an error")
        self._close()
        self._done(explicit=False)
        return self._report.take()

    def _has_ended(self) -> bool:
        finished = [choice.is_finished for choice in self._choices.values()]
        return bool(finished) and all(finished)

    def echo(self) -> Mapping[str, Any]:
        """Opaque fields of the message, as they came."""
        return self._echo.fields()

    def _chunk(self, chunk: dict[str, Any], key: str) -> None:
        for at, given in enumerate(objects_of(chunk.get("choices"))):
            index = count_of(given.get("index"))
            choice = self._choice(at if index is None else index)
            delta = object_of(given.get(key))
            if choice.number == 0:
                self._echo.add(delta)
            reason, message_id = given.get("finish_reason"), text_of(chunk.get("id"))
            choice.read(delta, reason, message_id, whole=key == "message")
        usage(self._report, chunk.get("usage"))
        if chunk.get("error"):
            error(self._report, chunk["error"])

    def _choice(self, index: int) -> ChatChoice:
        if index not in self._choices:
            reading = self._reading
            splitter = Splitter(reading.markers, opened=reading.opened_by_prompt)
            self._choices[index] = ChatChoice(self._report, index, splitter)
        return self._choices[index]

    def _close(self) -> None:
        for choice in self._choices.values():
            choice.close()
