"""Mutants of `effort` and `summary/request`, and of padding that was turned off."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, renumber
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_chat import SAID
from tests.authoring.mutants_responses import COMPLETED, CREATED, DELTA, SUMMARY, THINKING_CLOSED
from tests.authoring.pieces import Message, Piece
from tests.authoring.request_streams import KNOTS_TEXT
from tests.authoring.responses import Answer, Item, message, raw_thinking, stream
from tests.authoring.turns import answers, asks, asks_not

SUMMARIES: Final = "openai.responses/reference/summary-on-request"


def _as_thinking(pieces: Pieces) -> list[Piece]:
    """The whole answer lands in the field of the thinking."""
    return [_moved(p) if isinstance(p, Message) and SAID(p) else p for p in pieces]


def _moved(said: Message) -> Message:
    (choice,) = said.payload["choices"]
    delta = {"reasoning_content": choice["delta"]["content"]}
    return edits.changed(said, "choices.0.delta", delta)


def _answer_in_thinking(pieces: Pieces) -> list[Piece]:
    """As above: the text stands in a reasoning item, the message is empty."""
    del pieces
    asked = {"reasoning": {"effort": "none"}}
    items = [*raw_thinking(Item(0, "rs_00"), KNOTS_TEXT), *message(Item(1, "msg_01"), "")]
    return list(stream(Answer("resp_00", "think-1", asked).completed(items, (9, 14, 14))))


def _of_summary(message: Message) -> bool:
    return "summary_index" in message.payload


MUTANTS: Final = (
    Mutant(
        "effort/chat/known",
        "openai.chat/vllm/effort-none",
        turns={1: asks("reasoning_effort", "ultra")},
    ),
    Mutant("effort/chat/none-means-none", "openai.chat/vllm/effort-none", (_as_thinking,)),
    Mutant("effort/chat/excluded", "openai.chat/openrouter/thinking-excluded", (_as_thinking,)),
    Mutant("effort/chat/switched-off", "openai.chat/vllm/switched-off", (_as_thinking,)),
    Mutant("effort/responses/known", SUMMARY, turns={1: asks("reasoning.effort", "ultra")}),
    Mutant(
        "effort/responses/summary-known", SUMMARY, turns={1: asks("reasoning.summary", "always")}
    ),
    Mutant(
        "effort/responses/echoed",
        SUMMARIES,
        (edits.change(CREATED, "response.reasoning.effort", "low"),),
    ),
    Mutant(
        "effort/responses/none-means-none",
        "openai.responses/openai/effort-none",
        (_answer_in_thinking,),
    ),
    # The same stream, to somebody who did not ask for a summary.
    Mutant("summary/request/only-when-asked", SUMMARIES, turns={2: asks_not("reasoning.summary")}),
    Mutant(
        "summary/request/comes-when-asked",
        SUMMARIES,
        turns={
            2: answers(
                edits.drop_all(_of_summary),
                edits.change(THINKING_CLOSED, "item.summary", []),
                edits.change(COMPLETED, "response.output.0.summary", []),
                renumber,
            )
        },
    ),
    # The tokens of the second call are lost.
    Mutant(
        "summary/request/usage-includes-summary",
        SUMMARIES,
        turns={
            2: answers(
                edits.change(COMPLETED, "response.usage.output_tokens", 34),
                edits.change(COMPLETED, "response.usage.total_tokens", 43),
            )
        },
    ),
    Mutant(
        "wire/responses/no-obfuscation",
        "openai.responses/openai/padding-off",
        (edits.change(DELTA, "obfuscation", "abcdefgh"),),
    ),
    Mutant(
        "wire/chat/no-obfuscation",
        "openai.chat/openai/padding-off",
        (edits.change(SAID, "obfuscation", "abcdefgh"),),
    ),
)
