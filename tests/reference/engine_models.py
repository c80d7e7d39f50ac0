"""Small models without training: a tokenizer of bytes and words, random weights.

They say nothing sensible, but they do it the same way every time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

torch.set_num_threads(1)  # a second one makes small models several times slower

THINK: Final = ("<think>", "</think>")
TOOL: Final = ("<tool_call>", "</tool_call>")
CHAT: Final = ("<|im_start|>", "<|im_end|>")

TEMPLATE: Final = """\
{%- for m in messages -%}<|im_start|>{{ m.role }}
{{ m.content }}<|im_end|>
{% endfor -%}
{%- if tools -%}<|im_start|>tools
{{ tools | tojson }}<|im_end|>
{% endif -%}
{%- if add_generation_prompt -%}<|im_start|>assistant
{% if enable_thinking is defined and not enable_thinking -%}<think></think>{%- endif -%}
{%- endif -%}"""

OPENED: Final = TEMPLATE.replace(
    "<think></think>{%- endif", "<think></think>{%- else -%}<think>{%- endif"
)


def byte_level(markers: Sequence[str] = (*THINK, *TOOL), *, special: bool = False) -> Tokenizer:
    """One id per byte, then chat tokens, then the markers."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={char: n for n, char in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in CHAT])
    tokenizer.add_tokens([AddedToken(token, special=special) for token in markers])
    return tokenizer


def ids_of(tokenizer: Tokenizer, data: bytes) -> list[int]:
    """One id per byte; a byte that is no printable character stands as one from 256 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    spelt = [chr(byte if byte in printable else 256 + others.index(byte)) for byte in data]
    vocabulary = tokenizer.get_vocab()
    return [vocabulary[char] for char in spelt]


def sentence_pieces() -> Tokenizer:
    """Words with `▁` in front, bytes for everything else; its decoder strips one space."""
    words = ["<unk>", "▁one", "▁two", "three", "▁"]
    vocab = {word: n for n, word in enumerate([*words, *(f"<0x{b:02X}>" for b in range(256))])}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[], unk_token="<unk>", byte_fallback=True))
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in CHAT])
    tokenizer.add_tokens([*THINK, *TOOL])
    return tokenizer


def save_tokenizer(tokenizer: Tokenizer, folder: Path, template: str = TEMPLATE) -> None:
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=CHAT[1])
    fast.chat_template = template
    fast.save_pretrained(folder)


def qwen3(size: int, **changes: Any) -> Qwen3ForCausalLM:
    """Two layers with the same random weights every time."""
    torch.manual_seed(7)
    config = Qwen3Config(
        vocab_size=size,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        initializer_range=0.4,
        bos_token_id=None,
        eos_token_id=None,
        **changes,
    )
    return Qwen3ForCausalLM(config)


def save_model(folder: Path, template: str = TEMPLATE, **changes: Any) -> Path:
    tokenizer = byte_level()
    save_tokenizer(tokenizer, folder, template)
    qwen3(tokenizer.get_vocab_size(), **changes).save_pretrained(folder)
    return folder
