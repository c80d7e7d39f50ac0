"""Dialect `opencode.serve`: the event bus of `opencode serve`, of one project or of all.

Rule 1: an event is a wire event of its `type`, with its `properties`; one that is not known is
        `bus.unknown`, which is no error. Of a part, its `partID`, `messageID` and `sessionID` are
        there, too.
Rule 2: a turn is what a session says from the first message of its assistant until it is idle. One
        bus carries many: those that overlap are one answer, in which each is a choice. Where all
        are over, a question or a session that is busy begins the next answer.
Rule 3: a part is known by its id. A delta names none of what it adds to: it says something only of
        a part that was announced, and has `part`, the type of that, or nothing. A part that is
        stated again says what no delta had said. Who came late hears deltas of parts that began
        before; one that begins after a delta of it is `late`.
Rule 4: what the user says is no answer. Where a message was not announced, as to a listener that
        came late, its text is the user's if it has no time.
Rule 5: tools are carried out here: a call ends once its input is stated.
Rule 6: an idle session says what it left open (`left_open` texts and thoughts), and whether the
        error that a message states is `unreported` by the session.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from conformance.core.events import Ending, Event, Frame
from conformance.dialects.json_edge import event_data, mapping, string
from conformance.dialects.open_parts import MOST_OPEN
from conformance.dialects.opencode_run.parts import stated_error
from conformance.dialects.opencode_serve.session_turn import TEXTS, SessionTurn
from conformance.dialects.opencode_serve.vocabulary import EVENTS, OVERFLOW, UNKNOWN, unwrapped
from conformance.dialects.sink import Sink
from conformance.dialects.typed import TypedReader

_OF_ASSISTANT: Final = ("step-start", "reasoning", "tool", *TEXTS)
_Fields = dict[str, Any]


class AnnouncedMessage(NamedTuple):
    """Whose message it is, and of which session."""

    role: str
    session: str


class OverlappingTurns:
    """The turns of one answer by their sessions, and whose message is whose."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._count = 0
        self.by_session: dict[str, SessionTurn] = {}
        self.messages: dict[str, AnnouncedMessage] = {}  # that were announced
        self.sessions: dict[str, str] = {}  # of other messages, by a part
        self.unplaced: set[str] = set()  # parts of other messages that only deltas named
        self.is_over = False

    @property
    def are_done(self) -> bool:
        return all(turn.is_done for turn in self.by_session.values())

    def close(self) -> None:
        for turn in self.by_session.values():
            turn.close()

    def begin(self, session: str) -> SessionTurn:
        """A turn of a session begins, the one before is forgotten."""
        turn = self.by_session[session] = SessionTurn(self._sink, self._count)
        self._count += 1
        self._has_room()
        return turn

    def announce(self, message: str, announced: AnnouncedMessage) -> None:
        if self._has_room():
            self.messages[message] = announced

    def hear(self, message: str, part: _Fields) -> None:
        """An unannounced message counts from here on, where a part of it begins."""
        begins = part.get("type") == "step-start" or part.get("text") == ""
        if begins and not self.unplaced and self._has_room():
            self.sessions.setdefault(message, string(part.get("sessionID")))

    def turn_of(self, fields: _Fields) -> SessionTurn | None:
        """The turn that an event is of: by its message, where that was announced."""
        name = string(fields.get("messageID"))
        message = self.messages.get(name)
        session = message.session if message else self.sessions.get(name)
        return self.by_session.get(string(fields.get("sessionID")) if session is None else session)

    def _has_room(self) -> bool:
        if len(self.messages) + len(self.sessions) + len(self.by_session) < MOST_OPEN:
            return True
        if not self.is_over:
            self.is_over = True
            self._sink.wire(OVERFLOW, {})
        return False


