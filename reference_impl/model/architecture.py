"""The network: a Qwen3 of two layers, as transformers has it."""

from __future__ import annotations

from typing import Final

from transformers import GenerationConfig, PreTrainedTokenizerBase, Qwen3Config, Qwen3ForCausalLM

from .vocabulary import CONTEXT, SIZE

HIDDEN: Final = 96


def config(tokenizer: PreTrainedTokenizerBase) -> Qwen3Config:
    return Qwen3Config(
        vocab_size=SIZE,
        hidden_size=HIDDEN,
        intermediate_size=3 * HIDDEN,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )


def build(tokenizer: PreTrainedTokenizerBase) -> Qwen3ForCausalLM:
    """Build the network with random weights; seed torch before. Its answers will be greedy."""
    model = Qwen3ForCausalLM(config(tokenizer))
    model.generation_config = GenerationConfig(
        do_sample=False,
        max_new_tokens=CONTEXT // 2,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return model
