"""Requests of a client beside what its user chose: every level, several models, a new level."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from tests.authoring import chat, messages, responses
from tests.authoring import messages as blocks
from tests.authoring.chat import Server, answer
from tests.authoring.draft import Draft
from tests.authoring.pieces import Fields, Piece
from tests.authoring.responses import Answer, Item, message, stream, summarised

OWN: Final = "reference-client"
LEVELS: Final = f"{OWN}/levels"
RULES: Final = "Answer in one sentence."
KETTLE: Final = "Why does a kettle sing before it boils?"
KETTLE_THOUGHT: Final = "Bubbles form at the hot bottom and collapse in the cooler water above."
KETTLE_TEXT: Final = "Small bubbles of steam collapse before they reach the surface."
AGAIN: Final = "And why does it fall silent?"
THINKS: Final = "think-1"
# Of models that take a budget, a level, and neither.
BUDGETED: Final = "claude-sonnet-4-5"
ADAPTIVE: Final = "claude-opus-4-6"
PLAIN: Final = "gpt-4o"
THINKING: Final = "gpt-5"
DEFAULT_HIGH: Final = "opal/default-level"
DEFAULT_OFF: Final = "opal-earlier/default-level"


def drafts() -> Iterator[Draft]:
    yield _in_turn(_chat_levels())
    yield _in_turn(_responses_levels())
    yield _in_turn(_messages_levels())
    yield _chat("opal/other-model", "low", profile="opal", model=PLAIN)
    yield _responses("opal/other-model", "low", profile="opal", model=PLAIN)
    yield _messages("opal/other-model", "low", 4096, {}, profile="opal", model=PLAIN)
    yield from _defaults()


def _in_turn(turns: Iterable[Draft]) -> Draft:
    first, *rest = turns
    return replace(first, then=tuple(rest))


def _defaults() -> Iterator[Draft]:
    """Where nothing was chosen: by the current document of Opal, and by the earlier one."""
    high = {"effort": "high", "summary": "auto"}
    yield _chat(DEFAULT_HIGH, None, profile="opal", model=THINKING, reasoning_effort="high")
    yield _chat(DEFAULT_OFF, None, profile="opal-earlier", model=THINKING)
    yield _responses(DEFAULT_HIGH, None, profile="opal", model=THINKING, reasoning=high)
    yield _responses(DEFAULT_OFF, None, profile="opal-earlier", model=THINKING)


def _chosen(level: str | None, model: str) -> Fields:
    return {"model": model} if level is None else {"model": model, "effort": level}


def _talk(*more: Fields) -> list[Fields]:
    return [{"role": "system", "content": RULES}, {"role": "user", "content": KETTLE}, *more]


def _chat_levels() -> Iterator[Draft]:
    yield _chat(LEVELS, "off")
    yield _chat(LEVELS, "low", reasoning_effort="low")
    yield _chat(LEVELS, "max", reasoning_effort="high")
    message = {"role": "assistant", "content": KETTLE_TEXT}
    history = _talk(message, {"role": "user", "content": AGAIN})
    yield _chat(LEVELS, "high", messages=history, reasoning_effort="high")


def _chat(
    topic: str, level: str | None, *, profile: str = OWN, model: str = THINKS, **asked: Any
) -> Draft:
    server = Server(model=model)
    thought = "reasoning_effort" in asked
    pieces: list[Piece] = [
        *answer(server, "reasoning_content", KETTLE_THOUGHT if thought else "", KETTLE_TEXT)
    ]
    body = {"model": model, "messages": _talk(), "stream": True, **asked}
    facts: Fields = {"profile": profile, "chosen": _chosen(level, model)}
    return chat.drafted(topic, body, pieces, **facts)


def _responses_levels() -> Iterator[Draft]:
    high = {"effort": "high", "summary": "auto"}
    yield _responses(LEVELS, "off")
    yield _responses(LEVELS, "low", reasoning={"effort": "low", "summary": "auto"})
    yield _responses(LEVELS, "max", reasoning=high)
    part = {"type": "output_text", "text": KETTLE_TEXT, "annotations": []}
    message = {"type": "message", "id": "msg_00", "role": "assistant", "content": [part]}
    more = (message, {"role": "user", "content": AGAIN})
    yield _responses(LEVELS, "high", *more, reasoning=high)


def _responses(
    topic: str,
    level: str | None,
    *history: Fields,
    profile: str = OWN,
    model: str = THINKS,
    **asked: Any,
) -> Draft:
    thinks = "reasoning" in asked
    entries = _talk(*history)
    entries[0] = {"role": "developer" if thinks else "system", "content": RULES}
    body = {"model": model, "input": entries, "stream": True, **asked}
    thinking = summarised(Item(0, "rs_01"), [KETTLE_THOUGHT]) if thinks else []
    items = [*thinking, *message(Item(int(thinks), "msg_02"), KETTLE_TEXT)]
    events = Answer("resp_00", model, body).completed(items, (20, 30, 14 if thinks else 0))
    facts: Fields = {"profile": profile, "chosen": _chosen(level, model)}
    return responses.drafted(topic, body, stream(events), **facts)


def _messages_levels() -> Iterator[Draft]:
    yield _messages(LEVELS, "off", 4096, {}, model=BUDGETED)
    for level, budget in (("low", 2048), ("medium", 8192), ("high", 16384), ("max", 16384)):
        thinking = {"thinking": {"type": "enabled", "budget_tokens": budget}}
        yield _messages(LEVELS, level, budget + 1024, thinking, model=BUDGETED)
    yield _messages(LEVELS, "max", 4096, _adaptive("max"), model=ADAPTIVE)
    message = {"role": "assistant", "content": [{"type": "text", "text": KETTLE_TEXT}]}
    more = (message, {"role": "user", "content": AGAIN})
    yield _messages(LEVELS, "high", 4096, _adaptive("high"), *more, model=ADAPTIVE)


def _adaptive(level: str) -> Fields:
    return {"thinking": {"type": "adaptive"}, "output_config": {"effort": level}}


def _messages(
    topic: str,
    level: str,
    most: int,
    thinking: Mapping[str, Any],
    *history: Fields,
    profile: str = OWN,
    model: str = THINKS,
) -> Draft:
    body = {
        "model": model,
        "max_tokens": most,
        "system": RULES,
        "messages": _talk(*history)[1:],
        "stream": True,
        **thinking,
    }
    thought = [blocks.thinking(0, KETTLE_THOUGHT)] if thinking else []
    events = [*thought, blocks.text(len(thought), KETTLE_TEXT)]
    pieces = blocks.answer(events, (20, 30, 14 if thinking else None))
    facts: Fields = {"profile": profile, "chosen": _chosen(level, model)}
    return messages.drafted(topic, body, pieces, **facts)
