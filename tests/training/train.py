"""Trains the model: `python -m tests.training.train [--out DIR] [--steps N]`.

One thread and one seed: on one machine, the same steps give the same weights, in some minutes.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

import torch
from torch.nn.functional import cross_entropy
from transformers import AutoTokenizer, PreTrainedTokenizerBase, Qwen3ForCausalLM

from reference_impl.model.markers import VARIANTS
from reference_impl.model.variants import WEIGHTS
from tests.training import architecture, corpus
from tests.training.batches import TrainingBatch, padded, row

SEED: Final = 7
STEPS: Final = 2000
ROWS: Final = 48  # of one step
GROUPS: Final = 3  # of like length, so that little is padding
RATE: Final = 3e-3
WARM_UP: Final = 60  # steps
TEXTS: Final = 6000  # that the merges are learnt from
REPORT_EVERY: Final = 100  # steps


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}.train")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    parser.add_argument("--steps", type=int, default=STEPS, help=f"default {STEPS}")
    options = parser.parse_args(arguments)
    train(options.out, options.steps)
    return 0


def train(folder: Path, steps: int = STEPS) -> None:
    """Train tokenizer and weights anew and write them into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)  # two are slower: the tensors are tiny
    write_tokenizer(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    torch.manual_seed(SEED)
    model = architecture.build(tokenizer)
    _learn_weights(model, tokenizer, steps)
    model.half().save_pretrained(folder)


def write_tokenizer(folder: Path) -> None:
    """Learn the vocabulary from the ASCII lines of the corpus and write it into `folder`."""
    random = Random(SEED)
    texts = [text for _ in range(TEXTS) for text in _texts_of_example(corpus.draw(random)[1])]
    markers = VARIANTS["think"]
    ascii_only = (text for text in texts if text.isascii())
    tokenizer = architecture.learn(ascii_only, markers)
    architecture.write_tokenizer(tokenizer, markers, folder)


def _texts_of_example(example: corpus.Example) -> Iterator[str]:
    yield from (message["content"] for message in example.messages)
    yield from (example.thought.text, example.answer)
    yield from (f'{{"name": "{call.name}", "arguments": {{"' for call in example.calls)
    yield from (", ".join(tool["function"]["parameters"]["properties"]) for tool in example.tools)


def _learn_weights(model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerBase, steps: int) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate_at(step, steps))
    random = Random(SEED)
    for step in range(1, steps + 1):
        loss = _one_step(model, _next_batches(tokenizer, random))
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        if step % REPORT_EVERY == 0 or step == steps:
            sys.stderr.write(f"step {step} of {steps}: loss {loss:.5f}\n")


def _rate_at(step: int, steps: int) -> float:
    """Rise in a line, then fall along a cosine to a fiftieth."""
    if step < WARM_UP:
        return (step + 1) / WARM_UP
    done = (step - WARM_UP) / max(1, steps - WARM_UP)
    return 0.02 + 0.98 * (1 + math.cos(math.pi * done)) / 2


def _next_batches(tokenizer: PreTrainedTokenizerBase, random: Random) -> list[TrainingBatch]:
    rows = [row(tokenizer, corpus.draw(random)[1]) for _ in range(ROWS)]
    rows.sort(key=lambda each: len(each.ids))
    size = ROWS // GROUPS
    return [padded(rows[at : at + size]) for at in range(0, ROWS, size)]


def _one_step(model: Qwen3ForCausalLM, batches: list[TrainingBatch]) -> float:
    """Add up the gradients of one step. Gives the mean loss of a learnt token, in nats."""
    learnt = sum(int(batch.learnt.sum()) for batch in batches)
    total = 0.0
    for batch in batches:
        hidden = model.model(input_ids=batch.inputs, use_cache=False).last_hidden_state
        logits = model.lm_head(hidden[batch.learnt])
        loss = cross_entropy(logits, batch.targets[batch.learnt], reduction="sum") / learnt
        torch.autograd.backward(loss)
        total += loss.item()
    return total


if __name__ == "__main__":
    sys.exit(main())
