"""Defects in what a client sends, and in what it stores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from ..ask import Ask
from ..request import OPT_IN, Request
from ..turn import Thought, Turn
from .defect import Defect, Record

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


def _thoughts(edit: Callable[[Thought], Thought]) -> Callable[[Ask], Ask]:
    """Change every thought of the history."""

    def turn(given: Turn) -> Turn:
        pieces = (edit(piece) if isinstance(piece, Thought) else piece for piece in given.pieces)
        return replace(given, pieces=tuple(pieces))

    return lambda ask: replace(ask, turns=tuple(map(turn, ask.turns)))


def _altered(thought: Thought) -> Thought:
    """The opaque data with another last character."""
    return replace(
        thought,
        signature=_turned(thought.signature),
        encrypted=_turned(thought.encrypted),
        redacted=_turned(thought.redacted),
    )


def _turned(data: str) -> str:
    return data[:-1] + ("A" if data[-1] != "A" else "B") if data else data


def _longer(thought: Thought) -> Thought:
    if thought.raw:
        return replace(thought, raw=f"{thought.raw} ")
    # A summary that is joined with its blank lines is another one, too.
    return replace(thought, parts=tuple(f"{part} " for part in thought.parts))


def _entries(edit: Callable[[list[Message]], list[Message]]) -> Callable[[Request], Request]:
    """Change the history of a request, whatever it is called there."""

    def request(given: Request) -> Request:
        changed = {n: edit(list(given.json[n])) for n in _HISTORIES if n in given.json}
        return replace(given, json={**given.json, **changed})

    return request


def _each(edit: Callable[[Message], Message]) -> Callable[[Request], Request]:
    return _entries(lambda entries: [edit(entry) for entry in entries])


def _is_reasoning(entry: Message) -> bool:
    return entry.get("type") == "reasoning"


def _after(entries: list[Message]) -> list[Message]:
    """Every reasoning item one place further back."""
    moved = list(entries)
    for at in range(len(moved) - 1, 0, -1):
        if _is_reasoning(moved[at - 1]):
            moved[at - 1], moved[at] = moved[at], moved[at - 1]
    return moved


def _same_id(entry: Message) -> Message:
    return {**entry, "id": "rs_roundtrip"} if _is_reasoning(entry) else entry


def _no_summary(entry: Message) -> Message:
    if not _is_reasoning(entry):
        return entry
    return {name: value for name, value in entry.items() if name != "summary"}


def _mirrored(entry: Message) -> Message:
    thinking = entry.get("reasoning_content")
    return {**entry, "reasoning": thinking} if thinking else entry


def _effort(request: Request) -> Request:
    """The level goes out as the user wrote it."""
    json = request.json
    for path in _LEVELS:
        json = _set(json, path, "utmost")
    return replace(request, json=json)


def _set(fields: Any, path: tuple[str, ...], value: str) -> Any:
    """The fields with another value there, where there is one."""
    if not path or not isinstance(fields, dict) or path[0] not in fields:
        return fields if path else value
    return {**fields, path[0]: _set(fields[path[0]], path[1:], value)}


def _summary(request: Request) -> Request:
    json = dict(request.json)
    if "reasoning" in json:
        json["reasoning"] = {**json["reasoning"], "summary": "verbose"}
    return replace(request, json=json)


def _no_opt_in(request: Request) -> Request:
    headers = {name: value for name, value in request.headers.items() if name != OPT_IN}
    return replace(request, headers=headers)


def _thoughtless(record: Record) -> Record:
    """The record, of whatever form, with nothing of what was thought."""
    bare = {key: value for key, value in record.items() if key not in _THINKING}
    return {**bare, "args": _thoughtless(bare["args"])} if "args" in bare else bare


TELLING: Final = (
    Defect(
        "reasoning-dropped-from-history",
        "Thinking does not go back, whatever the policy says.",
        (
            "history/chat/details-sealed",
            "history/chat/details-signed",
            "history/chat/kept-with-tools",
            "history/converse/redacted-unchanged",
            "history/converse/signed-unchanged",
            "history/gemini/signed-in-place",
            "history/gemini/signed-unchanged",
            "history/gemini/step-signed",
            "history/gemini/turn-signed",
            "history/interactions/signed-unchanged",
            "history/messages/redacted-unchanged",
            "history/messages/signed-unchanged",
            "history/mistral/signature-unchanged",
            "history/mistral/thinking-kept",
            "history/ollama/kept-with-tools",
            "history/responses/sealed-unchanged",
        ),
        ask=lambda ask: replace(ask, history="never"),
    ),
    Defect(
        "reasoning-sent-when-never",
        "Thinking goes back, whatever the policy says.",
        (
            "history/chat/never-sent",
            "history/cohere/never-sent",
            "history/converse/never-sent",
            "history/gemini/never-sent",
            "history/interactions/never-sent",
            "history/mistral/never-sent",
            "history/ollama/never-sent",
        ),
        ask=lambda ask: replace(ask, history="send-back"),
    ),
    Defect(
        "reasoning-reworded",
        "A blank is added to the thinking before it goes back.",
        (
            "history/chat/text-unchanged",
            "history/cohere/text-unchanged",
            "history/cohere/turn-unchanged",
            "history/converse/text-unchanged",
            "history/gemini/thoughts-as-received",
            "history/interactions/summary-unchanged",
            "history/interactions/turn-unchanged",
            "history/messages/text-unchanged",
            "history/messages/turn-unchanged",
            "history/mistral/thinking-kept",
            "history/ollama/kept-with-tools",
        ),
        ask=_thoughts(_longer),
    ),
    Defect(
        "reasoning-mirrored",
        "Thinking goes back in two fields.",
        ("history/chat/one-field",),
        request=_each(_mirrored),
    ),
    Defect(
        "reasoning-after-its-turn",
        "A reasoning item goes back behind what it led to.",
        ("history/responses/before-its-turn",),
        request=_entries(_after),
    ),
    Defect(
        "same-reasoning-id",
        "All reasoning items go back under one id.",
        ("history/responses/ids-distinct",),
        request=_each(_same_id),
    ),
    Defect(
        "summary-list-missing",
        "A reasoning item goes back without its summary.",
        ("history/responses/summary-present",),
        request=_each(_no_summary),
    ),
    Defect(
        "signature-altered",
        "Opaque data is changed before it goes back.",
        (
            "history/converse/redacted-unchanged",
            "history/converse/signed-unchanged",
            "history/converse/turn-signed",
            "history/gemini/signed-unchanged",
            "history/gemini/turn-signed",
            "history/interactions/signed-unchanged",
            "history/interactions/turn-signed",
            "history/messages/redacted-unchanged",
            "history/messages/signed-unchanged",
            "history/messages/turn-redacted",
            "history/messages/turn-signed",
            "history/mistral/signature-unchanged",
            "history/responses/sealed-unchanged",
            "history/responses/turn-sealed",
        ),
        ask=_thoughts(_altered),
    ),
    Defect(
        "effort-unknown",
        "A level goes out that no API knows.",
        (
            "effort/chat/known",
            "effort/gemini/level-known",
            "effort/interactions/level-known",
            "effort/messages/known",
            "effort/ollama/known",
            "effort/responses/known",
        ),
        request=_effort,
    ),
    Defect(
        "summary-unknown",
        "A summary is asked for that no API knows.",
        ("effort/responses/summary-known",),
        request=_summary,
    ),
    Defect(
        "effort-ignored",
        "The level that was chosen is not sent.",
        ("harness/next-request",),
        ask=lambda ask: replace(ask, effort="off"),
    ),
    Defect(
        "thinking-not-stored",
        "A turn is stored without its thinking.",
        ("harness/restores",),
        store=_thoughtless,
    ),
    Defect(
        "opt-in-not-sent",
        "The header that asks for thinking is not sent.",
        ("harness/next-request",),
        request=_no_opt_in,
    ),
)
