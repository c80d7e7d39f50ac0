"""Streams and bodies of Bedrock's Converse that keep the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from tests.authoring import converse as aws
from tests.authoring.draft import JSON_BODY, Draft
from tests.authoring.history_streams import FERRY, FERRY_RESULT, FERRY_TEXT, FERRY_THOUGHT, FOUND
from tests.authoring.ollama_streams import ARGUMENTS, ROUND, SOUP, SOUP_TEXT, TOOL
from tests.authoring.pieces import Fields, Piece, characters, compact

DIALECT: Final = "bedrock.converse"
CLAUDE: Final = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
GPT_OSS: Final = "openai.gpt-oss-120b-1:0"
ENABLED: Final[Fields] = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
QUESTION: Final = "How long does lentil soup take?"


LOOK: Final = "I look that up."


def drafts() -> Iterator[Draft]:
    yield from _streams()
    yield from _ends()
    yield from _other_models()
    yield from _bodies()
    yield _tool_round()
    yield _second_turn()
    yield _reasoning_left_out()


def _user(*content: Fields | str) -> Fields:
    said = [{"text": each} if isinstance(each, str) else each for each in content]
    return {"role": "user", "content": said}


def _asked(*messages: Fields | str, **more: Any) -> Fields:
    turns = [_user(m) if isinstance(m, str) else m for m in messages]
    limited = {"inferenceConfig": {"maxTokens": 2048}}
    return {"messages": turns, **limited, "additionalModelRequestFields": ENABLED, **more}


def drafted(topic: str, asked: Fields, pieces: Iterable[Piece], **facts: Any) -> Draft:
    stream = {"profile": topic.partition("/")[0], "content_type": aws.STREAM}
    return Draft(
        name=f"{DIALECT}/{topic}",
        dialect=DIALECT,
        asked=asked,
        pieces=tuple(pieces),
        target={"name": topic.partition("/")[0]},
        **{**stream, "path": _path(CLAUDE, "converse-stream"), **facts},
    )


def _path(model: str, operation: str) -> str:
    return f"/model/{model.replace(':', '%3A')}/{operation}"


def _streams() -> Iterator[Draft]:
    blocks = [*aws.thought(0, SOUP, "soup"), *aws.spoken(1, SOUP_TEXT)]
    yield drafted("claude/thinking-then-text", _asked(QUESTION), aws.answer(blocks, (44, 27)))

    flower = "ひまわりは黄色です。"
    blocks = [*aws.thought(0, "Sunflowers.", "sun"), *aws.spoken(1, flower, characters(flower))]
    pieces = aws.answer(blocks, (46, 19))
    yield drafted(
        "claude/cut-inside-messages",
        _asked("ひまわりは何色ですか。"),
        pieces,
        sizes=(211, 64, 3, 512),
    )

    blocks = [*aws.redacted(0, "one"), *aws.redacted(1, "two"), *aws.spoken(2, SOUP_TEXT)]
    yield drafted("claude/redacted", _asked(QUESTION), aws.answer(blocks, (92, 253)))

    asked = _asked("When do the ferries sail?", toolConfig=_tools())
    calls = [*aws.call(2, TOOL, ARGUMENTS), *aws.call(3, TOOL, {"line": "harbour"}, number=2)]
    blocks = [*aws.thought(0, FERRY_THOUGHT, "ferry"), *aws.spoken(1, "I look that up."), *calls]
    yield drafted("claude/thinking-then-tools", asked, aws.answer(blocks, (390, 71), "tool_use"))

    asked = _asked(QUESTION, additionalModelRequestFields={"thinking": {"type": "disabled"}})
    pieces = aws.answer(aws.spoken(0, SOUP_TEXT), (14, 6))
    yield drafted("claude/thinking-disabled", asked, pieces)

    asked = _asked(QUESTION, outputConfig={"effort": "low"}, additionalModelRequestFields={})
    blocks = [*aws.thought(0, "Lentils.", "low"), *aws.spoken(1, SOUP_TEXT)]
    yield drafted("claude/effort-low", asked, aws.answer(blocks, (14, 12)))


def _ends() -> Iterator[Draft]:
    asked = _asked("List every prime number.", inferenceConfig={"maxTokens": 24})
    blocks = [*aws.thought(0, "There is no end to them.", "primes"), *aws.spoken(1, "2, 3, 5,")]
    limited = {**asked, "additionalModelRequestFields": {}}
    yield drafted("claude/length", limited, aws.answer(blocks, (12, 24), "max_tokens"))

    begun = [*aws.thought(0, SOUP, "soup"), *aws.spoken(1, SOUP_TEXT)[:1]]
    failure = aws.Framed({"message": "The model has stopped."}, "modelStreamErrorException")
    pieces = (aws.started(), *begun, failure)
    yield drafted("claude/exception-in-text", _asked(QUESTION), pieces)

    blocks = [*aws.thought(0, SOUP, "soup"), *aws.spoken(1, SOUP_TEXT)]
    again = aws.padded("metadata", metrics={"latencyMs": aws.LATENCY})
    pieces = (*aws.answer(blocks, (44, 27)), again)
    yield drafted("lenient/metrics-apart", _asked(QUESTION), pieces)


def _other_models() -> Iterator[Draft]:
    """Reasoning that nobody signs, behind the empty text with which gpt-oss begins."""
    asked = _asked(QUESTION, additionalModelRequestFields={"reasoning_effort": "low"})
    blocks = [*aws.spoken(0, "", [""]), *aws.thought(1, SOUP), *aws.spoken(2, SOUP_TEXT)]
    facts = {"path": _path(GPT_OSS, "converse-stream")}
    yield drafted("gpt-oss/empty-text-first", asked, aws.answer(blocks, (70, 43)), **facts)


def _bodies() -> Iterator[Draft]:
    whole = aws.body([aws.reasoning(SOUP, "soup"), {"text": SOUP_TEXT}], (44, 27))
    yield _in_one_piece("claude/body", _asked(QUESTION), whole)

    called = {"toolUse": {"toolUseId": "tooluse_synthetic_1", "name": TOOL, "input": ARGUMENTS}}
    whole = aws.body([aws.reasoning(FERRY_THOUGHT, "ferry"), called], (390, 33), "tool_use")
    asked = _asked("Does the ferry sail today?", toolConfig=_tools())
    yield _in_one_piece("claude/body-with-call", asked, whole)

    sealed = {"reasoningContent": {"redactedContent": aws.signature("one")}}
    whole = aws.body([sealed, {"text": SOUP_TEXT}], (92, 253))
    yield _in_one_piece("claude/body-redacted", _asked(QUESTION), whole)

    whole = aws.body([{"text": SOUP_TEXT}, aws.reasoning(SOUP)], (12, 27))
    asked = _asked(QUESTION, additionalModelRequestFields={})
    yield _in_one_piece("deepseek/body-with-late-reasoning", asked, whole)


def _in_one_piece(topic: str, asked: Fields, payload: Fields, **facts: Any) -> Draft:
    path = _path(CLAUDE, "converse")
    pieces = (compact(payload).encode(),)
    return drafted(topic, asked, pieces, **{"content_type": JSON_BODY, "path": path, **facts})


def _tools() -> Fields:
    schema = {"json": {"type": "object", "properties": {"line": {"type": "string"}}}}
    return {"tools": [{"toolSpec": {"name": TOOL, "inputSchema": schema}}]}


def _tool_round() -> Draft:
    """A turn that calls a tool, and the one that brings the tool's result."""
    asked = _asked(FERRY, toolConfig=_tools())
    sealed = aws.redacted(1, "sealed")
    spoken = aws.spoken(2, LOOK)
    thought = aws.thought(0, FERRY_THOUGHT, "ferry")
    blocks = [*thought, *sealed, *spoken, *aws.call(3, TOOL, ARGUMENTS)]
    named = {"toolUseId": "tooluse_synthetic_1", "name": TOOL, "input": ARGUMENTS}
    returned = {"reasoningContent": {"redactedContent": aws.signature("sealed")}}
    said = [aws.reasoning(FERRY_THOUGHT, "ferry"), returned, {"text": LOOK}, {"toolUse": named}]
    result = {"toolUseId": "tooluse_synthetic_1", "content": [{"text": FERRY_RESULT}]}
    turns = ({"role": "assistant", "content": said}, _user({"toolResult": result}))
    carried_on = _asked(FERRY, *turns, toolConfig=_tools())
    found = aws.answer([*aws.thought(0, FOUND, "found"), *aws.spoken(1, FERRY_TEXT)], (430, 22))
    pieces = aws.answer(blocks, (390, 60), "tool_use")
    first = drafted(f"claude/{ROUND}", asked, pieces, scenario=ROUND, role="tool-turn")
    second = drafted(f"claude/{ROUND}", carried_on, found, scenario=ROUND, role="follow-up")
    return replace(first, then=(replace(second, after=1),))


def _second_turn() -> Draft:
    """A client that sends every block back."""
    said = {"role": "assistant", "content": [aws.reasoning(SOUP, "soup"), {"text": SOUP_TEXT}]}
    asked = _asked(QUESTION, said, "And with split lentils?")
    blocks = [*aws.thought(0, "Split ones are quicker.", "split"), *aws.spoken(1, "Half an hour.")]
    return drafted("claude/second-turn", asked, aws.answer(blocks, (90, 18)))


def _reasoning_left_out() -> Draft:
    """A client that never sends reasoning back."""
    said = {"role": "assistant", "content": [{"text": SOUP_TEXT}]}
    asked = _asked(QUESTION, said, "And with split lentils?")
    blocks = [*aws.thought(0, "Split ones are quicker.", "split"), *aws.spoken(1, "Half an hour.")]
    pieces = aws.answer(blocks, (70, 18))
    return drafted("never-sends-back/second-turn", asked, pieces)
