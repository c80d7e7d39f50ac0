"""Streams of a running engine: many at once, ended early, failing."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from reference_impl.server.engine import (
    Engine,
    EngineEvent,
    Finish,
    Limits,
    Prompt,
    ReasoningDelta,
    Start,
    TextDelta,
    loop,
)
from tests.reference.engine_models import THINK
from tests.reference.engine_reading import WAIT_S, Gated, finish, read, run, talk, text_of

pytestmark = pytest.mark.slow


@pytest.fixture
def slow(folder: Path) -> Iterator[Engine]:
    """One row at a time, so that nothing ends before a test has looked at it."""
    made = Engine.load(folder, max_batch=1, step_delay_s=0.002, device="cpu")
    yield made
    made.close()


@pytest.fixture
def gated(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gated]:
    made = Gated(folder, monkeypatch)
    yield made
    made.close()


def test_stream_starts_and_finishes(engine: Engine) -> None:
    prompt = engine.prompt(talk("hi"))
    start, *_, last = run(lambda: read(engine, prompt, Limits(max_tokens=20)))
    assert start == Start(len(prompt.ids))
    assert isinstance(last, Finish)
    assert (last.reason, last.usage.completion) == ("length", 20)


def test_streams_together_say_what_they_say_alone(engine: Engine) -> None:
    prompts = [engine.prompt(talk("ab" * (1 + 7 * n % 40)), thinking=n % 2 == 0) for n in range(24)]
    asked = [
        (p, Limits(max_tokens=10 + n, temperature=0.5 * (n % 3), seed=n))
        for n, p in enumerate(prompts)
    ]

    async def main() -> tuple[list[list[EngineEvent]], list[list[EngineEvent]]]:
        alone = [await read(engine, prompt, limits) for prompt, limits in asked]
        together = await asyncio.gather(*(read(engine, *request) for request in asked))
        return alone, together

    alone, together = run(main)
    assert alone == together


def test_seed_repeats_a_choice_and_another_seed_does_not(engine: Engine) -> None:
    prompt = engine.prompt(talk("hi"))

    async def main() -> list[str]:
        seeds = (1, 1, 2)
        limits = [Limits(max_tokens=40, temperature=1.5, seed=seed) for seed in seeds]
        return [text_of(await read(engine, prompt, limit)) for limit in limits]

    first, again, other = run(main)
    assert first == again != other


@pytest.mark.parametrize(("thinking", "kind"), [(True, ReasoningDelta), (False, TextDelta)])
def test_prompt_opens_the_answer(engine: Engine, thinking: bool, kind: type[EngineEvent]) -> None:
    prompt = engine.prompt(talk("say <think> and </think>"), thinking=thinking)
    assert prompt.opens_thinking is thinking
    assert isinstance(run(lambda: read(engine, prompt, Limits(max_tokens=30)))[1], kind)


@pytest.mark.parametrize("budget", [0, 1, 7])
def test_budget_closes_thinking(engine: Engine, budget: int) -> None:
    prompt = engine.prompt(talk("hi"))
    events = run(lambda: read(engine, prompt, Limits(max_tokens=60, thinking_budget=budget)))
    usage = finish(events).usage
    assert (usage.reasoning, usage.completion) == (budget, 60)
    assert isinstance(events[-2], TextDelta)
    assert not any(marker in text_of(events) for marker in THINK)


def test_length_inside_thinking_is_reported(engine: Engine) -> None:
    prompt = engine.prompt(talk("hi"))
    events = run(lambda: read(engine, prompt, Limits(max_tokens=9)))
    last = finish(events)
    assert (last.reason, last.usage.reasoning, last.usage.completion) == ("length", 9, 9)
    assert not any(isinstance(event, TextDelta) for event in events)


def test_context_ends_what_has_no_limit(engine: Engine) -> None:
    prompt = engine.prompt(talk("a" * 400))
    last = finish(run(lambda: read(engine, prompt, Limits())))
    assert last.reason == "length"
    assert len(prompt.ids) + last.usage.completion == engine.context


def test_stop_string_ends_the_text(engine: Engine) -> None:
    prompt = engine.prompt(talk("hi"), thinking=False)

    async def main() -> tuple[str, list[EngineEvent]]:
        whole = text_of(await read(engine, prompt, Limits(max_tokens=60)))
        return whole, await read(engine, prompt, Limits(max_tokens=60, stop=(whole[7:9],)))

    whole, events = run(main)
    last = finish(events)
    assert (last.reason, last.stop_string) == ("stop", whole[7:9])
    assert text_of(events) == whole[: whole.index(whole[7:9])]
    assert last.usage.completion < 60


def test_stop_string_ends_the_work(gated: Gated) -> None:
    engine = gated.engine
    prompt = engine.prompt(talk("hi"), thinking=False)

    async def main() -> bool:
        gated.permits.release(40)
        stream = engine.generate(prompt, Limits())
        texts = [event.text async for event in _some(stream, 9) if isinstance(event, TextDelta)]
        await stream.aclose()
        assert await gated.settles()
        gated.permits.release(40)
        stopping = engine.generate(prompt, Limits(stop=(texts[-1],)))
        assert finish(await _collect(stopping)).reason == "stop"
        return await gated.settles()

    assert run(main)


async def _some(stream: Any, count: int) -> AsyncIterator[EngineEvent]:
    for _ in range(count):
        yield await anext(stream)


@pytest.mark.parametrize("how", ["close", "cancel", "forget"])
def test_reader_that_leaves_ends_the_work(gated: Gated, how: str) -> None:
    engine = gated.engine
    prompt = engine.prompt(talk("hi"))

    async def main() -> bool:
        streams = [engine.generate(prompt, Limits())]
        gated.permits.release(20)
        if how == "close":
            await anext(streams[0])
            await streams[0].aclose()
            with pytest.raises(StopAsyncIteration):
                await anext(streams[0])
        elif how == "cancel":
            reading = asyncio.Event()
            task = asyncio.ensure_future(_drain(streams[0], reading))
            await reading.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            streams.clear()
            gc.collect()
        return await gated.settles()

    assert run(main)


def test_reader_that_leaves_before_its_turn_is_dropped(gated: Gated) -> None:
    engine = gated.engine
    prompt, loop = engine.prompt(talk("hi")), engine._loop

    def one_is_left() -> bool:
        with loop._changed:
            return loop._changed.wait_for(lambda: loop._open == 1, WAIT_S / 4)

    async def main() -> bool:
        first, second = (engine.generate(prompt, Limits()) for _ in range(2))
        await anext(first)
        await second.aclose()
        gated.permits.release(2)
        return await asyncio.to_thread(one_is_left)

    assert run(main)


async def _drain(stream: Any, reading: asyncio.Event) -> None:
    async for _ in stream:
        reading.set()


def test_waiting_reader_is_kept_alive(slow: Engine) -> None:
    async def main() -> Finish:
        done = asyncio.get_running_loop().create_future()

        async def reader() -> None:
            prompt = slow.prompt(talk("hi"))
            events = await read(slow, prompt, Limits(max_tokens=30))
            done.set_result(finish(events))

        asyncio.ensure_future(reader())  # noqa: RUF006 - nobody holds it, that is the point
        await asyncio.sleep(0)
        gc.collect()
        last: Finish = await done
        return last

    assert run(main).reason == "length"


def test_cancelled_parent_ends_its_child(slow: Engine) -> None:
    prompt = slow.prompt(talk("hi"))

    async def main() -> list[EngineEvent]:
        parent = slow.generate(prompt, Limits())
        child = slow.generate(prompt, Limits(), parent=parent)
        reading = asyncio.ensure_future(_collect(child))
        await anext(parent)
        await parent.aclose()
        return await reading

    assert finish(run(main)).reason == "cancelled"
    assert slow.wait_idle(WAIT_S)


async def _collect(stream: Any) -> list[EngineEvent]:
    return [event async for event in stream]


def test_many_streams_half_of_them_left_leave_the_engine_idle(engine: Engine) -> None:
    prompts = [engine.prompt(talk("x" * n)) for n in range(64)]
    limits = Limits(max_tokens=40)

    async def leave(prompt: Prompt, after: int) -> None:
        stream = engine.generate(prompt, limits)
        for _ in range(after):
            await anext(stream)
        await stream.aclose()

    async def main() -> list[Any]:
        jobs = [
            leave(prompt, n % 5) if n % 2 else read(engine, prompt, limits)
            for n, prompt in enumerate(prompts)
        ]
        return await asyncio.gather(*jobs)

    events = run(main)
    assert engine.wait_idle(WAIT_S)
    assert [finish(e).usage.completion for e in events[::2]] == [40] * 32
    assert engine._loop._rows == []
    assert engine._loop._batch._lengths == []  # type: ignore[attr-defined]  # a SlotBatch


def test_engine_serves_one_event_loop_after_another(engine: Engine) -> None:
    prompt = engine.prompt(talk("hi"))
    first = run(lambda: read(engine, prompt, Limits(max_tokens=5)))
    assert run(lambda: read(engine, prompt, Limits(max_tokens=5))) == first


def test_event_loop_that_closed_leaves_no_work(slow: Engine) -> None:
    prompt = slow.prompt(talk("hi"))
    left = []

    async def main() -> None:
        left.append(slow.generate(prompt, Limits()))
        await anext(left[0])

    run(main)
    assert slow.wait_idle(WAIT_S)


def test_long_prompts_are_admitted_alone(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    prompts = [engine.prompt(talk("y" * (1 + 40 * (n % 3)))) for n in range(12)]
    sizes: list[tuple[int, int]] = []
    admit = engine._loop._batch.admit

    def watched(given: Sequence[Sequence[int]]) -> torch.Tensor:
        sizes.append((len(given), max(len(ids) for ids in given)))
        return admit(given)

    async def main() -> list[list[EngineEvent]]:
        limits = Limits(max_tokens=12)
        return await asyncio.gather(*(read(engine, prompt, limits) for prompt in prompts))

    whole = run(main)
    monkeypatch.setattr(engine._loop._batch, "admit", watched)
    monkeypatch.setattr(loop, "PREFILL", 90)
    assert run(main) == whole
    assert sum(count for count, _ in sizes) == len(prompts)
    assert all(count == 1 or count * longest <= 90 for count, longest in sizes)
