"""Speed of the reference engine: `python tests/benchmarks/bench_engine.py [rounds [MODEL]]`.

Tokens per second of 1 to 64 streams together, against `generate` of transformers with a streamer,
one after another; and how much of a step at 16 streams is routing and decoding.
MODEL is a folder, by default the model of the repository.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig, TextIteratorStreamer

from reference_impl.server.engine import Engine, Finish, Limits, Prompt
from tests.benchmarks.rounds import report, rounds, show, spread, taken

ROOT: Final = Path(__file__).resolve().parents[2]
STREAMS: Final = (1, 4, 16, 64)
TOKENS: Final = 128
SHARED: Final = 16


class Plain:
    """What one writes without an engine: a thread that generates, a streamer that decodes."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self._model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
        settings: Any = GenerationConfig
        self._settings = settings(
            max_new_tokens=TOKENS,
            min_new_tokens=TOKENS,
            max_length=None,
            do_sample=False,
            pad_token_id=0,
        )

    def run(self, prompts: list[Prompt]) -> None:
        for prompt in prompts:
            streamer = TextIteratorStreamer(self._tokenizer, skip_prompt=True)
            ids = torch.tensor([prompt.ids])
            given = {
                "input_ids": ids,
                "attention_mask": torch.ones_like(ids),
                "generation_config": self._settings,
                "streamer": streamer,
            }
            thread = threading.Thread(target=self._model.generate, kwargs=given)
            thread.start()
            for _ in streamer:
                pass
            thread.join()


class Unending:
    """An engine whose model never ends, so that all candidates make as many tokens."""

    def __init__(self, folder: Path, streams: int) -> None:
        self.engine = Engine.load(folder, max_batch=streams)
        vocabulary: Any = self.engine._prompter.vocabulary
        object.__setattr__(vocabulary, "ends", frozenset())

    def prompts(self, count: int) -> list[Prompt]:
        users = [f"Count to {15 + n % 6}" for n in range(count)]
        return [self.engine.prompt([{"role": "user", "content": user}]) for user in users]

    def run(self, prompts: list[Prompt]) -> None:
        asyncio.run(self._all(prompts))

    async def _all(self, prompts: list[Prompt]) -> None:
        await asyncio.gather(*(self._one(prompt) for prompt in prompts))

    async def _one(self, prompt: Prompt) -> None:
        async for event in self.engine.generate(prompt, Limits(max_tokens=TOKENS)):
            if isinstance(event, Finish) and event.usage.completion != TOKENS:
                raise RuntimeError(f"{event.usage.completion} tokens, expected {TOKENS}")


def routing(unending: Unending, prompts: list[Prompt]) -> Callable[[], None]:
    """Only what happens on the event loop's side, for the tokens that were really made."""
    tokens = asyncio.run(_record(unending, prompts[0]))
    prompter: Any = unending.engine._prompter

    def run() -> None:
        for prompt in prompts:
            router = prompter.router(prompt, Limits())
            for token in tokens:
                router.push(token)
            router.end("length")

    return run


async def _record(unending: Unending, prompt: Prompt) -> list[int]:
    stream: Any = unending.engine.generate(prompt, Limits(max_tokens=TOKENS))
    push, tokens = stream._router.push, list[int]()

    def listen(token: int) -> object:
        tokens.append(token)
        return push(token)

    stream._router.push = listen
    async for _ in stream:
        pass
    return tokens


def main() -> None:
    count = rounds()
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "reference_impl/model/weights"
    torch.set_num_threads(1)
    plain = Plain(folder)
    for streams in STREAMS:
        compare(plain, Unending(folder, streams), streams, count)


def compare(plain: Plain, unending: Unending, streams: int, count: int) -> None:
    prompts = unending.prompts(streams)
    # One after another, `generate` is as fast for sixty-four as for four.
    some = prompts[:4]
    unending.run(prompts)
    times = taken(
        {"engine": lambda: unending.run(prompts), "generate": lambda: plain.run(some)}, count
    )
    rates = {
        "engine": [streams * TOKENS / seconds for seconds in times["engine"]],
        "generate": [len(some) * TOKENS / seconds for seconds in times["generate"]],
    }
    for name, values in rates.items():
        show(f"  {streams} streams: {name}", f"{spread(values, 0)} tokens/s")
    report(f"{streams} streams, tokens/s", rates, "engine", "generate", "> 1")
    if streams == SHARED:
        share(unending, prompts, count)
    unending.engine.close()


def share(unending: Unending, prompts: list[Prompt], count: int) -> None:
    times = taken(
        {"route": routing(unending, prompts), "whole": lambda: unending.run(prompts)}, count
    )
    report(f"routing and decoding at {SHARED} streams", times, "route", "whole", "<= 0.10")


if __name__ == "__main__":
    main()
