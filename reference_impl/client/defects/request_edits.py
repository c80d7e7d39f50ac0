"""Defects in what a client sends and stores; the functions at the door are named as they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from ..apis import OPT_IN, Request
from ..ask import Ask
from ..turn import Thought, Turn
from .defect import Record

Message = dict[str, Any]
_THINKING: Final = ("reasoning_content", "thinking", "blocks")
# Where requests of any API have what was said before; a completion has none.
_HISTORIES: Final = ("input", "messages", "contents")
# Where they have a level of effort.
_LEVELS: Final = (
    ("reasoning_effort",),
    ("reasoning", "effort"),
    ("output_config", "effort"),
    ("generationConfig", "thinkingConfig", "thinkingLevel"),
    ("generation_config", "thinking_level"),
    ("think",),
)


def _each_thought(edit: Callable[[Thought], Thought]) -> Callable[[Ask], Ask]:
    def turn(given: Turn) -> Turn:
        pieces = (edit(piece) if isinstance(piece, Thought) else piece for piece in given.pieces)
        return replace(given, pieces=tuple(pieces))

    return lambda ask: replace(ask, turns=tuple(map(turn, ask.turns)))


@_each_thought
def signature_altered(thought: Thought) -> Thought:
    """The opaque data with another last character."""
    return replace(
        thought,
        signature=_last_character_turned(thought.signature),
        encrypted=_last_character_turned(thought.encrypted),
        redacted=_last_character_turned(thought.redacted),
    )


def _last_character_turned(data: str) -> str:
    return data[:-1] + ("A" if data[-1] != "A" else "B") if data else data


@_each_thought
def reasoning_reworded(thought: Thought) -> Thought:
    if thought.raw:
        return replace(thought, raw=f"{thought.raw} ")
    # A summary that is joined with its blank lines is another one, too.
    return replace(thought, parts=tuple(f"{part} " for part in thought.parts))


def _all_entries(edit: Callable[[list[Message]], list[Message]]) -> Callable[[Request], Request]:
    """Change the history of a request, whatever it is called there."""

    def request(given: Request) -> Request:
        changed = {n: edit(list(given.json[n])) for n in _HISTORIES if n in given.json}
        return replace(given, json={**given.json, **changed})

    return request


def _each_entry(edit: Callable[[Message], Message]) -> Callable[[Request], Request]:
    return _all_entries(lambda entries: [edit(entry) for entry in entries])


def _is_reasoning(entry: Message) -> bool:
    return entry.get("type") == "reasoning"


@_all_entries
def reasoning_after_its_turn(entries: list[Message]) -> list[Message]:
    """Every reasoning item one place further back."""
    moved = list(entries)
    for at in range(len(moved) - 1, 0, -1):
        if _is_reasoning(moved[at - 1]):
            moved[at - 1], moved[at] = moved[at], moved[at - 1]
    return moved


@_each_entry
def same_reasoning_id(entry: Message) -> Message:
    return {**entry, "id": "rs_roundtrip"} if _is_reasoning(entry) else entry


@_each_entry
def summary_list_missing(entry: Message) -> Message:
    if not _is_reasoning(entry):
        return entry
    return {name: value for name, value in entry.items() if name != "summary"}


@_each_entry
def reasoning_mirrored(entry: Message) -> Message:
    thinking = entry.get("reasoning_content")
    return {**entry, "reasoning": thinking} if thinking else entry


def effort_unknown(request: Request) -> Request:
    json = request.json
    for path in _LEVELS:
        json = _value_set(json, path, "utmost")
    return replace(request, json=json)


def _value_set(fields: Any, path: tuple[str, ...], value: str) -> Any:
    """The fields with another value there, where there is one."""
    if not path or not isinstance(fields, dict) or path[0] not in fields:
        return fields if path else value
    return {**fields, path[0]: _value_set(fields[path[0]], path[1:], value)}


def summary_unknown(request: Request) -> Request:
    json = dict(request.json)
    if "reasoning" in json:
        json["reasoning"] = {**json["reasoning"], "summary": "verbose"}
    return replace(request, json=json)


def opt_in_not_sent(request: Request) -> Request:
    headers = {name: value for name, value in request.headers.items() if name != OPT_IN}
    return replace(request, headers=headers)


def thinking_not_stored(record: Record) -> Record:
    """The record, of whatever form, with nothing of what was thought."""
    bare = {key: value for key, value in record.items() if key not in _THINKING}
    return {**bare, "args": thinking_not_stored(bare["args"])} if "args" in bare else bare
