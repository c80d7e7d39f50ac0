"""Streams, arrays and bodies of generateContent that keep the rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from tests.authoring.draft import Draft, body_draft, stream_draft
from tests.authoring.gemini import (
    CALL_SIGNATURE,
    MODEL,
    RESPONSE,
    SIGNATURE,
    answer,
    array,
    body,
    call,
    call_in_pieces,
    chunk,
    counts,
    error,
    events,
    said,
    thought,
)
from tests.authoring.history_streams import FERRY, FERRY_RESULT, FERRY_TEXT, FERRY_THOUGHT, FOUND
from tests.authoring.pieces import Fields, characters

DIALECT: Final = "gemini.generate"
ROUND: Final = "tool-round"
STREAM: Final = f"/v1beta/models/{MODEL}:streamGenerateContent?alt=sse"
ARRAY: Final = f"/v1beta/models/{MODEL}:streamGenerateContent"
GOOGLE: Final = "/v1/projects/p/locations/global/publishers/google/models"
VERTEX: Final = f"{GOOGLE}/{MODEL}:streamGenerateContent?alt=sse"
WHOLE: Final = f"/v1beta/models/{MODEL}:generateContent"

SOUP: Final = (
    "**Judging the soup**\n\nLentils need no soaking, so it is done within the hour.\n\n\n"
)
SOUP_TEXT: Final = "About forty minutes, if the lentils are red."
SIGNED_END: Final[Fields] = {"text": "", "thoughtSignature": SIGNATURE}
TOOL: Final = "get_timetable"
ARGUMENTS: Final[Fields] = {"line": "island"}

drafted = partial(stream_draft, dialect=DIALECT, path=STREAM, content_type="text/event-stream")
_in_one_piece = partial(body_draft, dialect=DIALECT, path=WHOLE)


def drafts() -> Iterator[Draft]:
    yield from _streams()
    yield from _ends()
    yield from _arrays()
    yield from _bodies()
    yield _code()
    yield _served_call()
    yield _streamed_call()
    yield _tool_round()
    yield _respelled_round()
    yield _next_turn()
    yield _thinking_left_out()


def _turn(text: str, role: str = "user") -> Fields:
    return {"role": role, "parts": [{"text": text}]}


def _asked(*turns: Fields | str, shows: bool = True, tools: bool = False, **config: Any) -> Fields:
    contents = [_turn(turn) if isinstance(turn, str) else turn for turn in turns]
    thinking: Fields = {"includeThoughts": True} if shows else {}
    thinking |= config.pop("thinking", {})
    generation = {**config, **({"thinkingConfig": thinking} if thinking else {})}
    asked: Fields = {"contents": contents}
    if generation:
        asked["generationConfig"] = generation
    if tools:
        schema = {"type": "object", "properties": {"line": {"type": "string"}}}
        asked["tools"] = [{"functionDeclarations": [{"name": TOOL, "parameters": schema}]}]
    return asked


def _streams() -> Iterator[Draft]:
    asked = _asked("How long does lentil soup take?")
    parts = [thought(SOUP), thought("**Settling on red ones**\n\nThey are quick.\n\n\n")]
    chunks = answer([*parts, *said(SOUP_TEXT)], 14, 27, last=SIGNED_END)
    yield drafted("gemini/thinking-then-text", asked, events(chunks), sizes=(211, 64, 3, 512))

    flower = "ひまわりは黄色です。"
    asked = _asked("ひまわりは何色ですか。", shows=False, thinking={"thinkingLevel": "low"})
    chunks = answer(said(flower, characters(flower)), 16, 9, last=SIGNED_END)
    yield drafted("gemini/thoughts-hidden", asked, events(chunks), sizes=(97,))

    asked = _asked("How long does lentil soup take?", shows=False, thinking={"thinkingBudget": 0})
    yield drafted("gemini/thinking-off", asked, events(answer(said(SOUP_TEXT), 14, 0)))

    asked = _asked("When do the ferries sail?", tools=True)
    calls = [call(TOOL, ARGUMENTS, CALL_SIGNATURE), call(TOOL, {"line": "harbour"})]
    chunks = answer([thought(FERRY_THOUGHT), *said("I look that up."), *calls], 90, 41)
    yield drafted("gemini/thinking-then-tools", asked, events(chunks))


def _ends() -> Iterator[Draft]:
    asked = _asked("List every prime number.", maxOutputTokens=24)
    parts = [thought("**Counting**\n\nThere is no end to them."), *said("2, 3, 5,")]
    chunks = answer(parts, 12, 14, reason="MAX_TOKENS")
    yield drafted("gemini/length", asked, events(chunks))

    asked = _asked("How long does lentil soup take?")
    chunks = answer([thought(SOUP), *said(SOUP_TEXT)], 14, 27)
    yield drafted("gemini/error-in-text", asked, events([*chunks[:2], error()]))

    asked = _asked("Say what must not be said.", shows=False)
    feedback = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
    head = {"modelVersion": MODEL, "responseId": RESPONSE, "usageMetadata": counts(7, 0, 0)}
    yield drafted("gemini/prompt-refused", asked, events([{**feedback, **head}]))


def _arrays() -> Iterator[Draft]:
    facts = {"path": ARRAY, "content_type": "application/json; charset=UTF-8"}
    asked = _asked("How long does lentil soup take?")
    chunks = answer([thought(SOUP), *said(SOUP_TEXT)], 14, 27, last=SIGNED_END)
    yield drafted("gemini/array", asked, array(chunks), sizes=(5, 700, 41), **facts)


def _bodies() -> Iterator[Draft]:
    asked = _asked("How long does lentil soup take?")
    signed = {"text": SOUP_TEXT, "thoughtSignature": SIGNATURE}
    whole = body([thought(SOUP), signed], counts(14, 12, 27))
    yield _in_one_piece("gemini/body", asked, whole)

    asked = _asked("Does the ferry sail today?", tools=True)
    called = [thought(FERRY_THOUGHT), call(TOOL, ARGUMENTS, CALL_SIGNATURE)]
    yield _in_one_piece("gemini/body-with-call", asked, body(called, counts(88, 12, 21)))


def _code() -> Draft:
    """Code that the server writes and runs; what it gives counts as a prompt."""
    asked = {**_asked("What is 17 times 23?"), "tools": [{"codeExecution": {}}]}
    code = {
        "executableCode": {"language": "PYTHON", "code": "print(17 * 23)"},
        "thoughtSignature": CALL_SIGNATURE,
    }
    given = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "391\n"}}
    planned = thought("**Planning**\n\nA product, best left to the machine.")
    chunks = [
        chunk(planned, usage=counts(12, 0, 18)),
        chunk(code, usage=counts(12, 15, 18)),
        chunk(given, usage=counts(12, 21, 18)),
        chunk(
            {"text": "It is 391.", "thoughtSignature": SIGNATURE},
            usage=counts(12, 27, 18, 40),
            reason="STOP",
        ),
    ]
    return drafted("gemini/code-execution", asked, events(chunks))


def _served_call() -> Draft:
    """A call that the server carries out itself: it gives a reason to finish on the way."""
    server = {"name": "ferries", "streamableHttpTransport": {"url": "https://ferries.example/mcp"}}
    asked = {**_asked("When do the ferries sail?"), "tools": [{"mcpServers": [server]}]}
    given = {"functionResponse": {"name": TOOL, "response": {"result": FERRY_RESULT}}}
    chunks = [
        chunk(thought(FERRY_THOUGHT), usage=counts(20, 0, 18)),
        chunk(call(TOOL, ARGUMENTS, CALL_SIGNATURE), usage=counts(20, 15, 18), reason="STOP"),
        chunk(given, usage=counts(20, 15, 18)),
        chunk({"text": "It sails at nine."}, usage=counts(20, 27, 18, 40)),
        chunk(SIGNED_END, usage=counts(20, 27, 18, 40), reason="STOP"),
    ]
    return drafted("gemini/served-call", asked, events(chunks))


def _streamed_call() -> Draft:
    """Vertex AI streams the arguments of a call where it is asked to."""
    asked = _asked("When do the ferries sail?", tools=True)
    asked["toolConfig"] = {"functionCallingConfig": {"streamFunctionCallArguments": True}}
    path = "$.line"
    first = {"jsonPath": path, "stringValue": "is", "willContinue": True}
    rest = {"jsonPath": path, "stringValue": "land"}
    called = call_in_pieces(TOOL, CALL_SIGNATURE, first, rest)
    chunks = answer([thought(FERRY_THOUGHT), *called], 90, 41)
    return drafted("vertex/streamed-call", asked, events(chunks), path=VERTEX, profile="vertex")


def _tool_round() -> Draft:
    """A turn that calls a tool, and the one that brings the tool's result."""
    asked = _asked(FERRY, tools=True)
    called = [thought(FERRY_THOUGHT), call(TOOL, ARGUMENTS, CALL_SIGNATURE)]
    chunks = answer(called, 90, 20)
    result = {"functionResponse": {"name": TOOL, "response": {"result": FERRY_RESULT}}}
    turns = ({"role": "model", "parts": called}, {"role": "user", "parts": [result]})
    carried_on = _asked(FERRY, *turns, tools=True)
    found = answer([thought(FOUND), *said(FERRY_TEXT)], 130, 12, last=SIGNED_END)
    first = drafted(f"gemini/{ROUND}", asked, events(chunks), scenario=ROUND, role="tool-turn")
    second = drafted(f"gemini/{ROUND}", carried_on, events(found), scenario=ROUND, role="follow-up")
    return replace(first, then=(replace(second, after=1),))


