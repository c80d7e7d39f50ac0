"""Streams of helexa neuron and OGX as their documents have them, one request asked in many ways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from tests.authoring import chat, responses
from tests.authoring.chat import Server, answer
from tests.authoring.draft import Draft
from tests.authoring.opt_in_streams import BEES_TEXT, BEES_THOUGHT, OPT_IN
from tests.authoring.pieces import DONE, Fields, Message, deltas
from tests.authoring.request_streams import KNOTS, KNOTS_TEXT, KNOTS_THOUGHT
from tests.authoring.responses import (
    Answer,
    Item,
    closed,
    message,
    raw_thinking,
    stream,
    summarised,
)

CONCISE: Final = "It must hold and open again. That leaves a hitch or a bowline."
DETAILED: Final = ("Knots that hold under load are wanted.", "Of those, two open by hand.")
SWITCH: Final = {"chat_template_kwargs": {"enable_thinking": True}}
SEEN: Final = (10, 27, 15)
UNSEEN: Final = (10, 12, 0)
REASONING: Final = Item(0, "rs_01")


def drafts() -> Iterator[Draft]:
    yield _stripping()
    yield _stripping_by_field()
    yield _thinking_by_default()
    yield _passed_through()
    yield _company()
    yield _needs_effort()
    yield _streamed_summaries()
    yield _unstated_parts()
    yield _whole_summary()
    yield _thinking_as_summary()


# Chat Completions


def _chat(topic: str, profile: str, pieces: Sequence[Message], **facts: Any) -> Draft:
    asked: Fields = {"model": "think-1", "messages": [{"role": "user", "content": "Bees?"}]}
    asked |= {"stream": True, **facts.pop("more", {})}
    return chat.drafted(topic, asked, pieces, profile=profile, **facts)


def _texts(server: Server, *texts: str) -> list[Message]:
    events = server.each("content", texts)
    return [server.opening(), *events, server.said(finish="stop")]


def wrapped(server: Server) -> list[Message]:
    """Thinking between markers, and the answer."""
    return _texts(server, "<think>", *deltas(BEES_THOUGHT), "</think>", *deltas(BEES_TEXT))


def _stripping() -> Draft:
    """Not thought, thought and shown, thought and hidden."""
    server, name, profile = Server(), "neuron-may/opt-in", "neuron-may"
    hidden = _texts(server, *deltas(BEES_TEXT))
    plain = [*hidden, server.usage(UNSEEN, details=False), DONE]
    shown = [*wrapped(server), server.usage(SEEN), DONE]
    unseen = [*hidden, server.usage(SEEN), DONE]
    turns = (
        _chat(name, profile, shown, headers=OPT_IN, role="opted-in", scenario="opt-in"),
        _chat(name, profile, unseen, more=SWITCH, role="switched-on", scenario="opt-in"),
    )
    return _chat(name, profile, plain, role="plain", scenario="opt-in", then=turns)


def _stripping_by_field() -> Draft:
    server, name, profile = Server(), "neuron-may/opt-in-by-field", "neuron-may-field"
    plain = [*_texts(server, *deltas(BEES_TEXT)), DONE]
    asked = {"extra": {"include_thinking": True}}
    opted_in = _chat(name, profile, [*wrapped(server), DONE], more=asked, role="opted-in")
    return _chat(name, profile, plain, role="plain", then=(opted_in,))


def _thinking_by_default() -> Draft:
    server, name = Server(), "neuron-august/thinking-by-default"
    unasked = answer(server, "reasoning_content", BEES_THOUGHT, BEES_TEXT, usage=SEEN)
    shown = [*wrapped(server), server.usage(SEEN), DONE]
    opted_in = _chat(name, "neuron-august", shown, headers=OPT_IN, role="wrapped")
    return _chat(name, "neuron-august", unasked, role="unasked", then=(opted_in,))


def _passed_through() -> Draft:
    pieces = answer(Server(), "reasoning", BEES_THOUGHT, BEES_TEXT)[:-1]  # without [DONE]
    return _chat("ogx-merged/passed-through", "ogx-merged", pieces)


def _company() -> Draft:
    """One request alone, and the same one while others are answered."""
    pieces = answer(Server(), "reasoning_content", BEES_THOUGHT, BEES_TEXT)
    alone = _chat("strict/company", "strict", pieces, role="alone", scenario="company")
    return replace(alone, then=(replace(alone, role="among"),))


# Responses


def ogx_stream(items: Sequence[Fields], asked: Fields, written: int = 34) -> tuple[Message, ...]:
    """A whole stream without event lines, as OGX sends it."""
    events = Answer("resp_00", "think-1", asked).completed(items, (9, written, 0))
    return stream(events, named=False)


def _asked(**reasoning: Any) -> Fields:
    thinking = {"reasoning": reasoning} if reasoning else {}
    return {"model": "think-1", "input": KNOTS, "stream": True, **thinking}


def _responses(topic: str, asked: Fields, pieces: Sequence[Message], **facts: Any) -> Draft:
    profile = topic.partition("/")[0]
    return responses.drafted(topic, asked, pieces, **{"profile": profile, **facts})


def thought_and_summary(parts: Sequence[str], *, streamed: bool = True) -> list[Fields]:
    """A reasoning item with raw thinking and then its summary."""
    thinking, summary = raw_thinking(REASONING, KNOTS_THOUGHT), summarised(REASONING, parts)
    (item,), (written,) = closed(thinking), closed(summary)
    end = {**thinking[-1], "item": {**item, "summary": written["summary"]}}
    return [*thinking[:-1], *(summary[1:-1] if streamed else ()), end]


def _needs_effort() -> Draft:
    name, asked = "ogx-streamed/needs-effort", _asked(effort="low")
    items = [*raw_thinking(REASONING, KNOTS_THOUGHT), *_message(1)]
    with_effort = _responses(name, asked, ogx_stream(items, asked), role="with-effort")
    pieces = ogx_stream(_message(0), _asked())
    return _responses(name, _asked(), pieces, role="without-effort", then=(with_effort,))


def _message(index: int) -> list[Fields]:
    return message(Item(index, "msg_02"), KNOTS_TEXT)


def _streamed_summaries() -> Draft:
    """A summary of each kind, one part per paragraph."""
    kinds = {"summary": "concise", "auto": "auto", "detailed": "detailed"}
    turns = []
    for role, kind in kinds.items():
        asked = _asked(effort="low", summary=kind)
        parts = DETAILED if kind == "detailed" else (CONCISE,)
        pieces = ogx_stream([*thought_and_summary(parts), *_message(1)], asked)
        turns.append(
            _responses("ogx-streamed/summaries", asked, pieces, role=role, scenario="summary")
        )
    first, *then = turns
    return replace(first, then=tuple(then))


def _unstated_parts() -> Draft:
    asked = _asked(effort="low", summary="detailed")
    summary_parts = [
        event
        for event in thought_and_summary(DETAILED)
        if event["type"] != "response.reasoning_summary_text.done"
    ]
    pieces = ogx_stream([*summary_parts, *_message(1)], asked)
    name, profile = "ogx-streamed/unstated-parts", "ogx-streamed-unstated"
    return _responses(name, asked, pieces, profile=profile)


def _whole_summary() -> Draft:
    asked = _asked(effort="low", summary="detailed")
    items = thought_and_summary(("\n\n".join(DETAILED),), streamed=False)
    return _responses("ogx-merged/whole-summary", asked, ogx_stream([*items, *_message(1)], asked))


def _thinking_as_summary() -> Draft:
    """Whatever is asked for, the thinking itself is told as a summary."""
    turns = []
    for role, asked in (("no-summary", _asked()), ("summary", _asked(summary="concise"))):
        items = [*summarised(REASONING, (KNOTS_THOUGHT,)), *_message(1)]
        events = Answer("resp_00", "think-1", asked).completed(items, (9, 34, 20))
        name = "neuron-august/thinking-as-summary"
        turns.append(_responses(name, asked, stream(events), role=role, scenario="summary"))
    return replace(turns[0], then=(turns[1],))
