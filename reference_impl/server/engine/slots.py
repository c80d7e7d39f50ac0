"""Rows of any lengths through one forward.

A step writes each row at its own position and masks what lies beyond it. What computes it is a
`Step`: the model's own forward, or the faster one of `fused_step.py`. A `Decoder` brings tokens and
positions to the step: `EagerDecoder` anew each time, `captured_decoder.py` by a CUDA graph.

Keys and values of all rows are one pair of tensors [slots, heads, tokens, width] a layer.
Rows stay together at the front; one that leaves is overwritten by the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

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
        self._layers = [(_no_tokens(k, slots), _no_tokens(v, slots)) for k, v in like]

    def reach(self, tokens: int) -> None:
        """Make room for that many tokens a row."""
        if tokens > self.capacity:
            doubled = max(FIRST_CAPACITY, 2 * self.capacity)
            capacity = max(tokens, min(doubled, self._context))
            self._layers = [
                (_made_longer(k, capacity), _made_longer(v, capacity)) for k, v in self._layers
            ]
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


def _no_tokens(like: Tensor, slots: int) -> Tensor:
    return like.new_zeros((slots, like.shape[1], 0, like.shape[3]))


def _made_longer(kept: Tensor, capacity: int) -> Tensor:
    grown = kept.new_zeros((*kept.shape[:2], capacity, kept.shape[3]))
    grown[:, :, : kept.shape[2]] = kept
    return grown


class Batch(Protocol):
    """Rows in a fixed order, each with its own length; logits come as [rows, vocabulary]."""

    def admit(self, prompts: Sequence[Sequence[int]]) -> Tensor:
        """Append a row for each prompt; the logits behind the new ones."""

    def step(self, tokens: Sequence[int]) -> Tensor:
        """Append one token to each row; the logits behind them."""

    def leave(self, row: int) -> None:
        """Drop a row; the last row takes its place."""

    def keep(self, rows: int) -> None:
        """Drop all rows but the first, whatever state a failure left the others in."""


@dataclass(frozen=True, slots=True)
class Aim:
    """Where a step writes and looks: a position per row, and a bool mask [rows, 1, 1, longest]."""

    store: SlotStore
    rows: Tensor
    positions: Tensor
    longest: int
    mask: Tensor

    @classmethod
    def at(cls, store: SlotStore, positions: Tensor, longest: int) -> Aim:
        rows = torch.arange(len(positions), device=positions.device)
        seen = torch.arange(longest, device=positions.device) <= positions[:, None]
        return cls(store, rows, positions, longest, seen[:, None, None, :])

    def layer(self, number: int) -> Layer:
        """All that the rows can look at, for who writes it itself."""
        return self.store.layer(number, len(self.positions), self.longest)

    def append(self, layer: int, keys: Tensor, values: Tensor) -> Layer:
        """Write one token a row; all that the rows can look at."""
        return self.store.append(layer, (keys, values), self.rows, self.positions, self.longest)


class Step(Protocol):
    """The computation of a model over rows."""

    def __call__(self, tokens: Tensor, aim: Aim) -> Tensor:
        """The logits [rows, vocabulary] behind one token a row."""

    def prefill(self, ids: Tensor, ends: Tensor) -> tuple[Tensor, Sequence[Layer]]:
        """Of whole prompts: logits [prompts, ends, vocabulary], keys and values of each layer."""


class Decoder(Protocol):
    """The same from lists; its result stays as it is when the next is computed."""

    @property
    def step(self) -> Step: ...

    @property
    def device(self) -> torch.device: ...

    def __call__(
        self, tokens: Sequence[int], positions: Sequence[int], store: SlotStore
    ) -> Tensor: ...


class EagerDecoder:
    """Launches every operation of a step by itself."""

    def __init__(self, step: Step, device: torch.device) -> None:
        self.step: Step = step
        self.device = device  # looked up among all weights, so only once

    def __call__(self, tokens: Sequence[int], positions: Sequence[int], store: SlotStore) -> Tensor:
        given, at = torch.tensor((tokens, positions), device=self.device)
        return self.step(given, Aim.at(store, at, max(positions) + 1))


class SlotBatch:
    """A `Batch` of at most `slots` rows of at most `context` tokens."""

    def __init__(self, decoder: Decoder, slots: int, context: int) -> None:
        self._decoder = decoder
        self._slots = slots
        self._context = context
        self._lengths: list[int] = []
        self._store: SlotStore | None = None

    def admit(self, prompts: Sequence[Sequence[int]]) -> Tensor:
        lengths = [len(prompt) for prompt in prompts]
        longest = max(lengths)
        # Padding stands behind the prompts, where causal attention does not look: no mask.
        padded = [[*prompt, *[0] * (longest - len(prompt))] for prompt in prompts]
        ends = sorted({length - 1 for length in lengths})
        device = self._decoder.device
        logits, layers = self._decoder.step.prefill(
            torch.tensor(padded, device=device), torch.tensor(ends, device=device)
        )
        if self._store is None:
            self._store = SlotStore(layers, self._slots, self._context)
        self._store.reach(longest)
        self._store.fill(layers, len(self._lengths))
        self._lengths += lengths
        return logits[range(len(prompts)), [ends.index(length - 1) for length in lengths]]

    def step(self, tokens: Sequence[int]) -> Tensor:
        assert self._store is not None
        self._store.reach(max(self._lengths) + 1)
        logits = self._decoder(tokens, self._lengths, self._store)
        self._lengths = [length + 1 for length in self._lengths]
        return logits

    def leave(self, row: int) -> None:
        last = self._lengths.pop()
        if row < len(self._lengths):
            assert self._store is not None
            self._store.move(len(self._lengths), row)
            self._lengths[row] = last

    def keep(self, rows: int) -> None:
        self._lengths = self._lengths[:rows]
        if not rows:
            self._store = None
