"""Streams and bodies of the Interactions API that keep the rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from tests.authoring.draft import Draft, body_draft, stream_draft
from tests.authoring.history_streams import (
    ARGUMENTS,
    FERRY,
    FERRY_RESULT,
    FERRY_TEXT,
    FERRY_THOUGHT,
    FOUND,
    NAME,
    ROUND,
)
from tests.authoring.interactions import (
    MODEL,
    answer,
    body,
    call,
    created,
    message,
    output,
    step,
    thought,
    updated,
    user,
    written,
)
from tests.authoring.pieces import Fields, characters, opaque

DIALECT: Final = "gemini.interactions"
CALL_ID: Final = "k3p9x2"

KILN: Final = (
    "**Choosing the clay**\n\nStoneware holds the heat for longest, so it is fired last.\n\n",
    "**Counting the hours**\n\nTwo firings of nine hours leave a night between them.\n\n",
)
KILN_TEXT: Final = "Fire the stoneware last, nine hours after the first kiln has cooled."
CODE: Final = "print(sum(range(1, 11)))"

drafted = partial(stream_draft, dialect=DIALECT, path="/v1beta/interactions")
_in_one_piece = partial(body_draft, dialect=DIALECT, path="/v1beta/interactions")


def drafts() -> Iterator[Draft]:
    yield from _thoughts()
    yield from _calls()
    yield from _ends()
    yield from _bodies()
    yield _tool_round()
    yield _next_turn()
    yield _thoughts_left_out()


def _asked(*said: Fields | str, **more: Any) -> Fields:
    steps = [user(each) if isinstance(each, str) else each for each in said]
    config = {"thinking_level": "low", "thinking_summaries": "auto"}
    return {"model": MODEL, "input": steps, "generation_config": config, "stream": True, **more}


def _thoughts() -> Iterator[Draft]:
    asked = _asked("When is the stoneware fired?")
    steps = [thought(0, opaque("kiln"), KILN), output(1, KILN_TEXT)]
    yield drafted("gemini/thought-then-text", asked, answer(steps, (9, 18, 41)), sizes=(120, 33))

    # Without a summary a thought is its signature; the first piece of text is a long one.
    asked = _asked("さくらは何色ですか。", generation_config={"thinking_summaries": "none"})
    flower = "さくらの花は淡い桃色です。"
    steps = [thought(0, opaque("cherry")), output(1, flower, characters(flower))]
    yield drafted("gemini/no-summary", asked, answer(steps, (8, 9, 30)), sizes=(61, 7, 190))

    # The server runs code of its own between two thoughts.
    asked = _asked("What is 1 + 2 + ... + 10?", tools=[{"type": "code_execution"}])
    steps = [
        thought(0, opaque("sum"), ["**Adding up**\n\nCode is surer than counting.\n\n"]),
        step(1, {"type": "code_execution_call", "id": "c1"}, [_code_delta()]),
        step(
            2,
            {"type": "code_execution_result", "call_id": "c1"},
            [{"type": "code_execution_result", "result": "55\n", "is_error": False}],
        ),
        thought(3, opaque("sum again")),
        output(4, "The sum is 55."),
    ]
    yield drafted("gemini/code-between-thoughts", asked, answer(steps, (14, 30, 22)))


def _code_delta() -> Fields:
    return {"type": "code_execution_call", "arguments": {"language": "python", "code": CODE}}


def _calls() -> Iterator[Draft]:
    asked = _asked("When do the ferries sail?", tools=[_tool()])
    steps = [
        thought(0, opaque("ferries"), [FERRY_THOUGHT]),
        call(1, CALL_ID, NAME, ['{"line":', '"island"}']),
        call(2, "m7q1z5", NAME, ['{"line":"harbour"}']),
    ]
    pieces = answer(steps, (60, 33, 19), "requires_action")
    yield drafted("gemini/thought-then-calls", asked, pieces)


def _ends() -> Iterator[Draft]:
    asked = _asked("List every prime number.", generation_config={"max_output_tokens": 16})
    steps = [thought(0, opaque("primes"), ["There is no end to them."]), output(1, "2, 3, 5,")]
    yield drafted("gemini/incomplete", asked, answer(steps, (7, 8, 8), "incomplete"))

    asked = _asked("When is the stoneware fired?")
    said = [created(), updated(), *thought(0, opaque("kiln"), KILN), *output(1, KILN_TEXT)[:2]]
    failure = {"code": "internal", "message": "the model is not there any more"}
    failed = {"event_type": "error", "error": failure}
    yield drafted("gemini/error-in-text", asked, map(message, [*said, failed]))

    steps = [thought(0, opaque("kiln"), KILN)]
    errors = [{"code": "internal", "message": "the generation broke off"}]
    pieces = answer(steps, (9, 0, 41), "failed", errors=errors)
    yield drafted("gemini/failed", asked, pieces)


def _bodies() -> Iterator[Draft]:
    asked = _asked("When is the stoneware fired?", stream=False)
    shown = [written(paragraph) for paragraph in KILN]
    told = {"type": "thought", "signature": opaque("kiln"), "summary": shown}
    said = {"type": "model_output", "content": [written(KILN_TEXT)]}
    yield _in_one_piece("gemini/body", asked, body([told, said], (9, 18, 41)))

    asked = _asked(FERRY, stream=False, tools=[_tool()], store=False)
    unnamed = body([_thought(), _call()], (60, 30, 19), "requires_action")
    del unnamed["id"]  # nothing was stored
    yield _in_one_piece("gemini/body-with-call", asked, unnamed)


def _tool() -> Fields:
    schema = {"type": "object", "properties": {"line": {"type": "string"}}}
    return {"type": "function", "name": NAME, "parameters": schema}


def _thought() -> Fields:
    return {"type": "thought", "signature": opaque("ferry")}


def _call() -> Fields:
    return {
        "type": "function_call",
        "id": CALL_ID,
        "name": NAME,
        "arguments": json.loads(ARGUMENTS),
    }


def _tool_round() -> Draft:
    """A turn that calls a tool, and the one that brings the tool's result."""
    asked = _asked(FERRY, tools=[_tool()])
    steps = [thought(0, opaque("ferry"), [FERRY_THOUGHT]), call(1, CALL_ID, NAME, [ARGUMENTS])]
    pieces = answer(steps, (60, 30, 19), "requires_action")
    result = {"type": "function_result", "call_id": CALL_ID, "name": NAME, "result": FERRY_RESULT}
    told = {**_thought(), "summary": [written(FERRY_THOUGHT)]}
    carried_on = _asked(FERRY, told, _call(), result, tools=[_tool()])
    found = answer([thought(0, opaque("found"), [FOUND]), output(1, FERRY_TEXT)], (90, 24, 12))
    first = drafted(f"gemini/{ROUND}", asked, pieces, scenario=ROUND, role="tool-turn")
    second = drafted(f"gemini/{ROUND}", carried_on, found, scenario=ROUND, role="follow-up")
    return replace(first, then=(replace(second, after=1),))


