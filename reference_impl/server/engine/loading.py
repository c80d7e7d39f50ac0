"""A local Hugging Face folder to a running engine; nothing is downloaded, no remote code runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils import logging as transformers_logging

from .events import EngineError
from .fitting import batch_for
from .loop import Loop
from .markers import TOOLS, Vocabulary, find_markers, named_markers
from .prompting import Prompter

SMALL: Final = 100_000_000
"""Parameters below which a second thread costs more than it computes."""
EXACT: Final = 1_000_000_000
"""Parameters up to which a CPU computes in 32 bits, so that batches and single runs agree."""
DEFAULT_CONTEXT: Final = 8192


def load(
    folder: Path,
    *,
    max_batch: int,
    step_delay_s: float,
    context: int | None,
    think_markers: tuple[str, str] | None,
    device: str,
) -> tuple[Prompter, Loop]:
    """See `Engine.load`."""
    if max_batch < 1:
        raise EngineError(f"max_batch must be at least 1, but is {max_batch}")
    model, tokenizer = read(folder)
    place(model, device)
    room = min(known_context(model), context or DEFAULT_CONTEXT)
    prompter = Prompter(
        folder.resolve().name,
        tokenizer,
        vocabulary(model, tokenizer, think_markers),
        context=room,
        size=vocabulary_size(model),
    )
    loop = Loop(
        batch_for(model, max_batch, room),
        max_batch=max_batch,
        step_delay_s=step_delay_s,
        threads=1 if model.num_parameters() < SMALL else None,
    )
    return prompter, loop


def read(folder: Path) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Model and tokenizer as they lie there; raises EngineError where they do not."""
    transformers_logging.disable_progress_bar()
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True, dtype="auto")
    except Exception as err:  # of whichever library reads the file that is broken
        reason = " ".join(str(err).split())
        raise EngineError(f"{folder}: no causal language model: {reason}") from err
    if not tokenizer.is_fast:
        raise EngineError(f"{folder}: the tokenizer is none of the tokenizers library")
    if not tokenizer.chat_template:
        raise EngineError(f"{folder}: the tokenizer has no chat template")
    return model, tokenizer


def place(model: PreTrainedModel, device: str) -> None:
    """Onto a device, in the precision that suits both."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    exact = not device.startswith("cuda") and model.num_parameters() < EXACT
    torch.nn.Module.to(
        model, device=torch.device(device), dtype=torch.float32 if exact else torch.bfloat16
    )


def known_context(model: PreTrainedModel) -> int:
    """Tokens that the model has positions for."""
    known: Any = getattr(model.config, "max_position_embeddings", None)
    return known if isinstance(known, int) else DEFAULT_CONTEXT


def vocabulary_size(model: PreTrainedModel) -> int:
    """How many ids the model has embeddings for."""
    weight = model.get_input_embeddings().weight
    assert isinstance(weight, torch.Tensor)
    return len(weight)


def vocabulary(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    think_markers: tuple[str, str] | None,
) -> Vocabulary:
    """Return the meaning of the tokenizer's added tokens."""
    added = tokenizer.backend_tokenizer.get_added_tokens_decoder()
    contents = {number: token.content for number, token in added.items()}
    if think_markers is None:
        thinking = find_markers(contents)
    else:
        thinking = named_markers(tokenizer.get_vocab(), think_markers)
    tools = find_markers(contents, TOOLS)
    ends = end_tokens(model, tokenizer)
    marked = {
        number for pair in (thinking, tools) if pair for number in (pair.open_id, pair.close_id)
    }
    special = {number for number, token in added.items() if token.special}
    return Vocabulary(
        thinking=thinking,
        tools=tools,
        ends=ends - marked,
        silent=frozenset(special - marked - ends),
        neutral=min(added, default=None),
    )


def end_tokens(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """Whatever model or tokenizer call the end."""
    generation: Any = model.generation_config
    stated: Any = getattr(generation, "eos_token_id", None)
    ends = {tokenizer.eos_token_id, *(stated if isinstance(stated, list) else [stated])}
    return frozenset(end for end in ends if end is not None)
