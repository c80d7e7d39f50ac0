"""Which batch a model gets: the fastest whose logits agree with the model's own.

Asked once at loading, by computing; a list of model names would be out of date.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import torch
from transformers import DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer

from .batch import Batch
from .fused_step import FusedStep
from .model_step import ModelStep
from .round_robin import RoundRobin
from .slots import SlotBatch, Step

TOLERANCE: Final = {torch.float32: 1e-3}
ROUGH_TOLERANCE: Final = 0.1
"""Of the spread of logits: rounding stays below, a wrong mask or position far above."""

PROMPTS: Final = ((1, 2, 3), (3, 1, 2, 0, 1))
TOKENS: Final = ((2, 1), (0, 3))


def batch_for(model: PreTrainedModel, slots: int, context: int) -> Batch:
    candidates: tuple[Callable[[], Step], ...] = (
        lambda: FusedStep(model, context),
        lambda: ModelStep(model),
    )
    if has_plain_cache(model):
        for candidate in candidates:
            step = fitting(model, candidate)
            if step is not None:
                return SlotBatch(model, step, slots, context)
    return RoundRobin(model)


def has_plain_cache(model: PreTrainedModel) -> bool:
    """Whether every layer keeps keys and values of the whole row, and nothing else."""
    layers = DynamicCache(config=model.config).layers
    return all(type(layer) is DynamicLayer for layer in layers)


@torch.inference_mode()
def fitting(model: PreTrainedModel, candidate: Callable[[], Step]) -> Step | None:
    """The step, if rows of different lengths get the logits that they get alone."""
    try:
        step = candidate()
        return step if _agrees(model, step) else None
    except (AttributeError, IndexError, RuntimeError, TypeError, ValueError):
        return None  # a part is missing or has another shape, or positions are not taken


def _agrees(model: PreTrainedModel, step: Step) -> bool:
    batch = SlotBatch(model, step, slots=2, context=8)
    batch.admit(PROMPTS)
    stepped = torch.cat([batch.step(tokens) for tokens in TOKENS])
    rows = [
        [*prompt, *(tokens[row] for tokens in TOKENS[:count])]
        for count in range(1, len(TOKENS) + 1)
        for row, prompt in enumerate(PROMPTS)
    ]
    alone = torch.cat(
        [model(input_ids=torch.tensor([row], device=model.device)).logits[:, -1] for row in rows]
    )
    tolerance = TOLERANCE.get(alone.dtype, ROUGH_TOLERANCE)
    return bool((stepped - alone).abs().max() <= tolerance * alone.float().std())
