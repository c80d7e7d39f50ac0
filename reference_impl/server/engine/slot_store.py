"""Keys and values of all rows: one pair of tensors [slots, heads, tokens, width] a layer.

Rows stay together at the front; one that leaves is overwritten by the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import torch
from torch import Tensor

FIRST_CAPACITY: Final = 256

Layer = tuple[Tensor, Tensor]


class SlotStore:
    """Room for `slots` rows of at most `context` tokens; memory grows with the longest row."""

    def __init__(self, like: Sequence[Layer], slots: int, context: int) -> None:
        self.slots = slots
        self.capacity = 0
        self.place = object()  # another one whenever the tensors are others
        self._context = context
        self._layers = [(_empty(k, slots), _empty(v, slots)) for k, v in like]

    def reach(self, tokens: int) -> None:
        """Make room for that many tokens a row."""
        if tokens > self.capacity:
            doubled = max(FIRST_CAPACITY, 2 * self.capacity)
            capacity = max(tokens, min(doubled, self._context))
            self._layers = [(_longer(k, capacity), _longer(v, capacity)) for k, v in self._layers]
            self.capacity = capacity
            self.place = object()

    def fill(self, layers: Sequence[Layer], first: int) -> None:
        """Copy the rows of a prefill to the slots from `first` on."""
        for (count, _, length, _), kept, new in self._pairs(layers):
            kept[first : first + count, :, :length] = new
            # What a former row left could be no number, and zero times that is none either.
            kept[first : first + count, :, length:] = 0

    def move(self, source: int, target: int) -> None:
        for layer in self._layers:
            for kept in layer:
                kept[target] = kept[source]

    def append(
        self, layer: int, new: Layer, rows: Tensor, positions: Tensor, longest: int
    ) -> Layer:
        """Write one token a row, each at its own position; all that the rows can look at.

        `new` keys and values are [rows, heads, width], the result [rows, heads, longest, width].
        `rows` counts from 0: one tensor for all layers.
        """
        keys, values = self._layers[layer]
        keys[rows, :, positions], values[rows, :, positions] = new
        return self.layer(layer, len(rows), longest)

    def layer(self, number: int, rows: int, longest: int) -> Layer:
        """Of the first rows, [rows, heads, longest, width]."""
        keys, values = self._layers[number]
        return keys[:rows, :, :longest], values[:rows, :, :longest]

    def _pairs(self, layers: Sequence[Layer]) -> Iterator[tuple[torch.Size, Tensor, Tensor]]:
        for mine, given in zip(self._layers, layers, strict=True):
            for kept, new in zip(mine, given, strict=True):
                yield new.shape, kept, new


def _empty(like: Tensor, slots: int) -> Tensor:
    return like.new_zeros((slots, like.shape[1], 0, like.shape[3]))


def _longer(kept: Tensor, capacity: int) -> Tensor:
    grown = kept.new_zeros((*kept.shape[:2], capacity, kept.shape[3]))
    grown[:, :, : kept.shape[2]] = kept
    return grown
