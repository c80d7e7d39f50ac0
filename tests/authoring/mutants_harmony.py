"""Mutants of the suites of harmony."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, Step, Where
from tests.authoring.harmony import Token, final, further, message
from tests.authoring.harmony_streams import SOUP, TOOL
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Message, Piece, compact
from tests.authoring.turns import asks

TEXT: Final = "harmony/raw/thinking-then-text"
CALL: Final = "harmony/raw/preamble-then-call"
STREAMED: Final = "harmony/completions/streamed"
BODY: Final = "harmony/completions/body"
SECOND: Final = "harmony/completions/second-turn"
SUITE: Final = "wire/harmony"
ADDRESSED: Final = f"commentary to={TOOL}"


def token(text: str) -> Where:
    """A marker or text that is just this."""
    return lambda piece: bool(piece.payload == text)


def _instead(old: str, new: str, nth: int = 0) -> Step:
    """Another token in the place of one."""

    def step(pieces: Pieces) -> list[Piece]:
        spot = edits.place(pieces, token(old), nth)
        return [*pieces[:spot], Token(new), *pieces[spot + 1 :]]

    return step


def _without(*texts: str) -> Step:
    """The first of each of these tokens is missing."""

    def step(pieces: Pieces) -> list[Piece]:
        for text in texts:
            pieces = edits.drop(token(text))(pieces)
        return list(pieces)

    return step


def _unmarked(pieces: Pieces) -> list[Piece]:
    """What is left where special tokens are skipped."""
    return [p for p in pieces if isinstance(p, Message) and not str(p.payload).startswith("<|")]


def _type_first(pieces: Pieces) -> list[Piece]:
    """The type of a call stands before its channel."""
    spot = edits.place(pieces, token("<|constrain|>"))
    kind = pieces[spot - 1 : spot + 2]
    rest = [*pieces[: spot - 1], *pieces[spot + 2 :]]
    before = spot - 3
    return [*rest[:before], *kind, *rest[before:]]


def _goes_on(pieces: Pieces) -> list[Piece]:
    """The model makes up what the tool said."""
    return [*pieces[:-1], Token("<|end|>"), *final("Yes, at nine.")]


def _thinks_only(pieces: Pieces) -> list[Piece]:
    spot = edits.place(pieces, token("<|end|>"))
    return [*pieces[:spot], Token("<|return|>")]


def _says_twice(pieces: Pieces) -> list[Piece]:
    spot = edits.place(pieces, token("<|start|>"))
    first = further(*message("final", "Let me see."))
    return [*pieces[:spot], *first, *pieces[spot:]]


def _fails(_pieces: Pieces) -> list[Piece]:
    said = "Unexpected token 12606 while expecting start token 200006"
    return [compact({"error": {"message": said, "type": "HarmonyError", "code": 500}}).encode()]


def _textless(pieces: Pieces) -> list[Piece]:
    def is_last(piece: Message) -> bool:
        return "finish_reason" in str(piece.payload) and "'stop'" in str(piece.payload)

    return edits.change(is_last, "choices.0.text", None)(pieces)


def _prompts(old: str, new: str) -> Callable[[str], str]:
    def edited(prompt: str) -> str:
        assert old in prompt
        return prompt.replace(old, new)

    return edited


_WIRE: Final = (
    Mutant(f"{SUITE}/message-present", TEXT, (_unmarked,), also=(f"{SUITE}/stops",)),
    Mutant(f"{SUITE}/header-order", CALL, (_type_first,)),
    Mutant(f"{SUITE}/header-closed", TEXT, (_without("<|message|>"),)),
    Mutant(f"{SUITE}/header-known", TEXT, (_instead("analysis", "analysis ??"),)),
    Mutant(f"{SUITE}/role", TEXT, (_instead("assistant", "assistantassistant"),)),
    Mutant(f"{SUITE}/channel-known", TEXT, (_instead("analysis", "commentary?"),)),
    Mutant(f"{SUITE}/begins-with-start", TEXT, (_without("<|start|>", "assistant"),)),
    Mutant(f"{SUITE}/nothing-between", TEXT, (edits.insert(Token("\n"), token("<|start|>")),)),
    Mutant(
        f"{SUITE}/content-unmarked",
        TEXT,
        (_without("<|end|>"),),
        also=(f"{SUITE}/return-ends-final",),
    ),
    Mutant(
        f"{SUITE}/typed-for-somebody",
        CALL,
        (_instead(ADDRESSED, "commentary"),),
        also=(f"{SUITE}/call-addressed",),
    ),
    Mutant(f"{SUITE}/recipient-named", CALL, (_instead(ADDRESSED, f"{ADDRESSED}()"),)),
    Mutant(
        f"{SUITE}/calls-in-commentary",
        CALL,
        (_instead(ADDRESSED, ADDRESSED.replace("commentary", "analysis")),),
    ),
    Mutant(f"{SUITE}/call-ends-call", CALL, (_goes_on,)),
    Mutant(
        f"{SUITE}/call-addressed",
        CALL,
        (_instead(ADDRESSED, "commentary"), _without(" ", "<|constrain|>", "json")),
    ),
    Mutant(
        f"{SUITE}/arguments-are-json", CALL, (_instead('{"line": "island"}', '{"line": "island"'),)
    ),
    Mutant(f"{SUITE}/return-ends-final", TEXT, (_thinks_only,)),
    Mutant(f"{SUITE}/final-last", TEXT, (_says_twice,)),
    Mutant(f"{SUITE}/stops", TEXT, (_without("<|return|>"),)),
    Mutant(
        f"{SUITE}/nothing-after-stop",
        TEXT,
        (edits.insert(Token("And so on."), token("<|return|>"), after=True),),
    ),
    Mutant(f"{SUITE}/choice-text", STREAMED, (_textless,)),
    # The server's own parser failed on what the model said.
    Mutant(f"{SUITE}/error-status", BODY, (_fails,)),
)
_REQUESTS: Final = (
    Mutant(
        "history/harmony/dropped-after-final",
        SECOND,
        turns={
            1: asks(
                "prompt",
                _prompts(
                    "<|channel|>final",
                    f"<|channel|>analysis<|message|>{SOUP}<|end|><|start|>assistant<|channel|>final",
                ),
            )
        },
    ),
)
MUTANTS: Final = (*_WIRE, *_REQUESTS)
