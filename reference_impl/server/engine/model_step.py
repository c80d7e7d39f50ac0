"""Rows through transformers' own forward: together where keys and values are plain, else singly."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel
from transformers.cache_utils import Cache, CacheLayerMixin

from .slots import Aim, Layer

# transformers 5.24 deprecates the second name, which every release before knows alone.
_NAMES = ("cache", "past_key_values")


def cache_argument(model: PreTrainedModel) -> str:
    """The name of the argument, where the model, what it extends or what it holds names it."""
    for kind in (*type(model).__mro__, *type(model.base_model).__mro__):
        forward = vars(kind).get("forward")
        known = inspect.signature(forward).parameters if callable(forward) else ()
        for name in _NAMES:
            if name in known:
                return name
    return _NAMES[-1]


class ModelStep:
    """Hands the model a cache that writes to the slots instead of growing."""

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model
        self._cache_argument = cache_argument(model)
        self._count = model.config.num_hidden_layers

    def __call__(self, tokens: Tensor, aim: Aim) -> Tensor:
        cache = Cache(layers=[_SlotLayer(aim, n) for n in range(self._count)])
        out = self._model(
            input_ids=tokens[:, None],
            position_ids=aim.positions[:, None],
            attention_mask=aim.mask,
            **{self._cache_argument: cache},
            use_cache=True,
        )
        logits: Tensor = out.logits[:, -1]
        return logits

    def prefill(self, ids: Tensor, ends: Tensor) -> tuple[Tensor, Sequence[Layer]]:
        filled = DynamicCache(config=self._model.config)
        out = self._model(
            input_ids=ids, **{self._cache_argument: filled}, use_cache=True, logits_to_keep=ends
        )
        layers: list[Any] = filled.layers
        return out.logits, [(layer.keys, layer.values) for layer in layers]


class _SlotLayer(CacheLayerMixin):  # type: ignore[misc]  # mypy reads no transformers
    """One layer's part of the store, for one step."""

    is_sliding = False

    def __init__(self, aim: Aim, number: int) -> None:
        begin: Any = super().__init__  # some releases of transformers type it, others do not
        begin()
        self._aim = aim
        self._number = number
        self.is_initialized = True

    def update(
        self, key_states: Tensor, value_states: Tensor, *_args: object, **_kwargs: object
    ) -> tuple[Tensor, Tensor]:
        return self._aim.append(self._number, key_states[:, :, 0], value_states[:, :, 0])

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Nothing: tensors are there from the beginning."""

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        del query_length
        return self._aim.longest, 0

    def get_seq_length(self) -> int:
        """Zero: rows differ, so positions and mask are always given."""
        return 0

    def get_max_length(self) -> int:
        return -1

    def get_max_cache_shape(self) -> int:
        """The name of `get_max_length` before transformers 5."""
        return -1


class RoundRobin:
    """The same rows as `SlotBatch`, one forward each."""

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model
        self._cache_argument = cache_argument(model)
        self._caches: list[DynamicCache] = []

    def admit(self, prompts: Sequence[Sequence[int]]) -> Tensor:
        caches = [DynamicCache(config=self._model.config) for _ in prompts]
        logits = [self._forward(ids, cache) for ids, cache in zip(prompts, caches, strict=True)]
        self._caches += caches
        return torch.cat(logits)

    def step(self, tokens: Sequence[int]) -> Tensor:
        rows = zip(tokens, self._caches, strict=True)
        return torch.cat([self._forward((token,), cache) for token, cache in rows])

    def leave(self, row: int) -> None:
        last = self._caches.pop()
        if row < len(self._caches):
            self._caches[row] = last

    def keep(self, rows: int) -> None:
        self._caches = self._caches[:rows]

    def _forward(self, ids: Sequence[int], cache: DynamicCache) -> Tensor:
        out = self._model(
            input_ids=torch.tensor([ids], device=self._model.device),
            **{self._cache_argument: cache},
            use_cache=True,
            logits_to_keep=1,
        )
        logits: Tensor = out.logits[:, -1]
        return logits
