"""What an entry of a request's history says, as far as it identifies a turn.

Rule 1: an entry is the model's, the user's, a tool's, or of another kind (a system prompt). An
entry with nothing but results of calls is a tool's, whatever its role is called.
Rule 2: `text` is what was shown, not what was thought.
Rule 3: a call is identified by its id, where it has one, and by name and arguments, compared as
JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

import msgspec
from msgspec import Struct

from conformance.core.events import Event
from conformance.core.spelling import one_spelling
from conformance.dialects.json_edge import elements, mapping, objects, string

Speaker = Literal["model", "user", "tool", "other"]

_SPOKEN: Final = frozenset({"text", "input_text", "output_text"})
_ROLES: Final[Mapping[str, Speaker]] = {
    "assistant": "model",
    "model": "model",
    "user": "user",
    "tool": "tool",
    "function": "tool",
}


class HistoryCall(NamedTuple):
    """A call by its id, empty where it has none, its name, and its arguments in one spelling."""

    id: str
    name: str
    arguments: str

    @property
    def shown(self) -> str:
        """Name and arguments, as a call is written."""
        return f"{self.name}({self.arguments})"


class HistoryEntry(Struct, frozen=True):
    """An entry: who speaks, what is shown, which calls are made, and which are answered.

    `thought` is the text of an entry that is thinking alone: what was shown may come back as that.
    `id` is the entry's own, empty where it has none.
    """

    by: Speaker
    text: str = ""
    calls: tuple[HistoryCall, ...] = ()
    results: tuple[str, ...] = ()
    id: str = ""
    thought: str = ""


class HistoryForm(Struct, frozen=True):
    """How requests of a dialect repeat the history.

    `key` is where it is in a body, `entries` gives it: one for each `position` of
    `request.item`.
    `thread` are dotted paths to what names the conversation, of which the first that is there
    counts; `thread_path` is the end of a request's path that names it as `{thread}`, and
    `answer_thread` gives it of an event of the answer, where the server makes it up.
    `named` are dotted paths to what names the answer itself, where that is not
    `RequestForm.previous`, and `answer_name` gives it of an event of the answer. `message_name`
    gives the id of an entry of the history that an event of the answer states. `restates` is the
    type of events by which an answer says anew, under its id, what earlier ones said.
    """

    key: str
    entries: Callable[[Any], list[Any]]
    read: Callable[[Any], HistoryEntry]
    thread: tuple[str, ...] = ()
    thread_path: str = ""
    answer_thread: Callable[[Event], str] | None = None
    named: tuple[str, ...] = ()
    answer_name: Callable[[Event], str] | None = None
    message_name: Callable[[Event], str] | None = None
    restates: str = ""


def history_call(id_: Any, name: Any, arguments: Any) -> HistoryCall:
    """A call; `arguments` are a value or its JSON."""
    return HistoryCall(string(id_), string(name), _as_json(arguments))


def _as_json(arguments: Any) -> str:
    value = arguments
    if isinstance(arguments, str):
        try:
            value = msgspec.json.decode(arguments or "{}")
        except (msgspec.DecodeError, RecursionError):
            return one_spelling(arguments)
    try:
        return msgspec.json.encode({} if value is None else value, order="sorted").decode()
    except (TypeError, ValueError, RecursionError):
        return ""


def speaker(role: Any) -> Speaker:
    """Who speaks under a role; unknown roles are no part of the conversation."""
    return _ROLES.get(role, "other") if isinstance(role, str) else "other"


def spoken(content: Any) -> str:
    """The text of a content: a string, or parts of which some are text."""
    if isinstance(content, str):
        return content
    return "".join(string(part.get("text")) for part in objects(content) if _is_spoken(part))


def _is_spoken(part: Mapping[str, Any]) -> bool:
    kind = part.get("type")
    return kind is None or (isinstance(kind, str) and kind in _SPOKEN)


def message_entry(entry: Any) -> HistoryEntry:
    """An entry with role, content and calls next to it, as Chat Completions and its kin have it."""
    fields = mapping(entry)
    by = speaker(fields.get("role"))
    text = spoken(fields.get("content"))
    if by == "tool":
        named = fields.get("tool_call_id") or fields.get("tool_name") or fields.get("name")
        return HistoryEntry(by, text, results=(string(named),))
    calls = [_message_call(each) for each in objects(fields.get("tool_calls"))]
    return HistoryEntry(by, text, tuple(calls))


def _message_call(call: Mapping[str, Any]) -> HistoryCall:
    function = mapping(call.get("function"))
    return history_call(call.get("id"), function.get("name"), function.get("arguments"))


def listed(key: str) -> Callable[[Any], list[Any]]:
    """The entries under a key of a body."""
    return lambda body: elements(mapping(body).get(key))


def listed_or_text(key: str) -> Callable[[Any], list[Any]]:
    """As `listed`, where a text is one entry of the user's, and an object with a type one entry."""

    def entries(body: Any) -> list[Any]:
        value = mapping(body).get(key)
        if isinstance(value, dict) and "type" in value:
            return [value]
        return [{"role": "user", "content": value}] if isinstance(value, str) else elements(value)

    return entries


def blocks_entry(
    role: Any,
    texts: Iterable[str],
    calls: Iterable[HistoryCall] = (),
    results: Iterable[str] = (),
) -> HistoryEntry:
    """An entry whose content is blocks; one with results carries the turn on (rule 1)."""
    answered = tuple(results)
    by = speaker(role)
    return HistoryEntry(
        "tool" if answered and by == "user" else by, "".join(texts), tuple(calls), answered
    )


MESSAGES: Final = HistoryForm("messages", listed("messages"), message_entry)
"""The history of Chat Completions, and of those that have it alike."""


def prompt_texts(body: Any, form: HistoryForm | None) -> Iterator[str]:
    """Every text of a request, except earlier answers."""
    if form is None or not isinstance(body, Mapping):
        yield from texts_within(body)
        return
    yield from texts_within({key: value for key, value in body.items() if key != form.key})
    for entry in form.entries(body):
        if form.read(entry).by != "model":
            yield from texts_within(entry)


def texts_within(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, Mapping):
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
