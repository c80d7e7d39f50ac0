"""What readers of wires have in common whose payloads name their type.

Rule 1: an event that announces an answer begins the next one where the answer before is done or
has failed, or where it names another. Where it names none, it does so once the answer before has
said anything.
An answer that is not done by then was cut; what the next one says begins anew.
Rule 2: an API gives one answer to a request: where that is known, all is of one answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from conformance.core.events import Ending, Event, Frame, Request
from conformance.core.json_values import NOT_JSON
from conformance.core.reading import Reading
from conformance.dialects.history import request_events
from conformance.dialects.history_calls import CallPairing
from conformance.dialects.json_edge import event_data
from conformance.dialects.sink import Sink


class MessageState(Protocol):
    """What a message holds so far."""

    @property
    def is_over(self) -> bool:
        """Whether there was more than the dialect follows: it says so in a wire event, once."""

    def close(self) -> None:
        """Ends whatever is open."""


class RunState(MessageState, Protocol):
    """What a run has sent so far."""

    @property
    def reason(self) -> str:
        """Why the last answer of its model stopped."""

    @property
    def is_settled(self) -> bool:
        """Whether nothing is open, so that the run may be over."""


State = TypeVar("State", bound=MessageState)
Run = TypeVar("Run", bound=RunState)


class TypedReader(Generic[State]):
    """Reader of one exchange; a dialect says what its payloads mean.

    `_content` is what the answer under way holds so far, new for each.
    """

    content_type: Callable[[Sink], State]
    unknown: ClassVar[str]  # the wire event of data that has no type
    history: ClassVar[str]  # the field of a request that holds the history
    call_pairing: ClassVar[CallPairing | None] = None  # of calls and results in that history
    is_of_lines: ClassVar[bool] = False  # then what comes as a body is a stream of one line
    is_of_api: ClassVar[bool] = True  # a request brings forth one answer

    def __init__(self, reading: Reading) -> None:
        del reading  # payloads type their text: neither markers nor private fields apply
        self._announced: str | None = None  # the name of the answer, once it was announced
        self._has_request = False  # the one request is known
        self._is_done = False
        self._is_whole = False  # a body that says it is finished, or nothing of its state
        self._sink = Sink()
        self._renew()

    def _new_content(self) -> State:
        return self.content_type(self._sink)

    def _read_event(self, frame: Frame, payload: Any) -> None:
        raise NotImplementedError

    def _renew(self) -> None:
        """Forgets the answer that is over, for the next one."""
        self._content = self._new_content()
        self._has_begun = False  # a message of the answer did

    def _begin(self, role: str = "", message_id: str = "") -> None:
        self._has_begun = True
        self._is_done = False
        self._sink.start_message(role, message_id)

    def _begin_once(self) -> None:
        """An event about an unannounced message begins it."""
        if not self._has_begun:
            self._begin()

    def _say_done(self) -> None:
        """The answer is over, and says so."""
        self._is_done = True
        self._sink.emit("done", {"choice": 0, "explicit": True})

    def _announce(self, name: str, *, has_spoken: bool = False) -> None:
        """An event announces an answer."""
        if self._has_request and self.is_of_api:
            return
        is_other = name != self._announced if name and self._announced else has_spoken
        is_over = self._is_done or self._sink.has_failed
        if is_over or (self._announced is not None and is_other):
            self._next_answer()
        self._announced = name

    def _next_answer(self) -> None:
        """The answer before is over, be it done or not, and the next one begins."""
        if not self._content.is_over:
            self._content.close()
            if not self._is_done:
                self._sink.emit("cut", {"choice": 0, "how": "eof"})
        self._sink.next_answer()
        self._announced = None
        self._is_done = False
        self._renew()

    def _read_body(self, payload: Any) -> None:
        """Reads a whole body: by default one of an unknown kind."""
        self._is_whole = True
        self._sink.wire(self.unknown, event_data(payload))

    def request(self, request: Request) -> list[Event]:
        self._has_request = True
        return request_events(request, self.history, self.call_pairing)

    def read(self, frame: Frame, payload: Any, number: int) -> list[Event]:
        sink = self._sink
        sink.begin(number)
        if payload is NOT_JSON:
            if frame.data.rstrip() == "[DONE]" and frame.kind != "body":
                sink.wire("[DONE]", {})
            else:
                sink.wire(self.unknown, {"text": frame.data})
        elif frame.kind == "body" and not self.is_of_lines:
            self._read_body(payload)
        else:
            self._read_event(frame, payload)
        return sink.events()

    def end(self, how: Ending, number: int) -> list[Event]:
        self._sink.begin(number)
        if self._content.is_over:
            return []
        self._content.close()
        if how == "eof" and self._is_whole and not self._is_done:
            self._sink.emit("done", {"choice": 0, "explicit": False})
        elif not self._is_done:
            self._sink.emit("cut", {"choice": 0, "how": how})
        return self._sink.events()

    def echo(self, _answer: int) -> Mapping[str, Any] | None:
        return None


class ProgramReader(TypedReader[State]):
    """Reader of the lines of a program, which gives one answer after the other."""

    unknown = "line.unknown"
    is_of_api = False
    is_of_lines = True


class RunReader(TypedReader[Run]):
    """Reader of runs whose wire need not say that they are over.

    One is done where it ends by itself and has settled; the reason of its last answer counts then.
    After an error it is cut.
    """

    reasons: ClassVar[Mapping[str, str]]

    def _follow_run(self, name: str) -> None:
        """Another run begins the next answer, where the one request is not known."""
        if name and name != self._announced and not self._has_request:
            self._say_end("eof", is_last=False)
            self._announce(name)

    def _say_end(self, how: Ending, *, is_last: bool = True) -> None:
        if self._is_done or self._content.is_over:
            return
        self._content.close()
        if how == "eof" and self._content.is_settled and not self._sink.has_failed:
            if reason := self._content.reason:
                self._sink.finish(self.reasons.get(reason, reason))
            self._is_done = True
            self._sink.emit("done", {"choice": 0, "explicit": False})
        elif is_last:
            self._sink.emit("cut", {"choice": 0, "how": how})

    def end(self, how: Ending, number: int) -> list[Event]:
        self._sink.begin(number)
        self._say_end(how)
        return self._sink.events()
