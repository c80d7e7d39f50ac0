"""Rows that join and leave a batch, and what each of them gets alone."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Final

import torch
from transformers import GenerationConfig, PreTrainedModel

from reference_impl.server.engine.slots import Batch

SIZE: Final = 64
"""Of the vocabulary."""
SLOTS: Final = 6


def alone(model: PreTrainedModel, prompt: Sequence[int], count: int) -> list[int]:
    """What transformers generates for one prompt."""
    settings = GenerationConfig(
        max_new_tokens=count, min_new_tokens=count, do_sample=False, pad_token_id=0
    )
    generate: Any = model.generate
    out = generate(
        torch.tensor([prompt], device=model.device),
        generation_config=settings,
        attention_mask=torch.ones(1, len(prompt), device=model.device),
    )
    tokens: list[int] = out[0, len(prompt) :].tolist()
    return tokens


def together(
    batch: Batch, prompts: Sequence[Sequence[int]], lengths: Sequence[int]
) -> list[list[int]]:
    """Each prompt goes on for its own length; the next joins when a row is free."""
    made: list[list[int]] = [[] for _ in prompts]
    waiting, rows = list(range(len(prompts))), list[int]()
    random = Random(5)
    with torch.inference_mode():
        while waiting or rows:
            joining = min(len(waiting), SLOTS - len(rows), random.randint(0 if rows else 1, 3))
            new, waiting = waiting[:joining], waiting[joining:]
            if rows:
                _take(batch.step([made[row][-1] for row in rows]), rows, made)
            if new:
                _take(batch.admit([prompts[row] for row in new]), new, made)
                rows += new
            for at in range(len(rows) - 1, -1, -1):
                if len(made[rows[at]]) >= lengths[rows[at]]:
                    batch.leave(at)
                    last = rows.pop()
                    if at < len(rows):
                        rows[at] = last
    return made


def _take(logits: torch.Tensor, rows: Sequence[int], made: list[list[int]]) -> None:
    for row, token in zip(rows, logits.argmax(-1).tolist(), strict=True):
        made[row].append(token)


def cases(count: int) -> tuple[list[list[int]], list[int]]:
    random = Random(3)
    prompts = [[random.randrange(SIZE) for _ in range(random.randint(1, 60))] for _ in range(count)]
    return prompts, [random.randint(1, 40) for _ in range(count)]
