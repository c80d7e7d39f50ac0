"""Both hops of an application in one cassette: its stream, and its provider's answers behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

from tests.authoring import (
    acp,
    agui,
    edits,
    history_shared,
    messages,
    responses,
    stream_rows,
    ui_message,
)
from tests.authoring.draft import Draft
from tests.authoring.history_shared import FERRY, FERRY_RESULT, FERRY_TEXT, FOUND
from tests.authoring.messages import BREAD, BREAD_TEXT
from tests.authoring.ollama import SOUP, SOUP_TEXT
from tests.authoring.pieces import DONE, Fields, Message, Piece, deltas, opaque
from tests.authoring.ui_message import (
    START,
    answer,
    call,
    own,
    part,
    reasoning,
    step,
    text,
    written,
)

ASKED: Final = "How long does a loaf of bread take?"
FERRY_THOUGHT: Final = f"**Asking the service**\n\n{history_shared.FERRY_THOUGHT}"
FERRY_CALL: Final = ("call_fc_02", history_shared.NAME, {"line": "island"}, FERRY_RESULT)
LIGHTHOUSE_ASKED: Final = "Which lighthouse is the oldest?"
LIGHTHOUSE: Final = "I had better look this up."
LIGHTHOUSE_TEXT: Final = "The Tower of Hercules in Spain."
RIVER: Final = "A river."
BEGUN_TEXT: Final = "Plan for four"
STOPPED: Final = "Interrupted by the user."
HEARD: Final = 2  # deltas of the text, before the user stops the answer
PLAYED: Final = {"target": "app", "deterministic": False, "steps": {"": {"asked": ["turn"]}}}


def drafts() -> Iterator[Draft]:
    yield from _ui_messages()
    yield from _ends()
    yield from _agui_runs()
    yield _agent_turn()


def both_hops(shown: Draft, *upstream: Draft) -> Draft:
    """The application's draft with the provider's behind it, each call after the one before."""
    facts: Fields = {"hop": "upstream", "scenario": "", "role": "", "then": ()}
    calls = enumerate(upstream, 1)
    after = tuple(replace(each, after=n if n > 1 else None, **facts) for n, each in calls)
    return replace(shown, hop="app", then=after)


@cache
def _providers() -> dict[str, Draft]:
    return {draft.name: draft for draft in stream_rows.drafts()}


def _bread() -> Draft:
    """Signed thinking, then text."""
    return _providers()["anthropic.messages/anthropic/thinking-then-text"]


def _riddle() -> Draft:
    """Two blocks of redacted thinking, then text."""
    return _providers()["anthropic.messages/anthropic/redacted"]


def _broken() -> Draft:
    """Signed thinking, and an error in the text behind it."""
    return _providers()["anthropic.messages/anthropic/error-in-text"]


def _soup() -> Draft:
    """Thinking in a field of its own, then text."""
    return _providers()["ollama.chat/ollama/thinking-then-text"]


def _lighthouse() -> Draft:
    """Thinking, a search that the provider carries out, text, and a call of a tool."""
    found = {"type": "web_search_result", "title": "Lighthouses", "url": "https://example.org"}
    sealed = {"encrypted_content": "RXF4ZW1wbGFy", "page_age": None}
    results: Fields = {"tool_use_id": "toolu_1", "content": [{**found, **sealed}]}
    blocks = [
        messages.thinking(0, LIGHTHOUSE),
        messages.tool(1, "web_search", ['{"query": "lighthouse"}'], "server_tool_use"),
        [messages.start(2, "web_search_tool_result", **results), messages.stop(2)],
        messages.text(3, LIGHTHOUSE_TEXT),
        messages.tool(4, "get_hours", ["{}"]),
    ]
    turns = [{"role": "user", "content": LIGHTHOUSE_ASKED}]
    asked: Fields = {"model": "think-1", "max_tokens": 2048, "messages": turns, "stream": True}
    pieces = messages.answer(blocks, (420, 90, 12), "tool_use")
    return messages.drafted("anthropic/search", asked, pieces)


def _ferry() -> tuple[Draft, ...]:
    """A call of a tool, and the answer when its result is known; its items come back whole."""
    first = _providers()["openai.responses/openai/tool-round"]
    return first, *first.then


def _ui(topic: str, asked: str, pieces: Sequence[Piece], **facts: Any) -> Draft:
    messages = [{"id": "user-0", "role": "user", "parts": [{"type": "text", "text": asked}]}]
    body = {"id": "chat-1", "trigger": "submit-message", "messages": messages}
    return ui_message.drafted(f"ai-sdk/hops-{topic}", body, pieces, **facts)


def _ui_messages() -> Iterator[Draft]:
    shown = step(reasoning("0", BREAD, messages.signature_of(0)), text("1", BREAD_TEXT))
    yield both_hops(_ui("signed", ASKED, answer([shown])), _bread())

    sealed = [
        written("reasoning", str(n), "", **own(redactedData=opaque(f"redacted {n}")))
        for n in range(2)
    ]
    shown = step(*sealed, text("2", RIVER))
    yield both_hops(_ui("redacted", "A riddle?", answer([shown])), _riddle())

    steps = [
        step(_summary("rs_01", FERRY_THOUGHT), call(*FERRY_CALL)),
        step(_summary("rs_03", FOUND), text("msg_04", FERRY_TEXT)),
    ]
    yield both_hops(_ui("tool-loop", FERRY, answer(steps), sizes=(97, 512)), *_ferry())

    shown = step(reasoning("0", SOUP), text("1", SOUP_TEXT))
    asked = "How long does lentil soup take?"
    yield both_hops(_ui("soup", asked, answer([shown])), _soup())

    # The provider's search is not shown.
    thought = reasoning("0", LIGHTHOUSE, messages.signature_of(0))
    shown = step(thought, text("3", LIGHTHOUSE_TEXT), call("toolu_4", "get_hours", {}, "9 to 18"))
    yield both_hops(_ui("hosted-call", LIGHTHOUSE_ASKED, answer([shown])), _lighthouse())


def _summary(item: str, text: str) -> list[Fields]:
    """A part of a summary with the two sealed values of its item; the later one counts."""
    begun, over = (
        own(itemId=item, reasoningEncryptedContent=opaque(f"{item} {which}", size))
        for which, size in (("begins", 48), ("ends", 96))
    )
    return [*written("reasoning", f"{item}:0", text, **begun)[:-1], _end(f"{item}:0", over)]


def _end(part_id: str, more: Fields) -> Fields:
    return part("reasoning-end", id=part_id, **more)


def _ends() -> Iterator[Draft]:
    failed = [
        *(START, part("start-step"), *reasoning("0", BREAD, messages.signature_of(0))),
        *text("1", BEGUN_TEXT),
        part("error", errorText="An error occurred."),
        *(part("finish-step"), part("finish", finishReason="error")),
    ]
    yield both_hops(_ui("error", ASKED, [*map(Message, failed), DONE]), _broken())

    # The first try breaks off inside its text; what was shown is the second one alone.
    shown = step(reasoning("0", BREAD, messages.signature_of(0)), text("1", BREAD_TEXT))
    yield both_hops(_ui("tried-again", ASKED, answer([shown])), _broken(), _bread())

    yield both_hops(_ui("stopped", ASKED, _stopped(), run=PLAYED), _hung_up())

    plain = answer([step(text("1", BREAD_TEXT))])
    yield both_hops(_ui("hidden", ASKED, plain, profile="no-reasoning"), _bread())


def _stopped() -> list[Piece]:
    """The user stops an answer inside its text; a part of its own reports the stop."""
    thought = reasoning("0", BREAD, messages.signature_of(0))
    begun = text("1", "".join(deltas(BREAD_TEXT)[:HEARD]))
    notice = part("data-status", data={"text": STOPPED})
    shown = (START, part("start-step"), *thought, *begun, notice, part("abort"))
    return [*map(Message, shown), DONE]


def _hung_up() -> Draft:
    """What the provider had said by then."""
    bread = _bread()
    unheard = edits.place(bread.pieces, edits.having("delta.text"), HEARD)
    return replace(bread, pieces=bread.pieces[:unheard], end="client-closed")


def _agui_runs() -> Iterator[Draft]:
    seal = [agui.sealed("r1", messages.signature_of(0))]
    parts = [agui.span("r1", agui.thought("r1", BREAD), seal), agui.text("t1", BREAD_TEXT)]
    yield both_hops(_agui("signed", ASKED, agui.run(parts)), _bread())

    hidden = agui.run([agui.span("r1", seal), agui.text("t1", BREAD_TEXT)])
    shown = replace(_agui("hidden", ASKED, hidden), profile="no-reasoning")
    yield both_hops(shown, _bread())

    parts = [
        agui.span("r1", agui.thought("r1", FERRY_THOUGHT), _sealed_item("rs_01")),
        agui.call(*FERRY_CALL),
        agui.span("r2", agui.thought("r2", FOUND), _sealed_item("rs_03")),
        agui.text("t1", FERRY_TEXT),
    ]
    yield both_hops(_agui("tool-loop", FERRY, agui.run(parts)), *_ferry())


def _agent_turn() -> Draft:
    """Parts of a summary, which the protocol does not tell apart, with blank lines around them."""
    thought = "".join(f"\n\n{each}" for each in responses.DUSK)
    events = acp.chunks("message", responses.DUSK_TEXT)
    lines = [*acp.chunks("thought", thought), *events, acp.stopped()]
    shown = acp.drafted("agent/hops-summary", lines)
    return both_hops(shown, _providers()["openai.responses/demo/summary"])


def _sealed_item(item: str) -> list[Fields]:
    owner = "r1" if item == "rs_01" else "r2"
    return [agui.sealed(owner, opaque(f"{item} ends", 96))]


def _agui(topic: str, asked: str, pieces: Sequence[Piece]) -> Draft:
    messages = [{"id": "user-1", "role": "user", "content": asked}]
    rest: Fields = {"state": {}, "tools": [], "context": [], "forwardedProps": {}}
    body = {**agui.RUN, "messages": messages, **rest}
    return agui.drafted(f"agent/hops-{topic}", body, pieces)
