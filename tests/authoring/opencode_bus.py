"""Events of the bus of `opencode serve`, by the session that they are of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tests.authoring.pieces import Fields, Message, deltas

BEGUN: Final = 1767600000000  # milliseconds
ASKED: Final = "When does the bakery open?"
HOURS: Final = "The sign has two lines, and the upper one is for weekdays: from six to noon."
OPENS: Final = "At six, from Monday to Friday."
CONNECTED: Final = Message({"type": "server.connected", "properties": {}})
BEAT: Final = Message({"type": "server.heartbeat", "properties": {}})


@dataclass(slots=True)
class Session:
    """What one session sends; it numbers its messages and parts."""

    name: str = "ses_1"
    count: int = 0
    question: str = ""
    message: str = ""

    def created(self, parent: str = "") -> Message:
        info: Fields = {"id": self.name, "title": "A talk", "version": "1.18.33"}
        return self.sent("session.created", info={**info, "parentID": parent} if parent else info)

    def user_asks(self, text: str) -> list[Message]:
        """The user asks, and the session is busy."""
        self.question = self._next("msg")
        part = {"type": "text", "text": text}
        return [
            self.sent("message.updated", info=self._info("user", self.question)),
            self._part(self._next("prt"), part, self.question),
            self.status("busy"),
        ]

    def begun(self) -> list[Message]:
        """A message of the assistant begins, and so does its step."""
        self.message = self._next("msg")
        return [self.sent("message.updated", info=self._answer()), self.started()]

    def started(self) -> Message:
        return self._part(self._next("prt"), {"type": "step-start"})

    def over(self, reason: str = "stop", error: Fields | None = None) -> list[Message]:
        """The step is finished, and the message with it."""
        tokens = {"input": 40, "output": 20, "reasoning": 9, "cache": {"read": 0, "write": 0}}
        end = {"type": "step-finish", "reason": reason, "tokens": tokens, "cost": 0}
        finish = self._part(self._next("prt"), end)
        return [finish, self.completed(finish=reason, **({"error": error} if error else {}))]

    def completed(self, **stated: Any) -> Message:
        """The message of the assistant is over."""
        time = {"time": {"created": BEGUN, "completed": BEGUN + 900}}
        return self.sent("message.updated", info={**self._answer(), **time, **stated})

    def text(self, text: str, kind: str = "text", *, ends: bool = True) -> list[Message]:
        """A text, or a thought, in deltas."""
        part_id = self._next("prt")
        begun = {"type": kind, "text": "", "time": {"start": BEGUN}}
        over = {"type": kind, "text": text, "time": {"start": BEGUN, "end": BEGUN + 700}}
        named = {"messageID": self.message, "partID": part_id, "field": "text"}
        events = [self.sent("message.part.delta", **named, delta=each) for each in deltas(text)]
        end = [self._part(part_id, over)] if ends else []
        return [self._part(part_id, begun), *events, *end]

    def thought(self, text: str) -> list[Message]:
        return self.text(text, "reasoning")

    def called(self, name: str, asked: Fields, **result: Any) -> list[Message]:
        """A call from its name to its result, an `output` or an `error`."""
        part_id = self._next("prt")
        named = {"type": "tool", "tool": name, "callID": f"call_{part_id}"}
        status = "error" if "error" in result else "completed"
        states: list[Fields] = [
            {"status": "pending", "input": {}, "raw": ""},
            {"status": "running", "input": asked, "time": {"start": BEGUN}},
            {"status": status, "input": asked, **result, "time": {"start": BEGUN, "end": BEGUN}},
        ]
        return [self._part(part_id, {**named, "state": state}) for state in states]

    def idle(self) -> list[Message]:
        return [self.status("idle"), self.sent("session.idle")]

    def status(self, kind: str, **more: Any) -> Message:
        return self.sent("session.status", status={"type": kind, **more})

    def failed(self, error: Fields) -> Message:
        return self.sent("session.error", error=error)

    def sent(self, kind: str, **fields: Any) -> Message:
        """An event of this session."""
        self.count += 1
        properties = {"sessionID": self.name, **fields}
        return Message(
            {"id": f"evt_{self.name}_{self.count}", "type": kind, "properties": properties}
        )

    def _part(self, part_id: str, fields: Fields, message: str = "") -> Message:
        named = {"id": part_id, "messageID": message or self.message, "sessionID": self.name}
        return self.sent("message.part.updated", part={**named, **fields}, time=BEGUN)

    def _answer(self) -> Fields:
        return {**self._info("assistant", self.message), "parentID": self.question}

    def _info(self, role: str, message: str) -> Fields:
        return {"id": message, "sessionID": self.name, "role": role, "time": {"created": BEGUN}}

    def _next(self, kind: str) -> str:
        self.count += 1
        return f"{kind}_{self.name}_{self.count}"


def failure(name: str, message: str, **data: Any) -> Fields:
    return {"name": name, "data": {"message": message, **data}}


def answered_twice() -> list[Message]:
    """The model does not say why it stopped, and is asked once more."""
    talk = Session()
    events = [*talk.user_asks(ASKED), *talk.begun(), *talk.text(OPENS), *talk.over("unknown")]
    more = [*talk.begun(), *talk.text("From six on."), *talk.over(), *talk.idle()]
    return [CONNECTED, *events, *more]
