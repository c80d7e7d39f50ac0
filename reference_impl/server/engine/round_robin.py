"""Rows one after another, each with the cache its model likes: slower, but fits any model."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel

from .cache_arguments import cache_argument


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
