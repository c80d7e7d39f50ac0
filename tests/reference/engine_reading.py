"""Running engines as tests read them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
import torch

from reference_impl.server.engine import (
    Engine,
    EngineEvent,
    Finish,
    Limits,
    Prompt,
    ReasoningDelta,
    TextDelta,
)

WAIT_S: Final = 20.0
BATCH: Final = 8


class Gated:
    """An engine of one row that makes a step only when it is let."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.engine = Engine.load(folder, max_batch=1, device="cpu")
        self.permits = threading.Semaphore(0)
        step = self.engine._loop._batch.step

        def let(tokens: Sequence[int]) -> torch.Tensor:
            self.permits.acquire()
            return step(tokens)

        monkeypatch.setattr(self.engine._loop._batch, "step", let)

    async def settles(self) -> bool:
        """Whether far fewer steps than the context has room for bring the engine to rest."""
        for _ in range(50):
            self.permits.release()
            if await asyncio.to_thread(self.engine.wait_idle, 0.02):
                return True
        return await asyncio.to_thread(self.engine.wait_idle, WAIT_S / 4)

    def close(self) -> None:
        self.permits.release(1000)
        self.engine.close()


def talk(user: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": user}]


async def read(engine: Engine, prompt: Prompt, limits: Limits) -> list[EngineEvent]:
    return [event async for event in engine.generate(prompt, limits)]


def run(main: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return asyncio.run(asyncio.wait_for(main(), WAIT_S))


def text_of(events: Sequence[EngineEvent]) -> str:
    return "".join(e.text for e in events if isinstance(e, TextDelta | ReasoningDelta))


def finish(events: Sequence[EngineEvent]) -> Finish:
    last = events[-1]
    assert isinstance(last, Finish)
    return last
