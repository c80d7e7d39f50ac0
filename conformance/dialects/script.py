"""What a server says that the toolkit plays itself, in words of no dialect."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Protocol

from msgspec import Struct, field

from conformance.core.binary import EVENT_TYPE, EXCEPTION_TYPE, MESSAGE_TYPE, encode_message
from conformance.core.framing import Framing
from conformance.dialects.personas import PLAIN, Persona
from conformance.dialects.wishes import WishForm

CONTENT_TYPES: Final[Mapping[Framing, str]] = {
    "body": "application/json",
    "sse": "text/event-stream",
    "lines": "application/x-ndjson",
    "binary": "application/vnd.amazon.eventstream",
    "text": "text/plain; charset=utf-8",
    "array": "application/json",
}
MODEL: Final = "scripted"
TOOL: Final = "calculator"
ARGUMENTS: Final = '{"expression": "2 + 3"}'
MORE_ARGUMENTS: Final = '{"expression": "4 + 5"}'
_BROKEN: Final = frozenset({"cut", "error"})
_CALLS: Final = {"tools": 1, "two-calls": 2}
_PIECE: Final = 7  # characters
_BROKEN_AFTER: Final = 2  # pieces
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_WORDS: Final = re.compile(r"Answer [0-9]+:|thought [0-9]+:|summary [0-9]+:")


class ScriptedCall(Struct, frozen=True):
    """One call of an answer, number `index` of it; `mark` is in its id, and in that of no other.

    `breaks_off`: a stream ends within its arguments, and has no call that comes whole.
    """

    tool: str
    arguments: str
    index: int
    mark: str
    breaks_off: bool = False

    @property
    def pieces(self) -> list[str]:
        """The arguments as a stream has them."""
        return pieces_of(self.arguments)[: _BROKEN_AFTER if self.breaks_off else None]

    @property
    def fields(self) -> Any:
        """The arguments as bodies have them."""
        return json.loads(self.arguments)


class ScriptedAnswer(Struct, frozen=True):
    """One answer. `word` is one of `scenarios.UPSTREAM` that is no refusal.

    `number` is in its texts, so that two answers cannot be taken for each other. Its ids count from
    `ids_from`: a run begins at a random number, because gateways may keep ids of earlier runs; 0
    makes ids of the number alone. `thinking` is empty where the server shows none; it is counted in
    any case. `summary` is sent only where a request asks for one. `tokens` are those of the prompt,
    of all that was said, and of thinking among them; `states_usage` says that they are stated even
    where no request asks for it.
    `tool` is called with `arguments`, and where there are two calls, with `more_arguments`, too.
    `must_call`: what breaks off or is cut at its limit is a call, for one was demanded.
    `is_sealed`: thinking comes encrypted, too, where the API has a place for that. `persona` says
    what it is called where providers of one API differ.
    """

    word: str
    number: int
    thinking: str
    text: str
    summary: str = ""
    error: str = ""
    tokens: tuple[int, int, int] = (11, 21, 9)
    states_usage: bool = False
    tool: str = TOOL
    arguments: str = ARGUMENTS
    more_arguments: str = MORE_ARGUMENTS
    must_call: bool = False
    is_sealed: bool = False
    persona: Persona = PLAIN
    ids_from: int = 0

    @property
    def id_number(self) -> int:
        """A number that is in the ids of this answer, and of no other."""
        return self.ids_from + self.number

    @property
    def mark(self) -> str:
        """The same as letters and digits."""
        return _in_letters(self.id_number) if self.ids_from else str(self.number)

    @property
    def calls(self) -> tuple[ScriptedCall, ...]:
        """The calls of the answer, which has no text then."""
        count = _CALLS.get(self.word, int(self.must_call))
        given = (self.arguments, self.more_arguments)[:count]
        marks = (self.mark.rjust(5, "0"), "b" + self.mark.rjust(4, "0"))
        return tuple(
            ScriptedCall(self.tool, arguments, at, marks[at], self.is_broken)
            for at, arguments in enumerate(given)
        )

    @property
    def ending(self) -> str:
        """How the answer ends: its word, `tools` for all that call any."""
        return "tools" if self.word in _CALLS else self.word

    @property
    def is_broken(self) -> bool:
        """Whether a stream of it breaks off after a few pieces of its text or call."""
        return self.word in _BROKEN

    @property
    def is_finished(self) -> bool:
        return not self.is_broken and self.word != "no-finish"

    @property
    def signature(self) -> str:
        """What a provider signs the thinking with."""
        return b64encode(f"thought {self.number}, signed by the script".encode()).decode()

    def text_pieces(self) -> list[str]:
        pieces = [] if self.calls else pieces_of(self.text)
        return pieces[:_BROKEN_AFTER] if self.is_broken else pieces


def _in_letters(number: int) -> str:
    return _in_letters(number // 36) + _DIGITS[number % 36] if number else ""


def is_scripted(text: str) -> bool:
    """Whether a text holds words that the script says, of whatever call."""
    return _WORDS.search(text) is not None


def pieces_of(text: str) -> list[str]:
    """The text in pieces, as a stream has it."""
    return [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]


ScriptedEvent = tuple[str, Mapping[str, Any] | str]
"""Name and payload of one event of a stream; the name is empty where events have none."""


class ErrorBody(Protocol):
    def __call__(self, message: str, *, is_refusal: bool) -> Mapping[str, Any]:
        """The body of an error; a refusal is the client's fault."""


class Script(Struct, frozen=True):
    """How a dialect writes an answer to a request, as a stream and as a body, and an error.

    `wishes` is where its requests say what the answer must be.
    """

    stream: Callable[[ScriptedAnswer, Mapping[str, Any]], Iterator[ScriptedEvent]]
    body: Callable[[ScriptedAnswer, Mapping[str, Any]], Mapping[str, Any]]
    error: ErrorBody
    wishes: WishForm = field(default_factory=WishForm)


def encode_stream(events: Iterable[ScriptedEvent], framing: Framing) -> Iterator[bytes]:
    if framing != "array":
        yield from (encode_event(event, framing) for event in events)
        return
    before = b"["
    for event in events:
        yield before + encode_event(event, "lines").rstrip()
        before = b",\r\n"
    yield b"]" if before != b"[" else b"[]"


def encode_event(event: ScriptedEvent, framing: Framing) -> bytes:
    name, payload = event
    data = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
    if framing == "lines":
        return f"{data}\n".encode()
    if framing == "binary":
        return _binary_message(name, data.encode())
    return (f"event: {name}\n" if name else "").encode() + f"data: {data}\n\n".encode()


def _binary_message(name: str, payload: bytes) -> bytes:
    """A message of an AWS event stream; what is called an exception is raised."""
    is_raised = name.endswith("Exception")
    kind, header = ("exception", EXCEPTION_TYPE) if is_raised else ("event", EVENT_TYPE)
    content = (":content-type", "application/json")
    return encode_message(((header, name), content, (MESSAGE_TYPE, kind)), payload)
