"""How to prompt a command that speaks a dialect on its standard streams, in terms of no dialect.

A *conversation* is the messages to and from one process, without bytes and without a clock.

What an agent asks of its client is refused: nothing that a played model wants is carried out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol

from msgspec import Struct

from conformance.dialects.json_edge import elements, mapping, string
from conformance.dialects.requests import Continuation, Question, RequestForm

Message = Mapping[str, Any]

NO_METHOD: Final = -32601
"""The code of JSON-RPC for a method that is not there."""


class AgentConversation(Protocol):
    """The messages to one process; `folder` is where its sessions work.

    `is_asked`: the handshake is done, and the last turn requested; `is_over`: it is answered.
    `refusal` says why no turn can be requested, else empty.
    """

    is_prompted: bool
    is_over: bool
    refusal: str

    def ask(self, body: Message) -> list[Message]:
        """Begins a turn: what to write first."""

    def take(self, message: Any) -> list[Message]:
        """Takes the next JSON value of the agent: what to write now."""

    def stop(self) -> list[Message]:
        """What the user's wish to stop the turn is written as."""

    def is_elsewhere(self, message: Any) -> bool:
        """Whether a message is about a conversation that another turn had, and none of this one."""


AgentWords = Callable[[Message, str, str], Sequence[str]]
"""The arguments of a command: of the request, the id of the model and the folder to work in."""


class AgentForm(Struct, frozen=True):
    """How a command is prompted: by messages on its standard input, or by its arguments.

    `words` are appended to the user's command, those of `words_of` where its file has one of these
    names. Without a `conversation` each turn is a separate process, which ends with it; a user
    stops it by an interrupt. `environment` is what a command of its own needs to find the model,
    besides what every agent is given; it is given the URL of the model, its id and a folder for
    homes.
    """

    words: AgentWords = lambda _body, _model, _folder: ()
    conversation: Callable[[str], AgentConversation] | None = None
    environment: Callable[[str, str, Path], Mapping[str, str]] = lambda _url, _model, _folder: {}
    words_of: Mapping[str, AgentWords] = {}

    def words_after(self, command: Sequence[str]) -> AgentWords:
        """The arguments of this command, by the first of its words that names a program."""
        named = (self.words_of.get(Path(word).stem) for word in command)
        return next((each for each in named if each is not None), self.words)


def text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def user_turn(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def user_text(body: Message, key: str) -> str:
    turns = map(mapping, elements(body.get(key)))
    return "\n".join(string(each.get("text")) or string(each.get("content")) for each in turns)


def agent_request(
    key: str,
    previous: str,
    turn: Callable[[str], dict[str, Any]] = text_block,
) -> RequestForm:
    """Requests of a user to an agent, which keeps the history by itself.

    `key` holds the turn, `previous` the id of the session that it continues.
    """

    def ask(question: Question) -> dict[str, Any]:
        return {key: [turn(question.text)]}

    def next_turns(after: Continuation) -> list[Any]:
        return [turn(after.question)]

    return RequestForm(
        history=key,
        limits=(),
        ask=ask,
        next_turns=next_turns,
        streams=lambda _body: True,
        previous=previous,
        answer_id=lambda event: string(event.data.get(previous)),
    )


class RpcConversation:
    """A conversation of JSON-RPC messages, whose turns are requests; a dialect says which.

    The requests of the client are numbered from 0; `version` is what every message states besides.
    Sessions come one after the other: `session_key` is where a request names the one that it
    continues. The agent sends `greeting` once, before the first turn.
    """

    version: ClassVar[Message] = {}
    session_key: ClassVar[str]
    greeting: ClassVar[Message]

    def __init__(self, folder: str) -> None:
        self.is_prompted = self.is_over = False
        self.refusal = ""
        self.folder = folder
        self.session = ""
        self._left: set[str] = set()  # sessions that were continued before
        self.turn: Message = {}
        self._is_greeted = False
        self._methods: dict[int, str] = {}
        self._count = 0

    def ask(self, body: Message) -> list[Message]:
        """Begins a turn: what to write first."""
        self.is_prompted = self.is_over = False
        key = self.session_key
        self.turn = {name: value for name, value in body.items() if name != key}
        # A process that was started anew knows no session of the one before.
        carries_on = key in body and self._is_greeted
        before = self.session
        self.session = (string(body[key]) or self.session) if carries_on else ""
        if before and before != self.session:
            self._left.add(before)
        if self._is_greeted:
            return [self.next_request()]
        return [self.request("initialize", self.greeting)]

    def take(self, message: Any) -> list[Message]:
        """Takes the next JSON value of the agent: what to write now."""
        fields = mapping(message)
        method, number = string(fields.get("method")), fields.get("id")
        if method and number is not None:
            return [{**self.version, "id": number, **self.answer(method, mapping(fields))}]
        if method:
            return self.hear(method, mapping(fields.get("params")))
        called = self._methods.pop(number, "") if isinstance(number, int) else ""
        if not called:
            return []
        if "error" in fields and not self.ends(called):
            return self.after_refusal(called, mapping(fields["error"]))
        self._is_greeted = self._is_greeted or called == "initialize"
        return self.go_on(called, mapping(fields.get("result")))

    def is_elsewhere(self, message: Any) -> bool:
        """Whether it reports how a session is that was left. Words to such a session are kept."""
        fields = mapping(message)
        session = string(mapping(fields.get("params")).get(self.session_key))
        return session in self._left - {self.session} and self.is_news(fields)

    def is_news(self, _fields: Message) -> bool:
        """Whether a message says how a session is, and nothing of a turn in it."""
        return False

    def answer(self, method: str, _fields: Message) -> Message:
        """Result or error of a request of the agent; refused, where the dialect knows no other."""
        return {"error": {"code": NO_METHOD, "message": f"{method} is not offered"}}

    def hear(self, _method: str, _params: Message) -> list[Message]:
        """What to write after a notification."""
        return []

    def ends(self, _method: str) -> bool:
        """Whether the response to that request ends a turn, be it an error."""
        return False

    def after_refusal(self, method: str, error: Message) -> list[Message]:
        """What to write after an error that ends no turn; nothing, where it ends all turns."""
        self.refusal = f"it refused {method}: {string(error.get('message')) or error}"
        return []

    def go_on(self, method: str, result: Message) -> list[Message]:
        """What to write after the response to a request of the client."""
        raise NotImplementedError

    def next_request(self) -> Message:
        """The request that opens a session, or that of the turn where one is open."""
        raise NotImplementedError

    def begin_turn(self, method: str, params: Message) -> Message:
        self.is_prompted = True
        return self.request(method, params)

    def request(self, method: str, params: Message) -> Message:
        number, self._count = self._count, self._count + 1
        self._methods[number] = method
        return {**self.version, "id": number, "method": method, "params": params}

    def notice(self, method: str, params: Message) -> Message:
        """A notification of the client."""
        return {**self.version, "method": method, "params": params}
