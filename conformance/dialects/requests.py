"""What a request body of a dialect looks like: its keys, its styles, how a turn goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field

from conformance.core.events import Event, Request
from conformance.core.json_values import value_at


class RequestStyle(Struct, frozen=True):
    """What is added to a request body, and what is called otherwise.

    Not every server takes `temperature` or `seed` (reasoning models of OpenAI refuse them), and
    the limit of an answer may have two names. The first request finds out, by being refused or not.
    An application's protocol may have another spelling in another version, which `headers` name.
    """

    added: Mapping[str, Any] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    respelled: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda body: body
    headers: tuple[tuple[str, str], ...] = ()

    def apply(self, body: Any) -> Any:
        """The body in this style; what a scenario says itself stays, one level deep."""
        if not isinstance(body, Mapping) or not body:
            return body
        styled = {self.renamed.get(key, key): value for key, value in body.items()}
        for key, value in self.added.items():
            stated = styled.setdefault(key, value)
            if isinstance(stated, Mapping) and isinstance(value, Mapping):
                styled[key] = {**value, **stated}
        return self.respelled(styled)


PLAIN: Final = RequestStyle()


OPT_IN: Final = "x-include-thinking"
"""The header that asks some servers to show thinking."""
OPT_IN_FIELD: Final = ("extra", "include_thinking")
"""The field of the body by which others are."""
_YES: Final = frozenset({"1", "true", "yes"})


def is_yes(value: str) -> bool:
    """Whether the value of a header says yes."""
    return value.strip().lower() in _YES


def opts_in(request: Request) -> bool:
    """Whether a request asks by its header to see thinking."""
    return any(name.lower() == OPT_IN and is_yes(value) for name, value in request.headers)


def asks_for_stream(body: Any) -> bool:
    """Whether a request wants a stream, where `stream` says so and nothing is a body."""
    return isinstance(body, Mapping) and body.get("stream") is True


def streams_by_default(body: Any) -> bool:
    """Whether a request wants a stream, where it does unless `stream` is false."""
    return isinstance(body, Mapping) and body.get("stream") is not False


class Tool(Struct, frozen=True):
    """A function that a request offers: what it `says` of itself, and the schema it takes."""

    name: str
    says: str = ""
    parameters: Mapping[str, Any] = field(
        default_factory=lambda: {"type": "object", "properties": {}}  # takes nothing
    )

    def fields(self, parameters: str) -> dict[str, Any]:
        """Its fields; the schema is called `parameters`."""
        described = {"description": self.says} if self.says else {}
        return {"name": self.name, **described, parameters: self.parameters}


class Question(Struct, frozen=True):
    """What a request is to ask for: an answer to `text` of a kind, with `tools` at hand.

    `limit` may be the name of a value that a template leaves open.
    """

    text: str
    limit: int | str
    streams: bool
    thinks: bool
    summarises: bool
    tools: tuple[Tool, ...] = ()


def function_tools(tools: Iterable[Tool]) -> dict[str, Any]:
    """`tools` of a body, one nested function each; nothing without tools."""
    nested = [{"type": "function", "function": tool.fields("parameters")} for tool in tools]
    return {"tools": nested} if nested else {}


def parsed_arguments(text: str) -> Any:
    """Arguments as a body has them; empty where they are no JSON: the rules tell of that."""
    try:
        return json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}


class Continuation(Struct, frozen=True):
    """An answer, and what comes next: `request` is the body it answers, `events` its wire events.

    `thinking`, `text` and `tools` (`tool.end` data) are what a client would report of it.
    `results` are what its calls gave, one after the other, `question` is what the user says next;
    empty: nothing.
    """

    request: Mapping[str, Any]
    events: Sequence[Event]
    thinking: str
    text: str
    tools: Sequence[Mapping[str, Any]]
    keeps_thinking: bool
    results: Sequence[str]
    question: str

    def result_of(self, call: int) -> str:
        """What call number `call` (from 0) of the answer gave: the last result goes on."""
        return self.results[min(call, len(self.results) - 1)] if self.results else ""

    @property
    def user_turn(self) -> list[dict[str, Any]]:
        """What the user says next, as most dialects have it."""
        return [{"role": "user", "content": self.question}] if self.question else []


def is_answer_turn(turn: Any) -> bool:
    """Whether an entry of a history is a model's, as most dialects say it."""
    return isinstance(turn, Mapping) and turn.get("role") == "assistant"


