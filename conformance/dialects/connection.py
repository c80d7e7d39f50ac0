"""The answers on one WebSocket: which messages belong to which request.

A dialect that is spoken over WebSockets says by a `SocketForm` what its messages mean; the rest is
the same for all of them.

Rule 1: messages of one *lane* follow each other: the requests of a lane are answered in their
order, and never at the same time. Lanes are independent; what names none is of the nameless one.
Rule 2: an answer begins where one is announced, or where an error answers a request; what comes
after its end without a request that waits is still its own: a rule will say that it is too much.
Rule 3: the first event of an answer, under another name, cuts the one under way.
Rule 4: an error that names no lane where no answer of the nameless one waits is of the connection:
it is the end of every answer under way that comes to no other.
Rule 5: messages that are about no answer (limits, keep-alive, what steers) belong to none. One that
holds no JSON is of the answer that was given a message last, or of the next one that waits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from conformance.core.events import Side
from conformance.dialects.json_edge import mapping, string


class SocketForm(Struct, frozen=True):
    """What the messages of a dialect mean; all but `lane` are types, or ask about one.

    `asks` is the type of a request; its fields but `envelope` are what an HTTP request would
    have. `is_about_answer` is asked of a type. `first` begins every one, `begins` are all
    that may be at its beginning, `ends` its last; `name` is the name of the answer that a
    message holds, or nothing.
    """

    asks: str
    lane: str
    envelope: frozenset[str]
    is_about_answer: Callable[[str], bool]
    first: str
    begins: frozenset[str]
    ends: frozenset[str]
    error: str
    name: Callable[[Mapping[str, Any]], str]

    def request_body(self, payload: Any) -> dict[str, Any] | None:
        """The body of a request; None where the message is none."""
        fields = mapping(payload)
        if fields.get("type") != self.asks:
            return None
        return {key: value for key, value in fields.items() if key not in self.envelope}

    def message(self, body: Any) -> dict[str, Any]:
        """The message that requests what `asked` gives."""
        return {"type": self.asks, **mapping(body)}

    def claims(self, payload: Any) -> bool:
        """Whether the message is one of the dialect: a request, or about an answer."""
        kind = string(mapping(payload).get("type"))
        return kind == self.asks or self.is_about_answer(kind)


class SocketAnswer(Struct, eq=False):
    """One answer: the message that requested it, its own messages in order, and how far it came."""

    request_at: int | None = None
    body: dict[str, Any] | None = None
    messages: list[int] = field(default_factory=list)
    name: str = ""
    is_done: bool = False
    has_failed: bool = False
    is_cut: bool = False
    failure: int | None = None  # of the connection

    @property
    def is_open(self) -> bool:
        """Whether it has not come to an end of its own."""
        return not (self.is_done or self.has_failed or self.is_cut)

    def end_with_connection(self) -> None:
        """Takes the failure of the connection for its end, where there is no other."""
        if self.is_open and self.failure is not None:
            self.messages = sorted((*self.messages, self.failure))
            self.has_failed = True


class _Lane(Struct, eq=False):
    waiting: deque[SocketAnswer] = field(default_factory=deque)
    current: SocketAnswer | None = None


class SocketAnswers:
    """Sorts the messages of one connection, one after the other."""

    def __init__(self, form: SocketForm) -> None:
        self._form = form
        self._lanes: dict[str, _Lane] = {}
        self._found: list[SocketAnswer] = []
        self._has_request = False
        self._idle_errors: list[int] = []
        self._failed = 0  # answers before this one know that the connection has failed
        self._latest: SocketAnswer | None = None  # the one that was given a message

    def add(self, at: int, side: Side, payload: Any) -> None:
        """Takes the message of that number; `payload` may be anything."""
        if side == "client":
            self._take_request(at, payload)
        elif not isinstance(payload, dict) or not ("type" in payload or payload.get("error")):
            self._give(at, self._answer_under_way())
        else:
            kind = string(payload.get("type")) or self._form.error
            if kind == self._form.error:
                self._take_error(at, payload)
            elif self._form.is_about_answer(kind):
                self._take_event(at, kind, payload)

    @property
    def begun(self) -> Sequence[SocketAnswer]:
        """The answers so far, in the order in which they were requested, or began."""
        return self._found

    @property
    def is_quiet(self) -> bool:
        """Whether no answer is requested or under way."""
        return not any(each.is_open and each.failure is None for each in self._found)

    def close(self) -> list[SocketAnswer]:
        """Every answer, in the order in which they were requested, or began."""
        if not self._found and self._idle_errors:
            self._begin(_Lane()).messages += self._idle_errors
        for answer in self._found:
            answer.end_with_connection()
        return self._found

    def _lane(self, payload: Mapping[str, Any]) -> _Lane:
        return self._lanes.setdefault(string(payload.get(self._form.lane)), _Lane())

    def _take_request(self, at: int, payload: Any) -> None:
        body = self._form.request_body(payload)
        if body is not None:
            self._has_request = True
            answer = SocketAnswer(at, body)
            self._found.append(answer)
            self._lane(payload).waiting.append(answer)

    def _take_error(self, at: int, payload: Mapping[str, Any]) -> None:
        lane = self._lane(payload)
        current = lane.current
        if current is None or not current.is_open:
            is_named = bool(string(payload.get(self._form.lane)))
            if not (lane.waiting or (is_named and not self._has_request)):
                self._fail_connection(at)
                return
            current = self._begin(lane)
        self._give(at, current)
        current.has_failed = True

    def _fail_connection(self, at: int) -> None:
        """The first failure is the end of what is under way: each answer is given one at most."""
        begun, self._failed = self._found[self._failed :], len(self._found)
        open_now = [each for each in begun if each.is_open]
        for answer in open_now:
            answer.failure = at
        if not open_now:
            self._idle_errors.append(at)

    def _give(self, at: int, answer: SocketAnswer) -> None:
        answer.messages.append(at)
        self._latest = answer

    def _take_event(self, at: int, kind: str, payload: Mapping[str, Any]) -> None:
        lane, name = self._lane(payload), self._form.name(payload)
        current = lane.current
        if current is None or self._is_of_next(lane, current, kind, name):
            current = self._begin(lane)
        self._give(at, current)
        current.name = current.name or name
        current.is_done = current.is_done or kind in self._form.ends

    def _is_of_next(self, lane: _Lane, current: SocketAnswer, kind: str, name: str) -> bool:
        begins, waits = kind in self._form.begins, bool(lane.waiting)
        if name and name == current.name:  # ids may be used again
            return current.is_done and waits and kind == self._form.first
        if not current.is_open:
            return begins or (current.is_done and not current.has_failed and waits)
        is_other = bool(current.name) or (current.request_at is None and waits)
        return kind == self._form.first and name != "" and is_other

    def _begin(self, lane: _Lane) -> SocketAnswer:
        if lane.current is not None and lane.current.is_open:
            lane.current.is_cut = True
        if lane.waiting:
            lane.current = lane.waiting.popleft()
        else:
            lane.current = SocketAnswer()
            self._found.append(lane.current)
        return lane.current

    def _answer_under_way(self) -> SocketAnswer:
        lane = self._lanes.setdefault("", _Lane())
        latest = self._latest
        if latest is None or not (latest.is_open or lane.current is not latest or not lane.waiting):
            return self._begin(lane)
        return latest


def sorted_answers(form: SocketForm, messages: Iterator[tuple[Side, Any]]) -> list[SocketAnswer]:
    """The answers of a whole connection."""
    answers = SocketAnswers(form)
    for at, (side, payload) in enumerate(messages):
        answers.add(at, side, payload)
    return answers.close()
