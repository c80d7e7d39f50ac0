"""Mutants of `thinking`: what a correct client would see, and what a faulty one reports."""

from __future__ import annotations

from itertools import accumulate
from typing import Any, Final

from tests.authoring import agui, edits, ui_message
from tests.authoring.agui_streams import CLOUD
from tests.authoring.chat import Server
from tests.authoring.edits import Pieces, typed
from tests.authoring.mutant import Mutant, Reported
from tests.authoring.mutants_chat import FINISH, SAID, THOUGHT
from tests.authoring.mutants_wire import CONTENT, FINGERPRINT, TEXT
from tests.authoring.pieces import Fields, Message, Piece, at
from tests.authoring.ui_message_streams import DYE_TEXT

CHAT_CLIENT: Final = "openai.chat/client/thinking-then-text"
THOUGHT_WHOLE: Final = (
    "Street lamps are lit at dusk, so the hour that is asked for is in the evening."
)
ANSWER_WHOLE: Final = (
    "They are lit in the evening, a little after sunset, when the sky is still blue in the west, "
    "and go out at dawn."
)
MORE: Final = Server(repeats_role=True).said(content="<think>Let me see.</think>")
SUMMARY_CLIENT: Final = "openai.responses/client/summary-then-call"


def _accumulated(where: edits.Where, field: str) -> edits.Step:
    """Every delta of a field says everything so far, once more."""
    path = f"choices.0.delta.{field}"

    def step(pieces: Pieces) -> list[Piece]:
        edited = list(pieces)
        texts = [at(p.payload, path) for p in pieces if not isinstance(p, bytes) and where(p)]
        for nth, text in enumerate(accumulate(texts)):
            edited = edits.change(where, path, text, nth)(edited)
        return edited

    return step


def _first(events: Reported, kind: str) -> int:
    return next(n for n, event in enumerate(events) if event["type"] == kind)


def _without(kind: str) -> Any:
    """The report lacks the first event of a kind."""

    def retold(events: Reported) -> Reported:
        spot = _first(events, kind)
        return [*events[:spot], *events[spot + 1 :]]

    return retold


def _twice(kind: str) -> Any:
    """The first event of a kind is reported twice."""

    def retold(events: Reported) -> Reported:
        spot = _first(events, kind)
        return [*events[: spot + 1], *events[spot:]]

    return retold


def _empty_delta(events: Reported) -> Reported:
    spot = _first(events, "thinking.delta")
    return [*events[:spot], {**events[spot], "text": ""}, *events[spot:]]


def _text_of_nothing(events: Reported) -> Reported:
    """The chunk with the role opens a text, which the thinking closes again."""
    spot = _first(events, "message.start") + 1
    place = {"choice": 0, "block": 9}
    nothing = [{"type": "text.start", **place}, {"type": "text.end", **place}]
    return [*events[:spot], *nothing, *events[spot:]]


def _block_per_delta(events: Reported) -> Reported:
    """The first delta of the block gets a block of its own."""
    start, spot = _first(events, "thinking.start"), _first(events, "thinking.delta")
    end = {"type": "thinking.end", "choice": 0, "block": 0, "explicit": False}
    rest = [{**e, "block": e["block"] + 1} if "block" in e else e for e in events[spot + 1 :]]
    return [*events[: spot + 1], end, {**events[start], "block": 1}, *rest]


def _before(where: edits.Where, *payloads: Fields) -> edits.Step:
    """Events in front of another one."""

    def step(pieces: Pieces) -> list[Piece]:
        spot = edits.place(pieces, where)
        return [*pieces[:spot], *map(Message, payloads), *pieces[spot:]]

    return step


MUTANTS: Final = (
    # The model thinks on after it has answered.
    Mutant(
        "thinking/stream/marked-before-text",
        "openai.chat/together/inline-think",
        (edits.insert(MORE, FINISH),),
    ),
    Mutant("thinking/stream/increments", TEXT, (_accumulated(THOUGHT, "reasoning_content"),)),
    Mutant("thinking/stream/text-increments", TEXT, (_accumulated(SAID, "content"),)),
    # A second field brings all of the thinking once more, and both are sent on.
    Mutant(
        "thinking/stream/said-once",
        TEXT,
        (edits.insert(Server(extra=FINGERPRINT).said(reasoning_content=THOUGHT_WHOLE), SAID),),
    ),
    # The first try broke off behind the answer, and the second one is shown below it.
    Mutant(
        "thinking/stream/text-said-once",
        TEXT,
        (edits.change(SAID, CONTENT, ANSWER_WHOLE), edits.change(SAID, CONTENT, ANSWER_WHOLE, 1)),
    ),
    # The second try is shown below what the first one said before it broke off.
    Mutant(
        "thinking/stream/text-said-once",
        "vercel.ui/ai-sdk/thinking-then-text",
        (
            _before(
                typed("text-start"),
                *ui_message.text("try", DYE_TEXT[:14]),
                ui_message.part("finish-step"),
                ui_message.part("start-step"),
            ),
        ),
        name="thinking/stream/text-said-once-after-a-try",
    ),
    Mutant(
        "thinking/stream/said-once",
        "agui/agent/thinking-then-text",
        (_before(typed("REASONING_START"), *agui.span("try", agui.thought("try", CLOUD[:23]))),),
        name="thinking/stream/said-once-after-a-try",
    ),
    # The parser begins inside the thinking, and leaves the tag that opens it.
    Mutant(
        "thinking/stream/unmarked",
        TEXT,
        (
            edits.change(THOUGHT, "choices.0.delta.reasoning_content", "nk>\nStreet lamps"),
            edits.insert(Server(extra=FINGERPRINT).said(reasoning_content="<thi"), THOUGHT),
        ),
    ),
    # The model called a tool before it closed its thinking.
    Mutant(
        "thinking/stream/no-call-markup",
        TEXT,
        (
            edits.change(
                THOUGHT, "choices.0.delta.reasoning_content", 'call>\n{"name": "look"} Street lamps'
            ),
            edits.insert(Server(extra=FINGERPRINT).said(reasoning_content="<tool_"), THOUGHT),
        ),
    ),
    Mutant("thinking/start/before-delta", CHAT_CLIENT, retold=_without("thinking.start")),
    Mutant("thinking/start/once", SUMMARY_CLIENT, retold=_twice("thinking.start")),
    Mutant("thinking/start/one-per-run", CHAT_CLIENT, retold=_block_per_delta),
    Mutant("thinking/start/delta-not-empty", CHAT_CLIENT, retold=_empty_delta),
    Mutant("thinking/start/ended", CHAT_CLIENT, retold=_without("thinking.end")),
    Mutant("thinking/start/silent-after-end", CHAT_CLIENT, retold=_twice("thinking.end")),
    Mutant("thinking/start/text-said", CHAT_CLIENT, retold=_text_of_nothing),
    Mutant("thinking/start/message-once", CHAT_CLIENT, retold=_twice("message.start")),
    Mutant("thinking/client/agrees-with-wire", CHAT_CLIENT, retold=_without("text.delta")),
)