class BusReader(TypedReader[OverlappingTurns]):
    """Reader of what one listener received."""

    content_type = OverlappingTurns
    unknown = UNKNOWN
    history = "parts"
    is_of_api = False

    def _read_event(self, _frame: Frame, payload: Any) -> None:
        event = unwrapped(payload)
        kind, fields = string(event.get("type")), mapping(event.get("properties"))
        if kind not in EVENTS.types:
            self._sink.wire(self.unknown, event_data(event or payload))
            return
        take = _TAKEN.get(kind)
        about = take(self, fields) if take and not self._content.is_over else {}
        self._sink.wire(kind, {**fields, **about})

    def take_message(self, fields: _Fields) -> _Fields:
        info = mapping(fields.get("info"))
        session, message = string(info.get("sessionID")), string(info.get("id"))
        announced = AnnouncedMessage(string(info.get("role")), session)
        is_open = not info.get("finish") and "completed" not in mapping(info.get("time"))
        begins = is_open and message not in self._content.messages
        if begins and announced.role == "assistant":
            self._join_turn(session, message)
        elif begins and not info.get("summary"):
            self._leave_answer()  # the user asks
        self._content.announce(message, announced)
        turn = self._content.by_session.get(session)
        if turn is not None and announced.role == "assistant" and info.get("error"):
            turn.states_error = True
        return {"sessionID": session, "messageID": message, "begins": begins}

    def take_part(self, fields: _Fields) -> _Fields:
        part = mapping(fields.get("part"))
        part_id, message = string(part.get("id")), string(part.get("messageID"))
        known = self._content.messages.get(message)
        named = {"messageID": message, "sessionID": part.get("sessionID"), "known": bool(known)}
        if isinstance(part.get("id"), str):
            named["partID"] = part_id
        if not (known.role == "assistant" if known else _is_of_assistant(part)):
            return {**named, "role": known.role if known else ""}
        turn = self._content.turn_of(part)
        if turn is None or (turn.is_done and not known):
            turn = self._join_turn(string(part.get("sessionID")), message)
        is_late = part_id in self._content.unplaced and part_id not in turn.parts
        if not known:
            self._content.hear(message, part)
        about: _Fields = {"role": "assistant", "late": is_late and not part.get("text")}
        return {**named, **about, **(turn.update(part_id, part) if part_id else {})}

    def take_delta(self, fields: _Fields) -> _Fields:
        turn = self._content.turn_of(fields)
        part_id = string(fields.get("partID"))
        part = turn.parts.get(part_id) if turn else None
        message = string(fields.get("messageID"))
        is_known = message in self._content.messages or message in self._content.sessions
        is_known = is_known or (part is not None and part.is_ended)
        if turn is None or part is None or part.is_ended or part.kind not in TEXTS:
            if not is_known and len(self._content.unplaced) < MOST_OPEN:
                self._content.unplaced.add(part_id)
            return {"part": "", "known": is_known}
        if fields.get("field") == "text":
            turn.add_delta(part_id, string(fields.get("delta")))
        return {"part": part.kind, "known": is_known}

    def take_status(self, fields: _Fields) -> _Fields:
        kind = mapping(fields.get("status")).get("type")
        turn = self._content.by_session.get(string(fields.get("sessionID")))
        if kind == "idle":
            return self.take_idle(fields)
        if kind == "busy":
            self._leave_answer()
        if kind == "retry" and turn is not None:
            turn.leave_open()
        return {}

    def take_error(self, fields: _Fields) -> _Fields:
        turn = self._content.by_session.get(string(fields.get("sessionID")))
        error = mapping(fields.get("error"))
        if turn is not None and not turn.is_done:
            turn.fail(error)
        else:
            self._sink.say_error(stated_error(error))
        return {}

    def take_idle(self, fields: _Fields) -> _Fields:
        turn = self._content.by_session.get(string(fields.get("sessionID")))
        if turn is None or turn.is_done:
            return {"unreported": turn.leaves_unreported()} if turn else {}
        about = turn.finish()
        if self._content.are_done:
            self._say_done()
        return about

    def _leave_answer(self) -> None:
        """What comes next is another answer, where all turns of this one are over."""
        if self._is_done:
            self._next_answer()

    def _join_turn(self, session: str, message: str) -> SessionTurn:
        turn = self._content.by_session.get(session)
        if turn is not None and not turn.is_done:
            return turn
        self._leave_answer()
        self._has_begun = True
        turn = self._content.begin(session)
        self._sink.start_message("assistant", message, choice=turn.choice)
        return turn

    def end(self, how: Ending, number: int) -> list[Event]:
        """A bus without an answer was not cut."""
        return super().end(how, number) if self._has_begun else []


_TAKEN: Final[dict[str, Callable[[BusReader, _Fields], _Fields]]] = {
    "message.updated": BusReader.take_message,
    "message.part.updated": BusReader.take_part,
    "message.part.delta": BusReader.take_delta,
    "session.status": BusReader.take_status,
    "session.error": BusReader.take_error,
    "session.idle": BusReader.take_idle,
}


def _is_of_assistant(part: _Fields) -> bool:
    """Whether the part of an unannounced message is the assistant's."""
    return part.get("type") in _OF_ASSISTANT and (part.get("type") != "text" or "time" in part)


def recognises(_frame: Frame, payload: Any) -> bool:
    """An event of the bus, whose fields stand apart from its type."""
    event = unwrapped(payload)
    return isinstance(event.get("properties"), dict) and string(event.get("type")) in EVENTS.types
