"""Which batch a model gets: the fastest whose logits agree with the model's own.

Asked once at loading, by computing; a list of model names would be out of date.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

import torch
from transformers import DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer

from .captured_decoder import CapturedDecoder, cuda_capture
from .fused_step import FusedStep
from .model_step import ModelStep, RoundRobin
from .slots import Batch, Decoder, EagerDecoder, SlotBatch, Step

_log: Final = logging.getLogger(__name__)

TOLERANCE: Final = {torch.float32: 1e-3}
ROUGH_TOLERANCE: Final = 0.1
"""Of the spread of logits: rounding stays below, a wrong mask or position far above."""

PROMPTS: Final = ((1, 2, 3), (3, 1, 2, 0, 1))
TOKENS: Final = ((2, 1), (0, 3))
LAST: Final = (1,)


def batch_for(model: PreTrainedModel, slots: int, context: int) -> Batch:
    candidates: list[Callable[[], Step]] = [
        lambda: FusedStep(model, context),
        lambda: ModelStep(model),
    ]
    if model.device.type == "cuda":
        candidates.insert(0, lambda: _kernel_step(model, context))
    if has_plain_cache(model):
        for candidate in candidates:
            decoder = fitting(model, candidate)
            if decoder is not None:
                return SlotBatch(decoder, slots, context)
    if model.device.type == "cuda":
        _log.warning("decoding without CUDA graphs: this model takes one row after another")
    return RoundRobin(model)


def _kernel_step(model: PreTrainedModel, context: int) -> Step:
    from .kernel_step import KernelStep  # noqa: PLC0415 - triton comes with torch for CUDA only

    return KernelStep(model, context)


def has_plain_cache(model: PreTrainedModel) -> bool:
    """Whether every layer keeps keys and values of the whole row, and nothing else."""
    layers = DynamicCache(config=model.config).layers
    return all(type(layer) is DynamicLayer for layer in layers)


def fitting(model: PreTrainedModel, candidate: Callable[[], Step]) -> Decoder | None:
    """The step, if rows of different lengths get the logits that they get alone."""
    with torch.inference_mode():
        return _fitting(model, candidate)


def _fitting(model: PreTrainedModel, candidate: Callable[[], Step]) -> Decoder | None:
    try:
        eager = EagerDecoder(candidate(), model.device)
        if not _agrees_with_model(model, eager):
            return None
    except Exception as err:  # noqa: BLE001 - parts, positions or triton are missing: another fits
        _log.info("a way to decode does not fit: %s: %s", type(err).__name__, err)
        return None
    return _captured_decoder(model, eager) if model.device.type == "cuda" else eager


def _captured_decoder(model: PreTrainedModel, eager: EagerDecoder) -> CapturedDecoder:
    decoder = CapturedDecoder(eager, cuda_capture(model.device))
    if not _agrees_with_model(model, decoder):
        decoder.give_up("a graph computes other logits than the model")
    return decoder


def _agrees_with_model(model: PreTrainedModel, decoder: Decoder) -> bool:
    batch = SlotBatch(decoder, slots=2, context=8)
    stepped = [batch.admit(PROMPTS)]
    stepped += [batch.step(tokens) for tokens in TOKENS]
    batch.leave(1)
    stepped.append(batch.step(LAST))  # one row may go another way than two
    rows = [
        [*prompt, *(tokens[row] for tokens in TOKENS[:count])]
        for count in range(len(TOKENS) + 1)
        for row, prompt in enumerate(PROMPTS)
    ]
    rows.append([*rows[-2], *LAST])
    alone = torch.cat(
        [model(input_ids=torch.tensor([row], device=model.device)).logits[:, -1] for row in rows]
    )
    tolerance = TOLERANCE.get(alone.dtype, ROUGH_TOLERANCE)
    return bool((torch.cat(stepped) - alone).abs().max() <= tolerance * alone.float().std())
