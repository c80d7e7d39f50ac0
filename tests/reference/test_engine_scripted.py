from __future__ import annotations

import asyncio

import pytest

from reference_impl.server.engine import EngineError, Limits, Prompt, PromptError, Start, TextDelta
from reference_impl.server.engine.api import Model
from tests.reference.scripted_engine import ScriptedEngine

PROMPT = Prompt((1,), opens_thinking=False)


async def test_scripts_are_played_in_turn_and_calls_are_kept() -> None:
    engine = ScriptedEngine([[Start(1), TextDelta("a")], [Start(2)]])
    generates: Model = engine
    events: list[object] = []
    for tokens in (1, 2):
        stream = generates.generate(PROMPT, Limits(max_tokens=tokens))
        events.append([event async for event in stream])
    assert events == [[Start(1), TextDelta("a")], [Start(2)]]
    assert [call.limits.max_tokens for call in engine.calls] == [1, 2]
    assert engine.idle
    with pytest.raises(EngineError, match="no script is left"):
        generates.generate(PROMPT, Limits())


async def test_error_is_raised_at_its_place() -> None:
    engine = ScriptedEngine([[Start(1), EngineError("broken")]])
    stream = engine.generate(PROMPT, Limits())
    assert await anext(aiter(stream)) == Start(1)
    with pytest.raises(EngineError, match="broken"):
        await anext(aiter(stream))
    assert engine.calls[0].ended


async def test_closed_stream_reports_what_is_missing() -> None:
    engine = ScriptedEngine([[Start(1), asyncio.Event(), TextDelta("a")]])
    stream = engine.generate(PROMPT, Limits())
    await anext(aiter(stream))
    running = engine.idle
    await stream.aclose()
    assert (running, engine.idle) == (False, True)
    event, text = list(engine.calls[0].unsaid)
    assert isinstance(event, asyncio.Event)
    assert text == TextDelta("a")


def test_prompts_are_kept_and_may_be_refused() -> None:
    engine = ScriptedEngine([])
    messages = [{"role": "user", "content": "a"}]
    assert len(engine.prompt(messages, thinking=False).ids) == 1
    assert (engine.asked[0].messages, engine.asked[0].thinking) == (tuple(messages), False)
    with pytest.raises(PromptError, match="no"):
        ScriptedEngine([], refuse=PromptError("no")).prompt(messages)
