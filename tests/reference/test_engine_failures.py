"""Whatever fails, no reader waits for ever, and the others go on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from reference_impl.server.engine import (
    Engine,
    EngineError,
    EngineEvent,
    Limits,
    Prompt,
    PromptError,
    PromptTooLong,
    Start,
    loop,
)
from reference_impl.server.engine.work import Work, choose
from tests.reference.engine_reading import BATCH, WAIT_S, finish, read, run, talk

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("where", ["admit", "step"])
def test_all_readers_get_error(engine: Engine, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    prompt = engine.prompt(talk("hi"))

    def fail(*_given: object) -> torch.Tensor:
        raise RuntimeError("out of memory")

    async def main() -> list[Any]:
        with monkeypatch.context() as patch:
            patch.setattr(engine._loop._batch, where, fail)
            jobs = [read(engine, prompt, Limits(max_tokens=9)) for _ in range(2 * BATCH)]
            failed = await asyncio.gather(*jobs, return_exceptions=True)
        return [*failed, await read(engine, prompt, Limits(max_tokens=9))]

    *failed, after = run(main)
    assert len(failed) == 2 * BATCH
    for error in failed:
        assert isinstance(error, EngineError)
        assert "out of memory" in str(error)
        assert isinstance(error.__cause__, RuntimeError)
    assert finish(after).usage.completion == 9
    assert engine.wait_idle(WAIT_S)


def test_failing_admission_fails_alone(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    prompt, limits = engine.prompt(talk("hi")), Limits(max_tokens=60)

    def fail(logits: torch.Tensor, works: Sequence[Work]) -> list[int]:
        if any(work.temperature == 0.5 for work in works):
            raise RuntimeError("no choice")
        return choose(logits, works)

    async def main() -> tuple[list[EngineEvent], list[EngineEvent]]:
        alone = await read(engine, prompt, limits)
        monkeypatch.setattr(loop, "choose", fail)
        stream = engine.generate(prompt, limits)
        events = [await anext(stream) for _ in range(3)]
        with pytest.raises(EngineError, match="no choice"):
            await read(engine, prompt, Limits(max_tokens=60, temperature=0.5))
        return alone, events + [event async for event in stream]

    alone, extra = run(main)
    assert extra == alone
    assert engine.wait_idle(WAIT_S)


def test_failing_router_reaches_its_reader(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    prompt = engine.prompt(talk("hi"))

    async def main() -> None:
        stream = engine.generate(prompt, Limits())

        def fail(_token: int) -> list[EngineEvent]:
            raise ValueError("bug")

        monkeypatch.setattr(stream._router, "push", fail)
        assert isinstance(await anext(stream), Start)
        with pytest.raises(EngineError, match="bug"):
            await anext(stream)
        with pytest.raises(StopAsyncIteration):
            await anext(stream)

    run(main)
    assert engine.wait_idle(WAIT_S)


def test_closed_engine_ends_what_runs_and_takes_no_more(folder: Path) -> None:
    engine = Engine.load(folder, max_batch=1, step_delay_s=0.002, device="cpu")
    prompt = engine.prompt(talk("hi"))

    async def main() -> list[Any]:
        jobs = [asyncio.ensure_future(read(engine, prompt, Limits())) for _ in range(3)]
        await asyncio.sleep(0)
        await asyncio.to_thread(engine.close)
        return await asyncio.gather(*jobs, return_exceptions=True)

    for error in run(main):
        assert isinstance(error, EngineError)
        assert "closed" in str(error)
    assert engine.idle
    engine.close()
    with pytest.raises(EngineError, match="closed"):
        run(lambda: read(engine, prompt, Limits()))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_thread_end_frees_every_reader(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine.load(folder, max_batch=2, device="cpu")
    prompt = engine.prompt(talk("hi"))

    def fail(*_given: object) -> None:
        raise LookupError("bug")

    monkeypatch.setattr(engine._loop, "_accept", fail)

    async def main() -> list[Any]:
        jobs = [read(engine, prompt, Limits()) for _ in range(5)]
        return await asyncio.gather(*jobs, return_exceptions=True)

    for error in run(main):
        assert isinstance(error, EngineError)
        assert "thread ended" in str(error) or "closed" in str(error)
    engine.close()
    assert engine.idle
    with pytest.raises(EngineError, match="closed"):
        run(lambda: read(engine, prompt, Limits()))


def test_prompt_over_the_context_is_refused(engine: Engine) -> None:
    with pytest.raises(PromptTooLong) as caught:
        engine.prompt(talk("a" * 600))
    assert caught.value.context == engine.context
    with pytest.raises(PromptTooLong):
        run(lambda: read(engine, Prompt((1,) * engine.context, opens_thinking=False), Limits()))


@pytest.mark.parametrize("ids", [(), (-1,), (10**6,)])
def test_prompt_of_unknown_ids_is_refused(engine: Engine, ids: tuple[int, ...]) -> None:
    with pytest.raises(PromptError):
        run(lambda: read(engine, Prompt(ids, opens_thinking=False), Limits()))


def test_messages_that_the_template_refuses_are_a_prompt_error(engine: Engine) -> None:
    with pytest.raises(PromptError):
        engine.prompt([])
