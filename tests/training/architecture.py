"""The network, a Qwen3 of two layers, and its tokenizer.

The tokenizer is byte-level BPE learnt from ASCII, one token a digit, with the chat template. As no
emoji and no Chinese is in what the merges are learnt from, each such character takes three or four
tokens, each of one byte.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GenerationConfig, PreTrainedTokenizerBase, Qwen3Config, Qwen3ForCausalLM

from reference_impl.model.markers import TEMPLATE_FILE, VariantMarkers, template

SIZE: Final = 512
CONTEXT: Final = 1024  # tokens
END_OF_TEXT: Final = "<|endoftext|>"
END_OF_TURN: Final = "<|im_end|>"
CONTROL: Final = (END_OF_TEXT, "<|im_start|>", END_OF_TURN)
CALL: Final = ("<tool_call>", "</tool_call>")
TOKENIZER_FILE: Final = "tokenizer.json"


def learn(texts: Iterable[str], markers: VariantMarkers) -> Tokenizer:
    """Learn the merges from `texts`. The same texts give the same tokenizer."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    added = added_tokens(markers)
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE - len(added),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_tokens(list(added))
    return tokenizer


def added_tokens(markers: VariantMarkers) -> tuple[AddedToken, ...]:
    """Give the tokens above the merges, in the order of their ids."""
    plain = [AddedToken(text, special=False, normalized=False) for text in CALL]
    control = [AddedToken(text, special=True, normalized=False) for text in CONTROL]
    thinking = [
        AddedToken(text, special=markers.is_special, normalized=False)
        for text in (markers.opener, markers.closer)
    ]
    return (*control, *thinking, *plain)


def write_tokenizer(tokenizer: Tokenizer, markers: VariantMarkers, folder: Path) -> None:
    """Write the tokenizer's three files into `folder`, as transformers reads them."""
    tokenizer.save(str(folder / TOKENIZER_FILE), pretty=False)
    settings = json.dumps(_tokenizer_settings(), indent=2) + "\n"
    (folder / "tokenizer_config.json").write_text(settings, encoding="utf-8")
    (folder / TEMPLATE_FILE).write_text(template(markers), encoding="utf-8")


def _tokenizer_settings() -> dict[str, object]:
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_input_names": ["input_ids", "attention_mask"],
        "model_max_length": CONTEXT,
        "clean_up_tokenization_spaces": False,
        "eos_token": END_OF_TURN,
        "pad_token": END_OF_TEXT,
    }


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
