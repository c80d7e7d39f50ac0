"""Mutants of the suites of generateContent."""

from __future__ import annotations

import json
from typing import Any, Final

from tests.authoring import edits
from tests.authoring.edits import Pieces, having
from tests.authoring.gemini import MODEL, Chunk, answer, array, chunk, counts, said, thought
from tests.authoring.gemini_streams import SIGNED_END, SOUP_TEXT
from tests.authoring.mutant import Mutant
from tests.authoring.pieces import Fields, Message, Piece, at, comment
from tests.authoring.turns import asks

NAME: Final = "gemini.generate/gemini"
TEXT: Final = f"{NAME}/thinking-then-text"
HIDDEN: Final = f"{NAME}/thoughts-hidden"
OFF: Final = f"{NAME}/thinking-off"
TOOLS: Final = f"{NAME}/thinking-then-tools"
FAILED: Final = f"{NAME}/error-in-text"
ARRAY: Final = f"{NAME}/array"
PIECES: Final = "gemini.generate/vertex/streamed-call"
ROUND: Final = f"{NAME}/tool-round"
SUITE: Final = "wire/gemini"

PART: Final = "candidates.0.content.parts.0"
THOUGHT: Final = having(f"{PART}.thought")
CALLED: Final = having(f"{PART}.functionCall")
SIGNED: Final = having(f"{PART}.thoughtSignature")
DONE: Final = having("candidates.0.finishReason")
ERROR: Final = having("error")


def _ends_call(message: Message) -> bool:
    return bool(at(message.payload, f"{PART}.functionCall") == {})


def _spoken(message: Message) -> bool:
    return having(f"{PART}.text")(message) and not THOUGHT(message)


def _as_array(pieces: Pieces) -> list[Piece]:
    """What a gateway sends that drops the query of a path."""
    return [*array([piece.payload for piece in pieces if isinstance(piece, Message)])]


def _without_last(pieces: Pieces) -> list[Piece]:
    return [*pieces[:-1]]


def _uncounted(piece: Piece) -> Piece:
    """The chunk without a count of thoughts, and a total that fits."""
    assert isinstance(piece, Message)
    usage = piece.payload["usageMetadata"]
    total = usage["totalTokenCount"] - usage["thoughtsTokenCount"]
    rest = {key: value for key, value in usage.items() if key != "thoughtsTokenCount"}
    return Chunk({**piece.payload, "usageMetadata": {**rest, "totalTokenCount": total}})


def _as_text(arguments: Any) -> str:
    return json.dumps(arguments)


def _respelled(part: Fields) -> Fields:
    return {"thought_signature" if k == "thoughtSignature" else k: v for k, v in part.items()}


def _split(contents: list[Fields]) -> list[Fields]:
    """The parts of the model's content, each in a content of its own."""
    parts = [{"role": "model", "parts": [part]} for part in contents[1]["parts"]]
    return [contents[0], *parts, *contents[2:]]


def _moved(parts: list[Fields]) -> list[Fields]:
    """The signature on the thought, where none came."""
    first, called = parts
    signature = called["thoughtSignature"]
    bare = {key: value for key, value in called.items() if key != "thoughtSignature"}
    return [{**first, "thoughtSignature": signature}, bare]


STEP: Final = "history/gemini/step-signed"
IN_PLACE: Final = "history/gemini/signed-in-place"

MUTANTS: Final = (
    # One part is no list.
    Mutant(
        f"{SUITE}/carries",
        TEXT,
        (edits.change(_spoken, "candidates.0.content.parts", lambda parts: parts[0]),),
    ),
    Mutant(f"{SUITE}/answer-present", TEXT, (lambda _pieces: [],)),
    # Everything but the answer is counted.
    Mutant(
        f"{SUITE}/answer-present",
        OFF,
        (lambda _pieces: [Chunk({"usageMetadata": counts(14, 0, 0), "modelVersion": MODEL})],),
        name=f"{SUITE}/answer-present-though-counted",
    ),
    Mutant(
        f"{SUITE}/framed-as-asked",
        TEXT,
        (_as_array,),
        facts={"content_type": "application/json"},
    ),
    Mutant(f"{SUITE}/array-closed", ARRAY, (_without_last,)),
    Mutant(
        f"{SUITE}/array-utf8",
        ARRAY,
        (edits.raw(_spoken, b"About", b"Ab\xc3out"),),
        also=("thinking/stream/characters-whole",),
    ),
    # A gateway keeps the connection open as other APIs do.
    Mutant(f"{SUITE}/no-comments", TEXT, (edits.insert(comment("ping"), _spoken),)),
    # A gateway ends every stream like that.
    Mutant(f"{SUITE}/payload-known", TEXT, (edits.insert(Chunk("[DONE]"), DONE, after=True),)),
    Mutant(f"{SUITE}/call-ended", PIECES, (edits.drop(_ends_call),)),
    # A gateway that translates Chat Completions left the text as it was.
    Mutant(
        f"{SUITE}/call-arguments",
        TOOLS,
        (edits.change(CALLED, f"{PART}.functionCall.args", _as_text),),
    ),
    Mutant(f"{SUITE}/camel-case", TEXT, (edits.change(SIGNED, PART, _respelled),)),
    Mutant(
        f"{SUITE}/counts-never-fall",
        OFF,
        (edits.change(DONE, "usageMetadata", counts(14, 1, 0)),),
    ),
    Mutant(
        f"{SUITE}/thoughts-counted",
        TEXT,
        (lambda pieces: [*map(_uncounted, pieces)],),
    ),
    # The stream goes on as if nothing had happened.
    Mutant(
        f"{SUITE}/error-last",
        FAILED,
        (
            edits.insert(
                Chunk(chunk({"text": ""}, usage=counts(14, 9, 27), reason="STOP")),
                ERROR,
                after=True,
            ),
        ),
    ),
    Mutant(
        "effort/gemini/hidden-unless-asked",
        HIDDEN,
        (
            edits.insert(
                Chunk(chunk(thought("**Thinking of it**"), usage=counts(16, 0, 9))), _spoken
            ),
        ),
    ),
    Mutant(
        "effort/gemini/nought-means-none",
        OFF,
        (lambda _pieces: [*map(Chunk, answer(said(SOUP_TEXT), 14, 9, last=SIGNED_END))],),
    ),
    Mutant(IN_PLACE, ROUND, turns={2: asks("contents.1.parts", _moved)}, also=(STEP,)),
    Mutant("history/gemini/turns-alternate", ROUND, turns={2: asks("contents", _split)}),
)
