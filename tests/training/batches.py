"""Examples as token ids: padded to the right, with what is learnt marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from transformers import PreTrainedTokenizerBase

from reference_impl.model.markers import VARIANTS
from tests.training.architecture import END_OF_TURN
from tests.training.corpus import Example

_MARKERS: Final = VARIANTS["think"]


@dataclass(frozen=True, slots=True)
class Row:
    """One example: its ids, and which of them the model learns to predict."""

    ids: list[int]
    learnt: list[bool]


@dataclass(frozen=True, slots=True)
class TrainingBatch:
    """Rows of like length: inputs, and the targets one step ahead; `learnt` masks both."""

    inputs: torch.Tensor
    targets: torch.Tensor
    learnt: torch.Tensor


def prompt_text(tokenizer: PreTrainedTokenizerBase, example: Example) -> str:
    """Render what a server would render for the example's request."""
    text = tokenizer.apply_chat_template(
        list(example.messages),
        tools=list(example.tools) or None,
        add_generation_prompt=True,
        enable_thinking=example.thinks,
        tokenize=False,
    )
    assert isinstance(text, str)
    return text


def row(tokenizer: PreTrainedTokenizerBase, example: Example) -> Row:
    prompt_ids = _ids_of(tokenizer, prompt_text(tokenizer, example))
    thought = _ids_of(tokenizer, _MARKERS.opener + example.thought.text) if example.thinks else []
    closed = _ids_of(tokenizer, _MARKERS.closer) if example.thinks else []
    answer = _ids_of(tokenizer, example.said + END_OF_TURN)
    is_cut = example.kept is not None
    if example.kept is not None:
        thought = thought[: 1 + int(example.kept * (len(thought) - 1))]
    # A budget may end the thinking anywhere: no close is to be learnt from that.
    learnt = [False] * len(prompt_ids) + [not is_cut] * (len(thought) + len(closed))
    return Row(prompt_ids + thought + closed + answer, learnt + [True] * len(answer))


def _ids_of(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids


def padded(rows: Sequence[Row]) -> TrainingBatch:
    """Pad to the right: under a causal mask, what comes after changes nothing before."""
    longest = max(len(each.ids) for each in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    learnt = torch.zeros(len(rows), longest, dtype=torch.bool)
    for at, each in enumerate(rows):
        ids[at, : len(each.ids)] = torch.tensor(each.ids)
        learnt[at, : len(each.ids)] = torch.tensor(each.learnt)
    return TrainingBatch(ids[:, :-1], ids[:, 1:], learnt[:, 1:])
