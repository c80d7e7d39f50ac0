"""The engine with the model that ships: its answers in events, the same alone and together."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

import pytest

from tests.reference.engine_reading import read, talk

pytest.importorskip("torch")

import torch
from transformers import AutoModelForCausalLM, GenerationConfig

from reference_impl.model import folder
from reference_impl.server.engine import (
    Engine,
    EngineEvent,
    Finish,
    Limits,
    Prompt,
    ReasoningDelta,
    TextDelta,
    ToolCall,
)
from tests.reference import engine_models  # noqa: F401 - one thread for torch

pytestmark = pytest.mark.slow

WAIT_S: Final = 30.0
SUM: Final = [("ReasoningDelta", "I must add 2 and 2. 2 plus 2 is 4."), ("TextDelta", "2 + 2 = 4.")]
CALCULATOR: Final = {
    "type": "function",
    "function": {
        "name": "calculator",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        },
    },
}

Told = list[tuple[str, str]]


@pytest.fixture(scope="module", params=["think", "bracket", "plain", "prompt-opened"])
def variant(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Engine]]:
    place = folder(request.param, under=tmp_path_factory.mktemp("variants"))
    engine = Engine.load(place, device="cpu")
    yield request.param, engine
    engine.close()


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    made = Engine.load(folder(), max_batch=24, device="cpu")
    yield made
    made.close()


def run(main: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(main, WAIT_S))


def joined_deltas(events: Sequence[EngineEvent]) -> Told:
    """Deltas of a kind joined."""
    found = [e for e in events if isinstance(e, ReasoningDelta | TextDelta)]
    groups = groupby(found, key=lambda event: type(event).__name__)
    return [(kind, "".join(event.text for event in group)) for kind, group in groups]


def test_every_variant_thinks_and_answers(variant: tuple[str, Engine]) -> None:
    name, engine = variant
    prompt = engine.prompt(talk("What is 2 + 2?"))
    events = run(read(engine, prompt, Limits()))
    assert prompt.opens_thinking is (name == "prompt-opened")
    plain = [("TextDelta", f"Working: {SUM[0][1]}\nAnswer: {SUM[1][1]}")]
    assert joined_deltas(events) == (plain if name == "plain" else SUM)
    assert isinstance(events[-1], Finish)
    assert events[-1].reason == "stop"
    assert (events[-1].usage.reasoning > 0) is (name != "plain")


def test_every_variant_calls_a_tool(variant: tuple[str, Engine]) -> None:
    _, engine = variant
    prompt = engine.prompt(talk("What is 3 + 4?"), tools=[CALCULATOR])
    events = run(read(engine, prompt, Limits()))
    calls = [event for event in events if isinstance(event, ToolCall)]
    assert calls == [ToolCall("calculator", '{"a": 3, "b": 4}', 0)]
    assert isinstance(events[-1], Finish)
    assert events[-1].reason == "tool_calls"


def test_every_variant_answers_without_thinking(variant: tuple[str, Engine]) -> None:
    _, engine = variant
    prompt = engine.prompt(talk("What is 2 + 2?"), thinking=False)
    assert joined_deltas(run(read(engine, prompt, Limits()))) == SUM[1:]


def test_characters_of_several_tokens_come_whole(engine: Engine) -> None:
    events = run(read(engine, engine.prompt(talk("Draw 3 cats")), Limits()))
    texts = [event.text for event in events if isinstance(event, TextDelta)]
    assert texts == ["🐱", "🐱", "🐱"]


def test_answer_is_right_after_thinking_was_cut(engine: Engine) -> None:
    prompt = engine.prompt(talk("What is 2 + 2?"))
    events = run(read(engine, prompt, Limits(thinking_budget=5)))
    assert joined_deltas(events)[-1] == SUM[1]
    assert isinstance(events[-1], Finish)
    assert events[-1].usage.reasoning == 5


def test_greedy_tokens_are_those_of_generate(engine: Engine) -> None:
    users = [f"What is {n} + {9 - n % 10}?" for n in range(10)]
    users += [f"Count to {n}" for n in range(3, 14)] + [
        "Draw 4 stars",
        "Hello!",
        "Write 7 in Chinese",
    ]
    prompts = [engine.prompt(talk(user), thinking=n % 3 > 0) for n, user in enumerate(users)]
    model: Any = AutoModelForCausalLM.from_pretrained(folder(), dtype=torch.float32)
    settings: Any = GenerationConfig
    given = settings(max_new_tokens=80, do_sample=False, pad_token_id=0, max_length=None)
    given.eos_token_id = model.generation_config.eos_token_id

    def alone(prompt: Prompt) -> list[int]:
        ids = torch.tensor([prompt.ids])
        out = model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=given)
        made: list[int] = out[0, len(prompt.ids) :].tolist()
        return made

    async def together(prompt: Prompt) -> list[int]:
        stream = engine.generate(prompt, Limits(max_tokens=80))
        push, made = stream._router.push, list[int]()

        def listen(token: int) -> list[EngineEvent]:
            made.append(token)
            return push(token)

        stream._router.push = listen  # type: ignore[method-assign]  # the ids themselves
        async for _ in stream:
            pass
        return made

    async def main() -> list[list[int]]:
        return await asyncio.gather(*(together(prompt) for prompt in prompts))

    assert run(main()) == [alone(prompt) for prompt in prompts]
