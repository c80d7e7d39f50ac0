"""Speed of the reference engine on a GPU: `python tests/benchmarks/bench_engine_gpu.py [rounds]`.

A model of Qwen3-0.6B's shape with random weights in bf16, tokenizer and template of the
repository's own. Tokens per second of 1, 16 and 64 streams together, against one `generate` of
transformers for all, and against reading the weights once per token as fast as the device copies.
Skipped where no CUDA device is.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GenerationConfig,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from reference_impl.server.engine import Prompt
from tests.benchmarks.bench_engine import ROOT, TOKENS, Unending
from tests.benchmarks.rounds import rounds, show, spread, taken

STREAMS: Final = (1, 16, 64)
COPIED: Final = 2**30
"""Bytes that the measured copy reads, and writes again."""


class Generate:
    """`generate` of transformers for all prompts together."""

    def __init__(self, folder: Path) -> None:
        self._model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)
        torch.nn.Module.to(self._model, device="cuda")
        settings: Any = GenerationConfig
        self._settings = settings(
            max_new_tokens=TOKENS, min_new_tokens=TOKENS, do_sample=False, pad_token_id=0
        )

    def run(self, prompts: list[Prompt]) -> None:
        longest = max(len(prompt.ids) for prompt in prompts)
        padding = [longest - len(prompt.ids) for prompt in prompts]
        ids = [[*[0] * free, *p.ids] for free, p in zip(padding, prompts, strict=True)]
        seen = [[0] * free + [1] * (longest - free) for free in padding]
        self._model.generate(
            torch.tensor(ids, device="cuda"),
            attention_mask=torch.tensor(seen, device="cuda"),
            generation_config=self._settings,
        )
        torch.cuda.synchronize()

    def bytes_per_token(self) -> int:
        """Of all weights; embeddings are those of the head, which a token reads whole."""
        return sum(weight.numel() * weight.element_size() for weight in self._model.parameters())


def save(folder: Path) -> None:
    """Qwen3-0.6B's shape: https://huggingface.co/Qwen/Qwen3-0.6B/blob/main/config.json."""
    config = Qwen3Config(
        vocab_size=151936,
        hidden_size=1024,
        intermediate_size=3072,
        num_hidden_layers=28,
        num_attention_heads=16,
        num_key_value_heads=8,
        head_dim=128,
        max_position_embeddings=40960,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=None,
    )
    torch.manual_seed(7)
    with torch.device("cuda"):
        model = Qwen3ForCausalLM(config)
    torch.nn.Module.to(model, dtype=torch.bfloat16)
    model.save_pretrained(folder)
    own = ROOT / "reference_impl/model/weights"
    AutoTokenizer.from_pretrained(own, local_files_only=True).save_pretrained(folder)


def copied_per_second() -> float:
    """Bytes read and written, the median of some copies."""
    source = torch.randint(0, 255, (COPIED,), dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    times = []
    for _ in range(11):
        torch.cuda.synchronize()
        began = time.perf_counter()
        target.copy_(source)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    return 2 * COPIED / statistics.median(times)


def compare(folder: Path, generate: Generate, streams: int, count: int) -> None:
    unending = Unending(folder, streams)
    prompts = unending.prompts(streams)
    unending.run(prompts)
    times = taken(
        {"engine": lambda: unending.run(prompts), "generate": lambda: generate.run(prompts)}, count
    )
    for name, values in times.items():
        rates = [streams * TOKENS / seconds for seconds in values]
        show(f"{streams} streams: {name}", f"{spread(rates, 0)} tokens/s")
    unending.engine.close()


def main() -> None:
    if not torch.cuda.is_available():
        show("the engine on a GPU", "skipped: no CUDA device")
        return
    count = rounds()
    show("device", torch.cuda.get_device_name())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save(folder)
        generate = Generate(folder)
        bound = copied_per_second() / generate.bytes_per_token()
        show("weights read once per token, 1 stream", f"{bound:.0f} tokens/s")
        for streams in STREAMS:
            compare(folder, generate, streams, count)


if __name__ == "__main__":
    main()
