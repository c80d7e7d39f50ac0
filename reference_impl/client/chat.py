"""Chat Completions: chunks of a stream, or one whole completion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .chat_choice import ChatChoice
from .chat_echo import Echo
from .event import Event, Report
from .frame import Frame
from .markers import Splitter
from .outcome import error, usage
from .payload import count_of, decode, object_of, objects_of, text_of
from .wire import Reading

SENTINEL: Final = "[DONE]"


class ChatReader:
    """Reads one answer. It is done at `[DONE]`, or where all of its choices are finished."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._report = Report()
        self._choices: dict[int, ChatChoice] = {}
        self._is_done = False
        self._echo = Echo()

    def read(self, frame: Frame) -> list[Event]:
        """The events of one chunk."""
        if frame.data == SENTINEL:
            self._close()
            self._is_done = True
            self._report.tell("done", explicit=True)
        else:
            self._chunk(object_of(decode(frame.data)), "delta")
        return self._report.take()

    def body(self, payload: dict[str, Any]) -> list[Event]:
        """The events of a whole completion, or of an error in its place."""
        self._chunk(payload, "message")
        if not (isinstance(payload.get("choices"), list) or payload.get("error")):
            error(self._report, "neither a completion nor an error")
        self._is_done = True
        self._close()
        self._report.tell("done", explicit=False)
        return self._report.take()

    def end(self, how: str) -> list[Event]:
        """The events of the end of the bytes: without a terminal signal it is a cut."""
        self._close()
        if not self._is_done:
            self._is_done = True
            finished = [choice.is_finished for choice in self._choices.values()]
            if how == "eof" and finished and all(finished):
                self._report.tell("done", explicit=False)
            else:
                self._report.tell("cut", how=how)
        return self._report.take()

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