def listed_tools(body: Mapping[str, Any]) -> Any:
    """The tools that a body offers, as most dialects have them."""
    return body.get("tools")


class RequestForm(Struct, frozen=True):
    """The keys of a request body.

    `history` holds the earlier turns, `instructions` what a system prompt says next to it,
    `prompt` the new question, where the history does not hold it.
    `limits` are dotted paths that may hold the limit of output tokens. `ask` is the body of a
    request without its model and `stream`, `next_turns` the history after an answer; where a prompt
    is one text there is none, and the form is not one that `carries_on`. `styles` are tried in
    order. `streams` says whether a body asks for a stream, and
    `streams_at` whether a path does, whatever is sent to it. `is_answer` says whether an entry
    of the history is the model's. `previous` holds the id of an earlier answer that the request
    continues: `answer_id` gives it of an answer's events, `answer_id_bytes` finds it in the first
    bytes of an answer's body. `remembers`: the server keeps the history, so that a request names
    the answer that it continues, and its history is only what is new.
    `version_of` says in which version a body asks, where answers of versions have other shapes.
    `model` is where a user interface states the model that its user chose, if one was chosen.
    `conversation` and `own_id` hold the ids of the conversation and of the request, where its
    client has to make them. `summary` is the dotted path of the wish for a summary of thinking.
    `opts_in_by_header`: some servers show thinking only to who sends `OPT_IN`.
    `thinks_unasked`: a model may think where a request says nothing of it.
    `switches` are dotted paths that ask for thinking where they hold anything but an off;
    `refusals` are those among them where an off refuses it, whatever else is set. `spelled` gives
    a body with the keys that are known here, where the API takes several spellings. `tools` are the
    tools of a body, each a function or around one.
    """

    history: str
    limits: tuple[str, ...]
    ask: Callable[[Question], dict[str, Any]]
    next_turns: Callable[[Continuation], list[Any]]
    carries_on: bool = True
    styles: tuple[RequestStyle, ...] = (PLAIN,)
    instructions: str = ""
    prompt: str = ""
    streams: Callable[[Any], bool] = asks_for_stream
    streams_at: Callable[[str], bool] | None = None
    is_answer: Callable[[Any], bool] = is_answer_turn
    previous: str = ""
    answer_id: Callable[[Event], str] = lambda _event: ""
    answer_id_bytes: bytes = b""
    remembers: bool = False
    version_of: Callable[[Any], str] = lambda _body: ""
    model: str = ""
    conversation: str = ""
    own_id: str = ""
    summary: str = ""
    opts_in_by_header: bool = False
    thinks_unasked: bool = True
    switches: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()
    spelled: Callable[[Any], Any] = lambda body: body
    tools: Callable[[Mapping[str, Any]], Any] = listed_tools

    def limit(self, body: Any) -> int | None:
        """The limit of output tokens that a body states."""
        stated = (value_at(body, *path.split(".")) for path in self.limits)
        found = next((each for each in stated if each is not None), None)
        return found if isinstance(found, int) else None

    def least_limit(self, body: Any) -> int | None:
        """The smallest of the limits that a body states; what is not above 0 is none."""
        stated = (value_at(body, *path.split(".")) for path in self.limits)
        return min((each for each in stated if type(each) is int and each > 0), default=None)

    def wants_summary(self, body: Any) -> bool:
        """Whether a body asks for a summary of the thinking."""
        return bool(self.summary and value_at(body, *self.summary.split(".")))