def _next_turn() -> Draft:
    """A turn without calls, and one that asks on with all steps."""
    steps = [thought(0, opaque("kiln"), KILN), output(1, KILN_TEXT)]
    asked = _asked("When is the stoneware fired?")
    first = drafted(
        "gemini/next-turn", asked, answer(steps, (9, 18, 41)), scenario="next-turn", role="turn"
    )
    told = {"type": "thought", "signature": opaque("kiln"), "summary": [*map(written, KILN)]}
    said = {"type": "model_output", "content": [written(KILN_TEXT)]}
    carried_on = _asked("When is the stoneware fired?", told, said, "And the tiles?")
    steps = [thought(0, opaque("tiles"), ["Tiles are thin."]), output(1, "Before it.")]
    pieces = answer(steps, (60, 4, 11))
    second = replace(first, asked=carried_on, pieces=pieces, role="next-turn", after=1)
    return replace(first, then=(second,))


def _thoughts_left_out() -> Draft:
    """A client that never sends thoughts back."""
    said = {"type": "model_output", "content": [written(KILN_TEXT)]}
    asked = _asked("When is the stoneware fired?", said, "And the tiles?")
    steps = [thought(0, opaque("tiles"), ["Tiles are thin."]), output(1, "Before it.")]
    pieces = answer(steps, (40, 4, 11))
    return drafted("never-sends-back/second-turn", asked, pieces, profile="never-sends-back")