def _respelled_round() -> Draft:
    """The same from a client that writes keys as protocol buffers name them."""
    low = {"thinkingLevel": "low"}
    told = _snake_case(_asked(FERRY, tools=True, thinking=low))
    called = call(TOOL, ARGUMENTS, CALL_SIGNATURE)
    chunks = answer([thought(FERRY_THOUGHT), *said("I look that up."), called], 90, 20)
    result = {"functionResponse": {"name": TOOL, "response": {"sails_at": FERRY_RESULT}}}
    parts = [thought(FERRY_THOUGHT), {"text": "I look that up."}, called]
    turns = ({"role": "model", "parts": parts}, {"role": "user", "parts": [result]})
    carried_on = _snake_case(_asked(FERRY, *turns, tools=True, thinking=low))
    found = answer([thought(FOUND), *said(FERRY_TEXT)], 130, 12, last=SIGNED_END)
    facts = {"scenario": ROUND, "path": STREAM}
    topic = "gemini/snake-case-round"
    first = drafted(topic, told, events(chunks), role="tool-turn", **facts)
    second = drafted(topic, carried_on, events(found), role="follow-up", **facts)
    return replace(first, then=(replace(second, after=1),))


def _next_turn() -> Draft:
    """A turn without calls, and one that asks on with what was said and signed of it."""
    question, topic = "How long does lentil soup take?", "gemini/next-turn"
    chunks = answer([thought(SOUP), *said(SOUP_TEXT)], 14, 27, last=SIGNED_END)
    facts = {"scenario": "next-turn"}
    first = drafted(topic, _asked(question), events(chunks), role="turn", **facts)
    model = {"role": "model", "parts": [{"text": SOUP_TEXT}, SIGNED_END]}
    carried_on = _asked(question, model, "And with split lentils?")
    parts = [thought("**Halving**\n\nSplit lentils are quicker."), *said("Half an hour.")]
    chunks = answer(parts, 60, 11, last=SIGNED_END)
    second = drafted(topic, carried_on, events(chunks), role="next-turn", **facts)
    return replace(first, then=(replace(second, after=1),))


def _snake_case(value: Any) -> Any:
    """Keys with underscores."""
    if isinstance(value, list):
        return [_snake_case(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {re.sub("[A-Z]", _underscored, k): _snake_case(v) for k, v in value.items()}


def _underscored(capital: re.Match[str]) -> str:
    return f"_{capital[0].lower()}"


def _thinking_left_out() -> Draft:
    """A client that never sends thinking back."""
    turns = (_turn("How long does lentil soup take?"), _turn(SOUP_TEXT, "model"))
    asked = _asked(*turns, "And with split lentils?")
    parts = [thought("**Halving**\n\nSplit lentils are quicker."), *said("Half an hour.")]
    chunks = answer(parts, 40, 11, last=SIGNED_END)
    topic = "never-sends-back/second-turn"
    return drafted(topic, asked, events(chunks), profile="never-sends-back")
