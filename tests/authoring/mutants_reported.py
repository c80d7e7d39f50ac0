"""Mutants that users reported: words said twice, pieces that go back, counts of nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tests.authoring import edits, mutants_acp, mutants_messages, mutants_ollama
from tests.authoring.chat import Server
from tests.authoring.edits import Pieces, Step, Where
from tests.authoring.mutant import Mutant
from tests.authoring.mutants_blocks import UNSIGNED
from tests.authoring.mutants_chat import SAID, THOUGHT, USAGE
from tests.authoring.mutants_requests import _as_thinking
from tests.authoring.mutants_wire import FINGERPRINT, TEXT
from tests.authoring.pieces import Fields, Message, Piece
from tests.authoring.turns import asks, asks_not

OPENROUTER: Final = "openai.chat/openrouter/talk"
SHOWN: Final = ("They are ", "lit in ", "the evening, ", "a little ", "after sunset.")


def _each_twice(where: Where) -> Step:
    """Two readers of one chunk pass it on."""

    def step(pieces: Pieces) -> list[Piece]:
        twice = [[p, p] if isinstance(p, Message) and where(p) else [p] for p in pieces]
        return [piece for pair in twice for piece in pair]

    return step


def _in_pieces(details: Sequence[Fields]) -> list[Fields]:
    """The list holds what every chunk brought."""
    signed, *others = details
    bare = {key: value for key, value in signed.items() if key not in ("text", "signature")}
    half = len(signed["text"]) // 2
    texts = (signed["text"][:half], signed["text"][half:])
    said = [{**bare, "text": text} for text in texts]
    return [*said, {**bare, "signature": signed["signature"]}, *others]


MUTANTS: Final = (
    Mutant(
        "thinking/stream/said-once",
        TEXT,
        (_each_twice(THOUGHT),),
        name="thinking/stream/said-once-each-delta",
    ),
    Mutant(
        "thinking/stream/text-said-once",
        TEXT,
        (
            edits.drop(SAID),
            *(edits.insert(Server(extra=FINGERPRINT).said(content=t), SAID) for t in SHOWN),
            _each_twice(SAID),
        ),
        name="thinking/stream/text-said-once-each-delta",
    ),
    # A parser that looks at single tokens misses the tag, and the answer begins behind it.
    Mutant(
        "thinking/stream/unmarked",
        TEXT,
        (edits.insert(Server(extra=FINGERPRINT).said(reasoning_content=" So.</think>It"), SAID),),
        name="thinking/stream/unmarked-within-a-delta",
    ),
    Mutant("effort/chat/turned-off", "openai.chat/ollama/think-off", (_as_thinking,)),
    Mutant(
        "history/chat/details-joined",
        OPENROUTER,
        turns={2: asks("messages.1.reasoning_details", _in_pieces)},
    ),
    Mutant(
        "history/responses/raw-kept-with-calls",
        "openai.responses/deepseek/raw-talk",
        turns={2: asks_not("input.1")},
    ),
    Mutant(
        "thinking/answer/prompt-counted",
        "openai.chat/openai/usage-asked",
        (
            edits.change(USAGE, "usage.prompt_tokens", 0),
            edits.change(USAGE, "usage.total_tokens", lambda total: total - 9),
        ),
    ),
    Mutant(
        "wire/messages/prompt-counted",
        mutants_messages.TEXT,
        (
            edits.change(mutants_messages.STARTED, "message.usage.input_tokens", 0),
            edits.change(mutants_messages.ENDING, "usage.input_tokens", 0),
        ),
    ),
    # The thinking was stripped, and its block was not.
    Mutant(
        "wire/messages-blocks/thinking-not-empty",
        UNSIGNED,
        (edits.drop_all(mutants_messages.said("thinking")),),
    ),
    Mutant(
        "wire/acp/thought-not-empty",
        mutants_acp.TEXT,
        (edits.change_all(mutants_acp.THOUGHT, f"{mutants_acp.UPDATE}.content.text", ""),),
    ),
    # The word of Chat Completions.
    Mutant(
        "wire/ollama/thinking-elsewhere",
        mutants_ollama.TEXT,
        (edits.change(edits.having("message.thinking"), "message.reasoning", "So."),),
    ),
)
