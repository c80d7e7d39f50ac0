"""Rows together get the tokens that they get alone, whoever joins or leaves."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from transformers import (
    AutoModelForCausalLM,
    GemmaConfig,
    GPT2Config,
    LlamaConfig,
    PretrainedConfig,
    PreTrainedModel,
    Qwen2Config,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from reference_impl.server.engine.fitting import batch_for, fitting
from reference_impl.server.engine.fused_step import FusedStep
from reference_impl.server.engine.model_step import ModelStep, RoundRobin
from reference_impl.server.engine.slots import Batch, EagerDecoder, SlotBatch, Step
from tests.reference.engine_models import qwen3
from tests.reference.engine_rows import SIZE, SLOTS, alone, cases, together

pytestmark = pytest.mark.slow

MODEL = qwen3(SIZE)
OF_CONFIG: Any = AutoModelForCausalLM.from_config
SLIDING: dict[str, Any] = {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 0}


def slots(step: Step | None = None) -> SlotBatch:
    decoder = EagerDecoder(step or FusedStep(MODEL, 512), MODEL.device)
    return SlotBatch(decoder, SLOTS, 512)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("batch", "count"),
    [(slots(), 40), (slots(ModelStep(MODEL)), 12), (RoundRobin(MODEL), 12)],
    ids=["fused", "model", "robin"],
)
def test_tokens_are_those_of_a_single_run(batch: Batch, count: int) -> None:
    prompts, lengths = cases(count)
    wanted = [alone(MODEL, p, n) for p, n in zip(prompts, lengths, strict=True)]
    assert together(batch, prompts, lengths) == wanted


def test_rows_grow_beyond_the_first_capacity() -> None:
    prompts, lengths = [[1, 2, 3], [5] * 250], [300, 20]
    wanted = [alone(MODEL, p, n) for p, n in zip(prompts, lengths, strict=True)]
    assert together(slots(), prompts, lengths) == wanted


def test_row_that_was_no_number_leaves_nothing() -> None:
    batch = slots()
    with torch.inference_mode():
        batch.admit([[1] * 40, [2] * 30])
        assert batch._store is not None
        for keys, values in batch._store._layers:
            keys[1] = values[1] = torch.nan
        batch.leave(1)
        batch.admit([[3, 4]])
        assert torch.isfinite(batch.step([1, 1])).all()
        batch.leave(0)
        assert torch.isfinite(batch.step([1])).all()


def test_emptied_batch_begins_again() -> None:
    batch = slots()
    with torch.inference_mode():
        batch.admit([[1, 2], [3]])
        batch.keep(0)
    assert together(batch, [[7, 8]], [9]) == [alone(MODEL, [7, 8], 9)]


def step_of(model: PreTrainedModel) -> object:
    batch = batch_for(model, SLOTS, 512)
    if not isinstance(batch, SlotBatch):
        return batch
    assert isinstance(batch._decoder, EagerDecoder)
    return batch._decoder.step


LLAMA: dict[str, Any] = {
    "vocab_size": SIZE,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "initializer_range": 0.4,
    "pad_token_id": None,
    "bos_token_id": None,
    "eos_token_id": None,
}


DYNAMIC: dict[str, Any] = {"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}}


@pytest.mark.parametrize(
    ("config", "way"),
    [
        (LlamaConfig(**LLAMA), FusedStep),
        (LlamaConfig(**LLAMA, attention_bias=True, mlp_bias=True), FusedStep),
        (Qwen2Config(**LLAMA), FusedStep),
        (Qwen3Config(**LLAMA, head_dim=8, **SLIDING), RoundRobin),
        (GemmaConfig(**LLAMA, head_dim=8), ModelStep),
        (GPT2Config(vocab_size=SIZE, n_embd=32, n_layer=2, n_head=4, n_positions=512), ModelStep),
        (LlamaConfig(**LLAMA, **DYNAMIC), ModelStep),
    ],
    ids=["llama", "biased", "qwen2", "sliding", "gemma", "gpt2", "dynamic-rope"],
)
def test_model_goes_fastest_way_that_is_right(config: PretrainedConfig, way: type[object]) -> None:
    torch.manual_seed(1)
    model: PreTrainedModel = OF_CONFIG(config).eval()
    assert type(step_of(model)) is way
    prompts, lengths = cases(4)
    wanted = [alone(model, p, n) for p, n in zip(prompts, lengths, strict=True)]
    assert together(batch_for(model, SLOTS, 512), prompts, lengths) == wanted


def test_fused_weights_are_the_models_own() -> None:
    model = qwen3(SIZE)
    step = FusedStep(model, 512)
    kept = step._layers[0].project.weight
    first: Any = model.model.layers[0].self_attn.q_proj
    assert first.weight.data_ptr() == kept.data_ptr()


def test_model_that_ignores_positions_fits_no_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    model = qwen3(SIZE)
    forward = Qwen3ForCausalLM.forward

    def deaf(self: Qwen3ForCausalLM, **given: object) -> object:
        return forward(self, **{k: v for k, v in given.items() if k != "position_ids"})

    monkeypatch.setattr(Qwen3ForCausalLM, "forward", deaf)
    assert fitting(model, lambda: ModelStep(model)) is None


def test_step_with_a_missing_part_fits_nothing() -> None:
    model = OF_CONFIG(GPT2Config(vocab_size=SIZE, n_embd=32, n_layer=1, n_head=4))
    with pytest.raises(AttributeError):
        FusedStep(model, 16)
    assert fitting(model, lambda: FusedStep(model, 16)) is None
